"""Generate any number of papers from pools of sentences."""

import math
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import accumulate, islice
from random import Random
from typing import Any

from peercorpus.simulator.world.papers import Draft, Manuscript, ManuscriptSection, Script, ThreadEntry
from peercorpus.simulator.world.threads import play_thread
from peercorpus.simulator.world.venues import Venue

SYLLABLES = tuple(first + last for first in "bdfgklmnprstvz" for last in ("a", "e", "i", "o", "u", "er", "an"))
WORDS = 8_000
ZIPF_OFFSET = 2.7
"""Offset added to the rank of a word in Zipf's law, as Mandelbrot did for English."""
SENTENCE_WORDS = (6, 30)
"""Range of words in a sentence."""
LIKERT = ("Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree")
ANSWERS = {
    "share_of_valid_issues": ("None", "Less than 25%", "About 50%", "More than 75%", "All"),
    "false_claims": ("None", "One minor", "Several minor", "At least one serious", "Unsure"),
    "clear_feedback": LIKERT,
}
CLOSED_TO_GUESTS = 0.3
"""Share of surveys that are not public."""


@cache
def _vocabulary() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the words, frequent and short ones first, with their cumulative weights."""
    chance = Random("prattle")
    words = tuple("".join(chance.choices(SYLLABLES, k=1 + min(3, rank // 60))) for rank in range(WORDS))
    return words, tuple(accumulate(1 / (rank + ZIPF_OFFSET) for rank in range(WORDS)))


def sentences(chance: Random, number: int) -> Iterator[str]:
    """Return sentences with the given number of words in total."""
    words, weights = _vocabulary()
    drawn = chance.choices(words, cum_weights=weights, k=number)
    start = 0
    while start < number:
        end = start + chance.randint(*SENTENCE_WORDS)
        yield " ".join(drawn[start:end]).capitalize() + "."
        start = end


VARIANTS = 48
# Number of sentences in a passage; kinds not listed are one sentence long.
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
"""Mean words of long passages: 12,457 recorded reviews of ICLR 2019 and 2020 average 434, 506 rebuttals 413."""
SPREAD = 0.86
"""Standard deviation of a part's log length; the sum of four varies like those reviews (0.52 of their log length)."""
LISTED = ("strengths", "weaknesses", "questions", "requested")
PARTS = ("summary", "strengths", "weaknesses", "questions")
"""Parts of a review if the form has a single field."""


@cache
def read_pools() -> Mapping[str, Any]:
    """Read the pools of topics, names and sentences."""
    path = files("peercorpus.simulator.world") / "data" / "generated.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def topics() -> tuple[Mapping[str, Any], ...]:
    """Return the topics that a generated paper can have."""
    return tuple(read_pools()["topics"])


@cache
def generate_passages(seed: int, topic: int, kind: str) -> tuple[str, ...]:
    """Return the passages of one kind on one topic; repeated calls return the same objects."""
    if kind == "review":
        parts = (generate_passages(seed, topic, part) for part in PARTS)
        return tuple("\n\n".join(joined) for joined in zip(*parts, strict=True))
    if kind == "both_sides":
        sides = zip(
            generate_passages(seed, topic, "strengths"), generate_passages(seed, topic, "weaknesses"), strict=True
        )
        return tuple(_both_sides(good, bad) for good, bad in sides)
    chance = Random(f"{seed}/{topic}/{kind}")
    return tuple(_write_passage(chance, topic, kind) for _ in range(VARIANTS))


def _write_passage(chance: Random, topic: int, kind: str) -> str:
    pool = read_pools()["passages"][kind]
    low, high = LENGTHS.get(kind, (1, 1))
    picked = sorted(chance.sample(range(len(pool)), min(len(pool), chance.randint(low, high))))
    sentences = [fill(pool[index], topic) for index in picked]
    if kind in LISTED:
        return "\n".join(f"- {sentence}" for sentence in sentences)
    return " ".join(sentences)


def write_long(chance: Random, seed: int, topic: int, kind: str) -> str:
    """Return a passage of realistic length: a sentence on the topic, then meaningless words, different each time."""
    if kind == "review":
        return "\n\n".join(write_long(chance, seed, topic, part) for part in PARTS)
    if kind == "both_sides":
        return _both_sides(*(write_long(chance, seed, topic, part) for part in ("strengths", "weaknesses")))
    first = chance.choice(generate_passages(seed, topic, kind))
    if kind not in MEAN_WORDS:
        return first
    words = chance.lognormvariate(math.log(MEAN_WORDS[kind]) - SPREAD**2 / 2, SPREAD)
    filler = sentences(chance, max(0, round(words) - len(first.split())))
    return "\n- ".join((first, *filler)) if kind in LISTED else " ".join((first, *filler))


