"""Texts of `reminders`: the posts to decide on, each with its thread, and what was decided."""

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from peercorpus.records.counted_nouns import plural
from peercorpus.records.untrusted_text import escape_controls

if TYPE_CHECKING:
    from peercorpus.conversations.reminder_review import Candidate
    from peercorpus.corpus.reminder_decisions import Decisions
    from peercorpus.records.reviews import Post

_POST_CHARACTERS = 600
_BESIDE_CHARACTERS = 120
"""Longest excerpts of a post to decide on, and of those before and after it."""
RESULTS = {
    "taken": "the rule takes it for a reminder",
    "kept_for_its_place": "its words only urge, but somebody replies to it or the authors have not answered before",
    "kept_for_its_words": "the rule keeps it",
    "clearly_kept": "the rule keeps it",
}
"""What the rule makes of a post, in words."""


def listed(candidates: Sequence["Candidate"], decisions: "Decisions") -> str:
    """Return the posts to decide on, those that the rule takes first, and a last line with their numbers."""
    order = list(RESULTS)
    ranked = sorted(candidates, key=lambda one: (order.index(one.result), len(one.objections)))
    results = Counter(one.result.value for one in candidates)
    nearly = results["kept_for_its_place"] + results["kept_for_its_words"]
    taken = plural(results["taken"], "post")
    last = f"The rule takes {taken} for reminders and keeps {nearly:,} that nearly match it; {_count(decisions)}."
    unheld = [post_id for post_id in decisions if post_id not in {one.post.post_id for one in candidates}]
    lost = [f"No post of a conversation has this id, so its decision has no effect: {post_id}" for post_id in unheld]
    return "\n".join([*map(_describe, ranked), *lost, last])


def _count(decisions: "Decisions") -> str:
    verdicts = Counter(decision.verdict.value for decision in decisions.values())
    return f"decided by hand: {verdicts['reminder']:,} to leave out, {verdicts['keep']:,} to keep"


def _describe(candidate: "Candidate") -> str:
    post = candidate.post
    whose = f"conversation with {escape_controls(candidate.reviewer)}" if candidate.reviewer else "to several or others"
    lines = [
        f"{post.post_id}  (paper {post.forum_id}, {whose})",
        f"  rule: {RESULTS[candidate.result.value]}; score {len(candidate.objections)}",
        *(f"    {escape_controls(objection)}" for objection in candidate.objections),
    ]
    if candidate.decision is not None:
        decision = candidate.decision
        told = ", ".join(str(part) for part in (decision.day, escape_controls(decision.note)) if part)
        lines.append(f"  decided: {decision.verdict.value}{f' ({told})' if told else ''}")
    lines += [f"  before: {_quote(one, _BESIDE_CHARACTERS)}" for one in candidate.before]
    lines.append(f"  > {_quote(post, _POST_CHARACTERS)}")
    lines += [f"  after: {_quote(one, _BESIDE_CHARACTERS)}" for one in candidate.after]
    return "\n".join([*lines, ""])


def _quote(post: "Post", most: int) -> str:
    day = f"{post.created_at:%Y-%m-%d %H:%M} " if post.created_at else ""
    title = f"[{' '.join(post.title.split())}] " if post.title else ""
    words = f"{title}{' '.join(post.text.split())}" or "(no words)"
    return f"{day}{post.role.value.replace('_', ' ')}: {escape_controls(words, most)}"


def to_json(candidates: Sequence["Candidate"], decisions: "Decisions") -> str:
    """Return the posts to decide on, whole, and every decision as JSON."""
    told = [
        {
            "post_id": one.post_id,
            "decision": one.verdict.value,
            "decided_on": str(one.day or "") or None,
            "note": one.note,
        }
        for one in decisions.values()
    ]
    return json.dumps({"posts": [one.to_json() for one in candidates], "decisions": told}, indent=1, ensure_ascii=False)


def decided(decisions: "Decisions", workspace: Path) -> str:
    """Return how many decisions there are, and that they need a build."""
    where = shlex.quote(str(workspace))
    return f"{_count(decisions).capitalize()}. Run 'peercorpus build --workspace {where}' to apply it."
