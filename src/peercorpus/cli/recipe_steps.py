"""Run a recipe step by step: import, harvest, build, publish, export, report, conformance.

Each step finds out by itself whether it is done, so that the same command continues after an interruption.
"""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from peercorpus.cli.console import Connection, ProgressLines
from peercorpus.cli.harvest import open_harvest
from peercorpus.cli.text.formatting import size
from peercorpus.errors import DumpError, RefusedAlikeError, SourceError, UnreachableError, WorkspaceError
from peercorpus.execution.requests import BuildRequest, HarvestRequest
from peercorpus.harvest.harvest import harvest
from peercorpus.harvest.pdfs import MOST_IN_ONE
from peercorpus.harvest.plan import FILES_AN_HOUR, NOTES_AN_HOUR, RoughCost, estimate_unlisted
from peercorpus.importers.files import WANTED
from peercorpus.importers.import_dumps import import_dumps
from peercorpus.importers.re2 import MANUSCRIPT
from peercorpus.pipeline.build import build
from peercorpus.recipes.conformance import Subject, compare
from peercorpus.recipes.measure import measure_release
from peercorpus.recipes.product_files import (
    DATA,
    EXPORT,
    NUMBERS,
    PAGE,
    ConformanceReport,
    compare_crops,
    compare_export,
    compare_figures,
    compare_table1,
    write_conformance,
)
from peercorpus.recipes.recipe import Quantity, Recipe, RecipeName, ScopeVenue
from peercorpus.recipes.state import (
    RecipeState,
    StepLog,
    check_scope,
    count_pdfs,
    count_records,
    find_changed,
    make_key,
    read_evidence,
    read_state,
    write_state,
)
from peercorpus.release import dated_releases
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExportRequest
from peercorpus.release.folder import open_release
from peercorpus.release.publish import publish_release
from peercorpus.release.published import remember_folder
from peercorpus.release.request import ReleaseLayout, ReleaseRequest
from peercorpus.release.splits import Split
from peercorpus.release.task_tables import CONFIG
from peercorpus.venues import catalogue
from peercorpus.wording.counted_nouns import plural, verb
from peercorpus.workspace.hub_datasets import fetch_dataset, parse_repository
from peercorpus.workspace.object_store import file_digest, local_path
from peercorpus.workspace.workspace import open_workspace

if TYPE_CHECKING:
    from peercorpus.execution.executor import Executor


@dataclass(frozen=True, slots=True)
class ScopeCost:
    """Lower bounds for a harvest of a scope.

    Attributes:
        venues: Cost of each venue for which the catalogue has the number of submissions shown by OpenReview.
        rest: By split, the cost of the papers that the card prints and those venues do not account for.
        unknown: Venues for which neither is known; they are not in the total.
    """

    venues: Mapping[str, RoughCost]
    rest: Mapping[str, RoughCost]
    unknown: tuple[str, ...]

    @property
    def total(self) -> RoughCost:
        return sum([*self.venues.values(), *self.rest.values()], RoughCost(0, 0, 0))


def estimate(recipe: Recipe) -> ScopeCost:
    """Return lower bounds for a harvest of a recipe's named venues."""
    venues, uncounted = {}, []
    for venue in recipe.venue:
        if venue.id is None:
            continue
        shown = _count_shown(venue.id)
        if shown is None:
            uncounted.append(venue)
        else:
            venues[venue.id] = estimate_unlisted(shown, _api(venue.id))
    rest, unknown = {}, []
    for split in dict.fromkeys(venue.split for venue in uncounted):
        of_split = [venue for venue in uncounted if venue.split == split]
        printed = recipe.find_printed(Quantity.PAPERS, split) if split is not None else None
        if split is None or printed is None:
            unknown += [str(venue.id) for venue in of_split]
            continue
        rest[split] = _estimate_rest(recipe, split, printed, of_split, venues)
    return ScopeCost(venues, rest, tuple(unknown))


def _estimate_rest(
    recipe: Recipe, split: str, printed: int, uncounted: list[ScopeVenue], venues: Mapping[str, RoughCost]
) -> RoughCost:
    of_split = {venue.id for venue in recipe.venue if venue.split == split}
    counted = sum(cost.papers for venue_id, cost in venues.items() if venue_id in of_split)
    # Which of them a paper belongs to is not known, so the cheaper API counts.
    api = max((_api(str(venue.id)) or 1 for venue in uncounted), default=1)
    return estimate_unlisted(max(0, printed - counted), api)


