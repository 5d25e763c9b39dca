"""Papers and threads drawn from pools of sentences, for as many papers as one asks."""

from collections.abc import Iterator
from itertools import islice
from random import Random

from peercorpus.simulator.passages import fill, passages, read_pools, topics, write_long
from peercorpus.simulator.prattle import sentences
from peercorpus.simulator.reviewing import play_thread
from peercorpus.simulator.script import Draft, Manuscript, Passage, Script
from peercorpus.simulator.venues import Venue

MANUSCRIPTS = 24
"""Of a venue; the generated papers beyond them have the text of an earlier one, in a file of their own."""
SHARED_BY = 64
"""Generated papers of a venue that have one file, where they are as long as real ones."""
SECTIONS, SECTION_WORDS = 25, 290
"""Of a paper as long as a real one beside the others: some 62,000 characters in all, on 11 pages."""
DESK_REJECTED, WITHDRAWN, UNDER_REVIEW = 0.02, 0.12, 0.2
BAR = 0.58


def generate_script(venue: Venue, seed: int, index: int, *, is_long: bool = False) -> Script:
    """Give a venue's generated paper of that index, with its thread, whose texts may be as long as real ones."""

    def say(kind: str) -> str:
        if is_long:
            return write_long(chance, seed, topic, kind)
        return chance.choice(passages(seed, topic, kind))

    chance = _chance(venue, seed, index)
    topic = chance.randrange(len(topics()))
    title, abstract = _head(chance, topic)
    quality = chance.betavariate(4, 3.2)
    status, decision = _fate(chance, venue, quality)
    versions = _versions(chance, venue, status)
    return Script(
        title=title,
        authors=_people(chance),
        keywords=tuple(topics()[topic]["keywords"]),
        tldr="" if chance.random() < 0.4 else abstract.partition(". ")[0] + ".",
        area=chance.choice(venue.areas) if venue.areas else "",
        abstract=abstract,
        status=status,
        decision=decision,
        thread=play_thread(chance, venue, say, quality, status, decision),
        versions=versions,
        public_history=chance.random() < 0.5,
        touched=status == "accepted" or chance.random() < 0.5,
    )


def generate_manuscript(venue: Venue, seed: int, index: int, *, is_long: bool = False) -> Manuscript:
    """Give what the PDF of that paper is typeset from.

    Args:
        venue: Its venue.
        seed: Of the world.
        index: Of the generated paper, from 0.
        is_long: Whether it is as long as a real one.
    """
    script = generate_script(venue, seed, index)
    chance = Random(f"{seed}/{venue.venue_id}/{index}/manuscript")
    topic = next(number for number, facts in enumerate(topics()) if tuple(facts["keywords"]) == script.keywords)

    def write(kind: str, *lengths: int) -> str:
        sentences = [fill(sentence, topic) for sentence in read_pools()["passages"][kind]]
        picked = iter(chance.sample(sentences, sum(lengths)))
        return "\n\n".join(" ".join(islice(picked, length)) for length in lengths)

    results = write("results", 4, 4)
    gain = chance.uniform(0.8, 3.4)
    rows = [(name, f"{70 - step + gain:.1f}", f"{64 - step + gain:.1f}") for step, name in enumerate(_rows(topic))]
    return Manuscript(
        title=script.title,
        authors=script.authors,
        abstract=script.abstract,
        passages=(
            Passage("Introduction", write("opening", 5, 4, 3)),
            Passage("Method", write("method", 5, 5) + "\n\n{equation}\n\n" + write("opening", 2)),
            Passage("Experiments", results + "\n\n{table}", results + "\n\n{table}\n\n" + write("results", 2)),
            Passage("Additional Results", write("results", 4), since=Draft.REBUTTAL),
            *(_long_passages(chance, topic) if is_long else ()),
            Passage("Conclusion", write("ending", 4), since=Draft.SUBMISSION),
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


def _long_passages(chance: Random, topic: int) -> Iterator[Passage]:
    """More sections; each begins on the topic."""
    pool = read_pools()["passages"]["method"]
    for number in range(SECTIONS):
        halves = (" ".join(sentences(chance, SECTION_WORDS // 2)) for _ in range(2))
        yield Passage(f"Study {number + 1}", f"{fill(chance.choice(pool), topic)} " + "\n\n".join(halves))


def _chance(venue: Venue, seed: int, index: int) -> Random:
    return Random(f"{seed}/{venue.venue_id}/{index}")


def _rows(topic: int) -> tuple[str, ...]:
    return ("Ours", "Ours without smoothing", topics()[topic]["baseline"].capitalize(), "Uniform weights")


def _head(chance: Random, topic: int) -> tuple[str, str]:
    pools = read_pools()
    method = chance.choice(pools["prefixes"]) + chance.choice(pools["suffixes"])
    gain, share = f"{chance.uniform(0.6, 4.2):.1f}", chance.randint(35, 88)
    picked = sorted(chance.sample(range(len(pools["abstracts"])), chance.randint(5, 7)))
    abstract = " ".join(
        fill(pools["abstracts"][number], topic, method=method, gain=gain, share=share) for number in picked
    )
    return fill(chance.choice(pools["titles"]), topic, method=method), abstract


def _people(chance: Random) -> tuple[str, ...]:
    pools = read_pools()
    given = chance.sample(pools["given"], chance.randint(2, 5))
    return tuple(f"{name} {chance.choice(pools['family'])}" for name in given)


def _fate(chance: Random, venue: Venue, quality: float) -> tuple[str, str]:
    share = chance.random()
    if share < DESK_REJECTED:
        return "desk_rejected", ""
    if share < WITHDRAWN:
        return "withdrawn", ""
    if venue.rolling and share < UNDER_REVIEW:
        return "under_review", ""
    if quality + chance.gauss(0, 0.05) < BAR:
        return "rejected", "Reject"
    # The venue lists its decisions from the best down, and gives the last one most often.
    labels = list(venue.labels)
    rank = min(int(chance.expovariate(1.1)), len(labels) - 1)
    return "accepted", labels[len(labels) - 1 - rank]


def _versions(chance: Random, venue: Venue, status: str) -> tuple[Draft, ...]:
    versions = [Draft.SUBMISSION]
    if not venue.rolling and chance.random() < 0.2:
        versions.insert(0, Draft.EARLY)
    may_revise = venue.answer == "Official_Comment" and status in ("accepted", "rejected")
    if may_revise and chance.random() < 0.6:
        versions.append(Draft.REBUTTAL)
    if status == "accepted":
        versions.append(Draft.CAMERA_READY)
    return tuple(versions)
