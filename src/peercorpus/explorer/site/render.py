"""Render the pages of a site with the templates of the explorer, and the data on each paper for its search."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

import jinja2
from markupsafe import Markup

from peercorpus.corpus.public_forums import PublicForum
from peercorpus.corpus.resubmissions import name_other
from peercorpus.corpus.texts import HeldText
from peercorpus.explorer import rendering
from peercorpus.explorer.citations import paper_attribute, turn_attributes
from peercorpus.explorer.pages import load_templates
from peercorpus.explorer.paper_page import (
    Dialogue,
    ScoreTable,
    Spoken,
    group_by_section,
    name_text,
    read_dialogues,
    score_table,
)
from peercorpus.explorer.paper_row import PaperRow, paper_row, texts_by_post
from peercorpus.explorer.points_of_paper import MAX_POINTS_CHARACTERS, find_places, points_by_place
from peercorpus.explorer.querying.venue_names import list_names
from peercorpus.explorer.rendering import Prose, masked
from peercorpus.explorer.site.assets import compact, content_policy, inline_scripts
from peercorpus.explorer.site.release_papers import PaperRows, make_forum
from peercorpus.explorer.site.search_words import PaperWords, list_people, read_words
from peercorpus.explorer.venue_page import VenueCounts, by_conference, count_paper, make_figures
from peercorpus.records.enums import Status
from peercorpus.wording.untrusted_text import redact_people

_MAX_CHARACTERS = 120
"""Longer names are replaced by their digest: file systems take 255 bytes."""
_PLAIN = re.compile(r"[a-z0-9-]")


def file_stem(record_id: str) -> str:
    """Return the name of the file of an id, of lower-case letters, digits, `-`, `_` and `~` only.

    Different ids have different names: an upper-case letter becomes `_` and its lower case, any other byte `~` and two
    digits; `~~` begins a digest in the place of a long name. The first letter keeps names apart from those that Windows
    reserves, such as `con`.

    >>> file_stem("rJl-b3_X"), file_stem("con"), file_stem("../a.b")
    ('p-r_jl-b3~5f_x', 'p-con', 'p-~2e~2e~2fa~2eb')
    """
    encoded = "".join(map(_encode_character, record_id))
    if len(encoded) > _MAX_CHARACTERS:
        encoded = f"~~{hashlib.sha256(record_id.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return f"p-{encoded}"


def _encode_character(character: str) -> str:
    if _PLAIN.fullmatch(character):
        return character
    if "A" <= character <= "Z":
        return f"_{character.lower()}"
    return "".join(f"~{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def paper_file(forum_id: str, kind: str = "paper") -> str:
    """Return the path of a paper's page, or that of its `text` or its `changes`.

    They are spread over 256 folders, as some hosts limit files in a folder.
    """
    folder = hashlib.sha256(forum_id.encode("utf-8", "surrogatepass")).hexdigest()[:2]
    return f"{kind}/{folder}/{file_stem(forum_id)}.html"


def venue_file(venue_id: str, page: int = 1) -> str:
    """Return the path of a page with papers of a venue; pages are counted from 1.

    >>> venue_file("JLE"), venue_file("JLE", 2)
    ('venue/p-_j_l_e/index.html', 'venue/p-_j_l_e/2.html')
    """
    return f"venue/{file_stem(venue_id)}/{'index' if page == 1 else page}.html"


_SINGLE_PAGES = {"home": "index.html", "search": "index.html", "venues": "venues.html", "about": "about.html"}


@dataclass(frozen=True)
class Addresses:
    """The links of one page of a site.

    Attributes:
        papers: Forum ids of the papers that have a page.
        further: Forum ids of the papers that have a further page, by its kind: `text`, `changes`.
    """

    page: str
    papers: Set[str]
    further: Mapping[str, Set[str]] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The way from the page to the folder of the site: empty, or one `../` for each folder."""
        return "../" * self.page.count("/")

    def __call__(self, kind: str, name: str | None = None) -> str:
        """Return the link to what a template names as `explorer.pages.address` does; empty if the site has no such."""
        if name is None:
            return self.root + _SINGLE_PAGES[kind] if kind in _SINGLE_PAGES else ""
        if kind == "static":
            return f"{self.root}static/{name}"
        if kind == "venue":
            return self.root + venue_file(name)
        named = self.papers if kind == "paper" else self.further.get(kind, ())
        return self.root + paper_file(name, kind) if name in named else ""


