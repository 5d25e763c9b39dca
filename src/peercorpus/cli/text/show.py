"""Text of `show`: one paper with everything known about it."""

import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from peercorpus.corpus.forums import Forum
from peercorpus.corpus.resubmissions import name_other
from peercorpus.records.ai_reviews import AiReply, AiReview
from peercorpus.records.enums import BY_OTHERS, Phase
from peercorpus.records.papers import Link, Paper, PaperVersion
from peercorpus.records.reviews import ContextPost, Conversation, Post, Review, Turn
from peercorpus.records.scores import Score, ScoreChange
from peercorpus.release.record_rows import blotted_json
from peercorpus.wording.counted_nouns import plural
from peercorpus.wording.untrusted_text import escape_controls, redact_people

WIDTH = 100
BRIEF_CHARACTERS = 300
NOT_KNOWN = "not known"


def show_record(record: Forum, *, is_brief: bool) -> str:
    """Return a paper's versions and grades, links, scores, conversations as published, AI reviews, and rows set aside.

    If it is brief, only the beginning of each text is shown. E-mail addresses and profile ids are masked.
    """
    paper = record.paper
    by_id = {post.post_id: post for post in record.posts}
    lines = [
        escape_controls(paper.title or "no title", 300),
        f"{escape_controls(paper.forum_id)}, {escape_controls(paper.venue_id)}: {paper.status.value}"
        + (f" ({escape_controls(paper.decision)})" if paper.decision else ""),
        *_section("Versions", _versions(record.versions)),
        *_section("The same work", _links(paper.forum_id, record.links)),
        *(_section("Published datasets", _published(paper)) if paper.records or paper.stated_splits else ()),
        *_section("Scores", _scores(record.reviews)),
        *(line for talk in record.conversations for line in _conversation(talk, by_id, is_brief=is_brief)),
        *(line for review in record.ai_reviews for line in _ai_review(review, is_brief=is_brief)),
        *_section("Set aside", _set_aside(record)),
    ]
    shown: str = redact_people("\n".join(lines))
    return shown


def record_to_json(record: Forum) -> str:
    """Return a paper as one JSON object, masked, without the names of its authors and rows set aside."""
    content: dict[str, Any] = {
        name: msgspec.to_builtins(getattr(record, name))
        for name in ("paper", "versions", "reviews", "posts", "conversations", "ai_reviews", "links")
    }
    content["paper"].pop("authors")
    return json.dumps(_mask(content), indent=1, ensure_ascii=False)