def _api(venue_id: str) -> int | None:
    row = catalogue.row_of(venue_id)
    return row.api if row is not None else None


def _count_shown(venue_id: str) -> int | None:
    """Return the number of submissions that OpenReview showed, according to the catalogue; None if not known."""
    row = catalogue.row_of(venue_id)
    if row is None or row.counts is None:
        return None
    counts = row.counts
    if counts.listed is not None:
        return counts.listed
    return None if counts.accepted is None or counts.rejected is None else counts.accepted + counts.rejected


PATTERNS = {
    RecipeName.REVIEWBENCH: ("data/*.parquet", "*.parquet"),
    RecipeName.RE2: ("REVIEWS_*.json", "REBUTTAL_*.json", "papers.zip", f"papers/**/{MANUSCRIPT}"),
}
"""Files of each dataset, below its folder."""

GO_ON = "To continue with the data in the workspace, add --no-harvest."


@dataclass(frozen=True, slots=True)
class RecipeRun:
    """One run of a recipe.

    Attributes:
        source: Folder or `hf:` name of the published files; None for none.
        harvests: Whether missing venues are harvested.
        files: Whether their PDFs are fetched too.
    """

    recipe: Recipe
    workspace: Path
    out: Path
    source: str | None
    harvests: bool
    files: bool
    options: BuildRequest
    spread: "Executor"
    connection: Connection
    lines: ProgressLines = field(default_factory=ProgressLines)

    def run(self, say: Callable[[str], None]) -> None:
        """Run every step that is not done, and report the result of each.

        Raises:
            PeercorpusError: A step cannot be carried out; earlier steps are kept.
        """
        with self.lines:
            if (self.workspace / "raw.db").exists():
                with open_workspace(self.workspace, write=False) as opened:
                    check_scope(opened, self.recipe, read_state(self.workspace))
            steps = [self.import_files, self.harvest_missing, self.build_tables, self.publish]
            if self.recipe.name is RecipeName.RE2:
                steps += [self.export, self.draw_report]
            steps.append(self.compare)
            done = []
            for step in steps:
                sentence, was_done = step()
                say(sentence)
                done.append(was_done)
        if all(done):
            say("Nothing to do: all of this was done before.")

    @property
    def release(self) -> Path:
        return self.out / "release"

    @property
    def export_folder(self) -> Path:
        return self.out / "re2"

    @property
    def report_folder(self) -> Path:
        return self.out / "report"

    @property
    def log(self) -> StepLog:
        return StepLog(self.out)

    def _state(self) -> RecipeState:
        return read_state(self.workspace) or RecipeState(recipe=self.recipe.name)

    def import_files(self) -> tuple[str, bool]:
        """Import the published files that were not imported yet.

        Raises:
            DumpError: The files are not of this dataset, are damaged, or changed since they were imported.
            SourceError: They could not be downloaded.
        """
        state = self._state()
        if self.source is None:
            source = f" of {state.source}" if state.source else ""
            return f"import: no files were named{f'; those{source} are in the workspace' if source else ''}.", True
        folder, revision = self._find_source(state)
        paths = find_files(self.recipe, folder)
        digests = {name: file_digest(path) for name, path in paths.items()}
        changed = find_changed(digests, state)
        if changed is not None:
            raise DumpError(
                f"'{changed}' of '{self.source}' is another file than the one imported before; name another workspace"
                " for another revision."
            )
        new = [path for name, path in paths.items() if name not in state.files]
        if not new:
            return f"import: {plural(len(digests), 'file')} of {self.source} were imported before.", True
        with open_workspace(self.workspace, create=True) as opened:
            summary = import_dumps(opened, _as_named(new, folder))
            for file in summary.files:
                if not file.is_whole:
                    reason = file.problem or f"it has {'; '.join(file.left_out)}"
                    raise DumpError(f"'{file.name}' cannot be imported: {reason}; fetch it again.")
            files = {**state.files, **digests}
            write_state(
                self.workspace, msgspec.structs.replace(state, source=self.source, revision=revision, files=files)
            )
        taken = sum(counts.total for file in summary.files for counts in file.taken.values())
        return f"import: {plural(taken, 'record')} from {plural(len(new), 'file')} of {self.source}.", False

    def _find_source(self, state: RecipeState) -> tuple[Path, str | None]:
        """Return the folder of the published files, and the commit on the Hub; a commit once used is used again."""
        path = Path(str(self.source))
        dataset = parse_repository(path)
        if dataset is None:
            if not path.exists():
                raise DumpError(f"'{path}' does not exist; name a folder of the files, or hf:{self.recipe.repository}.")
            return local_path(str(path)), None
        if dataset.revision is None and state.source == self.source:
            dataset = dataset._replace(revision=state.revision)
        folder = fetch_dataset(dataset, WANTED)
        return folder, folder.name

    def harvest_missing(self) -> tuple[str, bool]:
        """Harvest the venues of the scope that neither the published files nor a harvest before brought.

        Raises:
            SourceError: OpenReview refused, or could not be reached.
        """
        state = self._state()
        missing = self._find_missing(state)
        if not missing:
            return "harvest: nothing of the named scope is missing.", True
        if not self.harvests:
            return f"harvest: left out; {plural(len(missing), 'venue')} of the scope stay missing.", True
        try:
            with open_harvest(self.connection, self.workspace) as (opened, client):
                # The workspace is the recipe's own from its first request on, so that the same command continues.
                write_state(self.workspace, state)
                summaries = harvest(opened, client, missing, HarvestRequest(no_files=not self.files), self.lines.show)
        except SourceError as error:
            if type(error) not in {SourceError, UnreachableError}:
                raise
            raise type(error)(f"{error} {GO_ON}") from None
        whole = [
            summary.venue_id
            for summary in summaries
            if summary.is_complete and not (summary.files_waiting or summary.failures)
        ]
        write_state(self.workspace, msgspec.structs.replace(state, harvested=(*state.harvested, *whole)))
        if failures := [failure for summary in summaries for failure in summary.failures]:
            raise RefusedAlikeError(" ".join([*failures, GO_ON]))
        submissions = sum(summary.submissions for summary in summaries)
        return f"harvest: {plural(submissions, 'submission')} of {plural(len(summaries), 'venue')}.", False

    def _find_missing(self, state: RecipeState) -> list[str]:
        if not (self.workspace / "raw.db").exists():
            return list(self.recipe.venue_ids)
        with open_workspace(self.workspace, write=False) as opened:
            held = {venue_id for venue_id in self.recipe.venue_ids if count_records(opened, self.recipe, venue_id)}
        return [venue_id for venue_id in self.recipe.venue_ids if venue_id not in held | set(state.harvested)]

    @property
    def cuts_figures(self) -> bool:
        """Whether figures are cut out of PDFs; only Re² has figures."""
        return self.recipe.name is RecipeName.RE2

    def build_tables(self) -> tuple[str, bool]:
        """Bring the tables up to date.

        Raises:
            WorkspaceError: The workspace is empty.
        """
        if not (self.workspace / "raw.db").exists():
            raise WorkspaceError(
                f"The workspace '{self.workspace}' has no data of {self.recipe.title}; name its published files with"
                f" --from hf:{self.recipe.repository} or a folder, or leave out --no-harvest."
            )
        with open_workspace(self.workspace) as opened:
            options = replace(self.options, figures=self.cuts_figures)
            steps = build(opened, (), options, self.lines.show, self.spread)
        ran = sum(not step.was_finished for step in steps)
        return f"build: {plural(ran, 'step')} run, {len(steps) - ran} up to date.", ran == 0

    def publish(self) -> tuple[str, bool]:
        """Publish the release unless the one that is there is up to date."""
        is_re2 = self.recipe.name is RecipeName.RE2
        # Re²'s files state the splits of their papers; papers that were only harvested have none.
        splits: Literal["stated", "re2"] = "stated" if self._state().source else "re2"
        layout = ReleaseLayout.PEERCORPUS if is_re2 else ReleaseLayout.REVIEWBENCH
        with open_workspace(self.workspace, write=False) as opened:
            figures = self.cuts_figures and any(count_pdfs(opened, venue_id) for venue_id in opened.venues())
            request = ReleaseRequest(
                splits=splits if is_re2 else "none", grade="stated", layout=layout, figures=figures
            )
            if dated_releases.is_up_to_date(self.release, opened, request):
                return f"publish: the release in {self.release} is up to date.", True
            summary = publish_release(opened, self.release, request, show=self.lines.show)
        remember_folder(self.workspace, self.release)
        return f"publish: {plural(summary.papers, 'paper')} in {self.release}.", False

    def _is_made(self, step: str, folder: Path, manifest: str) -> bool:
        return self.log.is_done(step, self._key()) and (folder / manifest).is_file()

    def _key(self) -> str:
        return make_key(release=open_release(self.release, is_whole=False).sha256, version=version("peercorpus"))

    def export(self) -> tuple[str, bool]:
        """Export the release in Re²'s files."""
        if self._is_made("export", self.export_folder, EXPORT):
            return f"export: the files in {self.export_folder} are of this release.", True
        release = open_release(self.release)
        if not any(release.count(config, split) for config in CONFIG.values() for split in Split):
            return "export: nothing to export; no paper has a text that may be trained on, with a review.", True
        request = ExportRequest(format=ExportLayout.RE2)
        exported = export_release(self.release, self.export_folder, request, self.lines.show)
        self.log.record("export", self._key())
        rows = sum(file.samples.rows for file in exported.files)
        return f"export: {plural(rows, 'record')} in {self.export_folder}.", False

    def draw_report(self) -> tuple[str, bool]:
        """Draw the statistics of the release.

        Raises:
            MissingExtraError: Matplotlib is not installed.
        """
        from peercorpus.report.panels import FigureProfile
        from peercorpus.report.write_report import write_report

        if self._is_made("report", self.report_folder, NUMBERS):
            return f"report: the figures in {self.report_folder} are of this release.", True
        written = write_report(self.release, self.report_folder, show=self.lines.show, profile=FigureProfile.RE2)
        self.log.record("report", self._key())
        return f"report: {plural(written.figures, 'figure')} in {self.report_folder}.", False

    def compare(self) -> tuple[str, bool]:
        """Write the conformance report."""
        release = open_release(self.release)
        with open_workspace(self.workspace, write=False) as opened:
            evidence = read_evidence(opened, self.recipe)
        state = self._state()
        key = make_key(release=self._key(), evidence=str(evidence), source=state.source, revision=state.revision)
        page = self.out / PAGE
        is_written = all((self.out / name).is_file() for name in (PAGE, DATA))
        if is_written and self.log.is_done("conformance", key):
            return f"conformance: {page} is of this release.", True
        rows = compare(Subject(self.recipe, measure_release(release), evidence))
        if self.recipe.name is RecipeName.RE2:
            export = self.export_folder if (self.export_folder / EXPORT).is_file() else None
            rows += [
                *compare_table1(self.release),
                *compare_export(export),
                *compare_crops(release, evidence),
                *compare_figures(self.recipe, self.report_folder),
            ]
        source = state.source and (f"{state.source}, commit {state.revision}" if state.revision else state.source)
        report = ConformanceReport(self.recipe, release.sha256, source, rows)
        write_conformance(self.out, report)
        self.log.record("conformance", key)
        return f"conformance: {compared(report, page)}", False


