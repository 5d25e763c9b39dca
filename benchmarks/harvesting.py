"""Measures the harvest against the simulator, beside openreview-py's own listing in the same run."""

from collections import Counter
from collections.abc import Iterable, Sequence

from clients import THREADS, Took, measure
from peercorpus.simulator.server.requests import gives_file
from service import Asked, simulated

CONFERENCE, OLD, JOURNAL = "Borealis.cc/2024/Conference", "Aurora.cc/2020/Conference", "JLE"
KINDS = {CONFERENCE: "API v2 conference", OLD: "API v1 conference", JOURNAL: "journal (API v2)"}
"""What the simulated venues are."""
ROUNDS = 3
PACE_PAPERS, REQUEST_PAPERS, MEMORY_PAPERS = 2_000, 1_000, 20_000
LIMIT = 60
WINDOWS_S = (10, 60)
BUDGET_PAPERS = 200
NAMES = {
    "list theirs": "openreview-py: listing, in memory",
    "list ours": "ours: listing, stored",
    "harvest ours": "ours: listing and earlier versions, stored",
}
EDIT_PAPERS = (1_000, 10_000)


def measure_pace() -> None:
    """Notes a second without limits, in alternating rounds."""
    ways = ("list theirs", "list ours", "harvest ours")
    took: dict[str, list[Took]] = {way: [] for way in ways}
    with simulated(PACE_PAPERS, [CONFERENCE]) as service:
        measure(ways[0], CONFERENCE, service)
        for turn in range(ROUNDS):
            for way in ways[:: -1 if turn % 2 else 1]:
                took[way].append(measure(way, CONFERENCE, service))
    notes = took[ways[0]][0].notes
    print(f"\n{PACE_PAPERS:,} papers, {notes:,} notes; {ROUNDS} alternating rounds\n")
    print("| work | s | s CPU of the client | notes/s, best | of openreview-py, best | of openreview-py, by round |")
    print("|---|---:|---:|---:|---:|---:|")
    theirs = took[ways[0]]
    for way, rounds in took.items():
        if any(one.notes != notes for one in rounds):
            raise SystemExit(f"{way} received {[one.notes for one in rounds]} notes.")
        best, by_round = min(one.wall_s for one in rounds), zip(theirs, rounds, strict=True)
        ratios = ", ".join(f"{their.wall_s / our.wall_s:.2f}" for their, our in by_round)
        cpu_s, ratio = min(one.cpu_s for one in rounds), min(one.wall_s for one in theirs) / best
        print(f"| {NAMES[way]} | {best:.2f} | {cpu_s:.2f} | {notes / best:,.0f} | {ratio:.2f} | {ratios} |")


def measure_requests() -> None:
    """Requests for 1,000 papers, by what they are for."""
    print(f"\nRequests for {REQUEST_PAPERS:,} papers\n")
    print("| venue | listing | earlier versions | files | openreview-py: listing | forum by forum |")
    print("|---|---:|---:|---:|---:|---:|")
    for venue_id in (CONFERENCE, OLD, JOURNAL):
        with simulated(REQUEST_PAPERS, [venue_id]) as service:
            counts: list[int] = []
            for way in ("harvest ours with files", "list theirs", "forums theirs"):
                measure(way, venue_id, service)
                purposes = Counter(map(_purpose, service.take_asked()))
                counts += [purposes[name] for name in ("listing", "versions", "files")][: 3 if not counts else 1]
        print(f"| {KINDS[venue_id]} | {' | '.join(f'{count:,}' for count in counts)} |", flush=True)


def measure_edits() -> None:
    """Requests for earlier versions: one a note, and from the list of the venue's edits."""
    heads = [f"{way}{what}" for way in ("one request a note", "from the list") for what in ("", ": s", ": peak MB")]
    print(f"\n| venue | papers | {' | '.join(heads)} | share of the requests |\n|---|{'---:|' * 8}")
    for venue_id, papers in ((venue_id, papers) for papers in EDIT_PAPERS for venue_id in (CONFERENCE, JOURNAL)):
        counts: list[int] = []
        cells: list[str] = []
        for fault in ("no_domain", ""):
            with simulated(papers, [venue_id], fault=fault) as service:
                took = measure("harvest ours", venue_id, service)
                counts.append(Counter(map(_purpose, service.take_asked()))["versions"])
            cells += [f"{counts[-1]:,}", f"{took.wall_s:.0f}", f"{took.peak_mb:.0f}"]
        print(f"| {KINDS[venue_id]} | {papers:,} | {' | '.join(cells)} | {counts[1] / counts[0]:.2%} |", flush=True)


def _purpose(asked: Asked) -> str:
    if gives_file(asked.path) or asked.path == "/notes/search":
        return "files"
    return "versions" if asked.path in {"/references", "/notes/edits"} else "listing"


def measure_budget() -> None:
    """The used share of an imposed budget, and the number of requests beyond it."""
    print(f"\n{BUDGET_PAPERS:,} papers of a journal, whose notes are all asked for their edits\n")
    print("| budget | work | windows | answered in them | refused | share used |\n|---|---|---:|---:|---:|---:|")
    for window_s in WINDOWS_S:
        for way in ("harvest ours", "edits in threads"):
            with simulated(BUDGET_PAPERS, [JOURNAL], limit=LIMIT, window_s=window_s, fault="no_domain") as service:
                measure(way, JOURNAL, service)
                asked = [one for one in service.take_asked() if one.path.startswith("/notes")]
            starts = _windows(asked, window_s)
            whole = [one for one in asked if one.at_s < starts[-1]]
            answered = sum(not one.is_refused for one in whole)
            share = answered / (LIMIT * (starts[-1] - starts[0]) / window_s)
            name = "`harvest`" if way == "harvest ours" else f"{THREADS} threads, edits only"
            refused = sum(one.is_refused for one in asked)
            print(f"| {LIMIT} in {window_s} s | {name} | {len(starts) - 1} | {answered} | {refused} | {share:.1%} |")


def _windows(asked: Iterable[Asked], window_s: int) -> Sequence[float]:
    """Start of each window of the simulator: the first request after the end of the previous one."""
    starts: list[float] = []
    for one in asked:
        if not starts or one.at_s >= starts[-1] + window_s:
            starts.append(one.at_s)
    return starts


def measure_memory() -> None:
    """Peak resident memory of listing a large venue."""
    print("\n| papers | work | s | notes | peak MB |\n|---:|---|---:|---:|---:|")
    with simulated(MEMORY_PAPERS, [CONFERENCE]) as service:
        for way in ("list ours", "harvest ours", "list theirs"):
            took = measure(way, CONFERENCE, service)
            print(
                f"| {MEMORY_PAPERS:,} | {NAMES[way]} | {took.wall_s:.0f} | {took.notes:,} | {took.peak_mb:.0f} |",
                flush=True,
            )
