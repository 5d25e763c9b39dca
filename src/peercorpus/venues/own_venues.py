"""Read `venues.toml`, in which a user states what they know about venues themselves.

The file is in the workspace beside `raw.db`. A row extends the catalogue's row of the same venue, and its values take
precedence. It contains deadlines with their sources, the review form, and the venue's words for replies, scores, roles
and decisions. Only the tables of venues whose rows have changed are rebuilt.
"""

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from peercorpus.errors import VenuesFileError
from peercorpus.records.enums import Aspect, PostKind, Role, Status
from peercorpus.venues.catalogue import (
    Confidence,
    DueDate,
    ListedDeadline,
    Text,
    VenueRow,
    Visibility,
    find_deadline_problems,
    is_group_id,
    row_of,
    rows,
    sort_rows,
)
from peercorpus.workspace.workspace import OWN_VENUES, Workspace

Names = Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]


class OwnWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A venue's own names for things, by what they mean.

    Attributes:
        replies: Names of reply invitations, the last element of their ids, by kind of reply.
        scores: Names of review fields with a score, by what the score is about.
        roles: Names of committees, or of one member (`Referee_`, a prefix of signatures), by role.
        decision_fields: Fields of a decision that contain the verdict.
    """

    replies: Mapping[PostKind, Names] = {}
    scores: Mapping[Aspect, Names] = {}
    roles: Mapping[Role, Names] = {}
    decision_fields: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a role that only the venue itself can show."""
        if Role.AI in self.roles:
            raise ValueError(
                "The role of an AI cannot be declared: only the venue's own signature proves it (names of"
                " invitations for AI reviews belong under 'replies.ai_review')"
            )


class OwnInvitations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Effects of the venue's invitations on a PDF, by the last element of their ids; kinds as in `invitations.toml`.

    Attributes:
        submission: The authors' own forms, which make the submission before the deadline.
        posting: The venue's own step that posts the submission and brings no PDF.
        full_paper: Submission of the full paper, on or before the deadline.
        without_pdf: Invitations that never change the PDF.
        ambiguous: Invitations that do not ask for a PDF, but with which chairs can change it.
        discussion: Revision of the paper during the discussion.
        camera_ready: Submission of the final version.
        late: Submission of a PDF only after reviewing began.
    """

    submission: tuple[Text, ...] = ()
    posting: tuple[Text, ...] = ()
    full_paper: tuple[Text, ...] = ()
    without_pdf: tuple[Text, ...] = ()
    ambiguous: tuple[Text, ...] = ()
    discussion: tuple[Text, ...] = ()
    camera_ready: tuple[Text, ...] = ()
    late: tuple[Text, ...] = ()


class OwnVenue(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A row of the user's file: facts that the user knows about a venue.

    Attributes:
        id: The id of the venue's group.
        source: Source of the form, the words and the statuses.
        api: 1 or 2; None if unknown.
        lists: Names of its submission lists, if the venue may no longer show them.
        abstract_deadline: When titles and abstracts were due.
        full_deadline: When full papers were due; proves which PDF reviewers read.
        review_deadline: When reviews were due, for the figure of late reviews.
        listed_deadlines: Other statements of when full papers were due; hints if only one source states them.
        visibility: Parts of the venue that the public can see.
        remark: One sentence with anything else to know about its numbers.
        words: Its own names for things.
        statuses: Its decisions, `venueid` values and `venue` values, ignoring case, by the status they mean.
        invitations: Effects of its invitations on a PDF, in addition to those known to the package.
        form: Its review form, as in the package's own declared forms, without `id` and `venues`.
    """

    id: Text
    source: Text
    api: Literal[1, 2] | None = None
    lists: tuple[Text, ...] = ()
    abstract_deadline: DueDate | None = None
    full_deadline: DueDate | None = None
    review_deadline: DueDate | None = None
    listed_deadlines: tuple[ListedDeadline, ...] = ()
    visibility: Visibility | None = None
    remark: Text | None = None
    words: OwnWords = OwnWords()
    statuses: Mapping[Status, Names] = {}
    invitations: OwnInvitations = OwnInvitations()
    form: Mapping[str, Any] | None = None

    @property
    def reading_digest(self) -> str:
        """Return the digest of the parts that affect reviews, posts and papers; empty if the row has none."""
        used = (self.words, self.statuses, self.form, self.visibility)
        encoded = msgspec.json.encode(used, order="sorted")
        return hashlib.sha256(encoded).hexdigest() if used != (OwnWords(), {}, None, None) else ""


