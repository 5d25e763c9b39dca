"""Measure the similarity of two papers, and decide by fixed thresholds whether they are one work.

Papers are compared by the words in title and abstract that few papers use and, if both texts are available, by runs of
five words. Recall and precision of the thresholds are measured in `benchmarks/results/links-rules.json`
(`benchmarks/linking.py`); decision record 11 gives the reasons.
"""

import html
import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import compress, filterfalse, pairwise
from zlib import crc32

from peercorpus.criticism.sentence_ends import find_sentence_ends
from peercorpus.links.named_submissions import STOCK

ACCENT = re.compile(r"\\(?:[`'^\"~=.]|[cHkruvdbt](?=[\s{]))\s*\{?\\?([A-Za-z])\}?")
"""Matches an accented letter in LaTeX: `\\'e`, `\\"{o}`, `\\v{s}`."""

SYMBOL = re.compile(r"\\(ss|ae|oe|aa|o|l|i|j)(?![A-Za-z])\s?(?:\{\})?", re.IGNORECASE)
"""Matches a special letter in LaTeX: `\\ss`, `\\o{}`."""

COMMAND = re.compile(r"\\[A-Za-z]+\*?")
TAG = re.compile(r"</?[A-Za-z][^<>]{0,40}>")
HYPHENATED = re.compile(r"[-\u00ad\u2010\u2011](?<=[^\W\d_].)\s*\n\s*(?=[^\W\d_])")
"""Matches the break inside a word that is hyphenated at the end of a line."""

LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "\u0131": "i"})
COMBINING = re.compile("[\u0300-\u036f]+")
WORD = re.compile(r"[^\W_]+")


def plain_words(text: str) -> list[str]:
    r"""Return the words of a text in order, in lower case and without accents, markup and punctuation.

    Hyphens and dashes separate words, except for hyphenation at the end of a line.

    >>> plain_words("Poincar\\'e Maps \u2014 \\emph{Na\u00efve} $k$-NN &amp; Stra\u00dfe"), plain_words("$\\to$ !")
    (['poincare', 'maps', 'naive', 'k', 'nn', 'strasse'], ['to'])
    """
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = COMMAND.sub(_replace_command, SYMBOL.sub(r"\1", ACCENT.sub(r"\1", text)))
    if "<" in text:
        text = TAG.sub(" ", text)
    text = HYPHENATED.sub("", text)
    if not text.isascii():
        text = COMBINING.sub("", unicodedata.normalize("NFKD", text)).casefold().translate(LETTERS)
    return WORD.findall(text.lower())


def _replace_command(command: re.Match[str]) -> str:
    r"""Return the name of a command that is a symbol (`\alpha`), and a space for one that formats braces (`\emph{`)."""
    return " " if command.string[command.end() : command.end() + 1] == "{" else f" {command[0][1:].rstrip('*')} "


Author = frozenset[str]
"""Ways to write one name: all its words in any order, and surname with initial."""

ANONYMOUS = frozenset({"anonymous", "anon", "blind", "hidden", "redacted"})
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv", "phd", "dr", "prof"})

GENERIC_WORDS = frozenset(
    (
        *("abstract", "anonymous", "appendix", "author", "authors", "camera", "comment", "comments", "conference"),
        *("decision", "draft", "extended", "final", "full", "introduction", "invited", "keynote", "letter", "long"),
        *("manuscript", "material", "materials", "meta", "my", "new", "our", "paper", "papers", "please", "poster"),
        *("preprint", "proceedings", "project", "proposal", "ready", "rebuttal", "reply", "report", "response"),
        *("resubmission", "review", "reviewer", "reviewers", "reviews", "revised", "revision", "s", "short", "some"),
        *("submission", "submissions", "submitted", "supplement", "supplementary", "supplemental", "talk", "test"),
        *("this", "title", "track", "tutorial", "untitled", "version", "withdrawal", "withdrawn", "workshop", "your"),
    )
)
"""Words that do not make a distinctive title: "Response to the reviewers' comments", "Extended abstract",
"Untitled"."""

