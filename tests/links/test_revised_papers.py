"""Everything added, removed, moved or rewritten in an invented revision is found, and nothing else."""

import pytest

from peercorpus.links.sentences import sentence_key
from peercorpus.links.version_diff import find_differences
from peercorpus.records.enums import ChangeKind
from revised_papers import CASES, KINDS, Revision, find_truth, render, revise, score

MOVING = {"sections split", "sections merged", "paragraphs moved", "moved to an appendix", "all at once"}


def compare(paper: Revision) -> list[tuple[str, str, str]]:
    found = find_differences(render(paper.before, paper.old), render(paper.after, paper.new))
    return [(one.kind.value, one.before, one.after) for one in found.passages]


@pytest.mark.parametrize("is_markdown", [True, False], ids=["markdown", "plain"])
@pytest.mark.parametrize("case", CASES)
def test_exactly_the_changes_made_are_reported(case: str, is_markdown: bool) -> None:
    paper = revise(case, 1, is_markdown=is_markdown)
    truth = {kind: len(idents) for kind, idents in find_truth(paper).items()}
    assert min(truth[kind] for kind in KINDS if kind != "moved") >= 5
    assert (truth["moved"] > 0) == (case in MOVING)
    counts = score(paper, compare(paper))
    assert {kind: counts[kind, "hit"] for kind in KINDS} == truth
    assert [counts[kind, "false"] for kind in KINDS] == [0, 0, 0, 0]


@pytest.mark.parametrize("case", CASES)
def test_no_added_or_removed_passage_is_in_the_other_text(case: str) -> None:
    paper = revise(case, 2, is_markdown=True)
    earlier, later = render(paper.before, paper.old), render(paper.after, paper.new)
    earlier_key, later_key = sentence_key(earlier), sentence_key(later)
    for passage in find_differences(earlier, later).passages:
        if passage.kind is ChangeKind.REMOVED:
            assert sentence_key(passage.before) not in later_key
        elif passage.kind is ChangeKind.ADDED:
            assert sentence_key(passage.after) not in earlier_key
