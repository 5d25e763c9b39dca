"""Makes docs/scale.md: what a million papers would take, by arithmetic from the files in `benchmarks/results`."""

from collections.abc import Iterator, Mapping

from measured import Place, Result, find_numbers, load_results

PAPERS = 1_000_000
HOURS_A_YEAR = 24 * 365
BEGINNING = """\
Arithmetic from the linked measurements; nothing of this size was run. Times are of one core of their machine."""
BREAKS = """\
1. **The service's budget, long before any machine.** {budget} were seen ({link}). At these,
   the files of a million papers take {years}, by the kind of venue, if an archive of many files counts as one
   request. More accounts would only go round the limit, which peercorpus does not do. What helps: a copy from
   OpenReview (`peercorpus import`), larger limits, or fewer files (`harvest --no-files`).
2. **Memory that grows with the corpus.** From a quarter to the full size of the rehearsal the largest process grew
   by (kB a paper): {growth}. At a million papers that is {most}.
3. **What one process does.** A release is written and verified by one process each, together {hours}, and links
   are compared over all venues. The work on PDFs, versions, points and the index is spread over the cores.
4. **One disk.** `raw.db` is one SQLite file; PDFs and tables can go to an object store (`peercorpus move`)."""
LIMITS = """\
Multiply the hours and gigabytes by the prices of your provider. Above a million papers the first thing to divide would
be `raw.db`, which one process writes, by venue."""


def scale_lines(notice: str) -> Iterator[str]:
    """Yield the lines of the page.

    Raises:
        ValueError: A result lacks a number that the arithmetic needs; the message names it.
    """
    results = load_results()
    yield from ("# A million papers", "", notice, "", *BEGINNING.splitlines(), "", "## What a paper takes", "")
    yield from ("| | a paper | a million papers | from |", "|---|---:|---:|---|", *_paper_lines(results))
    yield from ("", "## What breaks first", "", *_limit_lines(results), "", *LIMITS.splitlines())


def _number(results: Mapping[str, Result], name: str, row: str, column: str, table: int = 0) -> float:
    """Return one number of a result."""
    found = find_numbers(results[name].tables, Place(row=row, column=column, table=table))
    if len(found) != 1:
        raise ValueError(f"{name}.json has no single number at '{row}', '{column}'.")
    return found[0]


def _whole(results: Mapping[str, Result], step: str) -> float:
    """Return the milliseconds of processor time a paper of a step of the largest rehearsal."""
    papers = float(results["rehearsal"].inputs["papers"])
    return 1_000 * _number(results, "rehearsal", step, "51,529: s CPU") / papers


def _paper_lines(results: Mapping[str, Result]) -> Iterator[str]:
    yield from (_request_line(results, *purpose) for purpose in PURPOSES)
    for what in ("raw record, compressed", "tables without texts", "a release", "the explorer's index"):
        papers = float(results["rehearsal"].inputs["papers"])
        kilobytes = 1e6 * _number(results, "rehearsal", what, "GB", 2) / papers
        yield f"| {what} | {kilobytes:.0f} kB | {kilobytes:.0f} GB | {_link('rehearsal')} |"
    for what, milliseconds, names in _time_rows(results):
        hours = milliseconds * PAPERS / 1_000 / 3_600
        links = ", ".join(_link(name) for name in names)
        yield f"| {what} | {milliseconds:.1f} ms | {hours:.1f} h | {links} |"


PURPOSES = (
    ("listing, with all replies", "listing"),
    ("earlier versions of notes", "earlier versions"),
    ("files", "files"),
)
"""What requests are for, with the column of the measurement."""


def _request_line(results: Mapping[str, Result], purpose: str, column: str) -> str:
    """Return a row of requests, least and most of the kinds of venues."""
    found = find_numbers(results["harvest-requests"].tables, Place(row="", column=column))
    papers = float(results["harvest-requests"].inputs["papers"])
    least, most = min(found) / papers, max(found) / papers
    millions = f"{least:.2g} to {most:.2g} million"
    link = _link("harvest-requests")
    return f"| requests: {purpose} | {least:.2g} to {most:.2g} | {millions} | {link} |"


def _time_rows(results: Mapping[str, Result]) -> Iterator[tuple[str, float, tuple[str, ...]]]:
    """Yield steps with their milliseconds a paper and the measurements they follow from."""
    inputs = results["rehearsal"].inputs
    pages = float(inputs["pages of a paper"]) * float(inputs["versions"]) / float(inputs["papers"])
    looked = min(find_numbers(results["files"].tables, Place(row="", column="pages/s")))
    read = _number(results, "engines", "`pdfium-layout`", "pages/s")
    yield "harvest, the client alone", _whole(results, "harvest · all"), ("rehearsal",)
    yield f"looking into PDFs, {pages:.0f} pages", 1_000 * pages / looked, ("files", "rehearsal")
    yield f"reading texts, {pages:.0f} pages", 1_000 * pages / read, ("engines", "rehearsal")
    notes = "build · normalise, choose_versions, build_conversations"
    yield "notes, versions, conversations", _whole(results, notes), ("rehearsal",)
    yield "comparing versions", _whole(results, "build · compare_versions"), ("rehearsal",)
    papers = float(inputs["papers"])
    links = 1_000 * _number(results, "links-growth", str(inputs["papers"]), "s CPU") / papers
    yield "links", links, ("links-growth",)
    points = 1_000 * find_numbers(results["points-speed"].tables, Place(row="", column="s CPU"))[0] / papers
    yield "points, on demand", points, ("points-speed",)
    products = sum(_whole(results, f"{step} · all") for step in ("publish", "verify", "report", "index"))
    yield "publish, verify, report, index", products, ("rehearsal",)


def _link(name: str) -> str:
    return f"[{name.replace('-', ' ')}](../benchmarks/results/{name}.json)"


def _limit_lines(results: Mapping[str, Result]) -> Iterator[str]:
    """Yield the limits in the order in which they are met."""
    notes, pdfs = (_number(results, "service-limits", what, "an hour") for what in ("notes", "PDFs"))
    requests = find_numbers(results["harvest-requests"].tables, Place(row="", column="files"))
    papers = float(results["harvest-requests"].inputs["papers"])
    least, most = (count / papers * PAPERS / pdfs / HOURS_A_YEAR for count in (min(requests), max(requests)))
    growth = sorted(((_growth(results, step), step) for step in GROWING), reverse=True)
    alone = sum(_whole(results, f"{step} · all") for step in ("publish", "verify")) * PAPERS / 1_000 / 3_600
    yield from BREAKS.format(
        budget=f"{notes:.0f} requests an hour for notes and {pdfs:.0f} for PDFs",
        years=f"{least:.1f} to {most:.1f} years",
        link=_link("service-limits"),
        growth=", ".join(f"{step} {kilobytes:.1f}" for kilobytes, step in growth),
        most=f"{growth[0][0] * PAPERS / 1e6:.0f} GB for {growth[0][1]}",
        hours=f"{alone:.1f} hours",
    ).splitlines()


GROWING = ("verify", "report", "index", "build", "harvest", "publish")
"""Steps of the rehearsal whose memory is compared between two sizes."""


def _growth(results: Mapping[str, Result], step: str) -> float:
    """Return the growth of a step's memory from a quarter to the full size, in kB a paper."""
    quarter, full = (_number(results, "rehearsal", f"{step} · all", f"{size}: MB") for size in ("12,882", "51,529"))
    return 1_000 * (full - quarter) / (51_529 - 12_882)