SAME_AUTHORS = 0.5
"""Smallest share of the shorter author list in common for the same authors: people join and leave."""


def read_authors(names: Iterable[str]) -> tuple[Author, ...]:
    """Return the authors of a paper in a form in which accents, order and initials do not matter.

    >>> read_authors(["Müller, Anna", "Anonymous"]) == read_authors(["anna muller"])
    True
    """
    return tuple(author for name in names if (author := _read_author(name)))


def _read_author(name: str) -> Author:
    surname, comma, first = name.partition(",")
    words = plain_words(f"{first} {surname}" if comma else name)
    words = [word for word in words if word not in SUFFIXES] or words
    if not words or not ANONYMOUS.isdisjoint(words):
        return frozenset()
    whole = " ".join(sorted(words))
    return frozenset({whole, f"{words[-1]}, {words[0][:1]}"} if len(words) > 1 else {whole})


def shared_authors(one: Sequence[Author], other: Sequence[Author]) -> float | None:
    """Return the share of the shorter list of authors that is in the longer one, in [0, 1]; None if a list is empty."""
    shorter, longer = sorted((one, other), key=len)
    if not shorter:
        return None
    names = frozenset[str]().union(*longer)
    return sum(not author.isdisjoint(names) for author in shorter) / len(shorter)


def find_telling_words(words: Iterable[str], small: Set[str]) -> frozenset[str]:
    """Return the words that distinguish one title from another.

    Numbers, the words in `small` and `GENERIC_WORDS`, which occur in titles of any paper or post, are left out.
    """
    return frozenset(word for word in {*words} - small - GENERIC_WORDS if not word.isdigit())


COUNTER_SLOTS = 1 << 22
"""Number of counters that terms share by hash: 16 MB in total, however many papers there are."""

ALWAYS_RARE_PAPERS = 6
"""Number of papers up to which a term is always rare: one work may be submitted that many times."""

CACHED_ABSTRACTS = 256
"""Number of abstracts whose word pairs, of some 30 KB each, are cached: pairs with the same paper are consecutive."""

MAX_RARE_SHARE = 0.01
"""Share of all papers above which a term is too common to distinguish papers (decision record 11)."""


class RareTerms:
    """Determines which terms are used by only a few papers.

    A term is common if more than 6 papers and more than `most_share` of all papers have it. Terms are counted by hash,
    so a rare term may be mistaken for a common one, never the reverse.
    """

    def __init__(self, papers: Iterable[Iterable[str]] = (), most_share: float = MAX_RARE_SHARE) -> None:
        counts = array("I", [0]) * COUNTER_SLOTS
        total = 0
        # Only these slots can be common; searching all slots afterwards would take half a second.
        candidates: list[int] = []
        for terms in papers:
            total += 1
            for slot in _hash_to_slots(terms):
                counts[slot] = count = counts[slot] + 1
                if count == ALWAYS_RARE_PAPERS + 1:
                    candidates.append(slot)
        limit = max(ALWAYS_RARE_PAPERS, int(most_share * total))
        self._common_slots = frozenset(slot for slot in candidates if counts[slot] > limit)

    def of(self, words: Iterable[str]) -> frozenset[str]:
        """Return the rare ones among some terms."""
        terms = frozenset(words)
        return terms.difference(compress(terms, map(self._common_slots.__contains__, _hash_to_slots(terms))))


def _hash_to_slots(terms: Iterable[str]) -> Iterator[int]:
    """Yield the counter of each term; a chain of `map`, because the texts of a venue have millions of terms."""
    return map((COUNTER_SLOTS - 1).__and__, map(crc32, map(str.encode, terms)))


SMALL_WORDS = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how", "in", "into"),
        *("is", "it", "its", "of", "on", "or", "over", "per", "that", "the", "their", "to", "under", "using", "via"),
        *("we", "what", "when", "where", "which", "why", "with", "without"),
    )
)
ARTICLES = frozenset(("a", "an", "the"))
ORDINALS = frozenset(
    (
        *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
        *("one", "two", "three", "four", "five", "first", "second", "third", "fourth", "fifth"),
    )
)

