"""Which earlier submission a submission itself names."""

import json
from typing import Any

import pytest

from peercorpus.links.named_submissions import read_linked_forums, read_named_submissions

ID = "aB3dE_fG-h"
OTHER = "Zz9yX8wV7u"
FORUM = f"https://openreview.net/forum?id={ID}"
ARR = "aclweb.org/ACL/ARR/2024/June"


def named(extra: dict[str, Any], venue_id: str = ARR, held: frozenset[str] = frozenset()) -> list[str]:
    return [one.forum_id for one in read_named_submissions(json.dumps(extra), venue_id, held)]


@pytest.mark.parametrize(
    "field",
    [
        *(
            "previous_URL",
            "previous_url",
            "previous_submission",
            "previous_submission_url",
            "previously_submission_url",
        ),
        *("previous_TMLR_submission_url", "previous_JMLR_submissions", "Previous_Submission_URL", "prior_submission"),
        *("paper_link", "resubmission", "previous_submission_link", "link_to_previous_submission", "previousURL"),
        *("earlier_version_url", "previous_ARR_forum", "arr_submission_link", "URL of previous submission"),
        *("changes_since_last_submission", "original_submission_link", "commitment_url", "committed_submission"),
    ],
)
def test_a_field_for_an_earlier_submission_is_read(field: str) -> None:
    assert named({field: FORUM}) == [ID]


@pytest.mark.parametrize(
    "field",
    [
        *("previous_publication_url", "related_submission", "paper_url", "code_url", "pdf", "html", "previous_PDF"),
        *("concurrent_submissions", "previous_work_link", "data_link", "original_paper_url", "title", "comment"),
        *("reassignment_request_reviewers", "preprint_link", "video_link", "submission_number", "last_name"),
    ],
)
def test_other_fields_are_not_read_as_earlier_submissions(field: str) -> None:
    assert named({field: FORUM}) == []


@pytest.mark.parametrize(
    "value",
    [
        *(ID, f" {ID}\n", FORUM, f"openreview.net/forum?id={ID}", f"http://www.openreview.net/forum?id={ID}"),
        *(f"https://openreview.net/pdf?id={ID}", f"{FORUM}&noteId={OTHER}", f"{FORUM}#discussion", f"<{FORUM}>"),
        *(f"https://openreview.net/forum?noteId={OTHER}&id={ID}", f"[ours]({FORUM})", f"{FORUM}."),
        *(
            f"https://openreview.net/forum?id={ID}&referrer=%5BAuthor%20Console%5D(%2Fgroup%3Fid%3DX%2FAuthors)",
            [FORUM],
        ),
        *(f"Submitted before as {FORUM} (withdrawn).", f"{FORUM} {FORUM}", {"url": FORUM}, f"ICLR 2023: {FORUM}"),
        *(f"https://openreview.net/attachment?id={ID}&name=pdf", f"https://openreview.net/forum?id={ID}&amp;x=1"),
        *(f"https://openreview.net/revisions?id={ID}", f"https://openreview.net/forum/?id={ID}"),
    ],
)
def test_a_forum_is_read_however_it_is_written(value: object) -> None:
    assert named({"previous_URL": value}) == [ID]


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            "N/A",
            "None",
            "Not applicable",
            "Not-public",
            "previously",
            "resubmitted",
            "unpublished",
            None,
            True,
            12,
        ),
        *("https://arxiv.org/abs/2101.00001", "https://openreview.net/group?id=ICLR.cc/2023/Conference", "1234567890"),
        *("https://openreview.net/profile?id=~Ada_B1", "https://example.org/forum?id=" + ID, "https://openreview.net"),
        *("https://notopenreview.net/forum?id=" + ID, "https://openreview.net.example.org/forum?id=" + ID),
        *("NeurIPS2022", "withdrawn1", "NotPublic1", f"ours was {ID}"),
        *("https://openreview.net/pdf/0123456789abcdef0123456789abcdef01234567.pdf", "I do not know.", "No"),
        f"No, but it is compared with {FORUM}",
    ],
)
def test_text_that_is_not_a_forum_is_ignored(value: object) -> None:
    assert named({"previous_URL": value}) == []


def test_several_forums_are_told_apart() -> None:
    other = FORUM.replace(ID, OTHER)
    assert named({"previous_submissions_url": f"{FORUM}, {other}"}) == [ID, OTHER]
    assert named({"previous_JMLR_submissions": [FORUM, other]}) == [ID, OTHER]
    for mark in (", ", ";", "\n"):
        assert named({"previous_submissions": f"{ID}{mark}{OTHER}"}) == [ID, OTHER]
    prose = f"Our previous submission is {FORUM}. We now compare with the method of {other}, as was asked."
    assert named({"changes_since_last_submission": prose}) == [ID]
    assert named({"changes_since_last_submission": f"We added a baseline, {other}, and a proof."}) == []
    assert named({"previous_URL": FORUM, "previous_submission_url": FORUM}) == [ID]


def test_a_word_like_id_must_be_held() -> None:
    assert named({"previous_submission": "abcdefghij"}) == []
    assert named({"previous_submission": "abcdefghij"}, held=frozenset({"abcdefghij"})) == ["abcdefghij"]
    assert named({"previous_submission": "NeurIPS2022"}, held=frozenset({"NeurIPS2022"})) == ["NeurIPS2022"]


@pytest.mark.parametrize("venue_id", ["ML_Reproducibility_Challenge/2021/Fall", "ICLR.cc/2022/BlogPosts"])
def test_a_report_names_no_earlier_submission(venue_id: str) -> None:
    assert named({"paper_link": FORUM}, venue_id) == []


