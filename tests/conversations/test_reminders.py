"""Which posts are only reminders: two labelled sets, one by another annotator and unseen while rules were written."""

import json
from collections import Counter
from pathlib import Path

import pytest

from peercorpus.conversations.reminders import is_reminder

LABELLED = Path(__file__).parent / "labelled"


def told(name: str) -> dict[str, tuple[int, int]]:
    """Return for each label how many posts it has, and how many of them are recognised as reminders."""
    posts = [json.loads(line) for line in (LABELLED / name).read_text(encoding="utf-8").splitlines()]
    all_of = Counter(post["label"] for post in posts)
    found = Counter(post["label"] for post in posts if is_reminder(post["title"], post["text"]))
    return {label: (number, found[label]) for label, number in all_of.items()}


def test_the_labelled_posts_are_many() -> None:
    assert sum(number for name in ("first.jsonl", "held_out.jsonl") for number, _ in told(name).values()) == 520


@pytest.mark.parametrize("name", ["first.jsonl", "held_out.jsonl"])
def test_at_least_98_of_100_content_posts_are_kept(name: str) -> None:
    content, lost = told(name)["content"]
    assert lost <= 0.02 * content


@pytest.mark.parametrize("name", ["first.jsonl", "held_out.jsonl"])
def test_most_reminders_are_found_and_hardly_anything_else(name: str) -> None:
    labels = told(name)
    reminders, found = labels["reminder"]
    assert found >= 0.7 * reminders
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
def test_a_post_that_says_more_or_asks_nothing_is_not_a_reminder(title: str | None, text: str) -> None:
    assert not is_reminder(title, text)