RUN_WORDS = 5
"""Number of words in the runs by which texts are compared."""

MIN_TEXT_RUNS = 300
"""Minimum number of rare runs of a text; with fewer, texts are not compared (`tests/links/test_similarity.py`)."""

MIN_ABSTRACT_PAIRS = 15
"""Minimum number of rare word pairs of an abstract, about 16 words.

A generic abstract of 12 words links no papers: `benchmarks/results/links-rules.json`, `tests/links/test_similarity.py`.
"""

MIN_PAIRS_BESIDE_SENTENCE = 5
"""Minimum number of word pairs shared outside one sentence, as a group may describe its aim in the same one.

Invented pairs with one sentence in common share at most 3 others (`tests/links/test_link_submissions.py`).
"""

STOCK_WORDS = SMALL_WORDS | STOCK
"""Words of sentences that any abstract may contain: "Experiments on several benchmarks show that our method …"."""

MIN_TITLE_WORDS = 3
"""Minimum number of distinctive words (`find_telling_words`) for an exact-title match, as some titles are generic."""

MIN_WORDS_BESIDE_AUTHORS = 2
"""The same minimum if the authors are the same too."""

MIN_PLURAL = 3
"""Number of letters above which a final "s" may mark a plural: "clouds" is "cloud", "gas" is not "ga"."""

MIN_RARE_TITLE_WORDS = 2
"""Minimum number of rare words that two titles share for the papers' texts to be compared."""

# Shares of rare runs in common, as `text_share` returns them. 18 recorded pairs of one paper share 79 % and more, 972
# pairs of two papers at most 29 % (benchmarks/results/links-recorded.json).
SAME_TEXT = 0.35
"""Enough for texts alone to make two papers one work; above the 29 % reached by two different papers."""

SOME_TEXT = 0.15
"""Enough for texts to make two papers one work if titles or abstracts are similar too."""

# Shares of the rare word pairs of the abstract with fewer, as `share_of_fewer` returns them: an abstract cut or
# extended keeps its share, which a Jaccard index would halve. They were chosen using 973 papers of ICLR 2018, as
# submitted and as revised (benchmarks/results/links-recorded.json, which therefore calls the result optimistic).
SAME_ABSTRACT = 0.67
"""Enough for abstracts alone to make two papers one work if a text is missing."""

LIKE_ABSTRACT = 0.57
"""Enough for abstracts to make two papers one work together with a title similarity of at least `SOME_TITLE`."""

SOME_ABSTRACT = 0.33
"""Enough for abstracts together with a title similarity of at least `LIKE_TITLE`, or with some text in common."""

AUTHORS_ABSTRACT = 0.2
"""Enough for abstracts if half of the authors are the same.

Of 1,394 such pairs of ICLR 2017 and 2018 the two that are one work share 25 % and 49 %, the others at most 17 %.
"""

TRACE_OF_ABSTRACT = 0.18
"""More than by chance: enough with an exact-title match, and the minimum for comparing the texts."""

# Jaccard indices of all words of the titles. These three were not measured separately; links-rules.json reports the
# result of all thresholds together.
SAME_TITLE = 0.8
"""Titles are the same except for a word or so: texts are compared."""

LIKE_TITLE = 0.6
"""Titles are similar; titles that differ in numbers and are otherwise as similar are parts of a series."""

SOME_TITLE = 0.2
"""Titles have something in common."""

REFERENCES = re.compile(r"^[#* \t\d.]*(?:references|bibliography)[*\s:]*$", re.IGNORECASE | re.MULTILINE)
CHECKLIST = re.compile(
    r"^[#* \t\d.]*(?:[A-Z][. ]+)?(?:neurips paper |paper )?checklist[*\s:]*$", re.IGNORECASE | re.MULTILINE
)
HEADING = re.compile(r"^#{1,6}\s+\S", re.MULTILINE)

