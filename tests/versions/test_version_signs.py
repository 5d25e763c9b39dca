"""Signs of the version in the text of a file, and text that only resembles them."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.records.documents import Inspection, VersionSign
from peercorpus.records.enums import FileSays, SignKind
from peercorpus.versions.version_signs import MEANINGS, SignWeight, infer_version, read_signs

PROSE = "We show that it works.\nIt was accepted at face value.\nWe submitted to pressure."


def kinds(*pages: str) -> list[SignKind]:
    return [sign.kind for sign in read_signs(list(enumerate(pages, 1)))]


def words(*pages: str) -> str:
    return " | ".join(sign.words for sign in read_signs(list(enumerate(pages, 1))))


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Under review as a conference paper at ICLR 2025", SignKind.UNDER_REVIEW),
        ("Under review as submission to TMLR", SignKind.UNDER_REVIEW),
        ("Under review as a workshop paper at ICLR 2023", SignKind.UNDER_REVIEW),
        ("Submitted to 37th Conference on X (NeurIPS 2023). Do not distribute.", SignKind.UNDER_REVIEW),
        ("Submitted to 39th Conference on X (NeurIPS 2025). Do\nnot distribute.", SignKind.UNDER_REVIEW),
        ("Submitted to the 7th Conference on Robot Learning (CoRL 2023).\nDo not distribute.", SignKind.UNDER_REVIEW),
        ("Preliminary work. Under review by the ICML. Do not distribute.", SignKind.UNDER_REVIEW),
        ("Manuscript under review by AISTATS 2019", SignKind.UNDER_REVIEW),
        ("Full Paper - MIDL 2023 submission", SignKind.UNDER_REVIEW),
        ("CVPR 2023 Submission #123. CONFIDENTIAL REVIEW COPY. DO NOT DISTRIBUTE.", SignKind.UNDER_REVIEW),
        ("Anonymous authors", SignKind.ANONYMOUS_AUTHORS),
        ("Paper under double-blind review", SignKind.ANONYMOUS_AUTHORS),
        ("Anonymous Author(s)\nAffiliation\nAddress\nemail", SignKind.ANONYMOUS_AUTHORS),
        ("Affiliation\nAddress\nemail", SignKind.ANONYMOUS_AUTHORS),
        ("Anonymous Authors1", SignKind.ANONYMOUS_AUTHORS),
        ("Anonymous ACL submission", SignKind.ANONYMOUS_AUTHORS),
        ("Preprint. Under review.", SignKind.PREPRINT),
        ("Published as a conference paper at ICLR 2021", SignKind.PUBLISHED_AS),
        ("Published as a workshop paper at ICLR 2023", SignKind.PUBLISHED_AS),
        ("Published in Transactions on Machine Learning Research (07/2023)", SignKind.PUBLISHED_AS),
        ("Accepted at the 2nd Workshop on Things, 2024", SignKind.ACCEPTED_AT),
        ("Accepted for the 39th Conference on Uncertainty (UAI 2023).", SignKind.ACCEPTED_AT),
        ("Proceedings of the 36 th International\nConference, 2019. Copyright\n2019 by us.", SignKind.PROCEEDINGS),
        ("38th Conference on Neural Information Processing Systems (NeurIPS 2024).", SignKind.PROCEEDINGS),
        ("31st Conference on Neural Information Processing Systems (NIPS 2017), Long Beach, CA, USA.",
         SignKind.PROCEEDINGS),
        ("©2023 Association for Computational Linguistics", SignKind.PROCEEDINGS),
        ("Copyright © 2024, Association for the Advancement of Artificial Intelligence", SignKind.PROCEEDINGS),
        ("Acknowledgments and Disclosure of Funding", SignKind.ACKNOWLEDGEMENTS),
        ("ACKNOWLEDGEMENTS", SignKind.ACKNOWLEDGEMENTS),
        ("This work was supported in part by a grant.", SignKind.ACKNOWLEDGEMENTS),
        ("Our code is at https://github.com/someone/thing.", SignKind.CODE_LINK),
        ("as in our previous work [3] we do", SignKind.OWN_CITATION),
    ],
)  # fmt: skip
def test_a_style_files_line_is_a_sign(line: str, kind: SignKind) -> None:
    assert kinds(f"A Title\n{line}\nAbstract\n{PROSE}") == [kind]


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "Proceedings of the 2019 Conference of the North American Chapter, pages 4171-4186, 2019.",
        "Published in 2020, the method of X",
        "Papers under review as usual are anonymous authors of their time",
        "Anonymous Submission: ICML uses double-blind review: what you send must hold no name.",
        "Our code is at https://anonymous.4open.science/r/thing and https://github.com/anonymous/thing",
        "In previous work [3] it is shown.",
        "References\n31st Conference on Neural Information Processing Systems (NIPS 2017), Long Beach, CA, USA.",
        "We study the University of Somewhere",
        "",
    ],
)
def test_prose_and_references_are_no_signs(text: str) -> None:
    assert kinds(f"A Title\nAbstract\n{text}") == []


def numbered(form: str, count: int) -> str:
    return "\n".join(form.format(number) for number in range(7, 7 + count))


@pytest.mark.parametrize("form", ["{:03d}", "{} some words", "some words {:03d}"])
def test_line_numbers_are_recognised_wherever_pdfium_puts_them(form: str) -> None:
    assert kinds(numbered(form, 30)) == [SignKind.LINE_NUMBERS]
    assert kinds(numbered(form, 10)) == []


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("Ada Byron\nada@lovelace.org", "an e-mail address above the abstract"),
        ("{ada,charles}@engine.ac.uk", "an e-mail address above the abstract"),
        ("Ada Byron\nUniversity of Somewhere", "an affiliation above the abstract"),
        ("Ada Byron\nUniversité de Loin", "an affiliation above the abstract"),
        ("Ada Byron", ""),
    ],
)
def test_authors_are_reported_and_never_named(block: str, expected: str) -> None:
    assert words(f"A Title\n{block}\nAbstract\n{PROSE}") == expected


def test_an_email_address_is_no_name() -> None:
    page = "A Title\nAnonymous Authors1\nAbstract\nCorrespondence to: Anonymous Author\n<anon.email@domain.com>."
    assert kinds(page) == [SignKind.ANONYMOUS_AUTHORS]


@pytest.mark.parametrize(
    "line", ["Published as a conference paper at ICLR 2021 ada@lovelace.org", "Under review as a paper at X a@b.c"]
)
def test_no_stored_words_contain_an_email_address(line: str) -> None:
    assert "@" not in words(line)
    assert "[e-mail]" in words(line)


def test_invisible_characters_hide_no_sign() -> None:
    page = "\u202bPublished\u200b as a conference  paper at ICLR 2021\u202c  \n\u05e9\u05dc\u05d5\u05dd"
    assert kinds(page) == [SignKind.PUBLISHED_AS]


@given(st.lists(st.text(max_size=300), max_size=4))
def test_any_text_gives_signs_that_can_be_stored(pages: Sequence[str]) -> None:
    for sign in read_signs(list(enumerate(pages, 1))):
        assert 0 < len(sign.words) <= 200
        assert "@" not in sign.words
        assert sign.kind in MEANINGS


DEADLINE = datetime(2020, 10, 2, 15, tzinfo=UTC)
EARLY, LATE = DEADLINE - timedelta(hours=1), DEADLINE + timedelta(days=50)
REVIEW, ANONYMOUS, PREPRINT = SignKind.UNDER_REVIEW, SignKind.ANONYMOUS_AUTHORS, SignKind.PREPRINT
PUBLISHED, NAMED, THANKS = SignKind.PUBLISHED_AS, SignKind.NAMED_AUTHORS, SignKind.ACKNOWLEDGEMENTS
NUMBERS, CODE, OWN = SignKind.LINE_NUMBERS, SignKind.CODE_LINK, SignKind.OWN_CITATION
S, F, N = FileSays.SUBMITTED, FileSays.FINAL, FileSays.NOTHING


def inspection(kinds: Sequence[SignKind], made: datetime | None = None, changed: datetime | None = None) -> Inspection:
    signs = tuple(VersionSign(kind, 1, f"words of {kind}") for kind in kinds)
    return Inspection("0" * 64, "f", "v", 9, made, changed, None, signs, ())


@pytest.mark.parametrize(
    ("kinds", "made", "says"),
    [
        ([], None, N),
        ([REVIEW], None, S),
        ([ANONYMOUS], None, S),
        ([PUBLISHED], None, F),
        ([SignKind.ACCEPTED_AT], None, F),
        ([SignKind.PROCEEDINGS], None, F),
        ([REVIEW, PUBLISHED], None, N),
        ([ANONYMOUS, PUBLISHED], EARLY, N),
        ([REVIEW, NAMED, THANKS], None, S),
        ([PUBLISHED, NUMBERS], None, F),
        ([NAMED], None, N),
        ([THANKS, CODE, OWN], None, N),
        ([NAMED, THANKS], None, F),
        ([NAMED, CODE], None, F),
        ([NAMED, THANKS, PREPRINT], None, N),
        ([NAMED, THANKS], EARLY, N),
        ([NUMBERS], None, N),
        ([NUMBERS], EARLY, S),
        ([NUMBERS, NAMED], EARLY, N),
        ([], EARLY, N),
        ([], LATE, F),
        ([REVIEW, ANONYMOUS], EARLY, S),
        ([REVIEW, ANONYMOUS], LATE, F),
        ([PUBLISHED], EARLY, F),
    ],
)
def test_decisive_signs_decide_alone(kinds: list[SignKind], made: datetime | None, says: FileSays) -> None:
    assert infer_version(inspection(kinds, made), DEADLINE)[0] is says


@pytest.mark.parametrize(("after", "says"), [(timedelta(days=1), S), (timedelta(days=1, seconds=1), F)])
def test_a_day_late_is_in_time(after: timedelta, says: FileSays) -> None:
    assert infer_version(inspection([REVIEW], DEADLINE + after), DEADLINE)[0] is says


times = st.none() | st.datetimes(timezones=st.just(UTC))


@given(st.lists(st.sampled_from(sorted(MEANINGS)), unique=True), times, times, times)
def test_any_inspection_has_a_verdict(
    kinds: list[SignKind], made: datetime | None, changed: datetime | None, deadline: datetime | None
) -> None:
    says, why = infer_version(inspection(kinds, made, changed), deadline)
    decisive = {MEANINGS[kind].speaks_for for kind in kinds if MEANINGS[kind].strength is SignWeight.DECISIVE}
    late = made is not None and deadline is not None and made - deadline > timedelta(days=1)
    if says is S:
        assert not late
        assert F not in decisive
    if says is not N:
        assert why
    if len(decisive) == 2:
        assert says is (F if late else N)
