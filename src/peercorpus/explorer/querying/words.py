"""Turn the words of a search into a query for documents with all of them or, if there are none, any of them.

Words are compared by their stems, so that plurals are alike, and so are "self-supervised", "self supervised" and
"selfsupervised": a compound is searched for in each of these spellings that the index has.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from string import ascii_lowercase

from rapidfuzz import process
from rapidfuzz.distance import OSA
from tantivy import Query

from peercorpus.explorer.querying.facets import Facet
from peercorpus.explorer.querying.names import AUTHORS, FoundName, NameReader, list_other_forms, spell_out
from peercorpus.explorer.querying.passages import Sought
from peercorpus.explorer.querying.searched_fields import (
    VOCABULARY,
    OpenTexts,
    SearchedFields,
    fold,
    require_all,
    require_any,
)
from peercorpus.explorer.querying.typed_query import Piece, TypedQuery

_VERBS = re.compile(
    r"([bcdfghj-np-tvwxz]*+[aeiouy][a-z]+)(is|iz)(e|es|ed|er|ers|ing|able|ation|ations|ational|ationally)"
)
"""Optimise, organisation. A vowel and another letter come before it, as in no one of size, prise, wise and rise."""
_LYSES = re.compile(r"([a-z]*(?:anal|paral|catal))(ys|yz)(e|ed|er|ers|ing)")
"""Analyse; not analyses, which is a noun as well."""
_COLOURS = re.compile(
    r"([a-z]*(?:arb|ard|arm|behavi|cand|clam|col|demean|endeav|fav|ferv|flav|glam|hon|hum|lab|neighb|od|parl|ranc|rig|rum"
    r"|sav|savi|splend|succ|tum|val|vap|vig))"
    r"(our|or)(|s|ed|ing|ings|al|ally|able|ably|ful|fully|hood|hoods|ist|ists|ite|ites|less|y|er|ers|ism)"
)
_CENTRES = re.compile(
    r"([a-z]*(?:cent|theat|met|lit)|fib|spect|calib|sab|lust|somb|och|meag|tit|mit|scept)(re|er)(|s|d|ed)"
)
_PAIRS = (("is", "iz"), ("ys", "yz"), ("our", "or"), ("re", "er"))
_OTHER: Mapping[str, str] = dict(_PAIRS) | {second: first for first, second in _PAIRS}


def respell(word: str) -> str | None:
    """Return the other spelling of a word in lower case, or None if it has one spelling.

    >>> respell("optimisation"), respell("behavior"), respell("fibres"), respell("four")
    ('optimization', 'behaviour', 'fibers', None)
    """
    for rule in (_VERBS, _LYSES, _COLOURS, _CENTRES):
        found = rule.fullmatch(word)
        if found is not None:
            head, sign, end = found.groups()
            if rule is _CENTRES:
                end = {"d": "ed", "ed": "d"}.get(end, end)  # Centred, centered.
            return f"{head}{_OTHER[sign]}{end}"
    return None


_MAX_SOUGHT = 32
"""Words and phrases of an expression that are marked."""
_MIN_COMPOUND = 8
"""Letters of a word that may be two words written as one."""
_MIN_PART = 3
"""Letters of each of them."""
_MAX_SPLITS = 2
"""Ways to split a word that are searched for."""
_LEAST_PART_SHARE = 0.05
"""A word is split only if both parts are in more than this share of the documents that have the word itself."""
_WORD_SCORE = 1_000.0
"""Score of each word that a document has, where not all are required: above any sum of scores within the fields."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a search.

    Attributes:
        parts: Its parts between hyphens and other signs, in lower case.
        documents: Number of documents with it, counted by field; 0 if it is in none, in any spelling.
        query: Query for it in any spelling.
        spellings: Its other spellings, each as consecutive words.
        respelt: Its British or American spelling; None if it has one spelling.
        is_prefix: Whether it matches every word with this beginning.
        is_initial: Whether it is the initial of an author, which is marked nowhere.
    """

    written: str
    parts: tuple[str, ...]
    documents: int
    query: Query
    spellings: tuple[tuple[str, ...], ...] = ()
    respelt: str | None = None
    is_prefix: bool = False
    is_initial: bool = False

    def list_sought(self, number: int) -> Iterator[Sought]:
        """Yield the parts to mark in passages, as the word of this number; nothing if no document has it."""
        if not self.documents or self.is_initial:
            return
        for parts in (self.parts, *self.spellings):
            yield Sought(parts, number, is_prefix=self.is_prefix)
        if self.respelt is not None:
            yield Sought((self.respelt,), number, is_respelt=True)


@dataclass(frozen=True, slots=True)
class ParsedWords:
    """The parsed words of a search.

    Attributes:
        words: The words, if no sign of the query language is among them; otherwise empty.
        faults: Parts that could not be parsed and were left out.
        sought: The words to mark in passages.
    """

    query: Query
    words: Sequence[Word] = ()
    faults: Sequence[str] = ()
    sought: Sequence[Sought] = ()


def parse_words(opened: OpenTexts, typed: TypedQuery, fields: SearchedFields) -> ParsedWords:
    """Return the query for the words of a search; `fields` are searched if they name none."""
    if typed.pieces:
        return _parse_expression(opened, typed, fields)
    if not typed.words:
        return ParsedWords(Query.empty_query() if typed.text else Query.all_query())
    read = _WordReader(opened, fields).read(typed.words)
    sought = [each for number, word in enumerate(read) for each in word.list_sought(number)]
    return ParsedWords(require_all([word.query for word in read]), read, sought=sought)


def _parse_expression(opened: OpenTexts, typed: TypedQuery, fields: SearchedFields) -> ParsedWords:
    def parse(text: str) -> tuple[Query, list[str]]:
        query, errors = opened.index.parse_query_lenient(
            text, list(fields.weights), dict(fields.weights), conjunction_by_default=True
        )
        return query, [str(error) for error in errors]

    widened = "".join(_widen(opened, piece, fields) for piece in typed.pieces)
    query, faults = parse(widened)
    if any("Only excluding" in fault for fault in faults):
        query, faults = parse(f"* {widened}")
    if ":" in widened and "*" in widened and not _is_supported(opened, query):
        said = f"'{typed.text}' asks whether a field has a value, which the index supports for some fields only."
        return ParsedWords(Query.all_query(), faults=[said])
    return ParsedWords(query, faults=faults[:3], sought=list(islice(typed.sought, _MAX_SOUGHT)))


def _widen(opened: OpenTexts, piece: Piece, fields: SearchedFields) -> str:
    """Return a piece of an expression; a phrase that names somebody as an alternative of all ways to find that."""
    is_name = piece.is_phrase and not re.match(r"[\w~^*]", piece.after)
    others = list(list_other_forms(opened, piece.value or "", piece.field, fields)) if is_name else []
    return piece.before + (f"({' OR '.join([piece.core, *others])})" if others else piece.core) + piece.after


def _is_supported(opened: OpenTexts, query: Query) -> bool:
    """Return whether the index can run a query; `title:*` can be parsed, but fails when it is run."""
    try:
        opened.searcher.search(query, 1, count=False)
    except ValueError:
        return False
    return True


class _WordReader:
    """Makes the query of each word, in the spellings that the index has."""

    def __init__(self, opened: OpenTexts, fields: SearchedFields) -> None:
        self._opened = opened
        self._fields = fields

    def read(self, parts: Mapping[str, tuple[str, ...]]) -> list[Word]:
        """Return the words of a search, which are given in their parts."""
        tokens = list(parts)
        joined: dict[str, list[str]] = {}
        for first, second in pairwise(tokens):
            if len(parts[first]) == len(parts[second]) == 1 and "*" not in first + second:
                whole = parts[first][0] + parts[second][0]
                joined.setdefault(first, []).append(whole)
                joined.setdefault(second, []).append(whole)
        names = NameReader(self._opened, self._fields).read(parts)
        return [self._make_word(token, parts[token], joined.get(token, ()), names.get(token)) for token in tokens]

    def _make_word(self, written: str, parts: tuple[str, ...], joined: Sequence[str], name: FoundName | None) -> Word:
        if name is not None and name.is_sure:
            return Word(written, parts, name.documents, name.query, is_initial=True)
        if written.endswith("*"):
            return self._make_prefix(written, parts)
        spellings: list[tuple[str, ...]] = []
        respelt = respell(parts[0]) if len(parts) == 1 else None
        if len(parts) == 1:
            own, queries = self._find_part(parts[0])
            for pair in self._split(parts[0], own):
                phrases = self._find_phrase(pair)
                queries += phrases
                spellings += [pair] * any(map(self._has, phrases))
            documents, more = self._find_part(respelt, is_respelt=True) if respelt is not None else (0, [])
            own, queries = own + documents, queries + more
            respelt = respelt if documents else None
        else:
            own, queries = self._find_part("".join(parts))
            queries += self._find_phrase(parts)
            spellings.append(("".join(parts),))
        if len(parts) > 1 and any(self._has(query) for query in queries):
            own = max(own, 1)
        for whole in joined:
            documents, more = self._find_part(whole)
            queries += more
            spellings += [(whole,)] * bool(documents)
        if name is not None:
            own, queries = own + name.documents, [*queries, name.query]
        is_found = own > 0 or any(self._has(query) for query in queries)
        return Word(
            written=written,
            parts=parts,
            documents=max(own, int(is_found)),
            query=require_any(queries),
            spellings=tuple(spellings),
            respelt=respelt,
            is_initial=name is not None and name.is_initials,
        )

    def _make_prefix(self, written: str, parts: tuple[str, ...]) -> Word:
        """Return a word given by its beginning."""
        beginnings = [
            Query.regex_query(self._opened.schema, name, f"{fold(parts[-1])}.*") for name in self._fields.vocabularies
        ]
        query = require_any(beginnings)
        if len(parts) > 1:
            query = require_all([query, *(require_any(self._find_part(part)[1]) for part in parts[:-1])])
        return Word(written, parts, int(self._has(query)), query, is_prefix=True)

    def _has(self, query: Query) -> bool:
        return bool(self._opened.searcher.search(query, 1, count=False).hits)

    def _find_part(self, part: str, *, is_respelt: bool = False) -> tuple[int, list[Query]]:
        """Return the number of documents with a word, counted by field, and its query in each field that has it.

        Another spelling of it is not searched for in names.
        """
        documents, queries = 0, []
        for name, weight in self._fields.weights.items():
            if is_respelt and name in self._fields.unstemmed:
                continue
            for term in spell_out(part) if name == AUTHORS else (self._fields.term(name, part),):
                frequency = self._opened.searcher.doc_freq(name, term)
                if not frequency:
                    continue
                documents += frequency
                query = Query.term_query(self._opened.schema, name, term, "freq")
                queries.append(query if weight == 1.0 else Query.boost_query(query, weight))
        return documents, queries

    def _find_phrase(self, parts: Sequence[str]) -> list[Query]:
        """Return the queries for consecutive words, in each field that has all of them."""
        queries = []
        for name in self._fields.weights:
            terms: list[str | tuple[int, str]] = [self._fields.term(name, part) for part in parts]
            if all(self._opened.searcher.doc_freq(name, term) for term in terms):
                phrase = Query.phrase_query(self._opened.schema, name, terms)
                queries.append(Query.boost_query(phrase, self._fields.weights[name]))
        return queries

    def _split(self, part: str, own: int) -> list[tuple[str, str]]:
        """Return the likeliest ways in which a word is two words written as one."""
        if len(part) < _MIN_COMPOUND:
            return []
        pairs = [(part[:end], part[end:]) for end in range(_MIN_PART, len(part) - _MIN_PART + 1)]
        count, term = self._opened.searcher.doc_freq, self._fields.term
        counts = {part: sum(count(name, term(name, part)) for name in self._fields.weights) for part in chain(*pairs)}
        ranked = [(min(map(counts.__getitem__, pair)), pair) for pair in pairs]
        likely = sorted((each for each in ranked if each[0] > _LEAST_PART_SHARE * own), reverse=True)
        return [pair for _, pair in likely[:_MAX_SPLITS]]


@dataclass(frozen=True, slots=True)
class Relaxed:
    """The final query of a search.

    Attributes:
        wanted: The words that documents found may have, if it is enough to have one of them; otherwise empty.
        missed: The words, as they were typed, that no document of the selection has.
    """

    query: Query
    wanted: Sequence[Word] = ()
    missed: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a page of results says about the search.

    Attributes:
        faults: Parts of the words that could not be parsed.
        missed: The words, as they were typed, that nothing of the selection has.
        is_any: Whether nothing has all words, so that what has any of them is found.
        suggested: The words in the spelling that the index has; None if they are spelt so.
        hints: Parts that were interpreted differently from what was typed, one sentence each.
        facets: Numbers of what is found by its properties, with links that narrow the search.
    """

    faults: Sequence[str] = ()
    missed: Sequence[str] = ()
    is_any: bool = False
    suggested: str | None = None
    hints: Sequence[str] = ()
    facets: Sequence[Facet] = ()