# These texts are data: they are stored in `Link.rule` and published. Changing one changes rows, so it requires a higher
# version of the stage in `link_submissions.py`.
BY_TEXT = "the texts have a third of their passages in common"
BY_SOME_TEXT = "the texts have passages in common, and titles or abstracts are similar"
BY_ABSTRACT = "the texts cannot be compared; the abstracts are nearly the same"
BY_BOTH = "the texts cannot be compared; titles and abstracts are similar"
BY_TITLE = "the texts cannot be compared; the titles are the same, and the abstracts have more in common than by chance"
BY_TITLE_ALONE = "neither texts nor abstracts can be compared; the titles are the same"
BY_AUTHORS = "the titles are the same, and so are the authors"
BY_AUTHORS_AND_ABSTRACT = "the texts cannot be compared; the authors are the same, and the abstracts are similar"


@dataclass(frozen=True, slots=True)
class TitleAndAbstract:
    """The normalised words of a paper's title and abstract.

    Attributes:
        title: Words in order; empty if there is no title.
        abstract: Words in order, joined by spaces, with a line for each sentence; empty if there is no abstract.
        authors: Its public authors.
    """

    title: tuple[str, ...]
    abstract: str
    authors: tuple[Author, ...] = ()

    @property
    def has_words(self) -> bool:
        """Whether there is any word to compare."""
        return bool(self.title or self.abstract)

    @property
    def names(self) -> frozenset[str]:
        """Words of the title without small words; all words if there are no others."""
        return frozenset(self.title) - SMALL_WORDS or frozenset(self.title)

    @property
    def bare_title(self) -> tuple[str, ...]:
        """Words of the title in order, without articles."""
        return tuple(word for word in self.title if word not in ARTICLES)

    @property
    def telling_words(self) -> int:
        """Number of words that distinguish the title from others."""
        return len(find_telling_words(self.title, SMALL_WORDS))


def normalise_head(title: str | None, abstract: str | None, authors: Iterable[str] = ()) -> TitleAndAbstract:
    """Normalise title, abstract and authors for comparison."""
    text = abstract or ""
    sentences = (
        " ".join(plain_words(text[start:end])) for start, end in pairwise([0, *find_sentence_ends(text), None])
    )
    return TitleAndAbstract(tuple(plain_words(title or "")), "\n".join(filter(None, sentences)), read_authors(authors))


def find_word_pairs(words: str) -> frozenset[str]:
    """Return the pairs of adjacent words, or the word itself if there is only one.

    >>> sorted(find_word_pairs("we sort we"))
    ['sort we', 'we sort']
    """
    parts = words.split()
    return frozenset(map(" ".join, pairwise(parts))) or frozenset(parts)


def overlap(one: Set[str], other: Set[str]) -> float | None:
    """Return the Jaccard index of two sets, on [0, 1]; None if one is empty."""
    if not one or not other:
        return None
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def find_word_runs(text: str) -> frozenset[str]:
    """Return the runs of five words of a text, without references, checklist and numbers."""
    words = [*filterfalse(str.isdigit, plain_words(_cut_references(text)))]
    return frozenset(map(" ".join, zip(*(words[start:] for start in range(RUN_WORDS)), strict=False)))


def _cut_references(text: str) -> str:
    """Return a text without reference lists (each up to the next heading), checklist and all after that."""
    parts = []
    start = 0
    checklist = CHECKLIST.search(text)
    end = checklist.start() if checklist else len(text)
    while references := REFERENCES.search(text, start, end):
        parts.append(text[start : references.start()])
        heading = HEADING.search(text, references.end(), end)
        start = heading.start() if heading else end
    return "".join([*parts, text[start:end]])


def share_of_fewer(one: Set[str], other: Set[str]) -> float | None:
    """Return what two sets share, as a share of the smaller one, on [0, 1]; None if one is empty."""
    return len(one & other) / min(len(one), len(other)) if one and other else None


def text_share(one: Set[str], other: Set[str]) -> float | None:
    """Return the runs that two texts share, as a share of the fewer ones; None if a text has under 300."""
    return share_of_fewer(one, other) if min(len(one), len(other)) >= MIN_TEXT_RUNS else None


