"""A calibration in words: what a log of `judge_calibration` or `judge_pairs` says of a judge, as Markdown."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from inspect_ai.log import EvalLog

from peercorpus.benchmark.judging.degrading import Degradation
from peercorpus.benchmark.judging.ranking import Ranking, verdict
from peercorpus.benchmark.logs import read_header
from peercorpus.errors import PeercorpusError

HEAD = (
    "| gold against | gold above | 95 % interval | papers | ties | unread | if unread are wrong |",
    "|---|--:|---|--:|--:|--:|--:|",
)


def rankings_of(numbers: Mapping[str, float]) -> dict[Degradation, Ranking]:
    """The rankings among the numbers of a log; those over no paper are missing."""
    found = {}
    for name in Degradation:
        if f"{name}_share" in numbers:
            share, low, high, papers, ties, unread, wrong = (numbers[f"{name}_{one.name}"] for one in fields(Ranking))
            found[name] = Ranking(share, low, high, int(papers), int(ties), int(unread), wrong)
    return found


def _row(name: Degradation, one: Ranking) -> str:
    cells = (f"{one.share:.3f}", f"{one.low:.3f} to {one.high:.3f}", one.papers, one.ties, one.unread)
    return f"| {' | '.join(map(str, (name.value.replace('_', ' '), *cells, f'{one.share_unread_wrong:.3f}')))} |"


def _beside(numbers: Mapping[str, float]) -> list[str]:
    said = []
    if "padding_gain" in numbers:
        said.append(f"Padding changes the mean of the aspects by {numbers['padding_gain']:+.2f} points.")
    if "gold_length_spearman" in numbers:
        said.append(f"Over gold reviews, the mean goes with their length by {numbers['gold_length_spearman']:+.2f}.")
    if "flips" in numbers:
        said.append(
            f"Of {numbers['pairs']:.0f} pairs, {numbers['flips']:.1%} change their winner when the texts change places;"
            f" {numbers['first_place']:.1%} of the answers prefer the first place (50 % where place does not matter)."
        )
    return [" ".join(said)] if said else []


def tell(log: EvalLog) -> str:
    """What a log says of the judge, as Markdown.

    Raises:
        PeercorpusError: It is not the log of a calibration that came to its end.
    """
    scores = log.results.scores if log.results and log.status == "success" else []
    if not scores or scores[0].name not in {"calibrated", "preferences"}:
        raise PeercorpusError(
            f"'{log.location}' is not the log of a calibration that came to its end;"
            " run judge_calibration or judge_pairs."
        )
    numbers = {name: one.value for name, one in scores[0].metrics.items()}
    signatures = dict.fromkeys(one.params["signature"] for one in scores[0].metrics.values())
    found = rankings_of(numbers)
    table = [*HEAD, *(_row(name, one) for name, one in found.items())]
    left_out = (log.eval.metadata or {}).get("left_out") or {}
    counted = "; ".join(f"{what}: {many}" for what, many in left_out.items())
    parts = [f"## {log.eval.model} as a judge", "\n".join(table), *_beside(numbers), verdict(found)]
    parts += [f"Left out: {counted}."] if counted else []
    return "\n\n".join([*parts, f"`{' '.join(signatures)}`"])


def tell_log(path: Path) -> str:
    """What the log in a file says of the judge, as Markdown.

    Raises:
        PeercorpusError: It is not the log of a calibration that came to its end.
    """
    return tell(read_header(path))
