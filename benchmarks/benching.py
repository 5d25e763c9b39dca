"""Measures what the benchmark adds to a model that answers at once, and the tables of ten runs."""

import json
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import publishing
from apart import run_apart

PAPERS = 1_500
"""All of them to test on; of two thirds it is known whether they were accepted."""
RUNS = 10
TASKS = ("acceptance", "review")
REVIEW_WORDS = 300


def _answer(task: str) -> str:
    words = " ".join(f"word{number % 90}" for number in range(REVIEW_WORDS))
    return '{"decision": "accept", "probability": 0.6}' if task == "acceptance" else words


def _loop(task: str, release: Path, out: Path) -> None:
    """The same questions and scores without `inspect_ai`: a line of JSON a case, with the question as a log has it."""
    from peercorpus.benchmark.cases import BenchTask, CaseCounts, CaseSelection, read_cases
    from peercorpus.benchmark.messages import TokenBudget, messages, shown_paper
    from peercorpus.benchmark.solvers import read_answer
    from peercorpus.metrics.text_overlap import count_bleu, rouge_l
    from peercorpus.release.folder import open_release

    with out.open("w", encoding="utf-8") as file:
        for case in read_cases(open_release(release), BenchTask(task), CaseSelection(), CaseCounts()):
            asked = messages(case, shown_paper(case.paper, TokenBudget(), len).text)
            found = read_answer(case.task, _answer(task), {"asked": []})
            score: object = found.get("accept") is case.accepted
            if case.references:
                score = [rouge_l(found["text"], case.references), repr(count_bleu(found["text"], case.references))]
            file.write(json.dumps([case.case_id, [one.text for one in asked], found, score]) + "\n")


def _harness(task: str, release: Path, logs: Path) -> None:
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from peercorpus.benchmark.cases import BenchTask
    from peercorpus.benchmark.run import Bench, run_tasks

    def answer(*_: object) -> ModelOutput:
        made = ModelOutput.from_content("mockllm/at-once", _answer(task))
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made

    model = get_model("mockllm/at-once", custom_outputs=answer)
    ran = run_tasks(Bench([BenchTask(task)], release, logs, model, with_baselines=False))
    if not ran.is_whole:
        raise SystemExit(str(ran.errors))


def _nothing(*_: object) -> None:
    """What it takes to import the harness."""
    import peercorpus.benchmark.run  # noqa: F401 -- its import is what is measured


def _publish(_: str, corpus: Path, out: Path) -> None:
    from peercorpus.release.publish import publish_release
    from peercorpus.release.request import ReleaseRequest
    from peercorpus.workspace.workspace import open_workspace

    with open_workspace(corpus, write=False) as workspace:
        test_after = publishing.BEGAN.date() - timedelta(days=1)
        publish_release(workspace, out, ReleaseRequest(splits="temporal", test_after=test_after))


DOES: dict[str, Callable[[str, Path, Path], None]] = {
    "loop": _loop,
    "harness": _harness,
    "nothing": _nothing,
    "publish": _publish,
}


def _in_a_process(what: str, task: str, release: Path, out: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processor time, and peak megabytes."""
    took = run_apart([sys.executable, __file__, what, task, str(release), str(out)])
    return took.seconds, took.cpu_s, took.peak_mb


def _measure_tables(scratch: Path, task: str) -> tuple[float, float]:
    """Seconds of processor time to read ten runs, and to make their table."""
    from peercorpus.benchmark.leaderboard import make_boards
    from peercorpus.benchmark.logs import read_runs

    (log,) = (scratch / f"logs-{task}").glob("*.eval")
    folder = scratch / f"ten-{task}"
    folder.mkdir()
    for number in range(RUNS):
        shutil.copy(log, folder / f"{number}-{log.name}")
    began = time.process_time()
    runs = [replace(run, name=str(number)) for number, run in enumerate(read_runs(folder))]
    read = time.process_time()
    make_boards(runs)
    return read - began, time.process_time() - read


def measure_benching(scratch: Path, papers: int = PAPERS) -> None:
    """The harness beside a bare loop, a sample; then the tables of ten runs."""
    from peercorpus.benchmark.logs import read_runs

    corpus, release = scratch / "corpus", scratch / "release"
    publishing.fill(corpus, papers)
    _in_a_process("publish", TASKS[0], corpus, release)
    _, imports, _ = _in_a_process("nothing", TASKS[0], release, release)
    print(f"\nImports alone: {imports:.1f} s of processor time, taken off below.\n")
    print("| task | cases | what | wall ms a case | processor ms a case | peak MB | MB written |")
    print("|---|---:|---|---:|---:|---:|---:|")
    for task in TASKS:
        for what in ("loop", "harness"):
            out = scratch / (f"logs-{task}" if what == "harness" else f"loop-{task}")
            wall, processor, peak = _in_a_process(what, task, release, out)
            if what == "loop":
                cases = sum(1 for _ in out.open())
            size = sum(path.stat().st_size for path in ([out] if out.is_file() else out.rglob("*.eval"))) / 1e6
            numbers = f"{(wall - imports) / cases * 1e3:.1f} | {(processor - imports) / cases * 1e3:.1f}"
            print(f"| {task} | {cases:,} | {what} | {numbers} | {peak:,.0f} | {size:.1f} |", flush=True)
    print(f"\n{RUNS} runs\n\n| task | cases | s to read | s for the table |\n|---|---:|---:|---:|")
    for task in TASKS:
        cases = len(next(iter(read_runs(scratch / f"logs-{task}")[0].outcomes.values())))
        read, made = _measure_tables(scratch, task)
        print(f"| {task} | {cases:,} | {read:.1f} | {made:.1f} |", flush=True)


if __name__ == "__main__":
    DOES[sys.argv[1]](sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
