"""Corpora for the explorer: a small one with fully known content, and one in which every text is hostile."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from datetime import timedelta
from enum import Enum
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from starlette.testclient import TestClient

from invented_points import WEAKNESSES, answer, reaction, split
from invented_tables import (
    ICLR,
    ICML,
    NOON,
    TMLR,
    a_forum,
    conversation,
    invented,
    paper,
    post,
    review,
    score,
    text,
    turn,
    version,
)
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.records.documents import Change
from peercorpus.records.enums import Aspect, ChangeKind, Grade, LinkKind, Phase, PostKind, Role, ScoreSource, Status
from peercorpus.records.papers import Conflict, Link, StatedSplit
from peercorpus.records.points import AnswerMethod, ChangeSign, Point, PointAspect, PointChange, Reaction
from peercorpus.records.reviews import Review
from peercorpus.records.scores import ScoreChange

LIVELY, QUIET, SILENT, GONE = "Lively01", "Quiet002", "Silent03", "Gone0004"
HOST = "http://127.0.0.1"
PAPER = re.compile(r'<h2><a href="/paper/([^"]+)">')
"""The papers of a page of results."""
_TAG = re.compile(r"<[^>]+>")
FORMULA = r"The loss is $\frac{a}{b}$ and $$\sum_{i=1}^n x_i$$ and $\undefined{x}$."


def ask(client: TestClient, words: str = "", **more: str) -> str:
    """The page of the papers that a search finds."""
    answer = client.get(f"/papers?{urlencode(({'q': words} if words else {}) | more)}")
    assert answer.status_code == 200
    return answer.text


def found(client: TestClient, words: str, **more: str) -> set[str]:
    """The papers on that page."""
    return set(PAPER.findall(ask(client, words, **more)))


def _recommended(value: float, phase: Phase) -> Any:
    return score("rating", value, f"{value:g}", Aspect.RECOMMENDATION, phase)


WIND = "Kites need wind."
TETHER = Change(
    *(LIVELY, ICLR, "sha-lively", "sha-final", 1, 2),
    *(ChangeKind.CHANGED, "2 Method", "a weak tether", "a firm tether", "2 Method"),
)


def lively() -> list[object]:
    """A paper with a rating that went from 5 to 6 at the reviewer's last word, and an answer to all before it."""
    r1, answer, to_all, thanks, meta, aside = (
        f"{LIVELY}-{n}" for n in ("R1", "answer", "all", "thanks", "meta", "pub")
    )
    change = ScoreChange(Aspect.RECOMMENDATION, "rating", 5.0, 6.0, NOON + timedelta(days=3), ScoreSource.EDIT)
    last = replace(turn(Role.REVIEWER, thanks), score_changes=(change,), final_justification="Now convinced.")
    talk = conversation(LIVELY, "R1", (turn(Role.REVIEWER, r1), turn(Role.AUTHOR, answer), last), (to_all,))
    scores = (_recommended(5.0, Phase.INITIAL), _recommended(6.0, Phase.FINAL))
    spoken = {"kind": PostKind.META_REVIEW, "role": Role.AREA_CHAIR, "signature": "Area_Chair_1"}
    return [
        paper(
            LIVELY,
            title="Kites in strong wind",
            abstract="We fly kites; mail ada@example.org.",
            keywords=("kites",),
            records=("reviewbench:Lively01", "re2-reviews:Lively01"),
            conflicts=(
                Conflict(
                    "title", "Kites in strong wind", "Kites in a gale", "reviewbench:Lively01", "re2-reviews:Lively01"
                ),
                Conflict("rating (final) of R9", "6", "5", "reviewbench:Lively01", "re2-reviews:Lively01"),
            ),
            stated_splits=(StatedSplit("review", "test", "train"),),
        ),
        review(LIVELY, "R1", scores=scores, revised=True, score_changes=(change,)),
        post(r1, LIVELY, kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1", text="The **tether** is weak."),
        post(answer, LIVELY, reply_to=r1, text="We bought a stronger tether."),
        post(to_all, LIVELY, title="To all", text="We thank all reviewers for the windsock."),
        post(thanks, LIVELY, reply_to=answer, role=Role.REVIEWER, signature="R1", text="Thank you."),
        post(meta, LIVELY, text="The chair is content.", **spoken),
        post(f"{LIVELY}-ruling", LIVELY, text="It flies.", **(spoken | {"kind": PostKind.DECISION})),
        post(aside, LIVELY, role=Role.PUBLIC, signature="public_1", text="A passer-by waves."),
        post(f"{LIVELY}-secret", LIVELY, text="A secret about balloons.", readers_public=False),
        post(f"{LIVELY}-deleted", LIVELY, text="A deleted word about balloons.", deleted=True),
        version(LIVELY, "sha-lively", Grade.EXACT),
        replace(version(LIVELY, "sha-final", None), edit_id="later"),
        text("sha-lively", f"# Kites\n\n{FORMULA}\n\n---\n\nPage two."),
        talk,
        TETHER,
        replace(TETHER, number=2, kind=ChangeKind.MOVED, before=WIND, after=WIND, later_section="5 Limits"),
    ]


def split_into_points() -> list[object]:
    """The same paper with a review of three points, whose table also has hidden and deleted posts about them."""
    records = lively()
    (index,) = (index for index, record in enumerate(records) if isinstance(record, Review))
    of_review = records[index]
    assert isinstance(of_review, Review)
    split_review = replace(of_review, sections=(*of_review.sections, WEAKNESSES))
    answered = (
        answer(f"{LIVELY}-answer", "We bought a stronger tether."),
        answer(
            *(f"{LIVELY}-all", "We thank all reviewers for the windsock."),
            method=AnswerMethod.ORDER,
            confidence=0.41,
            is_to_all=True,
        ),
    )
    more = {
        2: {
            "aspect": PointAspect.EXPERIMENTS,
            "answers": answered,
            "reaction": reaction(f"{LIVELY}-thanks", "Thank you."),
            "score_changes": of_review.score_changes,
            "changes": (PointChange(1, ChangeSign.TERMS, "firm tether"), PointChange(9, ChangeSign.TERMS, "no such")),
        },
        3: {
            "answers": (answer(f"{LIVELY}-secret", "A secret about balloons."),),
            "reaction": reaction(f"{LIVELY}-deleted", "A deleted word about balloons.", Reaction.NOT_RESOLVED),
            "score_changes": of_review.score_changes,
            "changes": (PointChange(2, ChangeSign.PROMISE, "section 5"),),
        },
    }
    return [*records[:index], split_review, *records[index + 1 :], *split(split_review, more)]


def quiet() -> list[object]:
    """A rejected paper at another venue that nobody answered; an earlier state of the first."""
    r1 = f"{QUIET}-R1"
    return [
        paper(
            QUIET,
            ICML,
            title="Kites, a first try",
            abstract="Balloons were no option.",
            status=Status.REJECTED,
            decision="Reject",
            created_at=NOON - timedelta(days=30),
        ),
        review(
            QUIET,
            "R1",
            ICML,
            scores=tuple(_recommended(3.0, phase) for phase in (Phase.INITIAL, Phase.FINAL)),
            revised=False,
        ),
        post(r1, QUIET, ICML, kind=PostKind.REVIEW, role=Role.REVIEWER, signature="R1"),
        conversation(QUIET, "R1", (turn(Role.REVIEWER, r1),), venue_id=ICML),
    ]


def known() -> dict[str, list[object]]:
    """Four papers of three venues, one of them to be taken down."""
    link = Link(LIVELY, ICLR, QUIET, ICML, LinkKind.RESUBMISSION, 30.0, 0.5, 0.9, None, "equal abstracts")
    silent = paper(
        SILENT, TMLR, title="Nobody reviewed this", status=Status.WITHDRAWN, decision=None, decision_comment=None
    )
    return {
        ICLR: sorted([*lively(), *a_forum(GONE), link], key=_forum_id),
        ICML: quiet(),
        TMLR: [silent],
    }


def known_with_points() -> dict[str, list[object]]:
    """The same papers, with the points of two reviews at one venue, one of whose papers is to be taken down."""
    venues = known()
    gone = [
        *a_forum(GONE),
        *(point for record in a_forum(GONE) if isinstance(record, Review) for point in split(record)),
    ]
    link_of_lively = [record for record in venues[ICLR] if isinstance(record, Link)]
    venues[ICLR] = sorted([*split_into_points(), *gone, *link_of_lively], key=_forum_id)
    return venues


def _forum_id(record: object) -> str:
    return getattr(record, "forum_id", "")


ATTACKS = (
    "<script>window.pwned=1</script><img src=x onerror=window.pwned=1>",
    "<svg onload=window.pwned=1><a xlink:href='javascript:window.pwned=1'><rect width=9 height=9/></a></svg>",
    "[a click](javascript:window.pwned=1) ![i](https://evil.example/x.png) <iframe src='javascript:pwned()'>",
    "\"'><body onload=window.pwned=1> `` **_[[ ![]( | a | \n|--|\n $$\\text{<img src=x onerror=window.pwned=1>}$$",
    "\u202egnp.exe\u2066 \x00\x1b[31m {{ 7*7 }} </style></title><math><mi//xlink:href='data:x,<s>'>",
    "<a href='//evil.example' onclick=window.pwned=1>x</a> <link rel=stylesheet href=//evil.example> </details></main>",
)
"""Text that tries to be executed, to load from elsewhere, or to break out of its context."""
MILLION = ("<b>" + ATTACKS[0] + " [a](javascript:x) $x^2$ *_`") * 11_000
KEPT = {
    "forum_id",
    "venue_id",
    "sha256",
    "left_sha256",
    "right_sha256",
    "path",
    "post_id",
    "post_ids",
    "review_id",
    "reply_to",
}


def poisoned(value: Any, attack: str, name: str = "") -> Any:
    """Return a record in which every text except the ids that join records is an attack."""
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{f.name: poisoned(getattr(value, f.name), attack, f.name) for f in fields(value)})
    if isinstance(value, tuple):
        return tuple(poisoned(one, attack, name) for one in value) or (
            (attack,) if name in {"keywords", "authors"} else ()
        )
    if name in KEPT or isinstance(value, Enum):
        return value
    if name == "extra":
        return '{"<script>window.pwned=1</script>": "</script><script>window.pwned=1</script>"}'
    if value is None:
        return attack if name in {"title", "tldr", "venue", "licence", "final_justification"} else None
    return attack if isinstance(value, str) else value


