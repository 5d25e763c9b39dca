"""Partial revisions, merged in time order: which file, title and abstract were current when."""

from datetime import datetime, timedelta

from histories import NOON
from peercorpus.versions.uploads import SubmissionEdit, Upload, fold, is_one_for_months

HOUR = timedelta(hours=1)


def change(
    name: str,
    at: datetime | None,
    path: str | None = None,
    title: str | None = None,
    *,
    abstract: str | None = None,
    again: datetime | None = None,
    is_public: bool = True,
) -> SubmissionEdit:
    """The content of one reference."""
    return SubmissionEdit(name, at, again or at, "V/-/Blind_Submission", is_public, path, title, abstract)


def told(uploads: list[Upload]) -> list[tuple[str, str, str | None]]:
    return [(one.edit_id, one.path, one.title) for one in uploads]


def test_a_reference_without_a_pdf_has_none_and_one_without_a_title_keeps_the_earlier_one() -> None:
    changes = [
        change("c", NOON + 2 * HOUR, "/pdf/2"),
        change("a", NOON, "/pdf/1", "On Kites", abstract="Of strings."),
        change("b", NOON + HOUR, title="On Kites, Again"),
        change("d", NOON + 3 * HOUR),
    ]
    public, hidden = fold(changes, is_whole=True)
    assert told(public) == [("a", "/pdf/1", "On Kites"), ("c", "/pdf/2", "On Kites, Again")]
    assert public[1].abstract == "Of strings."
    assert hidden == []


def test_a_title_rewritten_later_is_not_known_to_be_the_versions_title() -> None:
    again = NOON + 100 * HOUR
    changes = [change("a", NOON, title="Final Title", again=again), change("b", NOON + HOUR, "/pdf/1")]
    assert told(fold(changes, is_whole=True)[0]) == [("b", "/pdf/1", None)]
    own = [change("a", NOON, "/pdf/1", "Final Title", again=again)]
    assert told(fold(own, is_whole=True)[0]) == [("a", "/pdf/1", "Final Title")]


def test_with_hidden_edits_only_an_edits_own_title_counts() -> None:
    changes = [change("a", NOON, "/pdf/1", "On Kites"), change("b", NOON + HOUR, "/pdf/2")]
    assert told(fold(changes, is_whole=False)[0]) == [("a", "/pdf/1", "On Kites"), ("b", "/pdf/2", None)]


def test_a_hidden_title_is_shown_nowhere_and_invalidates_the_earlier_one() -> None:
    changes = [
        change("a", NOON, "/pdf/1", "On Kites"),
        change("b", NOON + HOUR, "/pdf/2", "Secret", is_public=False),
        change("c", NOON + 2 * HOUR, "/pdf/3"),
    ]
    public, hidden = fold(changes, is_whole=True)
    assert told(public) == [("a", "/pdf/1", "On Kites"), ("c", "/pdf/3", None)]
    assert told(hidden) == [("b", "/pdf/2", None)]


def test_references_that_name_one_pdf_for_months_are_distinguished_from_a_real_history() -> None:
    months, path = timedelta(days=120), "/pdf/1"
    same, _ = fold([change("a", NOON, path), change("b", NOON + months, path)], is_whole=True)
    assert is_one_for_months(same)
    assert not is_one_for_months(same[:1])
    other, _ = fold([change("a", NOON, path), change("b", NOON + months, "/pdf/2")], is_whole=True)
    assert not is_one_for_months(other)
    soon, _ = fold([change("a", NOON, path), change("b", NOON + HOUR, path)], is_whole=True)
    assert not is_one_for_months(soon)
