"""Cite a turn or a post of a paper's discussion, in words and in BibTeX, by its address on OpenReview.

Reviewers and chairs are cited by the anonymous signature that OpenReview shows, never by a name. The script of a site's
pages, `cite.js`, makes the same citations from what a page shows; attributes have what that lacks.
"""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from urllib.parse import quote

from markupsafe import Markup, escape

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.explorer.paper_page import Dialogue, Spoken, ToAll
from peercorpus.explorer.rendering import ROLES, day, format_post_kind, masked
from peercorpus.latex.characters import escape_text
from peercorpus.records.enums import PostKind, Role
from peercorpus.records.papers import Paper
from peercorpus.records.reviews import Post, Turn

_NOTE_ID = re.compile(r"[A-Za-z0-9_-]+")
"""Ids made by OpenReview; those of imported records contain other characters."""
_NOT_IN_KEYS = re.compile(r"[^A-Za-z0-9_-]+")
_ANONYMOUS = frozenset((Role.REVIEWER, Role.AREA_CHAIR, Role.SENIOR_AREA_CHAIR, Role.ETHICS_REVIEWER))
"""Roles whose holders OpenReview does not name."""
_MAX_TITLE_CHARACTERS = 300
_MAX_AUTHORS = 50


@dataclass(frozen=True, slots=True)
class Citation:
    """How one turn is cited.

    Attributes:
        address: Its address on OpenReview; None if the paper has none there.
    """

    text: str
    bibtex: str
    address: str | None


def openreview_address(forum_id: str, note_id: str | None = None) -> str | None:
    """Return the address of a note on OpenReview, or that of its forum if the note has no id there.

    >>> openreview_address("B1ckMDqlg", "rkgO66VKDS"), openreview_address("re2:a b")
    ('https://openreview.net/forum?id=B1ckMDqlg&noteId=rkgO66VKDS', None)
    """
    if not _NOTE_ID.fullmatch(forum_id):
        return None
    note = f"&noteId={quote(note_id)}" if note_id and _NOTE_ID.fullmatch(note_id) else ""
    return f"https://openreview.net/forum?id={quote(forum_id)}{note}"


def cite_turn(forum: PublicForum, turn: Turn) -> Citation:
    """Return the citation of a turn; several posts that are one turn are cited by the first."""
    post_id = turn.post_ids[0] if turn.post_ids else None
    speaker = _name_speaker(turn.role, turn.signature)
    return _cite(forum.paper, turn.role, speaker, name_kind(forum, turn), turn.created_at, post_id)


def name_kind(forum: PublicForum, turn: Turn) -> str:
    """Return what a turn is, in words: the kind of its first post."""
    post_id = turn.post_ids[0] if turn.post_ids else None
    post = forum.by_id.get(post_id) if post_id else None
    if post is None and any(review.review_id == post_id for review in forum.reviews):
        return format_post_kind(PostKind.REVIEW)  # A release holds a review once, and not among its posts.
    return format_post_kind(post.kind) if post else "Contribution to the discussion"


def cite_post(forum: PublicForum, post: Post) -> Citation:
    """Return the citation of a post that belongs to no conversation."""
    speaker = _name_speaker(post.role, post.signature)
    return _cite(forum.paper, post.role, speaker, format_post_kind(post.kind), post.created_at, post.post_id)


def _name_speaker(role: Role, signature: str) -> str:
    if role is Role.AUTHOR:
        return "The authors"
    if not signature or signature == ROLES[role]:
        return ROLES[role]
    return f"{ROLES[role]} ({_cut(masked(signature))})"