@dataclass(frozen=True, slots=True)
class Likeness:
    """Similarity of two papers.

    Attributes:
        title: Jaccard index of the words of the titles, on [0, 1]; None if a paper has none.
        abstract: Shared part of the rare word pairs of the abstract with fewer, on [0, 1]; None if a paper has none.
        text: Shared part of the runs of the shorter text, on [0, 1]; None if the texts cannot be compared.
        are_parts: Whether the titles differ only in their numbers: "Part I" and "Part II", "2023" and "2024".
        is_telling: Whether both abstracts have at least 15 rare word pairs.
        is_named: Whether the titles share at least two rare words.
        is_same_title: Whether the titles are equal, ignoring articles, and have at least three distinctive words.
        is_same_short_title: Whether they are equal and have at least two distinctive words.
        is_same_abstract: Whether the abstracts are equal and not empty.
        shares_name: Whether the titles share a rare word; None if a paper has no title.
        authors: Share of the shorter list of authors in common, on [0, 1]; None if a paper has none.
        has_abstracts: Whether both papers have an abstract.
        shares_one_sentence: Whether different abstracts have little in common but one sentence.
    """

    title: float | None
    abstract: float | None
    text: float | None
    are_parts: bool
    is_telling: bool
    is_named: bool
    is_same_title: bool
    is_same_short_title: bool
    is_same_abstract: bool
    shares_name: bool | None
    authors: float | None
    has_abstracts: bool
    shares_one_sentence: bool

    def may_be_one(self) -> bool:
        """Return whether the pair is similar enough for the texts to be compared."""
        by_abstract = self.is_telling and (self.abstract or 0.0) >= TRACE_OF_ABSTRACT
        by_title = self._has_same_title() or (self.is_same_title and self.is_same_abstract)
        return by_abstract or by_title or self._by_authors() or self._by_title_alone()

    def is_similar(self) -> bool:
        """Return whether titles, abstracts or authors are similar enough for the link of a post to mean one work."""
        abstract = (self.abstract or 0.0) if self.is_telling else 0.0
        evidence = ((abstract, SOME_ABSTRACT), (self.title or 0.0, LIKE_TITLE), (self.authors or 0.0, SAME_AUTHORS))
        return not self.are_parts and any(value >= least for value, least in evidence)

    def is_contradicted(self) -> bool:
        """Return whether both texts share too little for one work, or the papers no author and nothing else."""
        if self.text is not None:
            return self.text < SOME_TEXT
        return self.authors == 0 and not self.is_similar()

    def _has_same_title(self) -> bool:
        return self.is_named and (self.title or 0.0) >= SAME_TITLE

    def _by_authors(self) -> bool:
        return self.is_same_short_title and (self.authors or 0.0) >= SAME_AUTHORS

    def _by_title_alone(self) -> bool:
        return self.is_same_title and not self.has_abstracts and self.authors is None

    def rule(self) -> str | None:
        """Return the rule by which the papers are one work, in words; None if no rule applies.

        Texts decide if both are available, and so do the same title and authors. Otherwise titles and abstracts decide.
        A title alone is enough only if an abstract is missing and the authors do not differ; an abstract alone, without
        further evidence, is not.
        """
        title = self.title or 0.0
        abstract = (self.abstract or 0.0) if self.is_telling else 0.0
        if self.text is not None:
            is_alike = not self.are_parts and (abstract >= SOME_ABSTRACT or self._has_same_title())
            if self.text >= SAME_TEXT:
                return BY_TEXT
            if self.text >= SOME_TEXT and is_alike:
                return BY_SOME_TEXT
            return BY_AUTHORS if self._by_authors() else None
        return None if self.are_parts else self._rule_without_texts(title, abstract)

    def _rule_without_texts(self, title: float, abstract: float) -> str | None:
        is_like_title = self.shares_name is not False or title >= LIKE_TITLE
        has_same_authors = (self.authors or 0.0) >= SAME_AUTHORS
        is_backed = is_like_title or has_same_authors
        if self.shares_one_sentence and title < LIKE_TITLE:
            abstract = 0.0
        if abstract >= SAME_ABSTRACT and is_backed:
            return BY_ABSTRACT
        if abstract >= LIKE_ABSTRACT and title >= SOME_TITLE and is_backed:
            return BY_BOTH
        if abstract >= SOME_ABSTRACT and title >= LIKE_TITLE:
            return BY_BOTH
        if self.is_same_title and (abstract >= TRACE_OF_ABSTRACT or self.is_same_abstract):
            return BY_TITLE
        if self._by_authors():
            return BY_AUTHORS
        if has_same_authors and abstract >= AUTHORS_ABSTRACT:
            return BY_AUTHORS_AND_ABSTRACT
        return BY_TITLE_ALONE if self._by_title_alone() else None