def find_files(recipe: Recipe, folder: Path) -> dict[str, Path]:
    """Return the files of a dataset below a folder, or the file itself, by their paths below it.

    Raises:
        DumpError: There are none.
    """
    if folder.is_file():
        return {folder.name: folder}
    patterns = PATTERNS[recipe.name]
    paths = [path for pattern in patterns for path in sorted(folder.glob(pattern)) if path.is_file()]
    if not paths:
        raise DumpError(f"'{folder}' contains no file of {recipe.title}; expected {', '.join(patterns)}.")
    return {path.relative_to(folder).as_posix(): path for path in paths}


def _as_named(paths: list[Path], folder: Path) -> list[Path]:
    """Return paths to import: each file by name, so that a damaged one is refused; the manuscripts as one folder."""
    manuscripts = [path for path in paths if path.as_posix().endswith(f"/{MANUSCRIPT}")]
    named = [path for path in paths if path not in set(manuscripts)]
    return [*named, folder / "papers"] if manuscripts else named


COMMANDS = {
    RecipeName.REVIEWBENCH: (
        "peercorpus import hf:{repository} --workspace W",
        "peercorpus harvest --scope reviewbench --workspace W",
        "peercorpus build --workspace W",
        "peercorpus publish --workspace W --out W/recipe/release --splits none --layout reviewbench --grade stated",
    ),
    RecipeName.RE2: (
        "peercorpus import hf:{repository} --workspace W",
        "peercorpus harvest --scope re2 --workspace W",
        "peercorpus build --workspace W --figures",
        "peercorpus publish --workspace W --out W/recipe/release --splits stated --grade stated --figures",
        "peercorpus export W/recipe/release --format re2 --out W/recipe/re2",
        "peercorpus report --workspace W/recipe/release --out W/recipe/report --profile re2",
    ),
}
"""What a recipe runs, in order."""


