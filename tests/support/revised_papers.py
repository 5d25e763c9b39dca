"""Invented papers and their revisions, with known additions, removals, moves and rewrites.

A case names what a revision does besides its edits: renumber sections, move a paragraph, or print the text in
a different way. `score` counts how much of the truth a comparison finds, sentence by sentence.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random

KINDS = ("added", "removed", "moved", "changed")
SMALL = (
    *("the", "of", "and", "to", "in", "is", "that", "for", "with", "as", "on", "are"),
    *("by", "this", "we", "be", "from", "which", "it", "our", "not", "or", "have"),
)
WORDS = [f"{a}{b}{c}" for a in ("lo", "me", "ri", "ta", "su") for b in "bdgklmnprstvz" for c in ("an", "el", "it", "u")]
NAMES = [f"{a}{b}" for a in ("Bar", "Cor", "Dol", "Fen", "Gal") for b in ("ten", "sing", "mann", "low")]
TITLES = (
    *("Introduction", "Related Work", "Problem Setting", "Method", "Proof of Theorem 1", "Proof of Theorem 2"),
    *("Proof of Theorem 3", "Experiments", "Ablations", "Discussion", "Conclusion"),
)
NUMBERED = ("Figure", "Fig.", "Table", "Section", "Sec.", "Theorem", "Lemma", "Algorithm", "Corollary", "Definition")
STOCK = ("Proof.", "We have the following bound.", "This completes the proof.", "The claim follows.")


@dataclass(frozen=True)
class Line:
    """A sentence.

    Attributes:
        words: Its text, in which `{3}` is a citation of the third work, `<3>` the third equation, and
            `<Figure 3>` the third figure.
        ident: The same in both versions; None for a stock sentence, which occurs many times and is not scored.
    """

    words: str
    ident: int | None


@dataclass
class Part:
    """A section: `ident` is the same in both versions, even if its title changes."""

    title: str
    ident: int
    paragraphs: list[list[Line]]

    def lines(self) -> list[Line]:
        """Return its sentences in order."""
        return [line for paragraph in self.paragraphs for line in paragraph]


@dataclass
class Style:
    """How a version is printed."""

    width: int = 92
    hyphenates: bool = False
    has_line_numbers: bool = False
    is_markdown: bool = False
    cites_by_number: bool = True
    first_reference: int = 1
    first_equation: int = 1
    first_number: int = 1
    """Numbers of figures, tables, sections, theorems and similar."""


@dataclass
class Revision:
    """Two versions of a paper under construction."""

    chance: Random
    before: list[Part]
    after: list[Part]
    old: Style = field(default_factory=Style)
    new: Style = field(default_factory=Style)
    idents: Iterable[int] = field(default_factory=count)

    def write(self) -> Line:
        """Return a new sentence."""
        return Line(write_sentence(self.chance), next(iter(self.idents)))


def write_sentence(chance: Random) -> str:
    """Return a sentence of 8 to 24 words, every fifth with a citation, and some that name an equation or a figure."""
    words = [chance.choice(SMALL if chance.random() < 0.4 else WORDS) for _ in range(chance.randrange(8, 25))]
    words.append(chance.choice(WORDS))  # "a." would read as an abbreviation
    if chance.random() < 0.2:
        words.append(f"{{{chance.randrange(20)}}}")
    if chance.random() < 0.07:
        words.append(f"by <{chance.randrange(9)}>")
    if chance.random() < 0.15:
        words.append(f"in <{chance.choice(NUMBERED)} {chance.randrange(9)}>")
    return " ".join([words[0].capitalize(), *words[1:]]) + "."


def write_paper(chance: Random, sections: int = len(TITLES), size: int = 4) -> Revision:
    """Return a paper of sections with four paragraphs each (or `size`), not yet revised."""
    paper = Revision(chance, [], [], idents=iter(count()))
    for ident in range(sections):
        paragraphs = [[paper.write() for _ in range(chance.randrange(3, 8))] for _ in range(size)]
        for paragraph in paragraphs[::2]:
            paragraph.insert(chance.randrange(len(paragraph)), Line(chance.choice(STOCK), None))
        title = TITLES[ident] if ident < len(TITLES) else f"Further Result {ident}"
        paper.before.append(Part(title, ident, paragraphs))
    paper.after = [Part(part.title, part.ident, [[*lines] for lines in part.paragraphs]) for part in paper.before]
    return paper


def edit(paper: Revision, share: float = 0.06) -> None:
    """Remove, rewrite and add sentences, `share` of all for each kind."""
    for part in paper.after:
        for paragraph in part.paragraphs:
            kept = []
            for line in paragraph:
                throw = paper.chance.random() if line.ident is not None else 1.0
                if throw > share:
                    kept.append(replace(line, words=reword(paper.chance, line.words)) if throw < 2 * share else line)
                if paper.chance.random() < share:
                    kept.append(paper.write())
            paragraph[:] = kept


def reword(chance: Random, words: str) -> str:
    """Return a sentence with a fifth of its words replaced, at least one."""
    parts = words.split()
    replaceable = [place for place, part in enumerate(parts[1:-1], 1) if part.isalpha()]
    for place in chance.sample(replaceable, max(1, len(parts) // 5)):
        parts[place] = f"{chance.choice(WORDS)}ly"
    return " ".join(parts)


def renumber(paper: Revision) -> None:
    """Put a theorem first: every proof takes over the heading of the previous one."""
    first = next(place for place, part in enumerate(paper.after) if part.title == "Proof of Theorem 1")
    for number in (3, 2, 1):
        next(
            part for part in paper.after if part.title.endswith(f"m {number}")
        ).title = f"Proof of Theorem {number + 1}"
    new = [[Line(STOCK[0], None), *(paper.write() for _ in range(5)), Line(STOCK[2], None)] for _ in range(3)]
    paper.after.insert(first, Part("Proof of Theorem 1", -1, new))


def rename(paper: Revision) -> None:
    """Give three sections other headings, one of them that of another section."""
    paper.after[2].title = "Preliminaries and Notation"
    paper.after[3].title = "Our Approach"
    paper.after[8].title = "Experiments"
    paper.after[7].title = "Main Results"


def reorder(paper: Revision) -> None:
    """Move two sections elsewhere."""
    paper.after.insert(9, paper.after.pop(1))
    paper.after.insert(4, paper.after.pop(7))


def split(paper: Revision) -> None:
    """Split two sections: the last paragraph of each gets its own heading."""
    for place, title in ((7, "Experimental Details"), (3, "Practical Remarks")):
        paper.after.insert(place + 1, Part(title, -place, [paper.after[place].paragraphs.pop()]))


def merge(paper: Revision) -> None:
    """Append one section, first shortened to half, to another."""
    for version in (paper.before, paper.after):
        del version[8].paragraphs[2:]
    paper.after[7].paragraphs += paper.after.pop(8).paragraphs


def move(paper: Revision) -> None:
    """Move three paragraphs to other sections."""
    for source, target in ((0, 2), (8, 1), (9, 4)):
        paper.after[target].paragraphs.insert(1, paper.after[source].paragraphs.pop(1))


def append(paper: Revision) -> None:
    """Move a paragraph of each of three sections to a new appendix."""
    paragraphs = [paper.after[place].paragraphs.pop() for place in (4, 5, 6)]
    paper.after.append(Part("Appendix", -9, paragraphs))


def reprint(**changes: object) -> Callable[[Revision], None]:
    """Return a revision that prints the later version in another style."""

    def apply(paper: Revision) -> None:
        paper.new = replace(paper.new, **changes)  # type: ignore[arg-type]  # the names of its fields

    return apply


def number_lines(paper: Revision) -> None:
    """Print line numbers in the earlier version, as for review."""
    paper.old = replace(paper.old, has_line_numbers=True)


CASES: dict[str, tuple[Callable[[Revision], None], ...]] = {
    "edits alone": (),
    "sections renumbered": (renumber,),
    "headings renamed": (rename,),
    "sections reordered": (reorder,),
    "sections split": (split,),
    "sections merged": (merge,),
    "paragraphs moved": (move,),
    "moved to an appendix": (append,),
    "other lines, hyphenated": (reprint(width=61, hyphenates=True),),
    "line numbers removed": (number_lines,),
    "references renumbered": (reprint(first_reference=4),),
    "citations in another style": (reprint(cites_by_number=False),),
    "equations renumbered": (reprint(first_equation=3),),
    "figures, tables and theorems renumbered": (reprint(first_number=2),),
    "all at once": (
        *(move, append, split, renumber, rename, reorder, number_lines),
        reprint(width=61, hyphenates=True, first_reference=4, first_equation=3, first_number=2),
    ),
}


def revise(case: str, seed: int, *, is_markdown: bool) -> Revision:
    """Return a paper revised as a case says, printed as Markdown or as plain text."""
    paper = write_paper(Random(f"{case} {seed}"))
    paper.old = replace(paper.old, is_markdown=is_markdown)
    paper.new = replace(paper.new, is_markdown=is_markdown)
    for step in CASES[case]:
        step(paper)
    edit(paper)
    return paper


def render(parts: Iterable[Part], style: Style) -> str:
    """Return the text of a version."""
    mark = "## " if style.is_markdown else ""
    lines = [f"{mark}Abstract", "We study lorem of ipsum.", ""]
    for number, part in enumerate(parts, 1):
        lines += [f"{mark}{number} {part.title}", ""] if style.is_markdown else [f"{number} {part.title}"]
        for paragraph in part.paragraphs:
            lines += _wrap(" ".join(_cite(line.words, style) for line in paragraph), style)
            lines += [""] if style.is_markdown else []
    lines += [f"{mark}References"]
    for work in range(20):
        label = f"[{work + style.first_reference}] " if style.cites_by_number else ""
        lines += [f"{label}{_author(work)}. A work. {_year(work)}.", ""]
    if style.has_line_numbers:
        lines = [f"{number:03} {line}" for number, line in enumerate(lines)]
    return "\n".join(lines)


def _author(work: int) -> str:
    return NAMES[work % len(NAMES)]


def _year(work: int) -> int:
    return 2000 + work


def _cite(words: str, style: Style) -> str:
    def cite(match: re.Match[str]) -> str:
        work = int(match[1])
        by_name = f"({_author(work)} et al., {_year(work)})"
        return f"[{work + style.first_reference}]" if style.cites_by_number else by_name

    cited = re.sub(r"\{(\d+)\}", cite, words)
    cited = re.sub(r"<(\d+)>", lambda match: f"Eq. ({int(match[1]) + style.first_equation})", cited)
    return re.sub(r"<([A-Z]\w+\.?) (\d+)>", lambda match: f"{match[1]} {int(match[2]) + style.first_number}", cited)


def _wrap(text: str, style: Style) -> list[str]:
    if style.is_markdown:
        return [text]
    lines = textwrap.wrap(text, style.width, break_long_words=False, break_on_hyphens=False)
    if style.hyphenates:
        for place in range(len(lines) - 1):
            word, _, rest = lines[place + 1].partition(" ")
            if len(word) > 4 and word.isalpha():
                lines[place] += f" {word[:3]}-"
                lines[place + 1] = f"{word[3:]} {rest}".rstrip()
    return lines


def find_truth(paper: Revision) -> dict[str, set[int]]:
    """Return the sentences of each kind: moved ones are unchanged, in a section that is not their own."""
    before = {line.ident: (part.ident, line.words) for part in paper.before for line in part.lines()}
    after = {line.ident: (part.ident, line.words) for part in paper.after for line in part.lines()}
    truth: dict[str, set[int]] = {kind: set() for kind in KINDS}
    for ident in before.keys() | after.keys():
        if ident is None:
            continue
        if ident not in after:
            kind = "removed"
        elif ident not in before:
            kind = "added"
        elif before[ident][1] != after[ident][1]:
            kind = "changed"
        elif before[ident][0] != after[ident][0]:
            kind = "moved"
        else:
            continue
        truth[kind].add(ident)
    return truth


def score(paper: Revision, passages: Iterable[tuple[str, str, str]]) -> Counter[tuple[str, str]]:
    """Count by kind what was reported correctly ("hit"), reported wrongly ("false"), and not reported ("missed").

    Args:
        paper: The revision.
        passages: Kind, words before and words after of each passage that a comparison reports.
    """
    truth = find_truth(paper)
    keys = [
        {line.ident: _squeeze(_cite(line.words, style)) for part in parts for line in part.lines()}
        for parts, style in ((paper.before, paper.old), (paper.after, paper.new))
    ]
    for side in keys:
        side.pop(None, None)
    told: dict[str, set[int]] = {kind: set() for kind in KINDS}
    for kind, before, after in passages:
        side, words = (keys[1], after) if kind == "added" else (keys[0], before)
        squeezed = _squeeze(words)
        told[kind] |= {ident for ident, key in side.items() if ident is not None and key in squeezed}
    counts = Counter[tuple[str, str]]()
    for kind in KINDS:
        counts[kind, "hit"] = len(told[kind] & truth[kind])
        counts[kind, "false"] = len(told[kind] - truth[kind])
        counts[kind, "missed"] = len(truth[kind] - told[kind])
    return counts


def _squeeze(words: str) -> str:
    return re.sub(r"[\s-]+", "", words)