def _both_sides(good: str, bad: str) -> str:
    return f"**Strengths**\n\n{good}\n\n**Weaknesses**\n\n{bad}"


def fill(sentence: str, topic: int, **more: object) -> str:
    """Fill the slots of a sentence with a topic's words; `{Task}` is the capitalised slot, for titles."""
    facts = {key: value for key, value in topics()[topic].items() if isinstance(value, str)}
    titled = {key.capitalize(): value.title().replace("'S", "'s") for key, value in facts.items()}
    return sentence.format(**facts, **titled, **more)


MANUSCRIPTS = 24
"""Number of distinct generated manuscripts per venue; further papers reuse an earlier text in another file."""
SECTIONS = 25
"""Number of extra sections in a paper of realistic length, about 62,000 characters on 11 pages in all."""

SECTION_WORDS = 290
"""Number of words in each extra section."""

DESK_REJECTED, WITHDRAWN, UNDER_REVIEW = 0.02, 0.12, 0.2
BAR = 0.58


def generate_script(venue: Venue, seed: int, index: int, *, is_long: bool = False) -> Script:
    """Return a venue's generated paper with an index and its thread; `is_long` makes texts realistically long."""

    def say(kind: str) -> str:
        if is_long:
            return write_long(chance, seed, topic, kind)
        return chance.choice(generate_passages(seed, topic, kind))

    def say_of_ai(kind: str) -> str:
        return generate_passages(seed, topic, kind)[index % VARIANTS]

    chance = Random(f"{seed}/{venue.venue_id}/{index}")
    topic = chance.randrange(len(topics()))
    title, abstract = _draw_title_and_abstract(chance, topic)
    quality = chance.betavariate(4, 3.2)
    status, decision = _draw_outcome(chance, venue, quality)
    versions = _draw_versions(chance, venue, status)
    pools = read_pools()
    given_names = chance.sample(pools["given"], chance.randint(2, 5))
    return Script(
        title=title,
        authors=tuple(f"{name} {chance.choice(pools['family'])}" for name in given_names),
        keywords=tuple(topics()[topic]["keywords"]),
        tldr="" if chance.random() < 0.4 else abstract.partition(". ")[0] + ".",
        area=chance.choice(venue.areas) if venue.areas else "",
        abstract=abstract,
        status=status,
        decision=decision,
        thread=(
            *play_thread(chance, venue, say, quality, status, decision),
            *_play_ai_review(Random(f"{seed}/{venue.venue_id}/{index}/ai"), venue, say_of_ai, status, index),
        ),
        versions=versions,
        public_history=chance.random() < 0.5,
        touched=status == "accepted" or chance.random() < 0.5,
    )


def generate_manuscript(venue: Venue, seed: int, index: int, *, is_long: bool = False) -> Manuscript:
    """Return the manuscript of a generated paper."""
    script = generate_script(venue, seed, index)
    chance = Random(f"{seed}/{venue.venue_id}/{index}/manuscript")
    topic = next(number for number, facts in enumerate(topics()) if tuple(facts["keywords"]) == script.keywords)

    def write(kind: str, *lengths: int) -> str:
        sentences = [fill(sentence, topic) for sentence in read_pools()["passages"][kind]]
        picked = iter(chance.sample(sentences, sum(lengths)))
        return "\n\n".join(" ".join(islice(picked, length)) for length in lengths)

    results = write("results", 4, 4)
    gain = chance.uniform(0.8, 3.4)
    methods = ("Ours", "Ours without smoothing", topics()[topic]["baseline"].capitalize(), "Uniform weights")
    rows = [(name, f"{70 - step + gain:.1f}", f"{64 - step + gain:.1f}") for step, name in enumerate(methods)]
    return Manuscript(
        title=script.title,
        authors=script.authors,
        abstract=script.abstract,
        passages=(
            ManuscriptSection("Introduction", write("opening", 5, 4, 3)),
            ManuscriptSection("Method", write("method", 5, 5) + "\n\n{equation}\n\n" + write("opening", 2)),
            ManuscriptSection(
                "Experiments", results + "\n\n{table}", results + "\n\n{table}\n\n" + write("results", 2)
            ),
            ManuscriptSection("Additional Results", write("results", 4), since=Draft.REBUTTAL),
            *(_long_passages(chance, topic) if is_long else ()),
            ManuscriptSection("Conclusion", write("ending", 4), since=Draft.SUBMISSION),
        ),
        is_long=is_long,
        equation="cal(L)(theta) = 1/n sum_(i=1)^n w_i ell(f_theta (x_i), y_i) + lambda norm(theta)^2",
        table=(("Method", "Standard split", "Shifted split"), *rows),
        caption=fill("Results on {data} ({metric}), mean of five seeds.", topic),
        references=(
            "M. Obuya and H. Quist. A survey with numbers. In Proceedings of Aurora, 2018.",
            "L. Eklund, P. Kaldor and R. Iyengar. Weights in one pass. Journal of Learning Experiments, 2021.",
            "T. Zubek. Notes on disagreement. Technical report, 2017.",
        ),
    )