def planned(recipe: Recipe, cost: ScopeCost) -> str:
    """Return the scope of a recipe with its sources, what a harvest of it takes at least, and the commands."""
    lines = [f"{recipe.title} ({recipe.repository}): {recipe.stated_venues} {recipe.stated_unit}.", ""]
    lines += [_scope_line(venue, cost) for venue in recipe.venue]
    lines += [
        f"  {split}: {plural(rest.papers, 'paper')} more, as the card prints, at venues without a number above"
        for split, rest in cost.rest.items()
    ]
    if recipe.likely:
        lines += ["", "Likely, but not stated to be in it; harvest them by name:"]
        lines += [_scope_line(venue, cost) for venue in recipe.likely]
    if recipe.unnamed:
        lines += ["", f"Named: {len(recipe.venue)} of {recipe.stated_venues}; {recipe.unnamed} are named nowhere."]
    named = {venue.source for venue in (*recipe.venue, *recipe.likely)}
    lines += ["", recipe.remark.strip(), "", "Sources:"]
    lines += [f"  {name}: {text}" for name, text in recipe.sources.items() if name in named]
    lines += ["", *_cost_lines(recipe, cost), "", "With --workspace W it runs:"]
    lines += [f"  {command.format(repository=recipe.repository)}" for command in COMMANDS[recipe.name]]
    lines += ["", f"Next: peercorpus recipe {recipe.name} --workspace W --from hf:{recipe.repository}"]
    return "\n".join(lines)