def _cite(paper: Paper, role: Role, speaker: str, kind: str, moment: datetime | None, post_id: str | None) -> Citation:
    title = _cut(masked(paper.title or "Untitled"))
    venue = _cut(masked(paper.venue or paper.venue_id))
    address = openreview_address(paper.forum_id, post_id)
    dated = [day(moment)] if moment else []
    named = f"{kind} of “{title}”" if kind == "Review" else f"{kind} on “{title}”"
    text = ". ".join([speaker, named, venue, *dated])
    year = moment.year if moment else paper.year
    about = "reviewed paper" if kind == "Review" else "discussed paper"
    fields = {
        "title": f"{{{escape_text(named)}}}",
        "author": _list_authors(paper, role),
        "year": str(year) if year else None,
        "howpublished": escape_text(f"OpenReview, {venue}"),
        "url": address,
        "note": f"{escape_text(', '.join([f'{kind}: {speaker}', *dated]))}; {about}: {{{escape_text(title)}}}",
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    key = _NOT_IN_KEYS.sub("", f"{paper.forum_id}-{post_id or 'discussion'}")
    bibtex = "\n".join([f"@misc{{{key},", *lines, "}"])
    return Citation(f"{text}.{f' {address}' if address else ''}", bibtex, address)


def _list_authors(paper: Paper, role: Role) -> str:
    """Return who wrote a turn, for BibTeX: the paper's authors wrote their own turns and no others."""
    if role is Role.AUTHOR:
        # In braces, BibTeX does not divide a name.
        names = (f"{{{escape_text(_cut(masked(name)))}}}" for name in paper.authors[:_MAX_AUTHORS])
        return " and ".join(names) or "{Anonymous authors}"
    return f"{{Anonymous {ROLES[role].lower()}}}" if role in _ANONYMOUS else f"{{{ROLES[role]}}}"


def _cut(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MAX_TITLE_CHARACTERS else f"{words[:_MAX_TITLE_CHARACTERS]} …"


_NOTHING = Markup()
_USUAL = format_post_kind(PostKind.COMMENT)


@cache
def _is_escaped_by_script(character: str) -> bool:
    return character.isascii() or escape_text(character) == character


def is_plain(text: str) -> bool:
    r"""Return whether the script writes a text as LaTeX as `escape_text` does.

    >>> is_plain("50 % of Erdős"), is_plain("\u03b1-kites"), is_plain("n\u0303")
    (True, False, True)
    """
    return all(map(_is_escaped_by_script, unicodedata.normalize("NFC", text)))


def paper_attribute(forum: PublicForum) -> Markup:
    """Return the attribute of a page with what its script cannot read or write: empty for most papers.

    It is JSON: `title`, `venue` and `authors` in LaTeX, and the `year` of the paper if a post has no date.
    """
    paper = forum.paper
    named = {"title": paper.title or "Untitled", "venue": paper.venue or paper.venue_id}
    added: dict[str, object] = {
        name: escape_text(_join(text)) for name, text in named.items() if not is_plain(masked(text))
    }
    if any("," in name or not is_plain(masked(name)) for name in paper.authors):
        added["authors"] = [escape_text(_join(name)) for name in paper.authors]
    moments = [turn.created_at for talk in forum.conversations for turn in talk.turns]
    if paper.year and None in [*moments, *(post.created_at for post in forum.posts)]:
        added["year"] = paper.year
    return _attribute("cite", json.dumps(added, separators=(",", ":"))) if added else _NOTHING


def _join(text: str) -> str:
    return " ".join(masked(text).split())


def turn_attributes(forum: PublicForum, talk: Dialogue, item: Spoken | ToAll) -> Markup:
    """Return the attributes of a turn with its kind and the id of its post, where its script would assume others."""
    if isinstance(item, ToAll):
        kind, usual, post_id, shown = format_post_kind(item.post.kind), _USUAL, "", ""
    else:
        kind, usual = name_kind(forum, item.turn), _name_usual(talk, item)
        post_id, shown = (*item.turn.post_ids[:1], "")[0], item.anchor.removeprefix("post-")
    pairs: Mapping[str, tuple[str, str]] = {"kind": (kind, usual), "post": (post_id, shown)}
    return _NOTHING.join(_attribute(name, value) for name, (value, assumed) in pairs.items() if value != assumed)


def _name_usual(talk: Dialogue, item: Spoken) -> str:
    """Return the kind that the script assumes: the first turn of a reviewer is a review, any other a comment."""
    spoken: Sequence[Spoken] = [one for one in talk.items if isinstance(one, Spoken)]
    first = next((one for one in spoken if one.turn.role is Role.REVIEWER), None)
    return format_post_kind(PostKind.REVIEW) if item is first else _USUAL


def _attribute(name: str, value: str) -> Markup:
    return Markup(' data-{}="{}"').format(name, escape(masked(value)))
