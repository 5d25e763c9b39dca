"""Whatever a model writes, an adapter converts it to our form or states why it cannot."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asked_cases import CONFIDENCE, NOVELTY, OVERALL, RATING, SOUNDNESS, acceptance, reviewing, scoring
from peercorpus.benchmark.adapters.reviewer_models import ADAPTERS, load_adapter
from peercorpus.benchmark.answers import UnreadableAnswerError, read_decision, read_review_answer, read_score_answer
from peercorpus.benchmark.cases import BenchTask, Case

RECORDED = sorted(path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "outputs").glob("*.md"))
LINES = sorted({line for text in RECORDED for line in text.splitlines()})
ODD = [
    "}",
    "{",
    "\\boxed_review{",
    "\\boxed_simreviewers{",
    "**********",
    "10/10",
    "Accept/Reject",
    "N/A",
    "",
    "## Rating",
]
SHUFFLED = st.lists(st.one_of(st.sampled_from(LINES), st.sampled_from(ODD), st.text(max_size=20)), max_size=40)
TEXTS = st.one_of(
    st.text(),
    SHUFFLED.map("\n".join),
    st.builds(lambda text, end: text[:end], st.sampled_from(RECORDED), st.integers(0, 4000)),
    st.builds(
        lambda text, at, put: text[:at] + put + text[at:], st.sampled_from(RECORDED), st.integers(0, 4000), st.text()
    ),
)
ASKED = st.lists(st.sampled_from([RATING, SOUNDNESS, CONFIDENCE, OVERALL, NOVELTY]), unique=True)
CASES = st.one_of(st.just(acceptance()), ASKED.map(lambda asked: scoring(*asked)), ASKED.map(lambda a: reviewing(*a)))


def check_form(case: Case, answer: str) -> None:
    if case.task is BenchTask.ACCEPTANCE:
        assert read_decision(answer).probability is None
    elif case.task is BenchTask.SCORES:
        assert set(read_score_answer(answer, case.scores)) == {one.field for one in case.scores}
    else:
        assert read_review_answer(answer, case.scores).text


@pytest.mark.parametrize("name", ADAPTERS)
@given(case=CASES, text=TEXTS)
def test_an_answer_is_in_our_format_or_unreadable(name: str, case: Case, text: str) -> None:
    try:
        answer = load_adapter(name).read(case, text)
    except UnreadableAnswerError as error:
        assert error.reason  # noqa: PT017
        return
    check_form(case, answer)


@pytest.mark.parametrize("text", RECORDED)
@pytest.mark.parametrize("name", ADAPTERS)
def test_every_prefix_is_read_alike(name: str, text: str) -> None:
    """A truncated answer never yields a different number or decision from the whole one."""
    adapter = load_adapter(name)
    for case in (acceptance(), scoring(RATING), scoring(SOUNDNESS)):
        try:
            whole = adapter.read(case, text)
        except UnreadableAnswerError:
            continue
        for end in range(0, len(text), 3):
            try:
                assert adapter.read(case, text[:end], is_complete=False) == whole
            except UnreadableAnswerError:
                continue