def _scope_line(venue: ScopeVenue, cost: ScopeCost) -> str:
    of_venue = cost.venues.get(venue.id or "")
    parts = [
        venue.id or venue.name,
        f"({venue.name})" if venue.name and venue.id else None,
        f"({venue.split}, {venue.track})" if venue.split else None,
        plural(of_venue.papers, "submission") if of_venue is not None else None,
        f"[{venue.source}]",
    ]
    return f"  {' '.join(part for part in parts if part)}"


def _cost_lines(recipe: Recipe, cost: ScopeCost) -> list[str]:
    total, stated = cost.total, recipe.find_printed(Quantity.PAPERS)
    lines = [
        f"A harvest of the named venues takes at least {plural(total.note_requests, 'request')} for notes and edits and"
        f" {total.file_requests:,} for PDFs: about {plural(round(total.hours), 'hour')} at the limits seen in 2026"
        f" ({NOTES_AN_HOUR} and {FILES_AN_HOUR} an hour), and {size(total.size_bytes)}. For the numbers of today:"
        f" peercorpus harvest --scope {recipe.name} --plan --workspace W"
    ]
    if cost.unknown:
        lines.append(f"Not counted, as their number of papers is not known: {', '.join(cost.unknown)}.")
    if stated is not None:
        hours = stated / FILES_AN_HOUR
        if total.file_requests < total.papers:
            lines.append(
                f"PDFs need fewer requests than papers because API 2 sends current ones {MOST_IN_ONE} at a time."
            )
        lines.append(
            f"Earlier versions come one by one: one for each of {plural(stated, 'paper')} takes"
            f" {plural(round(hours), 'hour')} ({plural(round(hours / 24), 'day')}). Begin with the published files"
            " (--from)."
        )
    return lines


def compared(report: ConformanceReport, page: Path) -> str:
    """Return how many rows of the card or paper the result has as printed, and where the report is."""
    return (
        f"{report.agreeing:,} of {plural(report.printed, 'row')} {verb(report.agreeing, 'is', 'are')} as"
        f" {report.recipe.title} prints; each difference with its reason: {shlex.quote(str(page))}"
    )
