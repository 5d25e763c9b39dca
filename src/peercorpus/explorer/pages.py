"""Render each page of the explorer from the tables and the search index.

The pages are the templates in `templates`; `page_templates` escapes every value that they show.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import jinja2
from jinja2.filters import do_urlencode
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from peercorpus.corpus.filters import FIELDS
from peercorpus.corpus.html_pages import page_templates
from peercorpus.corpus.public_forums import PublicForum
from peercorpus.corpus.resubmissions import name_other
from peercorpus.corpus.takedown import Takedown
from peercorpus.corpus.texts import find_text
from peercorpus.errors import DamagedError, PeercorpusError
from peercorpus.explorer import points_of_paper, rendering
from peercorpus.explorer.citations import cite_post, cite_turn
from peercorpus.explorer.export import FORMATS, export_command
from peercorpus.explorer.home import HomePage, read_home
from peercorpus.explorer.paper_page import (
    Spoken,
    format_score,
    group_by_section,
    name_text,
    read_dialogues,
    score_table,
    whole_json,
)
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.point_documents import NO_ASPECT
from peercorpus.explorer.point_search import EVERY_KIND, MOST_PAGES, read_point_selection, search_points
from peercorpus.explorer.point_search import PAGE as POINTS_PAGE
from peercorpus.explorer.points_of_paper import (
    MAX_POINTS_CHARACTERS,
    find_places,
    points_by_place,
)
from peercorpus.explorer.querying.facets import describe_condition
from peercorpus.explorer.querying.likeness import papers_like
from peercorpus.explorer.querying.typed_query import Reference
from peercorpus.explorer.rendering import Prose, masked
from peercorpus.explorer.search import PAGE, search, select_rows
from peercorpus.explorer.search_index import OpenIndex, digest_state, find_paper, find_row, name_index
from peercorpus.explorer.selection import SORTS, read_selection
from peercorpus.explorer.venue_page import by_conference, list_set_aside, make_figures, select_venue
from peercorpus.records.arrow_schema import NOTHING
from peercorpus.records.documents import Change
from peercorpus.records.enums import Grade, Status
from peercorpus.records.papers import Link
from peercorpus.wording.untrusted_text import redact_people
from peercorpus.workspace.delta_tables import Tables

_PACKAGE = files("peercorpus.explorer")
ASSETS = {"style.css": "text/css; charset=utf-8", "keys.js": "text/javascript; charset=utf-8"}
"""Media types of the files that pages load, which are in `static`."""
_STYLES = ("style.css", "paper.css", "home.css")
"""Files that are one style sheet; the first page of a site loads the first only."""

_REPLACED = (
    "The tables were replaced since the explorer was started, as by a build; stop the explorer and start it again."
)
_GONE = (
    "The tables have been removed since the explorer was started; run 'peercorpus build' on the workspace, then start"
    " the explorer again."
)
_PASSAGES = {"section": None, "before": "", "after": "", "later_section": None}
"""Fields of a change that are not needed to count them."""


def address(kind: str, name: str | None = None) -> str:
    """Return the permalink of a paper, a text, a venue or a file that pages load, or of a page that exists only once.

    >>> address("venue", "ICLR.cc/2024/Conference"), address("about"), address("home"), address("search")
    ('/venue/ICLR.cc%2F2024%2FConference', '/about', '/', '/papers')
    """
    if name is None:
        return _PAGES.get(kind, f"/{kind}")
    return f"/{kind}/{quote(name, safe='')}"


_PAGES = {"home": "/", "search": "/papers"}
"""Addresses of pages that do not have their names."""


def _address_at(forum: PublicForum, note_id: str) -> str:
    """Return the address of a paper's page, at a post; at its beginning if it does not show the post.

    The id may be in other letter case if exactly one post has such an id.
    """
    places = dict(find_places(forum, read_dialogues(forum)))
    folded = {place for other, place in places.items() if other.lower() == note_id.lower()}
    place = places.get(note_id) or (folded.pop() if len(folded) == 1 else None)
    return address("paper", forum.paper.forum_id) + (f"#{quote(place)}" if place else "")


def search_address(query_string: str) -> str:
    """Return the address of the search for a selection.

    >>> search_address("status=accepted"), search_address("")
    ('/papers?status=accepted', '/papers')
    """
    return f"{address('search')}?{query_string}".rstrip("?")


def load_templates() -> jinja2.Environment:
    """Return the templates of the pages, with the addresses of the server."""
    templates = page_templates("peercorpus.explorer", masked)
    templates.auto_reload = False  # Asking for the time of each file takes a twentieth of the time of a page.
    templates.globals |= {
        "address": address,
        "search_address": search_address,
        "keyword_address": lambda word: search_address(f"where={do_urlencode(masked(f'keyword={word}'))}"),
        "policy": None,
        "is_brief": False,
        "statuses": rendering.STATUSES,
        "grades": rendering.GRADES,
        "moments": rendering.MOMENTS,
        "roles": rendering.ROLES,
        "link_kinds": rendering.LINKS,
        "fields": rendering.FIELDS,
        "naming": points_of_paper,
        "point_anchor": points_of_paper.point_anchor,
        "NO_ASPECT": NO_ASPECT,
        "sorts": SORTS,
    } | {each.__name__: each for each in (Grade, Spoken, Status, cite_post, cite_turn)}
    templates.filters |= {
        "day": rendering.day,
        "number": rendering.format_number,
        "score": format_score,
        "post_kind": rendering.format_post_kind,
        # A link shows its target, which is masked as the text of the link is.
        "urlencode": lambda value: do_urlencode(masked(value)),
    }
    templates.tests["spoken"] = lambda item: isinstance(item, Spoken)
    return templates


@dataclass(frozen=True)
class Explorer:
    """The pages, from the tables of a workspace and the index of their parts that may be shown."""

    folder: Path
    tables: Tables
    takedown: Takedown
    index: OpenIndex

    @cached_property
    def templates(self) -> jinja2.Environment:
        return load_templates()

    @cached_property
    def assets(self) -> dict[str, bytes]:
        """Contents of the files that pages load, by name."""
        parts = {"style.css": _STYLES}
        return {
            name: b"".join((_PACKAGE / "static" / part).read_bytes() for part in parts.get(name, (name,)))
            for name in ASSETS
        }

    def page(self, template: str, status: int = 200, **values: object) -> HTMLResponse:
        return HTMLResponse(self.templates.get_template(template).render(**values), status)

    async def no_icon(self, _: Request) -> Response:
        return Response(status_code=204)

    async def asset(self, request: Request) -> Response:
        """Answer with a file that pages load; it is in memory, and so waits for no page that is being made."""
        name = request.path_params["name"]
        if name not in self.assets:
            raise HTTPException(404)
        return Response(self.assets[name], media_type=ASSETS[name])

    @cached_property
    def _home(self) -> HomePage:
        return read_home(self.index)

    def home(self, request: Request) -> Response:
        """Answer with the contents of the corpus; with a query string, as `search` does."""
        if request.url.query:
            return self.search(request)
        return self.page("home.html", home=self._home, venues=self.index.venues)

    def search(self, request: Request) -> Response:
        """Answer with the search form and one page of results; a page beyond the last one names the last.

        Words that are the id or address of a paper, or of a post in its forum, lead to its page.
        """
        asked = read_selection(request.url.query)
        results = search(self.index, asked)
        if results.reference is not None and results.hits and not asked.conditions:
            return RedirectResponse(self._address_of(results.hits[0].row.forum_id, results.reference), 303)
        return self.page(
            "search.html",
            asked=asked,
            found=results,
            first=(asked.page - 1) * PAGE,
            venues=self.index.venues,
            conditions=[
                (condition, describe_condition(condition), asked.without(condition).query_string())
                for condition in asked.conditions
            ],
            command=export_command(self.folder, asked),
            formats=FORMATS,
            where=FIELDS,
        )

    def _address_of(self, forum_id: str, reference: Reference) -> str:
        """Return the address of a paper's page, at the post that is named."""
        note_id = reference.note_id or reference.forum_id
        found = find_paper(self.index, forum_id) if note_id != forum_id else None
        return _address_at(found[1], note_id) if found else address("paper", forum_id)

    def export(self, request: Request) -> Response:
        """Answer with all papers of a selection as a file."""
        kind = request.path_params["kind"]
        if kind not in FORMATS:
            raise HTTPException(404)
        write, media_type = FORMATS[kind]
        asked = read_selection(request.url.query)
        if asked.faults:
            raise HTTPException(400, " ".join(asked.faults))
        rows = select_rows(self.index, asked)
        headers = {"content-disposition": f'attachment; filename="papers.{kind}"'}
        return StreamingResponse(write(rows), media_type=media_type, headers=headers)

    def _find_paper(self, request: Request) -> tuple[PaperRow, PublicForum]:
        found = find_paper(self.index, request.path_params["forum_id"])
        if found is None:
            raise HTTPException(404, "No paper of this corpus has this id, or it is not shown.")
        return found

    def _read_changes(self, forum: PublicForum, unread: Mapping[str, object] = NOTHING) -> Sequence[Change]:
        files_shown = {version.sha256 for version in forum.versions}
        changes = self.tables.of_forum(Change, forum.paper.venue_id, forum.paper.forum_id, unread)
        return [change for change in changes if {change.left_sha256, change.right_sha256} <= files_shown]

    def paper(self, request: Request) -> Response:
        """Answer with one paper: reviews, conversations, versions, links; with `at=`, lead to that post on its page."""
        row, forum = self._find_paper(request)
        if "at" in request.query_params:
            return RedirectResponse(_address_at(forum, request.query_params["at"]), 303)
        changes = [change.number for change in self._read_changes(forum, _PASSAGES)]
        dialogues = read_dialogues(forum)
        return self.page(
            "paper.html",
            row=row,
            forum=forum,
            paper=forum.paper,
            prose=Prose(redact_people),
            scores=score_table(forum.reviews),
            dialogues=dialogues,
            points=points_by_place(forum, dialogues, set(changes)),
            point_prose=Prose(redact_people, MAX_POINTS_CHARACTERS),
            opened=request.query_params.get("points"),
            text_version=name_text(forum, row.text_sha256),
            changes=len(changes),
            alike=papers_like(self.index, row),
            links=[self._describe_link(row.forum_id, link) for link in forum.links],
        )

    def _describe_link(self, forum_id: str, link: Link) -> tuple[Link, str, str, str]:
        """Return a link with the id, venue and title of the other paper."""
        other_id, venue_id = name_other(link, forum_id)
        row = find_row(self.index, other_id)
        return link, other_id, venue_id, (row.title if row else None) or "Untitled"

    def text(self, request: Request) -> HTMLResponse:
        row, forum = self._find_paper(request)
        text = find_text(self.tables, row.venue_id, row.text_sha256) if row.text_sha256 else None
        if text is None:
            raise HTTPException(404, "No text of this paper is available.")
        version = name_text(forum, row.text_sha256)
        return self.page("text.html", row=row, text=text, text_version=version, prose=Prose(redact_people))

    def changes(self, request: Request) -> HTMLResponse:
        """Answer with the differences between the initial and the last version of a paper."""
        row, forum = self._find_paper(request)
        changes = self._read_changes(forum)
        return self.page(
            "changes.html",
            row=row,
            sections=list(group_by_section(changes)),
            total=len(changes),
            has_points=bool(forum.points),
        )

    def record(self, request: Request) -> Response:
        """Answer with every public record of a paper as JSON."""
        _, forum = self._find_paper(request)
        records = whole_json(replace(forum, changes=self._read_changes(forum)))
        return Response(records, media_type="application/json")

    def points(self, request: Request) -> HTMLResponse:
        """Answer with the form that searches points of reviews, and one page of points."""
        asked = read_point_selection(request.url.query)
        found = search_points(self.index, asked)
        venues = self.index.venues.values()
        return self.page(
            "points.html",
            asked=asked,
            found=found,
            first=(asked.page - 1) * POINTS_PAGE,
            most=POINTS_PAGE * MOST_PAGES,
            every_kind=EVERY_KIND,
            venues=[venue for venue in venues if venue.points],
            without=[venue.venue_id for venue in venues if not venue.points],
            command=shlex.join(["peercorpus", "build", "--workspace", str(self.folder), "--points"]),
        )

    def venues(self, _: Request) -> HTMLResponse:
        return self.page("venues.html", families=by_conference(self.index.venues))

    def venue(self, request: Request) -> HTMLResponse:
        """Answer with the counts of one venue."""
        counts = self.index.venues.get(request.path_params["venue_id"])
        if counts is None:
            raise HTTPException(404, "This corpus has no venue of this name.")
        return self.page(
            "venue.html",
            counts=counts,
            figures=make_figures(counts),
            set_aside=list_set_aside(self.tables, counts.venue_id),
            link=select_venue(counts.venue_id),
            share=rendering.format_share,
        )

    def about(self, _: Request) -> HTMLResponse:
        """Answer with a page about the corpus and the words that the explorer uses."""
        venues = self.index.venues.values()
        totals = {
            name: sum(getattr(venue, name) for venue in venues) for name in ("papers", "reviews", "conversations")
        }
        return self.page("about.html", totals=totals, venues=len(venues), taken=len(self.takedown.ids), where=FIELDS)

    def refused(self, _: Request, error: Exception) -> HTMLResponse:
        """Answer a request that failed with an error page; of internal errors only those of tables are explained."""
        if isinstance(error, HTTPException):
            said = error.detail if error.detail != "Not Found" else None
            return self.page("error.html", error.status_code, code=error.status_code, said=said)
        changed = self._explain_change()
        if changed is not None:
            return self.page("error.html", 503, code=503, said=changed)
        return self.page("error.html", 500, code=500, said=str(error) if isinstance(error, DamagedError) else None)

    def _explain_change(self) -> str | None:
        """Return a sentence if the tables are no longer those of the index; None if they are, or it cannot be known."""
        present = Tables(self.tables.folder, self.tables.scratch, self.tables.logs)
        try:
            if not present.venues("1-papers"):
                return _GONE
            is_same = name_index(digest_state(present, self.folder)) == self.index.folder.name
        except (PeercorpusError, OSError):
            return None
        return None if is_same else _REPLACED