OF_THIS = (
    "This looks like a resubmission of {}.",
    "The earlier reviews of this paper ({}) raised the same issues.",
    "It has already been rejected once: {}",
    "I reviewed an earlier version of this paper. See {}.",
    "This paper was rejected from ConfA 2024 ({}), and the criticism there still holds.",
    "This submission was previously submitted to another venue, see {}",
    "This paper's previous reviews are at {}.",
    "The current manuscript is a revised version of {}.",
    "Compared to the previous submission at {} little has changed.",
    "This paper was turned down at ICLR last year ({}), and nothing seems to have changed.",
    "This submission was earlier rejected from NeurIPS, see {}.",
    "I was a reviewer of a previous version of this manuscript: {}.",
    "This is a resubmission: {}",
    "{} is an earlier version of this paper.",
    "The same paper is currently under review at another venue: {}.",
    "The manuscript has already been reviewed at TMLR ({}), where it was rejected.",
    "This seems to be a resubmission of {}.",
    "The authors submitted the same manuscript to NeurIPS ({}).",
    "A former draft of this submission can be found at {}.",
    "The work was also submitted to AISTATS, see {}.",
    "This work had been submitted to ICLR 2024 before and was rejected ({}).",
    "I have already reviewed this paper for another conference ({}).",
    "It is a resubmission of {}.",
    "The paper was withdrawn from ICML after negative reviews, see {}.",
    "{} is the rejected version of this manuscript.",
    "The present paper was previously under review at TMLR ({}).",
    "As far as I can tell, this paper was already submitted to ACL: {}.",
)
OF_THIS_BY_AUTHORS = (
    "Our paper was withdrawn: {}",
    "Our paper was previously submitted to ICML and withdrawn ({}).",
    "The present work is a revised version of our earlier submission {}.",
    "We withdrew this paper from ICLR 2024 ({}) and resubmit it here.",
    "This manuscript was first submitted as {}.",
    "A preliminary version of this paper was presented at a workshop ({}).",
    "This submission is a substantially revised version of {}.",
    "Our submission was rejected from NeurIPS 2023; the reviews are public at {}.",
    "An earlier version of our paper was rejected from UAI ({}).",
    "We submitted this paper to ICLR 2025 ({}) and have since rewritten it.",
)
OF_OTHERS = (
    "The dataset was introduced in an earlier submission by Kim ({}).",
    "The previous submission {} solves the same task with less compute.",
    "The proof follows an earlier version of {}, which is by others.",
    "A previous version of this theorem was in {} by other authors.",
    "The authors should also mention their own {} which uses the same block.",
    "The second author has a similar idea in {}, please discuss it.",
    "The baseline in Table 2 was rejected from ICLR for the same flaw ({}).",
    "A companion paper of the same authors was submitted to this venue as well ({}).",
    "An earlier paper by the same authors, {}, was withdrawn.",
    "My own submission on this problem was withdrawn: {}.",
    "This paper extends a method submitted to ICLR 2023 ({}).",
    "This is not a resubmission of {}.",
    "The previous version of the benchmark ({}) remains unchanged.",
    "If this paper was rejected before ({}), please say so.",
    "The authors have a second submission on the same topic, {}.",
    "The first author's previous submission {} used the same trick.",
    "A previous version of the optimiser used in this paper is described in {}.",
    "The method of {}, an earlier version of the transformer that we use, was rejected.",
    "This paper was reviewed by me, and I recommended adding {} as a baseline.",
    "In the authors' earlier work ({}) the concerns were of another kind.",
    "We compare with the withdrawn submission {}.",
    "This work relies on a rejected paper ({}).",
    "The competing method of Table 4 was submitted to ICLR and rejected ({}).",
    "The sister paper of this manuscript was withdrawn: {}.",
    "Our own work ({}) was submitted to the same conference.",
    "This submission was rejected earlier for lacking a discussion of {}.",
    "Like this paper, {} was rejected for its missing theory.",
    "The earlier version of the dataset ({}) has been changed.",
    "In case this work has been submitted elsewhere ({}), the chairs should know.",
    "The claim that this paper makes was rejected in {}.",
    "I was a reviewer of {}, and the same remarks apply to this submission.",
    "The weaknesses of {} remain in this paper, which adopts its sampler.",
    "This paper was reviewed fairly, in contrast to {}.",
    "Our baseline was resubmitted by its authors as {}.",
    "A previous submission from this group ({}) raised similar concerns about safety.",
    "The paper was submitted without a reference to {}.",
)


def linked(says: str, *, is_by_authors: bool) -> list[bool]:
    text = f"The kites fly. {says.format('https://openreview.net/forum?id=B1ckMDqlg')}\nThey fly well."
    return [is_stated for _, is_stated in read_linked_forums(text, is_by_authors=is_by_authors)]


@pytest.mark.parametrize("says", OF_THIS)
def test_a_post_states_an_earlier_submission(says: str) -> None:
    assert linked(says, is_by_authors=False) == [True]


@pytest.mark.parametrize("says", OF_THIS_BY_AUTHORS)
def test_our_paper_is_this_one(says: str) -> None:
    assert linked(says, is_by_authors=True) == [True]


@pytest.mark.parametrize("says", OF_OTHERS)
@pytest.mark.parametrize("is_by_authors", [False, True])
def test_a_sentence_about_another_paper_links_nothing(says: str, *, is_by_authors: bool) -> None:
    is_own = is_by_authors and says.startswith("Our")
    assert is_own or linked(says, is_by_authors=is_by_authors) == []


def test_a_link_without_a_statement_only_says_where() -> None:
    assert linked("See {}.", is_by_authors=False) == [False]
    assert linked("This paper was rejected before. See {}.", is_by_authors=False) == [True]
    assert linked("This paper was rejected before. A baseline is {}.", is_by_authors=False) == []
