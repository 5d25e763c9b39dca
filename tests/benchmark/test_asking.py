"""What a prompt contains: the paper as far as the budget allows, the scales, examples, and earlier messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseline_cases import paper, rated, scored
from peercorpus.benchmark.cases import BenchTask, Case, CaseMessage
from peercorpus.benchmark.messages import TokenBudget, messages, shorten, shown_paper
from peercorpus.errors import PeercorpusError
from peercorpus.models import prompts
from peercorpus.models.chat_messages import Speaker
from peercorpus.models.token_counts import count_words_and_signs

TEXT = (
    "# Title\n\nAbstract words here.\n\n## Method\n\nWe fly. " + "far " * 50 + "\n\n## References\n\n" + "[1] X. " * 80
)


def test_a_text_that_fits_is_shown_whole() -> None:
    assert shorten(TEXT, None, count_words_and_signs).text == TEXT
    assert shorten(TEXT, 10_000, count_words_and_signs).text == TEXT


def test_references_are_dropped_first_and_the_omission_is_stated() -> None:
    shown = shorten(TEXT, 120, count_words_and_signs)
    assert shown.text.startswith(TEXT.partition("\n\n## References")[0].rstrip())
    assert "References" not in shown.text
    assert shown.tokens == count_words_and_signs(TEXT)
    assert f"[{shown.left_out:,} tokens" in shown.text


def test_paragraphs_are_dropped_next_from_the_end() -> None:
    shown = shorten(TEXT, 64, count_words_and_signs)
    assert shown.text.startswith("# Title\n\nAbstract words here.\n\n## Method\n\n[")


@given(st.text("ab #\n.", max_size=2_000), st.integers(64, 300))
def test_the_budget_is_respected(text: str, most: int) -> None:
    shown = shorten(text, most, count_words_and_signs)
    assert count_words_and_signs(shown.text) <= most
    if shown.left_out:
        kept = shown.text.rpartition("[")[0].rstrip()
        assert text.startswith(kept)
        assert count_words_and_signs(kept) + shown.left_out == shown.tokens


def test_a_budget_of_zero_is_refused() -> None:
    with pytest.raises(PeercorpusError, match="64"):
        TokenBudget(10)


def test_a_case_shows_venue_title_text_and_scales() -> None:
    case = scored("a", rated(3, 4, field="rating", low=1, high=10))
    told = messages(case, shown_paper(case.paper, TokenBudget(), len).text)
    assert [one.speaker for one in told] == [Speaker.SYSTEM, Speaker.USER]
    assert case.paper.markdown in told[1].text
    # A small model answers what it read last, so the question is repeated after the paper.
    assert told[1].text.endswith(f"- rating: 1 to 10\n\n{prompts.SCORES_AGAIN}")
    assert "3.5" not in told[1].text


def test_a_turn_follows_the_discussion_and_sides_alternate() -> None:
    history = (
        CaseMessage(Speaker.USER, "Shown to all."),
        CaseMessage(Speaker.ASSISTANT, "Review."),
        CaseMessage(Speaker.USER, "Answer."),
    )
    case = Case("a/R/3", BenchTask.REBUTTAL, paper("a"), references=("Fine.",), history=history)
    told = messages(case, "The paper.")
    speakers = [one.speaker for one in told]
    assert speakers == [Speaker.SYSTEM, Speaker.USER, Speaker.ASSISTANT, Speaker.USER]
    assert told[1].text.endswith("The paper.\n\nShown to all.")
    assert all("Fine." not in one.text for one in told)


def test_a_changed_prompt_has_another_version() -> None:
    # A change of wording makes results incomparable: raise VERSION, then write the new digest here.
    assert (prompts.VERSION, prompts.DIGEST) == ("3", "73a2ecb34f32")


def test_the_digest_covers_the_whole_prompt() -> None:
    said = {name for name in vars(prompts) if name.isupper() and isinstance(getattr(prompts, name), str)}
    assert said - {"DIGEST"} == set(prompts.SAID)