def relax(opened: OpenTexts, parsed: ParsedWords, filters: Sequence[Query]) -> Relaxed:
    """Require any of the words, if no document that passes the filters has all.

    Documents with more of the words then come first.
    """

    def has(query: Query) -> bool:
        return bool(opened.searcher.search(require_all([query, *filters]), 1, count=False).hits)

    known = [word for word in parsed.words if word.documents and has(word.query)]
    missed = [word.written for word in parsed.words if word not in known]
    if not known:
        return Relaxed(parsed.query, missed=missed)
    scored = chain.from_iterable((word.query, Query.const_score_query(word.query, _WORD_SCORE)) for word in known)
    return Relaxed(require_any(list(scored)), known, missed)


def filter_by(query: Query, filters: Sequence[Query]) -> Query:
    """Return the query for documents that pass filters, which do not change their scores."""
    return require_all([query, *(Query.const_score_query(each, 0.0) for each in filters)])


_MIN_LETTERS = 4
"""Shorter words are not corrected."""
_MANY_LETTERS = 7
"""A word of at least this many letters may differ by two edits, a shorter one by one."""
_MAX_CORRECTED = 4
"""Words of one search that are corrected."""
_MAX_BEGINNINGS = 300
"""Beginnings of words that are looked up for a word that differs by two edits."""
_MAX_LISTED = 40
"""Words of each beginning that are compared, the most frequent first."""
_RARE = 3
"""A word in at most this many documents may be misspelt too, if"""
_MORE_FREQUENT = 30
"""one that differs by one edit is in this many times as many."""


