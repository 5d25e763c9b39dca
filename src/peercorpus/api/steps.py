"""Harvest, build and publish from Python, as the commands of these names do."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from peercorpus.api.arguments import list_venues, read_optional_path, read_path
from peercorpus.errors import PeercorpusError
from peercorpus.execution.progress import Progress, Show, show_nothing
from peercorpus.execution.waits import PDF_TIMEOUT_S, RATE_LIMIT_WAIT_S

if TYPE_CHECKING:
    from peercorpus.execution.stage import Options
    from peercorpus.harvest.harvest import HarvestSummary
    from peercorpus.harvest.plan import VenuePlan
    from peercorpus.harvest.session import Access
    from peercorpus.pipeline.build_venues import StepResult
    from peercorpus.pipeline.losses import SourceLoss
    from peercorpus.release.counts import PublishSummary
    from peercorpus.release.dated_releases import ReleaseContent
    from peercorpus.release.split_file import SplitRequest

EnumT = TypeVar("EnumT", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class HarvestResult:
    """Result of a harvest.

    Attributes:
        folder: Folder of the workspace.
        venues: A summary of each venue: the stored data, and those added by this run.
        is_complete: Whether nothing needs to be requested again; otherwise the same call continues later.
    """

    folder: Path
    venues: tuple["HarvestSummary", ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class BuildResult:
    """Result of a build, and the state of the tables after it.

    Attributes:
        folder: Folder of the workspace.
        steps: Every step, with whether it was already up to date.
        papers: Rows of the table of papers, of all venues of the workspace.
        reviews: Rows of the table of reviews.
        conversations: Rows of the table of conversations.
        losses: Sources most of whose records were set aside, with the reasons.
    """

    folder: Path
    steps: tuple["StepResult", ...]
    papers: int
    reviews: int
    conversations: int
    losses: tuple["SourceLoss", ...]


@dataclass(frozen=True, slots=True)
class PublishResult:
    """The release that a publication left.

    Attributes:
        folder: Folder of the release; `load_release` opens it.
        is_new: Whether it was written now; False if the existing one is the same.
        summary: Counts of its contents; None if it is not new.
    """

    folder: Path
    is_new: bool
    summary: "PublishSummary | None"


def harvest(
    venue_ids: str | Iterable[str],
    folder: str | Path,
    *,
    limit: int | None = None,
    files: bool = True,
    refresh: bool = False,
    scope: Literal["reviewbench", "re2"] | None = None,
    max_wait_s: float = RATE_LIMIT_WAIT_S,
    share_budget: bool = False,
    record: str | Path | None = None,
    url_v1: str | None = None,
    url_v2: str | None = None,
    token_file: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> HarvestResult:
    """Fetch venues from OpenReview into a workspace, as `peercorpus harvest` does.

    It can be interrupted at any time; the same call continues, and a later one fetches only what has changed since. It
    signs in with `token_file`, or as the command does, else as a guest.

    Args:
        venue_ids: Short names such as "ICLR2024", group ids, or the URLs of their pages.
        folder: Folder of the workspace, which is created if it is missing.
        limit: Number of submissions per venue, 1 or more; None means all.
        files: Whether to fetch the PDFs.
        refresh: Whether to list everything again, and to retry files that were refused.
        scope: Also harvest all venues of a published dataset; `venue_ids` may then be empty.
        max_wait_s: Longest wait for the rate limit, in seconds.
        share_budget: Whether to continue although another harvest uses the same account.
        record: File to which every response is appended, for `peercorpus import`; only as a guest. None records none.
        url_v1: Base URL of API v1; None means OpenReview's.
        url_v2: Base URL of API v2; None means OpenReview's.
        token_file: File with a token, which nobody else may read.
        progress: Receives lines on how far the harvest is and why it waits, such as `print`; None shows nothing.

    Raises:
        VenueNotFoundError: A venue does not exist.
        RefusedAlikeError: All requests of one kind were refused alike; everything else is stored.
        TryLaterError: OpenReview asks for a longer wait or is unavailable, or another harvest is running.
        PeercorpusError: No venue is named, a name fits several or none, the sign-in is refused, or the folder is not a
            workspace.

    Example:
        >>> with peercorpus.simulate(papers=5) as openreview:
        ...     result = peercorpus.harvest(
        ...         "Aurora.cc/2020/Conference", "new", url_v1=openreview.url_v1, url_v2=openreview.url_v2
        ...     )
        >>> [(venue.venue_id, venue.submissions) for venue in result.venues], result.is_complete
        ([('Aurora.cc/2020/Conference', 1)], True)
    """
    from peercorpus.harvest.session import Access

    _require_positive(limit=limit)
    token = read_optional_path(token_file, "token_file", "file")
    recorded = read_optional_path(record, "record", "file")
    access = Access(url_v1, url_v2, token, max_wait_s, is_shared=share_budget, record=recorded)
    chosen = _choose_venues(venue_ids, scope, folder)
    return _harvest(chosen, folder, access, progress, limit=limit, files=files, refresh=refresh)


def plan_harvest(
    venue_ids: str | Iterable[str],
    folder: str | Path,
    *,
    limit: int | None = None,
    files: bool = True,
    scope: Literal["reviewbench", "re2"] | None = None,
    max_wait_s: float = RATE_LIMIT_WAIT_S,
    url_v1: str | None = None,
    url_v2: str | None = None,
    token_file: str | Path | None = None,
) -> "tuple[VenuePlan, ...]":
    """Estimate what a harvest has left to fetch, as `peercorpus harvest --plan` does; nothing is fetched.

    It only requests the settings of the venues and how many papers they have, and may run beside a harvest.

    Args:
        venue_ids: As in `harvest`.
        folder: Folder of the workspace, which is created if it is missing.
        limit: Number of submissions per venue, 1 or more; None means all.
        files: Whether the PDFs will be fetched.
        scope: Also plan all venues of a published dataset; `venue_ids` may then be empty.
        max_wait_s: Longest wait for the rate limit, in seconds.
        url_v1: Base URL of API v1; None means OpenReview's.
        url_v2: Base URL of API v2; None means OpenReview's.
        token_file: File with a token, which nobody else may read.

    Returns:
        The plan of each venue, with its requests by step.

    Raises:
        PeercorpusError: As `harvest`.

    Example:
        >>> with peercorpus.simulate(papers=5) as openreview:
        ...     plans = peercorpus.plan_harvest(
        ...         "Aurora.cc/2020/Conference", "planned", url_v1=openreview.url_v1, url_v2=openreview.url_v2
        ...     )
        >>> [(plan.venue_id, plan.steps[0].things) for plan in plans]
        [('Aurora.cc/2020/Conference', 1)]
    """
    from peercorpus.harvest.plan import plan_harvest as run_plan
    from peercorpus.harvest.session import Access, open_client

    _require_positive(limit=limit)
    token = read_optional_path(token_file, "token_file", "file")
    access = Access(url_v1, url_v2, token, max_wait_s, is_held=False, is_shared=True)
    chosen = _choose_venues(venue_ids, scope, folder)
    say, _ = _receivers(None)
    with open_client(read_path(folder, "folder"), access, say, say) as (opened, client):
        return tuple(run_plan(opened, client, chosen, limit=limit, files=files))


def build(
    folder: str | Path,
    venue_ids: str | Iterable[str] = (),
    *,
    engine: str = "pdfium-layout",
    ocr: Literal["off", "auto"] = "off",
    figures: bool = False,
    points: bool = False,
    retry: bool = False,
    workers: int | None = None,
    pdf_timeout_s: float = PDF_TIMEOUT_S,
    progress: Callable[[str], None] | None = None,
) -> BuildResult:
    """Bring a workspace's tables up to date, as `peercorpus build` does; only what changed is rebuilt.

    Notes and PDFs are read in worker processes: a script must call this under `if __name__ == "__main__":`.

    Args:
        folder: Folder of the workspace.
        venue_ids: Venues to build; empty means all.
        engine: Engine that reads the PDFs; `peercorpus build --help` lists them.
        ocr: "auto" reads pages without readable text by OCR.
        figures: Whether to cut figures and tables out of the PDFs.
        points: Whether to split reviews into single criticisms.
        retry: Whether to read PDFs again that took too long or crashed the reader.
        workers: Number of processes, 1 or more; None means one per core.
        pdf_timeout_s: Time limit for a single PDF, in seconds.
        progress: Receives lines on how far each step is, such as `print`; None shows nothing.

    Raises:
        WorkspaceError: The folder is not a workspace.
        TableError: A venue is not in the workspace.
        EngineError: The engine does not exist, or does not take an option that is set.
        MissingExtraError: A package is not installed.
        PeercorpusError: `venues.toml` or `reminders.tsv` of the workspace is not valid.

    Example:
        >>> result = peercorpus.build("corpus")
        >>> result.papers, result.reviews, all(step.was_finished for step in result.steps)
        (12, 29, True)
    """
    from peercorpus.execution.stage import Options

    _require_positive(workers=workers, pdf_timeout_s=pdf_timeout_s)
    if ocr not in {"off", "auto"}:
        raise PeercorpusError(f"ocr must be one of off, auto, got '{ocr}'.")
    options = Options(engine=engine, ocr=ocr, retry=retry, workers=workers, pdf_timeout_s=pdf_timeout_s)
    return _build(folder, list_venues(venue_ids), replace(options, figures=figures, points=points), progress)


def publish(
    folder: str | Path,
    out: str | Path | None = None,
    venue_ids: str | Iterable[str] = (),
    *,
    splits: Literal["re2", "temporal", "stated", "none"] | None = None,
    test_after: date | str | None = None,
    splits_from: str | Path | None = None,
    new_splits: bool = False,
    authors: bool = True,
    texts: Literal["initial", "best", "all"] = "best",
    grade: str = "only_before_review",
    latex: bool = False,
    blocks: bool = False,
    layout: Literal["peercorpus", "reviewbench"] = "peercorpus",
    figures: bool = False,
    points: bool = False,
    progress: Callable[[str], None] | None = None,
) -> PublishResult:
    """Write a dataset that `datasets.load_dataset` opens, as `peercorpus publish` does.

    If nothing changed, the existing release is kept. Records that are not public or were taken down are left out.

    Args:
        folder: Folder of the workspace.
        out: Folder to write, in which an earlier release is replaced; None adds one named by its date to `releases` of
            the workspace.
        venue_ids: Venues to publish; empty means all.
        splits: How papers are split into train, validation and test; None means "re2", or "none" for ReviewBench.
        test_after: With "temporal": test on papers submitted after this UTC date, such as "2024-10-01".
        splits_from: Folder of a release whose papers keep their splits.
        new_splits: Whether papers may change the splits that earlier releases gave them.
        authors: Whether to name authors.
        texts: Which texts of papers to publish.
        grade: Worst grade of a text in the configurations for tasks: a value of `peercorpus.records.enums.Grade`.
        latex: Whether to fill the column `latex` of the configuration `texts`.
        blocks: Whether to fill its columns `blocks` and `mentions`.
        layout: All configurations, or the one of ReviewBench.
        figures: Whether to write the configuration `figures`.
        points: Whether to write the configurations `points` and `answers`.
        progress: Receives lines on how far each venue is, such as `print`; None shows nothing.

    Raises:
        WorkspaceError: The folder is not a workspace.
        TableError: The tables are not built or out of date.
        PeercorpusError: An argument is not one of its values or excludes another, or `out` contains other files.

    Example:
        >>> first = peercorpus.publish("corpus", "dataset")
        >>> first.is_new, first.summary.papers, first.summary.reviews
        (True, 12, 29)
        >>> peercorpus.publish("corpus", "dataset").is_new
        False
    """
    content = _choose_content(layout, texts, grade, splits, latex=latex, blocks=blocks)
    sides = _choose_sides(splits, content, _read_date(test_after), splits_from, is_new=new_splits)
    content = replace(content, with_authors=authors, figures=figures, points=points)
    return _publish(folder, out, list_venues(venue_ids), sides, content, progress)


def _harvest(
    venue_ids: list[str],
    folder: str | Path,
    access: "Access",
    progress: Callable[[str], None] | None,
    *,
    limit: int | None,
    files: bool,
    refresh: bool,
) -> HarvestResult:
    from peercorpus.harvest.harvest import check_refusals, is_complete
    from peercorpus.harvest.harvest import harvest as run_harvest
    from peercorpus.harvest.session import open_client

    say, show = _receivers(progress)
    path = read_path(folder, "folder")
    with open_client(path, access, say, say) as (opened, client):
        client.record_harvests(venue_ids, limit, files=files)
        summaries = run_harvest(opened, client, venue_ids, limit=limit, files=files, refresh=refresh, progress=show)
    check_refusals(summaries)
    return HarvestResult(path, tuple(summaries), is_complete(summaries))


def _build(
    folder: str | Path, venue_ids: list[str], options: "Options", progress: Callable[[str], None] | None
) -> BuildResult:
    from peercorpus.pipeline.build import build as run_build
    from peercorpus.pipeline.losses import read_losses
    from peercorpus.texts.engine import choose_executor
    from peercorpus.texts.figures import require_pillow
    from peercorpus.workspace.workspace import open_workspace

    spread = choose_executor(options)
    if options.figures:
        require_pillow()
    path = read_path(folder, "folder")
    with open_workspace(path) as opened:
        venue_ids = _read_venues(venue_ids, opened.venues())
        steps = run_build(opened, venue_ids, options, _receivers(progress)[1], spread)
        held = opened.venues()
        losses = read_losses(opened, venue_ids or held)
        papers, reviews, conversations = (
            sum(opened.tables.count(name, venue_id) for venue_id in held)
            for name in ("1-papers", "2-reviews", "6-conversations")
        )
    return BuildResult(path, tuple(steps), papers, reviews, conversations, tuple(losses))


def _publish(
    folder: str | Path,
    out: str | Path | None,
    venue_ids: list[str],
    sides: "SplitRequest | None",
    content: "ReleaseContent",
    progress: Callable[[str], None] | None,
) -> PublishResult:
    from peercorpus.pipeline.build import require_built
    from peercorpus.release.dated_releases import publish_unless_same
    from peercorpus.workspace.workspace import open_workspace

    target = read_optional_path(out, "out")
    with open_workspace(read_path(folder, "folder"), write=False) as opened:
        venue_ids = _read_venues(venue_ids, opened.venues())
        require_built(opened, venue_ids, points=content.points)
        release, summary = publish_unless_same(opened, target, venue_ids, sides, content, _receivers(progress)[1])
    return PublishResult(release, summary is not None, summary)


def _choose_content(
    layout: str, texts: str, grade: str, splits: str | None, *, latex: bool, blocks: bool
) -> "ReleaseContent":
    """Return the contents of a release, as far as the layout has room for them.

    Raises:
        PeercorpusError: An argument is not one of its values, or excludes another.
    """
    from peercorpus.corpus.text_choice import TextChoice, TextRule
    from peercorpus.records.enums import Grade
    from peercorpus.release.dated_releases import ReleaseContent
    from peercorpus.release.shards import ReleaseLayout

    chosen = _read_value(ReleaseLayout, "layout", layout)
    if chosen is ReleaseLayout.REVIEWBENCH:
        _refuse(latex=latex, blocks=blocks, texts=texts == "all", splits=splits not in {None, "none"})
    choice, worst_grade = _read_value(TextChoice, "texts", texts), _read_value(Grade, "grade", grade)
    return ReleaseContent(text_rule=TextRule(choice, worst_grade, latex, blocks), layout=chosen)


def _choose_sides(
    splits: str | None,
    content: "ReleaseContent",
    test_after: date | None,
    splits_from: str | Path | None,
    *,
    is_new: bool,
) -> "SplitRequest | None":
    from peercorpus.release.shards import ReleaseLayout
    from peercorpus.release.split_file import request_sides
    from peercorpus.release.splits import Profile

    profile = splits or ("none" if content.layout is ReleaseLayout.REVIEWBENCH else "re2")
    if profile != "none":
        _read_value(Profile, "splits", profile)
    return request_sides(profile, test_after, read_optional_path(splits_from, "splits_from"), is_new=is_new)


def _choose_venues(venue_ids: str | Iterable[str], scope: str | None, folder: str | Path) -> list[str]:
    """Return the ids of the venues to harvest: those named, and those of a published dataset.

    Raises:
        PeercorpusError: There is none, or a name fits several venues or none.
    """
    from peercorpus.recipes.recipe import RecipeName, read_recipe
    from peercorpus.workspace.workspace import read_held_venues

    named = list_venues(venue_ids)
    in_scope = read_recipe(_read_value(RecipeName, "scope", scope)).venue_ids if scope is not None else ()
    if not (named or in_scope) or not all(named):
        raise PeercorpusError("No venue was named; name one, such as ICLR2024 or ICLR.cc/2024/Conference.")
    held = read_held_venues(read_path(folder, "folder"))
    return list(dict.fromkeys([*_read_venues(named, held), *in_scope]))


def _read_venues(names: Iterable[str], held: Iterable[str] = ()) -> list[str]:
    """Return the ids of venues by their ids, short names or the URLs of their pages; see `venues.short_names`."""
    from peercorpus.venues.short_names import read_venue_id

    held = list(held)
    return list(dict.fromkeys(read_venue_id(name, held) for name in names))


def _read_date(day: date | str | None) -> date | None:
    """Return a date; a text must be one in the form of ISO 8601.

    Raises:
        PeercorpusError: It is not.
    """
    if day is None or isinstance(day, date):
        return day
    try:
        return date.fromisoformat(day)
    except (TypeError, ValueError):
        raise PeercorpusError(f"test_after must be a date such as 2024-10-01, got {day!r}.") from None


def _receivers(progress: Callable[[str], None] | None) -> tuple[Callable[[str], None], Show]:
    """Return the functions that receive sentences and the progress of steps."""
    if progress is None:
        return (lambda _: None), show_nothing
    report = progress

    def show(step: Progress) -> None:
        report(str(step))

    return report, show


def _require_positive(**numbers: float | None) -> None:
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int | float | None):
            raise PeercorpusError(f"{name} must be a number, got {number!r}.")
        if number is not None and number <= 0:
            raise PeercorpusError(f"{name} must be more than 0, got {number:g}.")


def _read_value(kind: type[EnumT], name: str, value: str) -> EnumT:
    try:
        return kind(value)
    except ValueError:
        raise PeercorpusError(f"{name} must be one of {', '.join(kind)}, got '{value}'.") from None


def _refuse(**unfit: bool) -> None:
    """Raise an error for an argument for which the layout of ReviewBench has no place."""
    name = next((name for name, is_given in unfit.items() if is_given), None)
    if name is not None:
        raise PeercorpusError(f"{name} cannot be used with the layout 'reviewbench'; leave one of them out.")
