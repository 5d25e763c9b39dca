"""The pages of the explorer: what each address answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import jinja2
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from peercorpus.explorer import words
from peercorpus.explorer.changed_passages import by_section
from peercorpus.explorer.dialogue import Spoken, dialogues, score_table
from peercorpus.explorer.exporting import FORMATS, command_of, python_of
from peercorpus.explorer.legible import legible
from peercorpus.explorer.paper_text import find_text
from peercorpus.explorer.prose import Prose
from peercorpus.explorer.public_forums import PublicForum, one_forum
from peercorpus.explorer.search import PAGE, rows_of, search
from peercorpus.explorer.search_index import OpenIndex, Stored, find_stored
from peercorpus.explorer.selection import SORTS, read_selection
from peercorpus.explorer.venue_page import by_conference, venue_page
from peercorpus.explorer.whole_json import whole_json
from peercorpus.file_records import Change, Link
from peercorpus.kinds import Grade, Status
from peercorpus.openreview.objects import blot_people
from peercorpus.publish.takedown import Takedown
from peercorpus.tables import Tables
from peercorpus.where import FIELDS

PACKAGE = files("peercorpus.explorer")
ASSETS = {"style.css": "text/css; charset=utf-8", "keys.js": "text/javascript; charset=utf-8"}
"""All that a page loads, from the package."""


def masked(text: str) -> str:
    """A text from outside that a page may show in one piece."""
    return legible(blot_people(text))


def _shown(value: object) -> object:
    return masked(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def address(kind: str, name: str) -> str:
    """The permalink of a paper, a text, a venue.

    >>> address("venue", "ICLR.cc/2024/Conference")
    '/venue/ICLR.cc%2F2024%2FConference'
    """
    return f"/{kind}/{quote(name, safe='')}"


def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("peercorpus.explorer"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"address": address, "statuses": words.STATUSES, "grades": words.GRADES, "Spoken": Spoken}
    made.globals |= {"moments": words.MOMENTS, "roles": words.ROLES, "link_kinds": words.LINKS, "fields": words.FIELDS}
    made.globals |= {"sorts": SORTS, "Grade": Grade, "Status": Status}
    made.filters |= {"day": words.day, "number": words.number, "post_kind": words.kind_of_post}
    made.tests["spoken"] = lambda item: isinstance(item, Spoken)
    return made


@dataclass(frozen=True)
class Explorer:
    """What the pages are made from: the tables, and the index over what may be shown of them."""

    folder: Path
    tables: Tables
    takedown: Takedown
    index: OpenIndex

    @cached_property
    def templates(self) -> jinja2.Environment:
        """The pages' templates."""
        return _templates()

    @cached_property
    def assets(self) -> dict[str, bytes]:
        """What a page loads, by its name."""
        return {name: (PACKAGE / "static" / name).read_bytes() for name in ASSETS}

    def page(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        """One page."""
        return HTMLResponse(self.templates.get_template(template).render(**values), status)

    def asset(self, request: Request) -> Response:
        """A file that pages load."""
        name = request.path_params["name"]
        if name not in self.assets:
            raise HTTPException(404)
        return Response(self.assets[name], media_type=ASSETS[name])

    def search(self, request: Request) -> HTMLResponse:
        """The search, and a page of what was found."""
        asked = read_selection(request.url.query)
        found = search(self.index, asked)
        if asked.page > found.pages:
            asked = replace(asked, page=found.pages)
            found = search(self.index, asked)
        whole = self.takedown.ids == ()
        return self.page(
            "search.html",
            asked=asked,
            found=found,
            first=(asked.page - 1) * PAGE,
            venues=self.index.venues,
            conditions=[(one, asked.without(one).query_string()) for one in asked.conditions],
            command=command_of(self.folder, asked),
            python=python_of(self.folder, asked, is_whole=whole),
            formats=FORMATS,
            where=FIELDS,
        )

    def export(self, request: Request) -> Response:
        """All papers of a selection, in one of the formats."""
        kind = request.path_params["kind"]
        if kind not in FORMATS:
            raise HTTPException(404)
        write, media_type = FORMATS[kind]
        rows = rows_of(self.index, read_selection(request.url.query))
        shown_as = {"content-disposition": f'attachment; filename="papers.{kind}"'}
        return StreamingResponse(write(rows), media_type=media_type, headers=shown_as)

    def _stored(self, request: Request) -> Stored:
        stored = find_stored(self.index, request.path_params["forum_id"])
        if stored is None:
            raise HTTPException(404, "No paper of this corpus has this id, or it is not shown.")
        return stored

    def _forum(self, stored: Stored) -> PublicForum:
        forum = one_forum(self.tables, self.takedown, stored.row.venue_id, stored.row.forum_id)
        if forum is None:
            raise HTTPException(404, "This paper is no longer in the tables; start the explorer again.")
        return forum

    def _changes(self, forum: PublicForum) -> Sequence[Change]:
        files_shown = {version.sha256 for version in forum.versions}
        found = self.tables.of_forum(Change, forum.paper.venue_id, forum.paper.forum_id)
        return [change for change in found if {change.left_sha256, change.right_sha256} <= files_shown]

    def paper(self, request: Request) -> HTMLResponse:
        """One paper and all that was said about it."""
        stored = self._stored(request)
        forum = self._forum(stored)
        return self.page(
            "paper.html",
            row=stored.row,
            forum=forum,
            paper=forum.paper,
            prose=Prose(blot_people),
            scores=score_table(forum.reviews),
            dialogues=dialogues(forum),
            changes=len(self._changes(forum)),
            links=[self._linked(stored.row.forum_id, link) for link in stored.links],
        )

    def _linked(self, forum_id: str, link: Link) -> tuple[Link, str, str, str]:
        """A link with the other paper's id, venue and title."""
        is_later = link.forum_id == forum_id
        other, venue_id = (link.earlier_id, link.earlier_venue_id) if is_later else (link.forum_id, link.venue_id)
        stored = find_stored(self.index, other)
        return link, other, venue_id, (stored.row.title if stored else None) or "Untitled"

    def text(self, request: Request) -> HTMLResponse:
        """The text of a paper."""
        row = self._stored(request).row
        text = find_text(self.tables, row.venue_id, row.text_sha256) if row.text_sha256 else None
        if text is None:
            raise HTTPException(404, "No text of this paper is held.")
        return self.page("text.html", row=row, text=text, prose=Prose(blot_people))

    def changes(self, request: Request) -> HTMLResponse:
        """What differs between a paper's initial and its last version."""
        stored = self._stored(request)
        changes = self._changes(self._forum(stored))
        return self.page("changes.html", row=stored.row, sections=list(by_section(changes)), total=len(changes))

    def record(self, request: Request) -> Response:
        """The whole record of a paper as JSON."""
        stored = self._stored(request)
        forum = self._forum(stored)
        return Response(whole_json(forum, stored.links, self._changes(forum)), media_type="application/json")

    def venues(self, _: Request) -> HTMLResponse:
        """All venues."""
        return self.page("venues.html", families=by_conference(self.index.venues))

    def venue(self, request: Request) -> HTMLResponse:
        """One venue."""
        counts = self.index.venues.get(request.path_params["venue_id"])
        if counts is None:
            raise HTTPException(404, "This corpus has no venue of this name.")
        return self.page("venue.html", venue=venue_page(self.tables, counts), share=words.share)

    def about(self, _: Request) -> HTMLResponse:
        """What the explorer shows, and what its words mean."""
        venues = self.index.venues.values()
        totals = {name: sum(getattr(one, name) for one in venues) for name in ("papers", "reviews", "conversations")}
        return self.page("about.html", totals=totals, venues=len(venues), taken=len(self.takedown.ids), where=FIELDS)

    def refused(self, _: Request, error: Exception) -> HTMLResponse:
        """The page of a request that cannot be answered."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        said = error.detail if isinstance(error, HTTPException) and error.detail != "Not Found" else None
        return self.page("error.html", status, code=status, said=said)
