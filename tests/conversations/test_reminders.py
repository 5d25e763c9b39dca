"""Which posts are only reminders: labelled sets, of which the held-out ones were unseen while rules were written."""

import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peercorpus.conversations.reminders import is_reminder

LABELLED = Path(__file__).parent / "labelled"
SETS = ("first.jsonl", "held_out.jsonl", "second.jsonl", "second_held_out.jsonl")


def told(name: str) -> dict[str, tuple[int, int]]:
    """Return for each label how many posts it has, and how many of them are recognised as reminders."""
    posts = [json.loads(line) for line in (LABELLED / name).read_text(encoding="utf-8").splitlines()]
    all_of = Counter(post["label"] for post in posts)
    found = Counter(post["label"] for post in posts if is_reminder(post["title"], post["text"]))
    return {label: (number, found[label]) for label, number in all_of.items()}


def test_the_labelled_posts_are_many() -> None:
    assert sum(number for name in SETS for number, _ in told(name).values()) == 708


@pytest.mark.parametrize("name", SETS)
def test_content_posts_are_kept(name: str) -> None:
    content, lost = told(name)["content"]
    assert lost <= 0.02 * content


@pytest.mark.parametrize("name", SETS)
def test_most_reminders_are_found_and_hardly_anything_else(name: str) -> None:
    labels = told(name)
    reminders, found = labels["reminder"]
    assert found >= 0.9 * reminders
    assert sum(number for _, number in labels.values()) - found <= 0.05 * found


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (
            "Gentle reminder",
            "Dear Reviewer A1bC,\n\nthe discussion ends on Nov 26 (AoE). Have we addressed your concerns?",
        ),
        (None, "We have not heard back from you yet. Please let us know if anything is unclear before December 3rd."),
        ("Deadline in 24 hours", "We would be grateful if you could raise your score to 6."),
        (
            "A reminder",
            "Dear Reviewer, we would be glad to hear whether the new kites make the paper fly in\nyour eyes.",
        ),
        ("A kind reminder", "Does the new section with the stronger baseline resolve your concerns?"),
        ("Hello", "Dear Reviewer,\\n\\nThe discussion ends soon.\\nHave we addressed your concerns?\\n\\nAuthors"),
    ],
)
def test_a_post_that_only_urges_is_a_reminder(title: str | None, text: str) -> None:
    assert is_reminder(title, text)


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Gentle reminder", "The discussion ends soon. With three seeds the gap is 0.4 points."),
        ("Reminder", "Please see Section B for the proof."),
        (None, "> Is it fast?\n\nYes. Please let us know if anything is unclear."),
        (None, "Thank you for raising your score!"),
        (None, "Would it outperform the baseline? It does. We look forward to your reply."),
        (None, ""),
        (None, "Yes, both models share the same training setup. Please let us know if that answers the question."),
        (None, "No, the baselines were not trained on the full dataset; please consider it."),
        (None, "We do not need the assumption for the proof. Please let us know if this is clear."),
        (None, "We now compare with the baseline you requested, and our method is stronger. Please reconsider."),
        (None, "\u6211\u4eec\u8bc1\u660e\u4e86\u6536\u655b\u6027\u3002Please let us know."),
        ("Reminder", "Please answer. " * 400),
    ],
)
def test_a_post_with_content_is_kept(title: str | None, text: str) -> None:
    assert not is_reminder(title, text)


GREETINGS = ("", "Dear Reviewer,", "Hi R2!", "Dear Reviewer A1bC,\n\n", "Hello again,")
REASONS = (
    *("the discussion ends in two days.", "we posted our rebuttal a week ago."),
    *("thank you once more for your review.", "only a few hours remain until the deadline (Dec 3, AoE)."),
    "we have tried to answer each of your questions, and uploaded a revised version.",
)
REQUESTS = (
    *("Could you let us know whether your concerns are resolved?", "We would be grateful for any feedback."),
    *("We look forward to hearing from you.", "Please reconsider your score if our answers are satisfactory."),
    *("Is there anything that remains unclear?", "We have not heard back from you so far."),
)
CONTENT = (
    *("With three seeds the gap is 0.4 points.", "The encoder is frozen, so that gradients reach only the adapter."),
    "Lemma 2 needs only local smoothness, since the iterates stay in a compact set.",
    *("The baseline was trained on the same corpus, whereas ours was not.", "Inference takes 12 ms on one GPU."),
)


@given(
    st.sampled_from(GREETINGS), st.sampled_from(REASONS), st.lists(st.sampled_from(REQUESTS), min_size=1, max_size=3)
)
def test_composed_reminders_are_recognised(greeting: str, reason: str, requests: list[str]) -> None:
    assert is_reminder(None, " ".join((greeting, reason, *requests)))


@given(
    st.sampled_from(REASONS), st.lists(st.sampled_from(REQUESTS), max_size=2), st.sampled_from(CONTENT), st.booleans()
)
def test_reminders_with_one_sentence_of_content_are_kept(
    reason: str, requests: list[str], content: str, is_first: bool
) -> None:
    words = [content, reason, *requests] if is_first else [reason, *requests, content]
    assert not is_reminder(None, " ".join(words))
