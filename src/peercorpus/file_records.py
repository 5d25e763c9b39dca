"""Records of what stands in files: what tells their version, how well they were read, how two of them compare."""

from dataclasses import dataclass
from datetime import datetime

from peercorpus.kinds import ChangeKind, LinkKind, SignKind


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing in a file that tells which version of the paper it is.

    Attributes:
        page: From 1; None for what the file's own metadata say.
        words: Verbatim, 200 characters at most; where they would name a person, what stands there ("an e-mail address
            above the abstract"). No e-mail address is ever in them.
    """

    kind: SignKind
    page: int | None
    words: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """What stands in one file that tells which version of a paper it is.

    Attributes:
        sha256: Of the file.
        forum_id: The first forum, by its id, that has the file.
        pages: Number of pages.
        made_at: When the file says it was made; None where it does not, or says no time.
        changed_at: When it says it was last changed; the same.
        producer: What made it, as it says itself, 200 characters at most.
        signs: In the order in which they stand in the file.
        problems: What could not be read, in words.
        inspector: The version of what looked into it.
    """

    sha256: str
    forum_id: str
    venue_id: str
    pages: int
    made_at: datetime | None
    changed_at: datetime | None
    producer: str | None
    signs: tuple[Sign, ...]
    problems: tuple[str, ...]
    inspector: str = ""


@dataclass(frozen=True, slots=True)
class TextHeading:
    """A heading of a paper.

    Attributes:
        level: 1 for a section, 2 for one inside it, and so on; the paper's title is none.
        title: As in the text, with its number.
        page: On which it stands, from 1.
    """

    level: int
    title: str
    page: int


@dataclass(frozen=True, slots=True)
class TextQuality:
    """What tells how well a text was read.

    Attributes:
        unknown_characters: Share of the characters that stand for no known letter or sign, on [0, 1].
        empty_pages: Pages without any text.
        figure_characters: Characters inside figures; they are kept apart from the text.
        formulas: Displayed formulas.
        formula_sureness: Mean share of the signs of a formula whose place in it is sure, on [0, 1]; None where there
            is no formula, or the engine does not say.
    """

    unknown_characters: float
    empty_pages: int
    figure_characters: int
    formulas: int
    formula_sureness: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """One passage in which the last version of a paper differs from the one that the reviewers read.

    Which points of which review a change answers is not told here. A passage that only moved is no change, nor is the
    list of references, nor what the page puts around the text (line numbers, running headers).

    Attributes:
        left_sha256: The file the reviewers read.
        right_sha256: The last file whose text is held.
        number: Which of the paper's changes it is, from 1, in the order of the earlier text.
        changes: How many the paper has.
        section: The heading above it, as in the text: the earlier version's, for what was added the later one's. None
            where it stands above the first heading.
        before: Words of the earlier text, verbatim, without line numbers, running headers and what floats between them;
            empty for what was added.
        after: Words of the later text, the same; empty for what was removed.
    """

    forum_id: str
    venue_id: str
    left_sha256: str
    right_sha256: str
    number: int
    changes: int
    kind: ChangeKind
    section: str | None
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Link:
    """Two submissions that are one work.

    The later one is the one created later; where both came at once, or it is not known when one did, the one with the
    greater forum id.

    Attributes:
        forum_id: Of the later submission.
        venue_id: Of the later submission.
        earlier_id: The forum id of the earlier submission.
        earlier_venue_id: Its venue.
        kind: How the two stand to each other.
        days: From the creation of the one to that of the other; None where one of them is not known.
        title_similarity: Words that both titles have, of those that one of them has, on [0, 1]; None where one has no
            title.
        abstract_similarity: Pairs of adjacent words that both abstracts have, of those that one of them has, on
            [0, 1]; what very many abstracts have does not count. None where nothing is left of one.
        text_similarity: Runs of five words that both texts have, of those of the text that has fewer, on [0, 1];
            references, checklists, numbers and what many texts have do not count. None where no text is held of one,
            or little is left of it.
        rule: Which rule says that they are one work, in words.
    """

    forum_id: str
    venue_id: str
    earlier_id: str
    earlier_venue_id: str
    kind: LinkKind
    days: float | None
    title_similarity: float | None
    abstract_similarity: float | None
    text_similarity: float | None
    rule: str
