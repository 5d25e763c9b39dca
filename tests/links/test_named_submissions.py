"""Which earlier submission a submission itself names."""

import json
from typing import Any

import pytest

from peercorpus.links.named_submissions import read_named_submissions

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
        *("changes_since_last_submission", "original_submission_link"),
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


def test_several_forums_are_a_list_or_distinguished_by_their_sentences() -> None:
    other = FORUM.replace(ID, OTHER)
    assert named({"previous_submissions_url": f"{FORUM}, {other}"}) == [ID, OTHER]
    assert named({"previous_JMLR_submissions": [FORUM, other]}) == [ID, OTHER]
    for mark in (", ", ";", "\n"):
        assert named({"previous_submissions": f"{ID}{mark}{OTHER}"}) == [ID, OTHER]
    prose = f"Our previous submission is {FORUM}. We now compare with the method of {other}, as was asked."
    assert named({"changes_since_last_submission": prose}) == [ID]
    assert named({"changes_since_last_submission": f"We added a baseline, {other}, and a proof."}) == []
    assert named({"previous_URL": FORUM, "previous_submission_url": FORUM}) == [ID]


def test_a_word_like_id_counts_only_if_it_is_in_the_corpus() -> None:
    assert named({"previous_submission": "abcdefghij"}) == []
    assert named({"previous_submission": "abcdefghij"}, held=frozenset({"abcdefghij"})) == ["abcdefghij"]
    assert named({"previous_submission": "NeurIPS2022"}, held=frozenset({"NeurIPS2022"})) == ["NeurIPS2022"]


@pytest.mark.parametrize("venue_id", ["ML_Reproducibility_Challenge/2021/Fall", "ICLR.cc/2022/BlogPosts"])
def test_a_report_on_another_paper_does_not_name_an_earlier_submission(venue_id: str) -> None:
    assert named({"paper_link": FORUM}, venue_id) == []