def _long_passages(chance: Random, topic: int) -> Iterator[ManuscriptSection]:
    pool = read_pools()["passages"]["method"]
    for number in range(SECTIONS):
        halves = (" ".join(sentences(chance, SECTION_WORDS // 2)) for _ in range(2))
        yield ManuscriptSection(f"Study {number + 1}", f"{fill(chance.choice(pool), topic)} " + "\n\n".join(halves))


def _draw_title_and_abstract(chance: Random, topic: int) -> tuple[str, str]:
    pools = read_pools()
    method = chance.choice(pools["prefixes"]) + chance.choice(pools["suffixes"])
    gain = f"{chance.uniform(0.6, 4.2):.1f}"
    share = chance.randint(35, 88)
    picked = sorted(chance.sample(range(len(pools["abstracts"])), chance.randint(5, 7)))
    abstract = " ".join(
        fill(pools["abstracts"][number], topic, method=method, gain=gain, share=share) for number in picked
    )
    return fill(chance.choice(pools["titles"]), topic, method=method), abstract


def _draw_outcome(chance: Random, venue: Venue, quality: float) -> tuple[str, str]:
    share = chance.random()
    if share < DESK_REJECTED:
        return "desk_rejected", ""
    if share < WITHDRAWN:
        return "withdrawn", ""
    if venue.rolling and share < UNDER_REVIEW:
        return "under_review", ""
    if quality + chance.gauss(0, 0.05) < BAR:
        return "rejected", "Reject"
    # The venue lists its decisions from the best to the worst, and makes the last one most often.
    labels = list(venue.labels)
    rank = min(int(chance.expovariate(1.1)), len(labels) - 1)
    return "accepted", labels[len(labels) - 1 - rank]


def _draw_versions(chance: Random, venue: Venue, status: str) -> tuple[Draft, ...]:
    versions = [Draft.SUBMISSION]
    if not venue.rolling and chance.random() < 0.2:
        versions.insert(0, Draft.EARLY)
    may_revise = venue.answer == "Official_Comment" and status in ("accepted", "rejected")
    if may_revise and chance.random() < 0.6:
        versions.append(Draft.REBUTTAL)
    if status == "accepted":
        versions.append(Draft.CAMERA_READY)
    return tuple(versions)


def _play_ai_review(
    chance: Random, venue: Venue, say: Callable[[str], str], status: str, index: int
) -> Iterator[ThreadEntry]:
    """Yield an AI's review and the replies to it, posted in the venue's next way; nothing if it has none."""
    if not venue.ai_ways or status == "desk_rejected":
        return
    way = venue.ai_ways[index % len(venue.ai_ways)]
    yield ThreadEntry("ai", way.invitation, way.signer, -4.5, {way.field: f"{say('summary')}\n\n{say('weaknesses')}"})
    yield ThreadEntry("ai-a", "Official_Comment", "authors", 4, {"comment": say("answer")}, "ai")
    if chance.random() < 0.5:
        yield ThreadEntry("ai-f", "Official_Comment", "R1", 5, {"comment": say("follow_up")}, "ai-a")
    for person in ("authors", "R2", "AC"):
        rated: dict[str, object] = {field: chance.choice(answers) for field, answers in ANSWERS.items()}
        is_closed = chance.random() < CLOSED_TO_GUESTS
        yield ThreadEntry(f"ai-s-{person}", "Survey", person, 8, rated, "ai", closed=is_closed)
