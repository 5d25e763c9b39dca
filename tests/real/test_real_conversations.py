"""The conversations of recorded forums, compared with a reader's notes: every turn, in order."""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import peercorpus
from invented_posts import AUTHORS, post
from peercorpus.api.corpus import Corpus
from peercorpus.conversations.build import build_conversations
from peercorpus.conversations.reminders import is_reminder
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.pipeline.build import build
from peercorpus.records.enums import Role
from peercorpus.records.papers import SetAside
from peercorpus.records.reviews import Conversation, Post
from peercorpus.workspace.workspace import open_workspace

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
    pytest.mark.slow(26),
]

# Reviewer → turns as "r:" or "a:" and the posts merged; None stands for no turn.
GOLD: dict[str, dict[str, list[str]]] = {
    "S1sRrN-CW": {"AnonReviewer1": ["r:BytzlNjez"], "AnonReviewer2": ["r:BkwNvgRgf"], "AnonReviewer3": ["r:SyeeEtTef"]},
    "ryxyCeHtPB": {
        "AnonReviewer1": ["r:BklJwjhd5B", "a:BJlAoqSIsH"],
        "AnonReviewer2": ["r:BkeROrlU5B", "a:BJxy8nSUiS"],
        "AnonReviewer3": ["r:Ske1UQAX9B", "a:r1e9TnrIsH"],
    },
    "ryxz8CVYDH": {
        "AnonReviewer1": ["r:rylVGWoAFB", "a:rJlWfrRoir+HJx62E0siH"],
        "AnonReviewer2": ["r:BJgs4nvCFB", "a:Hkxl6r0isr"],
        "AnonReviewer3": ["r:HylOroWRYB", "a:Byxm28RjoB+ryePwUAsjS"],
    },
    "g1SzIRLQXMM": {
        "Reviewer_Ekkd": ["r:6QcCfqCHr1p", "a:4bUxFRU-wKY+tk9p-2lfw5O+QVHZ9ET2JML", "r:VBoa33hEib"],
        "Reviewer_FEh9": ["r:VGl7TQOdxrG", "a:h_kbyQ8dMk", "r:CTfoW02vLt"],
        "Reviewer_Rdb1": ["r:8XgiSituROK", "a:mGieKDTWL9Y+hDwV3d3GCuM", "r:DjHgllnUbMI"],
        "Reviewer_pctr": ["r:RzRdO_6tQT", "a:ulDgcc3mxKS"],
    },
    "odjMSBSWRt": {
        "Reviewer_4npX": ["r:UuTPk7bjx3", "a:CPF35iZOjV"],
        "Reviewer_nGaJ": ["r:MtBx6vnXOc", "a:UVeb43wbgT", "r:aDbsCaXuha", "a:lPNxiPk4wu", "r:QLOYzCdWvp"],
        "Reviewer_wETT": ["r:VJGy1dqmqt", "a:XuyV6i9Jrv"],
        "Reviewer_xbiZ": ["r:WHyOKuCKRF", "a:OrEEBgHRNo", "r:zUeHMvYbPW", "a:Qpl5YLHa4r", "r:TwLoiToDqm"],
    },
    "zzo3Sy3NSX": {
        "Reviewer_6VkV": ["r:Lnhvlyc5v6", "a:aViSOtgxBP+3K6qBSYEKk", "r:foJKGySKoD", "a:QivTpwbH8L"],
        "Reviewer_NkPg": ["r:f8eJZxPaAh", "a:vklsxCdcEv+MbSLUafgYh", "r:DZW9xjlKvJ", "a:nf3lHFfpVa"],
        "Reviewer_T1BF": ["r:Z0VNpRRiMJ", "a:c8dYllAinO"],
        "Reviewer_zm69": ["r:g5Lcq9Ibpi", "a:Si179CT3jZ+J3I88wt40y"],
    },
    "HkghWScuoQ": {"AnonReviewer5": ["r:B1lXNPfx3m", "a:HJldo0ZM3Q"], "Reviewers": ["r:SkgePO3js7", "a:HkxCWIMz3X"]},
    "r1eLk2mKiX": {
        "AnonReviewer2": ["r:BylYNTIRsQ", "a:BJebLXk1n7"],
        "AnonReviewer3": ["r:rJgwAWZ0j7", "a:rygh4WfCsm", "r:B1lPDmZ1nX", "a:SklsDRPenQ"],
        "AnonReviewer4": [
            "r:BkxxwtjRoX",
            "a:rkegxyTRom",
            "r:BkevoF6J2X",
            "a:B1eOfRWl27",
            "r:Skx9ApNe2X",
            "a:BJx4AZKghm",
            "r:rJxWqXm-3X",
            "a:r1xXL-3-2m",
            "r:HkeNDAZG37",
            "a:rJeEsqHfnX",
            "r:S1elursMnQ",
            "a:S1ea0Wr4nX",
        ],
        "AnonReviewer5": ["r:S1lJjJKRim", "a:BJxz3_CCim"],
    },
    "H1DkN7ZCZ": {
        "AnonReviewer1": ["r:rk6_mqulz", "a:SJFOVOpXf"],
        "AnonReviewer2": ["r:rJKKR8qxM", "a:ryLJedamM"],
        "AnonReviewer3": ["r:H18G3z5gM", "a:Hk7yNdamz+B1GXE_aQG"],
    },
    "HJe_yR4Fwr": {
        "AnonReviewer1": ["r:BklNuffTtB", "a:BJx2Bn5ojS"],
        "AnonReviewer2": ["r:rye0FNG0tB", "a:r1gLaBqjoS", "r:SyegBsdnjB", "a:SkeSsuF3jr"],
        "AnonReviewer3": ["r:Hkxnszbmqr", "a:SJg504qojS"],
        "AnonReviewer4": ["r:H1lRC3iCYH", "a:Hyl9zrqsjS"],
    },
    "B5XahNLmna": {
        "Reviewer_3JiV": ["r:8aYDqiVO3fY", "a:1laRhe4wro", "r:i9RlybE6BzX"],
        "Reviewer_6oYM": ["r:u78tEG0tZOS", "a:fpE07Iz8Vfq"],
        "Reviewer_6s7m": ["r:OcPhDM_SSF4", "a:KbAUFsnxv6a", "r:4KBiJrNLdO3+zY1mqGQf75S", "a:EuIQv1IO-ED"],
        "Reviewer_8c4m": ["r:ZrN0PJFTTL", "a:bMcJaQKDPM", "r:zrC9JNL4sM"],
    },
    "IR-V6-aP-mv": {
        "Reviewer_VVcj": ["r:UWFyBiiqIlC", "a:Xx-TQMSocQz"],
        "Reviewer_kR2g": ["r:pQJg50SpRJ3", "a:Ws-xDn44AKp", "r:NyMtDZSbmLK"],
        "Reviewer_pfgK": ["r:Nzac0vb8zya", "a:llb0NYl48rl", "r:YGxuJBRoigN", "a:s1iAdPNt_00", "r:nFkZxmr4RSP"],
        "Reviewer_tiiD": ["r:SHGAT2k2TJA", "a:om2LbWxXWsD"],
    },
}
# Forum → the responses to all, each with the turns that had begun when it came, by reviewer.
CONTEXT: dict[str, dict[str, list[tuple[str, int]]]] = {
    "g1SzIRLQXMM": {
        "Reviewer_Ekkd": [("OzJQ7cizdH0", 3)],
        "Reviewer_FEh9": [("OzJQ7cizdH0", 3)],
        "Reviewer_Rdb1": [("OzJQ7cizdH0", 3)],
        "Reviewer_pctr": [("OzJQ7cizdH0", 2)],
    },
    "r1eLk2mKiX": {
        "AnonReviewer2": [("SyxxVzSE37", 2)],
        "AnonReviewer3": [("SyxxVzSE37", 4)],
        "AnonReviewer4": [("SyxxVzSE37", 12)],
        "AnonReviewer5": [("SyxxVzSE37", 2)],
    },
    "HJe_yR4Fwr": {
        "AnonReviewer1": [("SyxFeT5jiB", 2)],
        "AnonReviewer2": [("SyxFeT5jiB", 2)],
        "AnonReviewer3": [("SyxFeT5jiB", 2)],
        "AnonReviewer4": [("SyxFeT5jiB", 2)],
    },
    "IR-V6-aP-mv": {
        "Reviewer_VVcj": [("iWiNoqxVcIp", 2)],
        "Reviewer_kR2g": [("iWiNoqxVcIp", 2)],
        "Reviewer_pfgK": [("iWiNoqxVcIp", 2)],
        "Reviewer_tiiD": [("iWiNoqxVcIp", 2)],
    },
}
LETTERS = {"zzo3Sy3NSX": ["f62LQEWDzg"]}
REMINDERS = {"odjMSBSWRt": {"YqUu54m1M7", "iUwowBOMmH"}}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Every raw file, and the forums rebuilt from prints."""
    folder = tmp_path_factory.mktemp("real") / "corpus"
    with open_workspace(folder, create=True) as workspace:
        import_dumps(workspace, [*sorted(DATA.glob("raw-*")), *sorted(DATA.glob("forum-prints-peersum/*.json"))])
        build(workspace)
    return peercorpus.open(folder)


def _talks(corpus: Corpus, forum_id: str) -> list[Conversation]:
    return [talk for talk in corpus.records(Conversation) if talk.forum_id == forum_id and talk.kind == "review"]


@pytest.mark.parametrize("forum_id", GOLD)
def test_recorded_turns_match_the_labelled(corpus: Corpus, forum_id: str) -> None:
    letters = {Role.REVIEWER: "r", Role.AUTHOR: "a"}
    assert {
        talk.reviewer: [f"{letters[turn.role]}:{'+'.join(turn.post_ids)}" for turn in talk.turns]
        for talk in _talks(corpus, forum_id)
    } == GOLD[forum_id]


@pytest.mark.parametrize("forum_id", GOLD)
def test_responses_stand_where_they_appeared(corpus: Corpus, forum_id: str) -> None:
    found = {
        talk.reviewer: [(response.post_id, response.before_turn) for response in talk.context]
        for talk in _talks(corpus, forum_id)
    }
    assert {reviewer: context for reviewer, context in found.items() if context} == CONTEXT.get(forum_id, {})


@pytest.mark.parametrize("forum_id", GOLD)
def test_letters_reach_the_chairs(corpus: Corpus, forum_id: str) -> None:
    talks = [talk for talk in corpus.records(Conversation) if (talk.forum_id, talk.kind) == (forum_id, "chairs")]
    spoken = [turn for talk in talks for turn in talk.turns if turn.role is Role.AUTHOR]
    assert [post_id for turn in spoken for post_id in turn.post_ids] == LETTERS.get(forum_id, [])


def test_no_recorded_post_is_outside(corpus: Corpus) -> None:
    talks = Counter(talk.kind.value for talk in corpus.records(Conversation))
    assert talks == {"review": 12_489, "chairs": 11, "public": 5}
    aside = [row.reason.value for row in corpus.records(SetAside) if row.stage == "build_conversations"]
    # Two decisions have no comment, and there are no other posts.
    assert Counter(aside) == {"reminder": 2, "not_public": 1, "nothing_said": 2}


@pytest.mark.parametrize("forum_id", GOLD)
def test_only_labelled_reminders_are_set_aside(corpus: Corpus, forum_id: str) -> None:
    rows = [row for row in corpus.records(SetAside) if row.forum_id == forum_id]
    assert {row.record_id for row in rows if row.reason.value == "reminder"} == REMINDERS.get(forum_id, set())


def test_every_title_is_free_of_part_numbers(corpus: Corpus) -> None:
    titles = {turn.post_ids: turn.title for talk in corpus.records(Conversation) for turn in talk.turns}
    assert titles["Byxm28RjoB", "ryePwUAsjS"] == "Response to Reviewer #3"
    assert titles["vklsxCdcEv", "MbSLUafgYh"] == "Response to Reviewer NkPg"
    assert titles["Hk7yNdamz", "B1GXE_aQG"] == "Point-by-point response"
    assert titles["4bUxFRU-wKY", "tk9p-2lfw5O", "QVHZ9ET2JML"] == "Response"


def test_no_post_of_a_recorded_forum_is_lost(corpus: Corpus) -> None:
    talks = list(corpus.records(Conversation))
    used = {post_id for talk in talks for turn in talk.turns for post_id in turn.post_ids}
    used |= {response.post_id for talk in talks for response in talk.context}
    aside = {row.record_id for row in corpus.records(SetAside) if row.stage == "build_conversations"}
    assert used | aside == {one.post_id for one in corpus.records(Post)}
    assert not used & aside


def test_every_recorded_post_has_one_place(corpus: Corpus) -> None:
    talks = list(corpus.records(Conversation))
    turns = Counter(post_id for talk in talks for turn in talk.turns for post_id in turn.post_ids)
    context = {beside.post_id for talk in talks for beside in talk.context}
    aside = Counter(row.record_id for row in corpus.records(SetAside) if row.stage == "build_conversations")
    assert turns + Counter(context) + aside == Counter(one.post_id for one in corpus.records(Post))


def _pairs() -> Iterator[tuple[dict[str, Any], str, str]]:
    """DISAPERE's record of a pair, its review and its rebuttal."""
    with gzip.open(DATA / "threads-disapere" / "final_dataset.jsonl.gz", "rt", encoding="utf-8") as lines:
        for pair in map(json.loads, lines):
            texts = (
                "".join(sentence["text"] + (sentence["suffix"] or " ") for sentence in pair[f"{side}_sentences"])
                for side in ("review", "rebuttal")
            )
            yield pair["metadata"], *texts