class PaperComparer:
    """Compares titles and abstracts within a collection of papers by the terms that few of them use."""

    def __init__(self, heads: Iterable[TitleAndAbstract]) -> None:
        """Count the terms of a collection of papers, which is iterated twice."""
        self._rare_names = RareTerms(head.names for head in heads)
        self._rare_pairs = RareTerms(find_word_pairs(head.abstract) for head in heads)
        self.pairs = lru_cache(CACHED_ABSTRACTS)(lambda head: self._rare_pairs.of(find_word_pairs(head.abstract)))

    def names(self, head: TitleAndAbstract) -> frozenset[str]:
        """Return the rare words of a title; none if there are fewer than two."""
        names = self._rare_names.of(head.names)
        return names if len(names) >= MIN_RARE_TITLE_WORDS else frozenset()

    def likeness(self, one: TitleAndAbstract, other: TitleAndAbstract) -> Likeness:
        """Measure the similarity of two papers by title and abstract; `text` is left None."""
        pairs = self.pairs(one), self.pairs(other)
        is_same_title = one.bare_title == other.bare_title
        return Likeness(
            title=overlap(frozenset(one.title), frozenset(other.title)),
            abstract=share_of_fewer(*pairs),
            text=None,
            are_parts=_are_parts(one.title, other.title),
            is_telling=min(map(len, pairs)) >= MIN_ABSTRACT_PAIRS,
            is_named=len(self.names(one) & self.names(other)) >= MIN_RARE_TITLE_WORDS,
            is_same_title=is_same_title and one.telling_words >= MIN_TITLE_WORDS,
            is_same_short_title=is_same_title and one.telling_words >= MIN_WORDS_BESIDE_AUTHORS,
            is_same_abstract=bool(one.abstract) and one.abstract == other.abstract,
            shares_name=self._share_name(one, other) if one.title and other.title else None,
            authors=shared_authors(one.authors, other.authors),
            has_abstracts=bool(one.abstract and other.abstract),
            shares_one_sentence=one.abstract != other.abstract and self._share_one_sentence(one, other),
        )

    def _share_one_sentence(self, one: TitleAndAbstract, other: TitleAndAbstract) -> bool:
        shared = {pair for pair in self.pairs(one) & self.pairs(other) if not STOCK_WORDS.issuperset(pair.split())}
        sentences = (head.abstract.splitlines() for head in (one, other))
        parts = [sentence for parts in sentences if len(parts) > 1 for sentence in parts]
        most = max((len(shared & find_word_pairs(sentence)) for sentence in parts), default=0)
        return len(shared) - most < MIN_PAIRS_BESIDE_SENTENCE

    def _share_name(self, one: TitleAndAbstract, other: TitleAndAbstract) -> bool:
        return not _singular(self._rare_names.of(one.names)).isdisjoint(_singular(self._rare_names.of(other.names)))


def _singular(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word.removesuffix("s") if len(word) > MIN_PLURAL else word for word in words)


def _are_parts(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two titles are similar and differ in their numbers."""
    if list(filter(_is_number, one)) == list(filter(_is_number, other)):
        return False
    return (overlap({*filterfalse(_is_number, one)}, {*filterfalse(_is_number, other)}) or 0.0) >= LIKE_TITLE


def _is_number(word: str) -> bool:
    return word.isdigit() or word in ORDINALS