def hostile() -> dict[str, list[object]]:
    """A paper for each attack, with a hostile id, at a hostile venue; one more in which every text has a megabyte."""
    forums: dict[str, list[object]] = {}
    for number, attack in enumerate((*ATTACKS, MILLION)):
        venue_id = f"<script>window.pwned=1<script>.cc/{2020 + number}/Con\"'ference"
        forum_id = f"h{number}\"'><img src=x onerror=window.pwned=1>/../x"
        moved = [_moved(record, forum_id, venue_id, attack) for record in split_into_points()]
        # Each text is the attack now: a point for each section is the review, and an answer is its whole post.
        forums[venue_id] = [
            _with_ends(record, len(attack)) for record in moved if not isinstance(record, Point) or record.number < 3
        ]
    return forums


def _with_ends(record: object, end: int) -> object:
    """Return a point whose answers end where their posts do; any other record unchanged."""
    if not isinstance(record, Point):
        return record
    return replace(record, answers=tuple(replace(each, end=end) for each in record.answers))


def _moved(record: Any, forum_id: str, venue_id: str, attack: str) -> Any:
    names = {one.name for one in fields(record)}
    place = {"venue_id": venue_id} | ({"forum_id": forum_id} if "forum_id" in names else {})
    return poisoned(replace(record, **place), attack)