def own_venues(workspace: Workspace) -> Mapping[str, OwnVenue]:
    """Return the rows of the user's file by venue id, as it was when the workspace was opened; empty without a file.

    Raises:
        VenuesFileError: The file is not valid.
    """
    content = workspace.own_venues
    return read_own_venues(content, str(workspace.folder / OWN_VENUES)) if content is not None else {}


def digest_own_venues(workspace: Workspace) -> str | None:
    """Return the sha256 of the user's file, or None if there is none."""
    content = workspace.own_venues
    return None if content is None else hashlib.sha256(content).hexdigest()


def read_own_row(workspace: Workspace, venue_id: str) -> dict[str, Any] | None:
    """Return the user's row of a venue as JSON data, without unset keys, or None; raises as `own_venues`."""
    own = own_venue(workspace, venue_id)
    return msgspec.json.decode(msgspec.json.encode(own)) if own else None


def find_unheld(workspace: Workspace) -> list[str]:
    """Return, sorted, the venues of the user's file without data in the workspace; raises as `own_venues`."""
    return sorted(own_venues(workspace).keys() - set(workspace.venues()))


def own_venue(workspace: Workspace, venue_id: str) -> OwnVenue | None:
    """Return the user's row of a venue, or None; raises as `own_venues`."""
    return own_venues(workspace).get(venue_id)


def find_row(workspace: Workspace, venue_id: str) -> VenueRow | None:
    """Return the facts about a venue: the catalogue's row, extended by the user's; raises as `own_venues`."""
    known, own = row_of(venue_id), own_venue(workspace, venue_id)
    return extend_row(known, own) if own else known


def known_rows(workspace: Workspace) -> list[VenueRow]:
    """Return the catalogue with the user's rows, sorted by family and year; raises as `own_venues`."""
    known = {row.id: row for row in rows()}
    known |= {venue_id: extend_row(known.get(venue_id), own) for venue_id, own in own_venues(workspace).items()}
    return sort_rows(known.values())


def extend_row(known: VenueRow | None, own: OwnVenue) -> VenueRow:
    """Return the catalogue's row of a venue, with the values of the user's row taking precedence."""
    row = known or VenueRow(id=own.id, confidence=Confidence.B, source=_credit(own.source))
    listed = row.listed_deadlines + tuple(
        msgspec.structs.replace(one, sources=tuple(map(_credit, one.sources))) for one in own.listed_deadlines
    )
    if own.full_deadline and row.full_deadline:
        listed += (ListedDeadline(at=row.full_deadline.at, sources=(row.full_deadline.source,)),)
    stated = {
        "api": own.api,
        "lists": own.lists or None,
        "abstract_deadline": own.abstract_deadline and _credit_due(own.abstract_deadline),
        "full_deadline": own.full_deadline and _credit_due(own.full_deadline),
        "visibility": own.visibility,
        "visibility_source": own.visibility and _credit(own.source),
        "remark": own.remark,
        "listed_deadlines": listed,
    }
    return msgspec.structs.replace(row, **{name: value for name, value in stated.items() if value is not None})


def _credit_due(due: DueDate) -> DueDate:
    return DueDate(due.at, _credit(due.source))


def _credit(source: str) -> str:
    return f"{source} ({OWN_VENUES} of the workspace)"


