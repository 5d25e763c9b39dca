"""The sentences that generated papers are drawn from, joined into passages that many papers share."""

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from peercorpus.simulator.prattle import sentences

VARIANTS = 48
# How many sentences make a passage; the kinds that are not here are one sentence long.
LENGTHS = {
    "summary": (3, 4),
    "strengths": (2, 4),
    "weaknesses": (3, 4),
    "questions": (2, 3),
    "requested": (2, 3),
    "answer": (4, 6),
    "continuation": (3, 4),
    "everyone": (4, 5),
    "verdict": (3, 4),
}
MEAN_WORDS = {"summary": 87, "strengths": 87, "weaknesses": 173, "questions": 87, "answer": 413, "continuation": 413}
"""Of long passages: 12,457 recorded reviews of ICLR 2019 and 2020 have 434 words on average, 506 rebuttals 413."""
SPREAD = 0.86
"""Standard deviation of a passage's log length: four such parts vary as those reviews do (0.52 of their log length)."""
LISTED = ("strengths", "weaknesses", "questions", "requested")
PARTS = ("summary", "strengths", "weaknesses", "questions")
"""Of a review in one field."""


@cache
def read_pools() -> Mapping[str, Any]:
    """Read the pools of topics, names and sentences."""
    path = files("peercorpus.simulator") / "data" / "generated.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def topics() -> tuple[Mapping[str, Any], ...]:
    """Give the topics that a generated paper can have."""
    return tuple(read_pools()["topics"])


@cache
def passages(seed: int, topic: int, kind: str) -> tuple[str, ...]:
    """Give the passages of one kind on one topic, always the same objects."""
    if kind == "review":
        parts = (passages(seed, topic, part) for part in PARTS)
        return tuple("\n\n".join(joined) for joined in zip(*parts, strict=True))
    if kind == "both_sides":
        sides = zip(passages(seed, topic, "strengths"), passages(seed, topic, "weaknesses"), strict=True)
        return tuple(_both_sides(good, bad) for good, bad in sides)
    chance = Random(f"{seed}/{topic}/{kind}")
    return tuple(_passage(chance, topic, kind) for _ in range(VARIANTS))


def _passage(chance: Random, topic: int, kind: str) -> str:
    pool = read_pools()["passages"][kind]
    low, high = LENGTHS.get(kind, (1, 1))
    picked = sorted(chance.sample(range(len(pool)), min(len(pool), chance.randint(low, high))))
    sentences = [fill(pool[index], topic) for index in picked]
    if kind in LISTED:
        return "\n".join(f"- {sentence}" for sentence in sentences)
    return " ".join(sentences)


def write_long(chance: Random, seed: int, topic: int, kind: str) -> str:
    """Give a passage as long as a real one: a sentence on the topic, then words without sense, the same for nobody."""
    if kind == "review":
        return "\n\n".join(write_long(chance, seed, topic, part) for part in PARTS)
    if kind == "both_sides":
        return _both_sides(*(write_long(chance, seed, topic, part) for part in ("strengths", "weaknesses")))
    first = chance.choice(passages(seed, topic, kind))
    if kind not in MEAN_WORDS:
        return first
    wanted = chance.lognormvariate(math.log(MEAN_WORDS[kind]) - SPREAD**2 / 2, SPREAD)
    rest = sentences(chance, max(0, round(wanted) - len(first.split())))
    return "\n- ".join((first, *rest)) if kind in LISTED else " ".join((first, *rest))


def _both_sides(good: str, bad: str) -> str:
    return f"**Strengths**\n\n{good}\n\n**Weaknesses**\n\n{bad}"


def fill(sentence: str, topic: int, **more: object) -> str:
    """Put a topic's words into a sentence's slots; `{Task}` is the slot with capitals, for titles."""
    facts = {key: value for key, value in topics()[topic].items() if isinstance(value, str)}
    titled = {key.capitalize(): value.title().replace("'S", "'s") for key, value in facts.items()}
    return sentence.format(**facts, **titled, **more)