def suggest_words(opened: OpenTexts, words: Sequence[Word]) -> str | None:
    """Return the words with those that the index lacks, or hardly has, replaced by the nearest that it has.

    None if no word is replaced. Nearness is the number of letters that are inserted, left out, replaced, or swapped
    with the next (optimal string alignment); of equally near words the most frequent is taken.
    """
    better: dict[str, str] = {}
    for word in words:
        if len(word.parts) == 1 and word.documents <= _RARE and len(better) < _MAX_CORRECTED:
            suggested = _find_nearest(opened, fold(word.parts[0]), word.documents)
            if suggested is not None:
                better[word.written] = suggested
    return " ".join(better.get(word.written, word.written) for word in words) if better else None


def _find_nearest(opened: OpenTexts, part: str, documents: int) -> str | None:
    if len(part) < _MIN_LETTERS or not part.isalpha():
        return None
    most = 2 if len(part) >= _MANY_LETTERS and not documents else 1
    frequencies = dict(_list_near(opened, part, most))
    frequencies.pop(part, None)
    near = process.extract(part, list(frequencies), scorer=OSA.distance, score_cutoff=most, limit=None)
    least = _MORE_FREQUENT * documents
    ranked = [(distance, -frequencies[word], word) for word, distance, _ in near if frequencies[word] >= least]
    return min(ranked)[2] if ranked else None