@lru_cache(maxsize=8)
def read_own_venues(content: bytes, path: str) -> Mapping[str, OwnVenue]:
    """Return the rows of a user's file by venue id; `path` is for error messages.

    Raises:
        VenuesFileError: The file is not valid; the message names file, venue and key, and what was expected.
    """
    try:
        tables = tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise VenuesFileError(f"'{path}' is not TOML: {error}; correct it, or move it away.") from None
    raw_rows = tables.get("venue", [])
    stray = sorted(tables.keys() - {"venue"})
    if stray or not isinstance(raw_rows, list) or not all(isinstance(row, dict) for row in raw_rows):
        held = f"'{stray[0]}'" if stray else "a 'venue' of another type"
        raise VenuesFileError(f"'{path}' contains {held}; expected tables that begin with [[venue]] and nothing else.")
    found: dict[str, OwnVenue] = {}
    for number, raw in enumerate(raw_rows, 1):
        own = _read_row(raw, f"'{path}', venue '{raw.get('id', f'number {number}')}'")
        if own.id in found:
            raise VenuesFileError(f"'{path}', venue '{own.id}': it has two tables [[venue]]; merge them into one.")
        found[own.id] = own
    return found


def _read_row(raw: dict[str, Any], location: str) -> OwnVenue:
    try:
        row = msgspec.convert(raw, OwnVenue)
    except msgspec.ValidationError as error:
        raise VenuesFileError(f"{location}, {_describe(str(error))}.") from None
    problems = find_deadline_problems(row.abstract_deadline, row.full_deadline, row.listed_deadlines)
    if not is_group_id(row.id):
        problems.append("the id must be the id of a group, not of an invitation, without slashes at its ends")
    problems += _find_two_meanings(row)
    if problems:
        raise VenuesFileError(f"{location}: {'; '.join(problems)}.")
    return row


def _find_two_meanings(row: OwnVenue) -> Iterator[str]:
    """Yield a clause for each key under which one name, ignoring case, has two meanings."""
    words = row.words
    meanings: dict[tuple[str, str], Iterable[tuple[str, ...]]] = {
        ("statuses", "status"): row.statuses.values(),
        ("words.replies", "kind"): words.replies.values(),
        ("words.scores", "aspect"): words.scores.values(),
        ("words.roles", "role"): words.roles.values(),
        ("invitations", "kind"): msgspec.structs.astuple(row.invitations),
    }
    for (key, meaning), every in meanings.items():
        counts = Counter(name.strip().lower() for names in every for name in names)
        twice = next((name for name, count in counts.items() if count > 1), None)
        if twice is not None:
            yield f"key '{key}': '{twice}' occurs twice; expected one {meaning} for each"


_AT = re.compile(r" - at (?:`key` in )?`\$\.?(.*)`$")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`")
_MISSING = re.compile(r"Object missing required field `(.*)`")


def _describe(problem: str) -> str:
    """Return a problem found by msgspec as "key 'full_deadline.at': …", with the keys to choose from."""
    at = _AT.search(problem)
    key, problem = (at[1] if at else ""), _AT.sub("", problem)
    if unknown := _UNKNOWN.fullmatch(problem):
        return f"unknown key '{_join(key, unknown[1])}'; expected one of {', '.join(_keys(key))}"
    if missing := _MISSING.fullmatch(problem):
        return f"key '{_join(key, missing[1])}' is missing"
    if "matching regex" in problem:
        problem = "expected a text that is not blank"
    said = f"{problem[0].lower()}{problem[1:]}"
    if said.startswith("invalid enum value") and key in _CHOICES:
        said = f"{said}; expected one of {', '.join(_CHOICES[key])}"
    return f"key '{key}': {said}" if key else said


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else name


_CHOICES = {
    "statuses": [*Status],
    "words.replies": [*PostKind],
    "words.scores": [*Aspect],
    "words.roles": [*Role],
    "visibility": [*Visibility],
    "api": ["1", "2"],
}
"""Values to choose from, by key."""
_FIELDS: Mapping[str, type[msgspec.Struct]] = {
    "": OwnVenue,
    "words": OwnWords,
    "invitations": OwnInvitations,
    "full_deadline": DueDate,
    "abstract_deadline": DueDate,
    "review_deadline": DueDate,
    "listed_deadlines[]": ListedDeadline,
}


def _keys(key: str) -> list[str]:
    kind = _FIELDS.get(re.sub(r"\[.*\]", "[]", key))
    return [field.encode_name for field in msgspec.structs.fields(kind)] if kind else []