@contextmanager
def explored(folder: Path, venues: Mapping[str, list[object]], taken: tuple[str, ...] = ()) -> Iterator[TestClient]:
    """A client of the explorer over these records."""
    with invented(folder, venues) as workspace:
        if taken:
            (folder / "takedown.txt").write_text("\n".join(taken) + "\n")
        app = make_app(open_explorer(workspace, show_nothing), "127.0.0.1")
        with TestClient(app, base_url=HOST, follow_redirects=False) as client:
            yield client


def words_of(page: str) -> str:
    """The words that a page shows."""
    return " ".join(unescape(_TAG.sub(" ", page)).split())


class Tags(HTMLParser):
    """Collects every tag of a page, with anything it could execute or load."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag in {"iframe", "object", "embed", "img", "style", "base", "foreignobject"}:
            self.bad.append(tag)
        for name, value in attrs:
            told = (value or "").lower().strip()
            loads = name in {"src", "href", "action", "xlink:href"}
            is_own = told.startswith(("/", "#", "http://", "https://", "data:,", "?")) and not told.startswith("//")
            if name.startswith("on") or name == "style" or (loads and not is_own):
                self.bad.append(f"{tag} {name}={told[:60]}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)


def tags_of(page: str) -> Tags:
    read = Tags()
    read.feed(page)
    return read
