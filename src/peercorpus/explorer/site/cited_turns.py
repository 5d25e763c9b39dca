"""Add what a page lacks for citing its turns: its script, `cite.js`, makes the citations from what the page shows.

It makes them as `explorer.reading.citations` does; as text in a page, they would be a fifth of it.
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache

from markupsafe import Markup, escape

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.explorer.paper_page import Dialogue, Spoken, ToAll
from peercorpus.explorer.reading.citations import name_kind
from peercorpus.explorer.rendering import format_post_kind, masked
from peercorpus.latex.characters import escape_text
from peercorpus.records.enums import PostKind, Role

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
    if paper.year and None in _list_moments(forum):
        added["year"] = paper.year
    return _attribute("cite", json.dumps(added, separators=(",", ":"))) if added else _NOTHING


def _join(text: str) -> str:
    return " ".join(masked(text).split())


def _list_moments(forum: PublicForum) -> set[datetime | None]:
    turns = {turn.created_at for talk in forum.conversations for turn in talk.turns}
    return turns | {post.created_at for post in forum.posts}


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
