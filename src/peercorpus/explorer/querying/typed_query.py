"""Read what is typed into a search: words, phrases, fields, conditions, outcomes, and ids or addresses of OpenReview.

A search without a sign of tantivy's query language is plain words. Any other is an expression, which tantivy parses; it
is rewritten where the index has something in another form than people type it.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from urllib.parse import parse_qs, urlsplit

from peercorpus.corpus.filters import FIELDS, Condition, FieldKind, Operator, parse
from peercorpus.errors import PeercorpusError
from peercorpus.explorer.querying.names import AUTHORS, REVIEWER
from peercorpus.explorer.querying.passages import Sought
from peercorpus.explorer.querying.searched_fields import SearchedFields, fold, split_words
from peercorpus.explorer.querying.venue_names import VENUE, NamedVenue
from peercorpus.records.enums import Status
from peercorpus.wording.suggestions import suggest_name

_OTHER_NAMES = {"decision": "status", "outcome": "status", "version": "grade"}
"""Names by which the page calls fields of `corpus.filters`."""
_OF_TEXTS = frozenset(("venue", "reviews"))
"""Fields of `corpus.filters` whose names are those of texts that are searched."""
CONDITIONS = (*_OTHER_NAMES, *(name for name in FIELDS if name not in _OF_TEXTS))
"""Names of conditions that may be typed before a colon."""
_INDEX_FIELDS = {"reviews": "reviews_count", "keywords": "keyword"}
"""Columns of `corpus.filters` that have another name in the index."""
_INVERTED = {
    Operator.IS: Operator.IS_NOT,
    Operator.AT_LEAST: Operator.LESS,
    Operator.AT_MOST: Operator.MORE,
    Operator.MORE: Operator.AT_MOST,
    Operator.LESS: Operator.AT_LEAST,
}
_STATUS_WORDS = {
    Status.ACCEPTED: ("accepted", "accept", "accepts", "acceptance"),
    Status.REJECTED: ("rejected", "reject", "rejects", "rejection"),
    Status.WITHDRAWN: ("withdrawn", "withdraw", "withdrew", "withdrawal"),
    Status.DESK_REJECTED: ("desk rejected", "desk reject", "desk rejects", "desk rejection"),
    Status.UNDER_REVIEW: ("under review", "undecided", "pending"),
    Status.UNKNOWN: ("unknown",),
}
"""Words that people use for an outcome, the one that a paper has first."""
_STATUSES = {word: status for status, words in _STATUS_WORDS.items() for word in words}
_OUTCOMES = {
    tuple(word.split()): (status, word == _STATUS_WORDS[status][0])
    for word, status in _STATUSES.items()
    if status is not Status.UNKNOWN
}
"""Forms of the words for an outcome, and whether they name it without "papers" beside them."""
_PAPERS = frozenset(("paper", "papers", "submission", "submissions", "article", "articles"))
"""Words beside which any form of a word names an outcome: "rejection" alone may be that of samples."""
_NO_SUBJECT = _PAPERS.union(
    (
        *("a", "about", "all", "and", "as", "at", "be", "by", "every", "for", "from", "in", "is", "list", "of", "on"),
        *("only", "show", "that", "the", "to", "was", "were", "where", "which", "who", "with"),
    )
)
"""Words that are left out beside an outcome."""
STRAIGHT = str.maketrans(dict.fromkeys("“”„‟«»", '"'))
"""Quotation marks that keyboards and texts have in the place of straight ones."""
_MAX_WORDS = 32
"""Further words are ignored."""
_MAX_BYTES = 40
"""Words of this many bytes of UTF-8 or more are not in the index (`searched_fields`)."""
_LEAST_PREFIX = 3
"""Letters before a final *, at least: fewer begin too many words."""
_LOOSE = re.compile(
    r'"[^"]*+"?+|(?<![^\s(+-])(?P<name>[A-Za-z_]++)(?:\s*+(?P<sign>[<>]=?+|=)\s*+(?=[^\s<>=])|:\s++(?=(?P<value>\S*+)))'
)
"""A name before a sign without a colon, `year >= 2020`, or before a colon and a space; phrases are passed over."""
_COMBINED = re.compile(r"[()\[\]{}^~\\]|(?:^|\s)(?:AND|OR|NOT|IN)(?:\s|$)")
"""Signs with which a condition is a part of an expression that tantivy evaluates."""
_SIGNS = re.compile(r'["():^~\[\]{}\\]|(?:^|\s)\*(?:\s|$)|(?:^|\s)[-+]|(?:^|\s)(?:AND|OR|NOT|IN)(?:\s|$)')
"""Signs of tantivy's query language."""
_TOKEN = re.compile(
    r"(?P<out>(?<![^\s(])(?:[+-]|NOT\s++))?(?:(?P<name>\w++):(?=\S))?"
    r'(?:"(?P<phrase>[^"]*+)(?P<end>"?+)(?P<after>[^\s()"]*+)|(?P<word>[^\s"()]++|(?<=:)(?=\()))'
)
_CONNECTIVES = frozenset(("AND", "OR", "NOT", "IN", "TO"))
_VALUE = re.compile(r"([<>]=?+|=)?+(.*+)", re.DOTALL)
_BETWEEN_COLONS = re.compile(r"[^:]+")
_SIDE_BY_SIDE = re.compile(r",(?=[^\W\d_])|(?<![^\W_])[^\W\d_]\.(?=[^\W\d_]{2})")
"""A comma, or an initial with its full stop, before a word: "Gomez,Ana", "A.Gomez"."""
_ADDRESS = re.compile(r"(?:https?://)?(?:[a-z0-9-]+\.)?openreview\.net/\S+", re.IGNORECASE)
_AROUND = " \t\"'<>()[]{}.,;\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
"""Signs that come along where an id or an address is copied from a text."""
_ID = re.compile(r"[\w-]{4,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an expression, as tantivy understands it.

    Attributes:
        before: What comes before its core: spaces, brackets, and the sign that excludes it.
        core: A word or phrase, with the field that it is searched in.
        after: What follows the core of a phrase, as in `"wind kites"~2`.
        field: That field; None for all.
        value: The word or phrase alone; None for what is not marked.
    """

    before: str
    core: str = ""
    after: str = ""
    field: str | None = None
    value: str | None = None
    is_phrase: bool = False


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """What was typed into a search.

    Attributes:
        text: It without the conditions.
        conditions: Conditions that every paper must meet, combined as in `corpus.filters`.
        typed_conditions: These conditions as they were typed.
        words: Plain words as they were typed, each in its parts in lower case; empty for an expression.
        pieces: An expression for tantivy; empty for plain words.
        hints: Parts that were interpreted differently from what was typed, one sentence each.
    """

    text: str = ""
    conditions: tuple[Condition, ...] = ()
    typed_conditions: Sequence[str] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pieces: Sequence[Piece] = ()
    hints: Sequence[str] = ()

    @property
    def sought(self) -> Iterator[Sought]:
        """The words and phrases of an expression to mark in passages, without those that it excludes."""
        number = 0
        for piece in self.pieces:
            if piece.value is None or piece.before.endswith("-") or piece.before.split()[-1:] == ["NOT"]:
                continue
            parts = split_words(piece.value)
            # With a tilde after them, the words of a phrase may stand apart.
            for each in [(part,) for part in parts] if piece.after.startswith("~") else filter(None, [parts]):
                yield Sought(each, number, is_prefix=piece.after.startswith("*"), field=piece.field)
                number += 1


def read_query(text: str, fields: SearchedFields) -> TypedQuery:
    """Read a search; a part that has no meaning is searched for as words, and a hint says so.

    A colon may be left out before a sign, and followed by spaces: `year>=2023`, `decision: rejected`.

    Args:
        text: The search; empty for everything.
        fields: The fields of the index that is searched.

    >>> fields = SearchedFields({"title": 1.0, "authors": 1.0}, conditions=CONDITIONS)
    >>> read = read_query("kites decision:Reject year:>=2023", fields)
    >>> list(read.words), [str(condition) for condition in read.conditions]
    (['kites'], ['status=rejected', 'year>=2023'])
    >>> "".join(piece.before + piece.core for piece in read_query("kites OR decision:Reject", fields).pieces)
    'kites OR status:"rejected"'
    >>> list(read_query("author:gomez a*", fields).words)
    ['gomez', 'a']
    >>> [each.parts for each in read_query('"state of the art" -kites title:wind OR (rain)', fields).sought]
    [('state', 'of', 'the', 'art'), ('wind',), ('rain',)]
    """
    # A letter and its accent may have been typed as two signs.
    reader = _Reader(unicodedata.normalize("NFC", text).translate(STRAIGHT), fields)
    pieces = reader.read_stars(reader.read_tokens())
    written = "".join(piece.before + piece.core + piece.after for piece in pieces).strip()
    is_expression = _SIGNS.search(written) is not None
    words = {} if is_expression else _split_plain(written)
    if len(words) > _MAX_WORDS:
        reader.hints.append(f"Only the first {_MAX_WORDS} words were searched for.")
        words = dict(list(words.items())[:_MAX_WORDS])
    return TypedQuery(
        " ".join(reader.left),
        tuple(reader.conditions),
        list(reader.conditions.values()),
        words,
        pieces if is_expression else (),
        reader.hints,
    )


class _Reader:
    """Reads one search, token by token."""

    def __init__(self, text: str, fields: SearchedFields) -> None:
        self._fields = fields
        self._text = _LOOSE.sub(self._close_up, text)
        self._is_combined = _COMBINED.search(re.sub(r'"[^"]*+"?+', '""', self._text)) is not None
        self.hints: list[str] = []
        self.left: list[str] = []
        self.conditions: dict[Condition, str] = {}

    def _close_up(self, found: re.Match[str]) -> str:
        """Return the name of a condition with a colon and without spaces behind it.

        A field that may have any word as its value keeps them: titles begin like that, as in "Track: main results".
        """
        name = found["name"]
        if name is None or name.lower() not in self._fields.conditions:
            return found[0]
        if found["sign"]:
            return f"{name}:{found['sign']}"
        about = FIELDS[_OTHER_NAMES.get(name.lower(), name.lower())]
        has_values = about.words or about.kind in {FieldKind.NUMBER, FieldKind.TRUTH}
        return f"{name}:" if has_values or found["value"][:1] in ("", '"') else found[0]

    def read_tokens(self) -> Iterator[Piece]:
        """Yield the pieces of the search; conditions that every paper must meet are none of them."""
        end = 0
        for token in _TOKEN.finditer(self._text):
            between, end = self._text[end : token.start()], token.end()
            piece = self._read_condition(token, between) or self._read_token(token, between)
            if piece.core or piece.before:
                yield piece
        yield Piece(self._text[end:])

    def _read_condition(self, token: re.Match[str], between: str) -> Piece | None:
        """Return what stands in the place of a condition; None if a token is none."""
        name, value = (token["name"] or "").lower(), token["phrase"] if token["word"] is None else token["word"]
        if name not in self._fields.conditions or value[:1] in ("[", "{", "") or token["after"]:
            return None
        found = _VALUE.fullmatch(value) if token["word"] else None
        sign, bare = (found[1] or "=", found[2]) if found else ("=", value)
        about = _OTHER_NAMES.get(name, name)
        try:
            condition = parse(f"{about}{sign}{_read_value(about, bare.strip())}")
        except PeercorpusError as error:
            said = str(error).replace(f"is not a {about};", f"is not a {name};")
            self.hints.append(f"{said} '{bare}' was searched for in all fields.")
            self.left.append(value)
            before = between + (token["out"] or "") * self._is_combined
            is_phrase = token["word"] is None
            return Piece(before, f'"{value}"' if is_phrase else value, value=value, is_phrase=is_phrase)
        if self._is_combined:
            self.left.append(token[0])
            return Piece(between + (token["out"] or ""), write_condition(condition))
        if token["out"] == "-":
            condition = Condition(condition.name, _INVERTED[condition.comparison], condition.value)
        self.conditions[condition] = token[0]
        return Piece(" ")

    def _read_token(self, token: re.Match[str], between: str) -> Piece:
        """Return a word or phrase as the index has it."""
        self.left += [token[0]] * (token[0] != ":")
        before, name = between + (token["out"] or ""), self._find_field(token["name"])
        if token["word"] is None:
            phrase = _write_as_indexed(name, token["phrase"], is_phrase=True)
            core = f'"{phrase}{token["end"]}'
            core = f"{name}:{core}" if name else core
            return Piece(before, core, token["after"], name, phrase, is_phrase=True)
        word = _write_as_indexed(name, token["word"].rstrip(":"), is_phrase=False)
        if token["name"] and token["name"].isdecimal():
            word = f"{token['name']} {word}"
        value = None if word in _CONNECTIVES else word
        return Piece(before, f"{name}:{word}" if name else word, field=name, value=value)

    def _find_field(self, name: str | None) -> str | None:
        """Return the field that a name before a colon means; None if it means none, which a hint says."""
        for known in (name, name.lower()) if name else ():
            if known in self._fields.typable or known in self._fields.further:
                return known
        if name and not name.isdecimal():
            is_near = get_close_matches(name.lower(), self._fields.typable, n=1)
            offered = self._fields.typable if is_near else (*self._fields.weights, *self._fields.named)
            self.hints.append(f"There is no field '{name}:'; {suggest_name(name, offered)} All fields were searched.")
        return None

    def read_stars(self, tokens: Iterable[Piece]) -> list[Piece]:
        """Return the pieces without each * that the index cannot search for, which a hint says."""
        pieces = list(tokens)
        is_literal = _SIGNS.search("".join(piece.before + piece.core for piece in pieces)) is not None

        def check(found: re.Match[str]) -> str:
            starred = found[0]
            if "*" not in starred or starred.strip("[]{}") in ("*", "-*", "+*"):
                return starred
            beginning = starred.rstrip("*").lstrip("+-")
            if "*" in beginning or not split_words(beginning):
                reason = "can only end a word, as in 'optimi*'"
            elif len(split_words(beginning)[-1]) < _LEAST_PREFIX:
                reason = f"needs at least {_LEAST_PREFIX} letters before it"
            elif is_literal:
                reason = "cannot be combined with fields, brackets, quotes or other signs"
            else:
                return f"{beginning}*"
            self.hints.append(f"'{starred}' was searched for without *, which {reason}.")
            return starred.replace("*", " ")

        return [
            piece
            if piece.is_phrase or "*" not in piece.core
            else Piece(piece.before, _BETWEEN_COLONS.sub(check, piece.core), field=piece.field, value=piece.value)
            for piece in pieces
        ]


def _read_value(name: str, value: str) -> str:
    """Return a value as `corpus.filters` spells it: outcomes in any form, and several words joined by "_"."""
    if not FIELDS[name].words:
        return value
    plain = " ".join(value.lower().replace("_", " ").replace("-", " ").split())
    is_outcome = name == "status" and plain in _STATUSES
    return _STATUSES[plain].value if is_outcome else plain.replace(" ", "_") or value


def _write_as_indexed(name: str | None, value: str, *, is_phrase: bool) -> str:
    """Return a word or phrase as a field has it: ids of venues and pseudonyms are one word, authors have no accents."""
    if (name == VENUE and "/" in value[1:]) or (name == REVIEWER and not is_phrase):
        return "".join(split_words(value))
    if name == AUTHORS:
        return fold(value).replace(",", " ") if is_phrase else fold(value)
    return value


def _split_plain(text: str) -> dict[str, tuple[str, ...]]:
    """Return plain words in their parts; one too long for the index, and so in no document, is a word as well."""
    words: dict[str, tuple[str, ...]] = {}
    for word in _SIDE_BY_SIDE.sub(r"\g<0> ", text).split():
        is_long = len(word.encode()) >= _MAX_BYTES and any(map(str.isalnum, word))
        if parts := split_words(word) or ((word.lower(),) if is_long else ()):
            words[word] = parts
    return words


def write_condition(condition: Condition) -> str:
    r"""Return a condition in tantivy's query language; papers without a value do not meet it.

    >>> write_condition(parse("year!=2023")), write_condition(parse('keyword=a "b"'))
    ('(year:* -year:2023.0)', 'keyword:"a \\"b\\""')
    """
    about = FIELDS[condition.name]
    column = _INDEX_FIELDS.get(about.column, about.column)
    if about.kind is FieldKind.NUMBER:
        sign = "" if condition.comparison in {Operator.IS, Operator.IS_NOT} else condition.comparison.value
        # tantivy reads no exponent behind a minus sign.
        term = f"{column}:{sign}{Decimal(repr(condition.value)):f}"
    else:
        escaped = str(condition.value).lower().replace("\\", "\\\\").replace('"', '\\"')
        term = f'{column}:"{escaped}"'
    return f"({column}:* -{term})" if condition.comparison is Operator.IS_NOT else term


def read_outcome(
    words: Mapping[str, Sequence[str]], venues: Collection[NamedVenue], taken: Set[str]
) -> tuple[list[Condition], list[str]] | None:
    """Return the outcome that plain words name, as in "rejected papers 2025"; None if they name none, or several.

    Args:
        words: The words, each in its parts.
        venues: The venues of the corpus.
        taken: Names of conditions that the search has already.

    Returns:
        As conditions the outcome, and a year and a conference if words name one of the corpus; and the words left.
    """
    if "status" in taken:
        return None
    flat = [(part, word) for word, parts in words.items() for part in parts]
    named = dict(_find_outcomes(flat, is_sure=len(words) == 1 or any(part in _PAPERS for part, _ in flat)))
    if len(set(named.values())) != 1:
        return None
    conditions = {"status": Condition("status", Operator.IS, next(iter(named.values())).value)}
    years, conferences = {venue.year for venue in venues}, {venue.conference.lower() for venue in venues}
    rest = []
    for word, parts in words.items():
        whole = "".join(parts)
        is_year = len(whole) == 4 and whole.isdecimal() and int(whole) in years
        name = "year" if is_year else "conference" if whole in conferences else None
        if word not in named and name is not None and name not in taken | conditions.keys():
            conditions[name] = Condition(name, Operator.IS, float(whole) if is_year else whole)
        elif word not in named and not _NO_SUBJECT.issuperset(parts):
            rest.append(word)
    return list(conditions.values()), rest


def _find_outcomes(flat: Sequence[tuple[str, str]], *, is_sure: bool) -> Iterator[tuple[str, Status]]:
    """Yield the words that name an outcome; two words before one, as "desk rejected" is not "rejected"."""
    index = 0
    while index < len(flat):
        for length in (2, 1):
            taken = flat[index : index + length]
            status, is_plain = _OUTCOMES.get(tuple(part for part, _ in taken), (None, False))
            if status is not None and len(taken) == length and (is_plain or is_sure):
                yield from ((word, status) for _, word in taken)
                index += length - 1
                break
        index += 1


@dataclass(frozen=True, slots=True)
class Reference:
    """A paper requested by its id.

    Attributes:
        forum_id: The paper, or what may be the id of a post in its forum.
        note_id: A post in its forum; None for the paper itself.
        is_address: Whether it was requested by an address; an id alone may be a word.
    """

    forum_id: str
    note_id: str | None = None
    is_address: bool = True


def read_reference(text: str) -> Reference | None:
    """Return the paper or post that an OpenReview address names, or that may have the text as its id; None otherwise.

    Quotation marks and the like around it do not count.

    >>> read_reference("<https://openreview.net/forum?id=aB-1&noteId=cD2#discussion>,")
    Reference(forum_id='aB-1', note_id='cD2', is_address=True)
    >>> read_reference("openreview.net/pdf?id=aB-1").forum_id, read_reference("aB-1").is_address, read_reference("a b")
    ('aB-1', False, None)
    """
    text = text.strip(_AROUND)
    if not _ADDRESS.fullmatch(text):
        return Reference(text, is_address=False) if _ID.fullmatch(text) else None
    try:
        named = parse_qs(urlsplit(text if "//" in text else f"//{text}").query, max_num_fields=20)
    except ValueError:
        return None
    forum_id, note_id = (named.get(name, [""])[-1] for name in ("id", "noteId"))
    if not forum_id:
        return Reference(note_id) if note_id else None
    return Reference(forum_id, note_id if note_id not in ("", forum_id) else None)