def _forums() -> dict[str, list[tuple[Post, Post]]]:
    forums: dict[str, list[tuple[Post, Post]]] = {}
    for about, review, rebuttal in _pairs():
        forum_id = about["forum_id"]
        first = post(about["review_id"], 0, (Role.REVIEWER, about["reviewer"]), text=review, forum_id=forum_id)
        answer = post(about["rebuttal_id"], 9, AUTHORS, about["review_id"], text=rebuttal, forum_id=forum_id)
        forums.setdefault(forum_id, []).append((first, answer))
    return forums


def _together(pairs: list[tuple[Post, Post]]) -> list[bool]:
    """Return for each pair whether review and rebuttal share a conversation; unplaced rebuttals are left out."""
    talks, _ = build_conversations([one for pair in pairs for one in pair])
    place = {post_id: talk.reviewer for talk in talks for turn in talk.turns for post_id in turn.post_ids}
    return [place[answer.post_id] == place[first.post_id] for first, answer in pairs if answer.post_id in place]


def test_disapere_pairs_are_one_conversation() -> None:
    together = [found for pairs in _forums().values() for found in _together(pairs)]
    assert (len(together), all(together)) == (506, True)


def test_a_flat_rebuttal_follows_its_name() -> None:
    forums = _forums()
    stripped = [[(first, replace(answer, reply_to=None)) for first, answer in pairs] for pairs in forums.values()]
    together = [found for pairs in stripped for found in _together(pairs)]
    # The records lack titles, in which most answers name their reviewer.
    assert (len(together), sum(together)) == (36, 36)


def test_few_replies_are_mistaken_for_reminders(corpus: Corpus) -> None:
    posts = [one for one in corpus.records(Post) if one.role is Role.AUTHOR]
    taken = {one.post_id for one in posts if is_reminder(one.title, one.text)}
    assert taken == REMINDERS["odjMSBSWRt"]
    answers = [answer for pairs in _forums().values() for _, answer in pairs]
    assert sum(is_reminder(None, answer.text) for answer in answers) <= 1
