"""Invented papers for measuring links: papers of a topic, edited ones, and pairs of one work or of similar works."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from random import Random

TOPICS = 200
SYLLABLES = tuple(f"{consonant}{vowel}" for consonant, vowel in zip("bcdfghklmnprstvwxyzq", "aeiou" * 4, strict=True))
ABSTRACT_ITEMS, TEXT_WORDS = 110, 2_000
LONG_TEXT_ITEMS = 4_750
"""Of some 48 kB."""


@dataclass(frozen=True, slots=True)
class Work:
    """A paper."""

    title: str
    abstract: str
    text: str


def _word(number: int) -> str:
    parts = []
    for _ in range(3):
        number, digit = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[digit])
    return "".join(parts)


@cache
def _items(topic: int) -> tuple[list[str], list[float]]:
    """Building blocks of a topic's sentences, with weights: stock phrases, common words, and words of the topic."""
    chance = Random(topic)
    phrases = [" ".join(_word(Random(f"{n} {k}").randrange(2_000)) for k in range(2 + n % 3)) for n in range(2_000)]
    common, own = [_word(n) for n in range(2_000)], [_word(chance.randrange(2_000, 8_000)) for _ in range(300)]
    weights = [
        weight / (rank + 5) for items, weight in ((phrases, 2), (common, 3), (own, 6)) for rank in range(len(items))
    ]
    return [*phrases, *common, *own], list(accumulate(weights))


def write(chance: Random, topic: int, items: int) -> str:
    """Words of a topic."""
    population, weights = _items(topic)
    return " ".join(chance.choices(population, cum_weights=weights, k=items))


def write_title(chance: Random, topic: int) -> str:
    """Four to nine words, most of them the topic's own."""
    own = _items(topic)[0][-chance.randrange(1, 300)]
    return f"{_word(chance.randrange(8_000))} {write(chance, topic, chance.randrange(3, 6))} {own}"


def write_work(chance: Random, topic: int, text_items: int = TEXT_WORDS) -> Work:
    """A paper of a topic."""
    return Work(write_title(chance, topic), write(chance, topic, ABSTRACT_ITEMS), write(chance, topic, text_items))


def edit(chance: Random, topic: int, words: str, share: float) -> str:
    """The same text with a share of its words rewritten, in runs of one to eight."""
    parts = words.split()
    left = set(range(len(parts)))
    while len(left) > (1 - share) * len(parts):
        start = chance.randrange(len(parts))
        left -= set(range(start, start + chance.randrange(1, 9)))
    new = iter(write(chance, topic, len(parts) + 1).split())
    return " ".join(part if place in left else next(new) for place, part in enumerate(parts))


def reword(chance: Random, topic: int, title: str) -> str:
    """The title with half of its words replaced and in another order."""
    kept = chance.sample(title.split(), -(-len(title.split()) // 2))
    return " ".join([*write(chance, topic, 2).split(), *kept])


def part_of(text: str, share: float, start: float = 0.0) -> str:
    """A piece of a text."""
    words = text.split()
    return " ".join(words[int(start * len(words)) : int((start + share) * len(words))])


Change = Callable[[Random, int, Work], Work]


def _edited(share: float, *, reworded: bool = False) -> Change:
    def change(chance: Random, topic: int, work: Work) -> Work:
        title = reword(chance, topic, work.title) if reworded else work.title
        text = edit(chance, topic, work.text, 0.25)
        return Work(title, edit(chance, topic, work.abstract, share), text)

    return change


def _extended(chance: Random, topic: int, work: Work) -> Work:
    added = f"{work.text} {write(chance, topic, TEXT_WORDS)}"
    return Work(work.title, edit(chance, topic, work.abstract, 0.45), edit(chance, topic, added, 0.1))


def _at_workshop(chance: Random, topic: int, work: Work) -> Work:
    return replace(_edited(0.3)(chance, topic, work), text=edit(chance, topic, part_of(work.text, 0.4), 0.2))


SAME: dict[str, Change] = {
    "title reworded, abstract edited by 5 %": _edited(0.05, reworded=True),
    "abstract edited by 15 %": _edited(0.15),
    "abstract edited by 30 %": _edited(0.3),
    "abstract edited by 45 %": _edited(0.45),
    "abstract edited by 60 %": _edited(0.6),
    "title reworded, abstract edited by 30 %": _edited(0.3, reworded=True),
    "title reworded, abstract edited by 60 %": _edited(0.6, reworded=True),
    "sections added, abstract edited by 45 %": _extended,
    "a workshop's short version, abstract edited by 30 %": _at_workshop,
}
"""Ways in which a work comes back; the text is edited by a quarter where nothing else is said."""


def _borrowing(chance: Random, topic: int, work: Work, share: float) -> str:
    """Another text that copies a share of the first one."""
    return f"{part_of(work.text, share, 0.1)} {write(chance, topic, int(TEXT_WORDS * (1 - share)))}"


def _series(chance: Random, topic: int, work: Work) -> Work:
    title = f"{work.title.split()[0]} {write_title(chance, topic)}"
    abstract = f"{part_of(work.abstract, 0.1)} {write(chance, topic, ABSTRACT_ITEMS)}"
    return Work(title, abstract, _borrowing(chance, topic, work, 0.12))


def _second_part(chance: Random, topic: int, work: Work) -> Work:
    abstract = edit(chance, topic, work.abstract, 0.4)
    return Work(f"{work.title} Part II", abstract, _borrowing(chance, topic, work, 0.15))


def _of_a_template(chance: Random, topic: int, work: Work) -> Work:
    title, abstract = edit(chance, topic, work.title, 0.3), edit(chance, topic, work.abstract, 0.5)
    return Work(title, abstract, _borrowing(chance, topic, work, 0.1))


def _survey(chance: Random, topic: int, work: Work) -> Work:
    other = write_work(chance, topic)
    title = " ".join(["A Survey of", *chance.sample(work.title.split(), len(work.title.split()) // 2)])
    return Work(title, other.abstract, f"{part_of(work.text, 0.04)} {other.text}")


def _generic(chance: Random, topic: int, work: Work) -> Work:
    return replace(write_work(chance, topic), abstract=work.abstract)


def _same_title(chance: Random, topic: int, work: Work) -> Work:
    return replace(write_work(chance, topic), title=work.title)


def _with_another_abstract(chance: Random, topic: int, work: Work) -> Work:
    title = f"{work.title} {write(chance, topic, 1)}"
    return Work(title, write(chance, topic, ABSTRACT_ITEMS), _borrowing(chance, topic, work, 0.1))


OTHER: dict[str, Change] = {
    "the same authors' next paper": _series,
    "Part I and Part II": _second_part,
    "the same template": _of_a_template,
    "a survey of its topic": _survey,
    "the same generic abstract of 12 words": _generic,
    "the same title": _same_title,
    "an extension with another abstract": _with_another_abstract,
}
"""Ways in which another work looks like the first one."""


def couples(case: str, count: int) -> Iterator[tuple[Work, Work]]:
    """Pairs of one case."""
    chance = Random(case)
    for _ in range(count):
        topic = chance.randrange(TOPICS)
        work = write_work(chance, topic)
        if case.startswith("the same generic"):
            work = replace(work, abstract=" ".join(work.abstract.split()[:12]))
        if case.startswith("Part I"):
            work = replace(work, title=f"{work.title} Part I")
            yield work, _second_part(chance, topic, replace(work, title=work.title.removesuffix(" Part I")))
        else:
            yield work, (SAME | OTHER)[case](chance, topic, work)
