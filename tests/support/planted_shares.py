"""Reviews of two invented kinds of writers, mixed in a known share.

People use a marker word in about one passage of twenty, as in the recorded reviews of ICLR 2019 and 2020; how often
differs between papers and between writers. A model uses them `ratio` times as often. A ratio follows from a published
rise of a word's frequency at a share of texts: 1 + (rise - 1) / share. The smallest rise in the list of Kobak et al.
is 2, at 13.5 %: a ratio of 8. "Commendable" rose 9.8 times at 10.6 % of the reviews of ICLR 2024 (Liang et al.): 84.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from peercorpus.metrics.marked_share import PASSAGE_WORDS, Sample, SampleCounter, estimate_share, marker_words

HUMAN_RATE = 0.047
"""Marker words of a passage of 100 words."""
LEAST_RATIO = 8.0
GREAT_RATIO = 84.0
_MARKERS = sorted(marker_words())
_SENTENCE = ("the", "paper", "shows", "that", "its", "method", "works", "on", "this", "data")
_FILLER = _SENTENCE * (PASSAGE_WORDS // len(_SENTENCE))


def passage(markers: Sequence[str] = ()) -> str:
    """A passage of exactly 100 words that contains these."""
    return " ".join([*_FILLER[len(markers) :], *markers])


def _count_events(chance: Random, rate: float) -> int:
    """A number from the Poisson distribution."""
    events, time = 0, chance.expovariate(1.0)
    while time < rate:
        events, time = events + 1, time + chance.expovariate(1.0)
    return events


def _write(chance: Random, rate: float) -> str:
    """A review of two to six passages and a remainder."""
    marked = (_count_events(chance, rate) for _ in range(chance.randint(2, 6)))
    return " ".join([*(passage(chance.choices(_MARKERS, k=number)) for number in marked), "And a rest."])


def written(chance: Random, papers: int, share: float, ratio: float) -> Iterator[tuple[str, str]]:
    """Three or four reviews of each paper, with its id; each is a model's with the probability `share`."""
    for number in range(papers):
        of_paper = chance.gammavariate(4.0, 0.25)
        for _ in range(chance.randint(3, 4)):
            of_writer = chance.gammavariate(4.0, 0.25)
            factor = ratio if chance.random() < share else 1.0
            yield f"p{number:05}", _write(chance, HUMAN_RATE * of_paper * of_writer * factor)


def overwrite(chance: Random, text: str, ratio: float) -> str:
    """A person's text as if a model had written it: with as many more marker words as a model uses."""
    words = text.split()
    for start in range(0, len(words), PASSAGE_WORDS):
        for _ in range(_count_events(chance, HUMAN_RATE * (ratio - 1))):
            words[min(len(words) - 1, start + chance.randrange(PASSAGE_WORDS))] = chance.choice(_MARKERS)
    return " ".join(words)


def sampled(texts: Iterator[tuple[str, str]]) -> Sample:
    """Texts, counted by paper."""
    counter = SampleCounter()
    for forum_id, text in texts:
        counter.add(forum_id, text)
    return counter.sample()


def model_sample(chance: Random, texts: int, ratio: float) -> Sample:
    """Texts of a model alone, each counted apart."""
    every = written(chance, texts, 1.0, ratio)
    return sampled((f"m{place}", text) for place, (_, text) in zip(range(texts), every, strict=False))


Held = tuple[bool, float, float]
"""Whether the interval contains the planted share, whether the lower bound is below it, and the estimate."""


def check_planting(seed: int, share: float, samples: tuple[Sample, Sample, Sample], resamples: int = 1000) -> Held:
    """What is estimated from a population with a planted share, from people's texts and from a model's."""
    observed, human, model = samples
    estimate = estimate_share(observed, human, model, resamples, seed)
    bound = estimate_share(observed, human, None, resamples, seed)
    return estimate.low <= share <= estimate.high, bound.low, estimate.value


def planted(seed: int, share: float, ratio: float, papers: int = 100, resamples: int = 1000) -> Held:
    """Plant a share once among invented reviews of a number of papers, beside as many by people alone."""
    chance = Random(seed)
    observed, human = (sampled(written(chance, papers, each, ratio)) for each in (share, 0.0))
    return check_planting(seed, share, (observed, human, model_sample(chance, 200, ratio)), resamples)


Recorded = Mapping[str, Sequence[str]]
"""Recorded reviews by paper."""


def planted_in(
    before: Recorded, after: Recorded, seed: int, share: float, ratio: float, papers: int = 200, resamples: int = 1000
) -> Held:
    """Plant a share once among recorded reviews of papers of one year, beside those of another year."""
    chance = Random(seed)
    chosen = chance.sample(sorted(after), papers + 60)
    human = sampled((name, text) for name in chance.sample(sorted(before), papers) for text in before[name])
    observed = sampled(
        (name, overwrite(chance, text, ratio) if chance.random() < share else text)
        for name in chosen[:papers]
        for text in after[name]
    )
    texts = [text for name in chosen[papers:] for text in after[name]]
    model = sampled((str(place), overwrite(chance, text, ratio)) for place, text in enumerate(texts))
    return check_planting(seed, share, (observed, human, model), resamples)