def _list_near(opened: OpenTexts, part: str, most: int) -> Iterable[tuple[str, int]]:
    """Yield words that may be near, with the number of documents of each.

    Every word that differs by one edit is looked up. One that differs by two is found if at most one of them is in the
    first half of the word, and if it is frequent among those that begin like it: so few words are compared however many
    the corpus has.
    """
    for word in _edit_once(part):
        if frequency := opened.searcher.doc_freq(VOCABULARY, word):
            yield word, frequency
    if most < 2:
        return
    half = (len(part) + 1) // 2
    shortened = (part[:place] + part[place + 1 : half + 1] for place in range(half))
    edited = (word for word in _edit_once(part[:half]) if len(word) >= half)
    for beginning in islice(dict.fromkeys([part[:half], *shortened, *edited]), _MAX_BEGINNINGS):
        for word, frequency in opened.searcher.terms_with_prefix(VOCABULARY, beginning, limit=_MAX_LISTED):
            if abs(len(word) - len(part)) <= most and word.isalpha():
                yield word, frequency


def _edit_once(part: str) -> Iterable[str]:
    """Yield the words that differ from one by a letter left out, swapped with the next, replaced or inserted."""
    for place in range(len(part) + 1):
        before, after = part[:place], part[place:]
        yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in ascii_lowercase:
            yield before + letter + after[1:]
            yield before + letter + after