def _mask(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    """Mask people in all texts, also in the fields that are JSON as a text."""
    if isinstance(value, dict):
        return {name: blotted_json(inner) if name == "extra" else _mask(inner) for name, inner in value.items()}
    return [_mask(inner) for inner in value] if isinstance(value, list | tuple) else redact_people(value)


def _section(title: str, lines: Iterator[str]) -> list[str]:
    return ["", title, "-" * len(title), *(list(lines) or ["  none"])]


def _when(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if moment else "no date"


def _versions(versions: Sequence[PaperVersion]) -> Iterator[str]:
    for version in sorted(versions, key=lambda version: _when(version.created_at)):
        mark = "initial" if version.is_initial else (version.moment.value if version.moment else "")
        file = version.sha256[:12] if version.sha256 else "file not here"
        grade = f", {version.grade}: {version.evidence.rule}" if version.grade is not None else ""
        yield f"  {_when(version.created_at)}  {mark or 'unplaced':<16} {file}{grade}"


def _links(forum_id: str, links: Sequence[Link]) -> Iterator[str]:
    for link in links:
        other, venue_id = name_other(link, forum_id)
        way = "before" if other == link.earlier_id else "later"
        when = "" if link.days is None else f", {plural(round(link.days), 'day')} {way}"
        yield f"  {escape_controls(other)}, {escape_controls(venue_id)}{when}: {link.kind.value}; {link.rule}"


def _published(paper: Paper) -> Iterator[str]:
    """Yield the published records of a paper, their differences, and the splits that they assign."""
    if paper.records:
        yield f"  made of {', '.join(map(escape_controls, paper.records))}"
    for conflict in paper.conflicts:
        kept, other = escape_controls(conflict.kept, 300), escape_controls(conflict.other, 300)
        yield (
            f"  {escape_controls(conflict.field)}: '{kept}' from {escape_controls(conflict.kept_from)} is used;"
            f" {escape_controls(conflict.other_from)} states '{other}'"
        )
    for stated in paper.stated_splits:
        also = f"; another of its files states {stated.also_stated}" if stated.also_stated else ""
        yield f"  task {stated.task}: {stated.split}{also}"


def _number(value: float | None) -> str:
    return NOT_KNOWN if value is None else f"{value:g}"


def _scores(reviews: Sequence[Review]) -> Iterator[str]:
    for review in reviews:
        yield f"  {escape_controls(review.reviewer)}, review of {_when(review.created_at)}"
        first = {score.key: score for score in review.scores if score.phase is Phase.INITIAL}
        final = {score.key: score for score in review.scores if score.phase is Phase.FINAL}
        for name in dict.fromkeys((*final, *first)):
            yield f"    {escape_controls(name)}: {_before_and_after(first.get(name), final.get(name))}"


def _before_and_after(first: Score | None, final: Score | None) -> str:
    score = final or first
    scale = f" of {score.low:g} to {score.high:g}" if score and score.low is not None and score.high is not None else ""
    now = _answer(final) if final else f"{NOT_KNOWN} at the end"
    if first is None:
        return f"{now}{scale}"
    if final and _answer(first) == _answer(final):
        return f"{now}{scale}, as at first (read in: {first.source.value})"
    by = f"; {final.source.value}" if final and final.source in BY_OTHERS else ""
    return f"{_answer(first)}{scale} at first, {now}{' now' if final else ''} (read in: {first.source.value}{by})"


def _answer(score: Score) -> str:
    """Return the number, or the quoted answer if it has none."""
    return f"'{escape_controls(score.label)}'" if score.value is None else f"{score.value:g}"


def _change(change: ScoreChange) -> str:
    return (
        f"{escape_controls(change.field)} {_number(change.before)} -> {_number(change.after)} ({change.source.value})"
    )


def _conversation(talk: Conversation, by_id: Mapping[str, Post], *, is_brief: bool) -> Iterator[str]:
    kind = "" if talk.is_with_reviewer else f" ({talk.kind.value})"
    title = f"Conversation with {escape_controls(talk.reviewer)}{kind}"
    yield from ("", title, "-" * len(title))
    context = talk.group_context()
    for index, turn in enumerate(talk.turns):
        yield from _context(context.get(index, ()), by_id, is_brief=is_brief)
        yield from _turn(turn, is_brief=is_brief)
    for index_after in (len(talk.turns), None):
        yield from _context(context.get(index_after, ()), by_id, is_brief=is_brief)
    for change in talk.undated_changes:
        yield f"  * at an unknown time: {_change(change)}"


def _context(context: Sequence[ContextPost], by_id: Mapping[str, Post], *, is_brief: bool) -> Iterator[str]:
    for beside in context:
        if beside.post_id in by_id:
            post = by_id[beside.post_id]
            named = f", {plural(len(beside.concerning), 'passage')} naming this reviewer" if beside.concerning else ""
            yield f"  | to all reviewers, {_when(post.created_at)}: {escape_controls(post.title or 'no title')}{named}"
            yield from _text(post.text, "  | ", is_brief=is_brief)


def _turn(turn: Turn, *, is_brief: bool) -> Iterator[str]:
    merged = f", {plural(len(turn.post_ids), 'post')} merged" if len(turn.post_ids) > 1 else ""
    orphans = f", {plural(len(turn.orphan_ids), 'answer')} to a post that is gone" if turn.orphan_ids else ""
    title = f": {escape_controls(turn.title, 200)}" if turn.title else ""
    yield f"  > {turn.role.value} {escape_controls(turn.signature)}, {_when(turn.created_at)}{merged}{orphans}{title}"
    yield from _text(turn.text, "    ", is_brief=is_brief)
    for change in turn.score_changes:
        yield f"  * {_change(change)}"
    if turn.final_justification:
        yield "  * final justification:"
        yield from _text(turn.final_justification, "    ", is_brief=is_brief)


def _text(text: str, indent: str, *, is_brief: bool) -> Iterator[str]:
    if is_brief:
        text = " ".join(text.split())
        text = text if len(text) <= BRIEF_CHARACTERS else f"{text[:BRIEF_CHARACTERS]} …"
    for line in text.split("\n"):
        shown = escape_controls(line, len(line))
        yield from textwrap.wrap(shown, WIDTH, initial_indent=indent, subsequent_indent=indent) or [indent.rstrip()]


def _ai_review(review: AiReview, *, is_brief: bool) -> Iterator[str]:
    title = f"AI review ({review.certainty.value}), signed {escape_controls(review.signature)}"
    yield from ("", title, "-" * len(title))
    yield f"  > {review.role.value} {escape_controls(review.signature)}, {_when(review.created_at)}"
    for section in review.sections:
        yield f"    {escape_controls(section.field)}:"
        yield from _text(section.text, "    ", is_brief=is_brief)
    for score in review.scores:
        yield f"  * {escape_controls(score.field)}: {_before_and_after(None, score)}"
    for reply in review.replies:
        yield from _ai_reply(reply, is_brief=is_brief)


def _ai_reply(reply: AiReply, *, is_brief: bool) -> Iterator[str]:
    title = f": {escape_controls(reply.title, 200)}" if reply.title else ""
    signer = f"{reply.role.value} {escape_controls(reply.signature)}"
    yield f"  > {signer}, {reply.kind.value}, {_when(reply.created_at)}{title}"
    yield from _text(reply.text, "    ", is_brief=is_brief) if reply.text else ()
    for answer in reply.survey:
        rank = f" ({answer.rank} of {len(answer.answers)}, the best last)" if answer.rank is not None else ""
        yield f"  * {escape_controls(answer.field)}: '{escape_controls(answer.answer, 200)}'{rank}"


def _set_aside(record: Forum) -> Iterator[str]:
    titles = {post.post_id: post for post in record.posts}
    for row in record.set_aside:
        post = titles.get(row.record_id)
        what = f" ({post.kind.value} of {escape_controls(post.signature)}, {_when(post.created_at)})" if post else ""
        detail = escape_controls(row.detail, 300)
        yield f"  {escape_controls(row.record_id)}{what}, {row.stage}: {row.reason.value}. {detail}"