PER_PAGE = 100
"""Papers on one page of a venue."""
NOTHING_FURTHER: Mapping[str, Set[str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Job:
    """Some papers to render.

    Attributes:
        titles: Titles of other papers of the release that links of these name, by forum id.
    """

    papers: Sequence[PaperRows]
    titles: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RenderedPaper:
    """The page of a paper, and its data for lists, counts and the search.

    Attributes:
        row: Its summary, without the abstract.
        words: The words by which it is found: in title, keywords and authors; abstract; reviews and other posts.
        ids: The ids by which it is found, its own and those of its posts, each with its anchor on the page.
        further: Its further pages, by kind: `text`, `changes`.
    """

    row: PaperRow
    page: bytes
    words: PaperWords
    ids: Mapping[str, str]
    counts: VenueCounts
    points: int = 0
    further: Mapping[str, bytes] = field(default_factory=dict)


@cache
def _templates() -> jinja2.Environment:
    templates = load_templates()
    templates.globals |= {"policy": Markup(content_policy()), "is_brief": True}
    templates.globals |= dict.fromkeys(("cite_turn", "cite_post"), _cite_nothing)
    templates.globals |= {"turn_attributes": turn_attributes, "paper_attribute": paper_attribute}
    return templates


def _cite_nothing(*_: object) -> None:
    """Return no citation: the script of the page makes those of its turns."""


def render(
    template: str, page: str, papers: Set[str], further: Mapping[str, Set[str]] = NOTHING_FURTHER, /, **values: object
) -> bytes:
    """Render a page, given its template and its path in the site.

    It may link the papers with these forum ids, and the further pages of some papers, by kind.
    """
    address = Addresses(page, papers, further)

    def keyword_address(word: str) -> str:
        return f"{address('search')}#{urlencode({'q': masked(word)})}"

    links = {"address": address, "keyword_address": keyword_address, "search_address": lambda _: address("search")}
    values = {"icon": address("static", "icon.svg"), **values}
    shown = _templates().get_template(template).render(**links, **values)
    return compact(shown).encode("utf-8", "replace")


def render_papers(job: Job) -> list[RenderedPaper]:
    """Render the pages of papers.

    Raises:
        PeercorpusError: A row is not in the form that this version publishes.
    """
    return [_render_paper(rows, job.titles) for rows in job.papers]


def _render_paper(rows: PaperRows, titles: Mapping[str, str]) -> RenderedPaper:
    forum = make_forum(rows)
    paper = forum.paper
    row = paper_row(forum, frozenset(filter(None, [rows.paper["text_sha256"]])))
    dialogues = [_shorten_anchors(talk) for talk in read_dialogues(forum)]
    further = dict(_render_further(forum, row, rows.text))
    links = [(link, name_other(link, paper.forum_id)) for link in forum.links]
    page = render(
        "paper.html",
        paper_file(paper.forum_id),
        {paper.forum_id, *titles},
        {kind: {paper.forum_id} for kind in further},
        row=row,
        forum=forum,
        paper=paper,
        prose=Prose(redact_people),
        scores=_drop_repeated_labels(score_table(forum.reviews)),
        dialogues=dialogues,
        points=points_by_place(forum, dialogues, {change.number for change in forum.changes}),
        point_prose=Prose(redact_people, MAX_POINTS_CHARACTERS),
        opened=None,
        text_version=name_text(forum, row.text_sha256),
        changes=len(forum.changes),
        alike=(),
        links=[(link, *ends, titles.get(ends[0]) or "Untitled") for link, ends in links],
    )
    others = "\n".join(redact_people(text) for _, _, text in texts_by_post(forum))
    names = [row.title or "", *row.keywords, *map(redact_people, paper.authors)]
    authors, reviewers = list_people(forum)
    words = read_words(("\n".join(names), row.abstract or "", others), (authors, frozenset(), reviewers))
    ids = {paper.forum_id: "", **{note_id: quote(anchor) for note_id, anchor in find_places(forum, dialogues)}}
    return RenderedPaper(
        replace(row, abstract=None), page, words, ids, count_paper(forum, row), len(forum.points), further
    )


def _render_further(forum: PublicForum, row: PaperRow, text: HeldText | None) -> Iterator[tuple[str, bytes]]:
    if text is not None:
        yield (
            "text",
            render(
                "text.html",
                paper_file(row.forum_id, "text"),
                {row.forum_id},
                row=row,
                text=text,
                text_version=name_text(forum, row.text_sha256),
                prose=Prose(redact_people),
            ),
        )
    if forum.changes:
        yield (
            "changes",
            render(
                "changes.html",
                paper_file(row.forum_id, "changes"),
                {row.forum_id},
                row=row,
                sections=list(group_by_section(forum.changes)),
                total=len(forum.changes),
                has_points=bool(forum.points),
            ),
        )


def _shorten_anchors(talk: Dialogue) -> Dialogue:
    """Return a conversation with short anchors; that of a turn is that of a post."""
    begin = f"{talk.anchor}-turn-"
    items = [
        replace(item, anchor=f"post-{item.anchor.removeprefix(begin)}") if isinstance(item, Spoken) else item
        for item in talk.items
    ]
    return replace(talk, anchor=f"c-{talk.anchor.removeprefix('conversation-')}", items=items)


def _drop_repeated_labels(table: ScoreTable) -> ScoreTable:
    """Return a table of scores in which a label that its cell shows, or one above it has, is empty."""
    seen: set[tuple[int, str]] = set()
    rows = []
    for name, cells in table.rows:
        shown = []
        for column, cell in enumerate(cells):
            is_known = cell is None or cell.label == cell.after or (column, cell.label) in seen
            seen |= {(column, cell.label)} if cell else set()
            shown.append(replace(cell, label="") if cell and is_known else cell)
        rows.append((name, shown))
    return replace(table, rows=rows)


def describe_result(row: PaperRow) -> list[Any]:
    """Return the data of a paper in a list of results: title, page, reviews, rating, scale."""
    number = rendering.format_number
    scale = "" if row.rating_high is None else f"of {number(row.rating_low)}\u2013{number(row.rating_high)}"
    rating = None if row.rating is None else number(row.rating)
    return [masked(row.title or "Untitled"), paper_file(row.forum_id), row.reviews, rating, scale]


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of the pages other than those of papers.

    Attributes:
        rows: Papers of each venue, in the order of their list.
        release_sha256: Digest that identifies the release.
        points: Number of points that the pages of papers show.
    """

    title: str
    venues: Mapping[str, VenueCounts]
    rows: Mapping[str, Sequence[PaperRow]]
    version: str
    release_sha256: str
    points: int = 0

    @property
    def totals(self) -> dict[str, int]:
        return {
            name: sum(getattr(venue, name) for venue in self.venues.values())
            for name in ("papers", "reviews", "conversations")
        }


@dataclass(frozen=True, slots=True)
class Run:
    """Papers that follow each other in the search."""

    venue_id: str
    year: int | None
    status: str
    papers: int


def _describe_index(runs: Sequence[Run], venues: Mapping[str, VenueCounts]) -> str:
    """Return the venues with their years and names, and the papers that follow each other in the search, as JSON."""
    places = {venue_id: place for place, venue_id in enumerate(venues)}
    described = [[places[run.venue_id], run.year, run.status, run.papers] for run in runs]
    named = [
        [masked(one.venue_id), one.year, *list_names(masked(one.venue_id), one.conference)] for one in venues.values()
    ]
    return json.dumps({"venues": named, "runs": described}, separators=(",", ":"))


def render_lists(contents: Contents, sizes: Mapping[str, int], runs: Sequence[Run]) -> dict[str, bytes]:
    """Return the first page, the list of venues and the page about the site, by path.

    `sizes` are those of the search index, and `runs` the papers in the order of their numbers in it.
    """
    venues, families = list(contents.venues.values()), by_conference(contents.venues)
    shown = {row.status for rows in contents.rows.values() for row in rows}
    common = {"totals": contents.totals}
    search = render(
        "site/search.html",
        "index.html",
        frozenset(),
        heading=contents.title,
        venues=venues,
        families=families,
        years=sorted({venue.year for venue in venues if venue.year is not None}, reverse=True),
        shown_statuses=[status for status in Status if status.value in shown],
        policy=Markup(content_policy(*inline_scripts().values())),
        style="search.css",
        sizes_json=json.dumps(sizes, separators=(",", ":")),
        index_json=_describe_index(runs, contents.venues),
        statuses_json=json.dumps({status.value: name for status, name in rendering.STATUSES.items()}),
        **common,
    )
    about = render(
        "site/about.html",
        "about.html",
        frozenset(),
        venues=len(venues),
        version=contents.version,
        release_sha256=contents.release_sha256,
        has_points=contents.points > 0,
        **common,
    )
    for name, script in inline_scripts().items():
        search = search.replace(f">{name}</script>".encode(), f">{script}</script>".encode(), 1)
    return {
        "index.html": search,
        "venues.html": render("venues.html", "venues.html", frozenset(), families=families),
        "about.html": about,
    }


def count_venue_pages(papers: int) -> int:
    return max(1, -(-papers // PER_PAGE))


def render_venue_page(counts: VenueCounts, rows: Sequence[PaperRow], page: int) -> bytes:
    """Return one page of a venue, counted from 1."""
    shown = rows[(page - 1) * PER_PAGE : page * PER_PAGE]
    return render(
        "site/venue.html",
        venue_file(counts.venue_id, page),
        {row.forum_id for row in shown},
        counts=counts,
        figures=[
            replace(figure, bars=[replace(bar, link=None) for bar in figure.bars]) for figure in make_figures(counts)
        ],
        rows=shown,
        first=(page - 1) * PER_PAGE + 1,
        page=page,
        pages=count_venue_pages(len(rows)),
        share=rendering.format_share,
    )
