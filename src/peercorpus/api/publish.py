"""Write a dataset from Python, as `peercorpus publish` does."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from peercorpus.api.arguments import (
    list_venues,
    make_receivers,
    naming_parameters,
    read_optional_path,
    read_path,
    read_value,
    read_venues,
    refuse_unknown,
    require_one_of,
    require_positive_whole,
    require_text,
)
from peercorpus.errors import PeercorpusError

if TYPE_CHECKING:
    from peercorpus.release.by_model.annotator import Annotator
    from peercorpus.release.by_model.turn_titles import Titler
    from peercorpus.release.counts import PublishSummary
    from peercorpus.release.dated_releases import ReleaseContent
    from peercorpus.release.split_file import SplitRequest


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


class PublishOptions(TypedDict, total=False):
    """Further keyword arguments of `peercorpus.publish`.

    Attributes:
        titles: "posts", the default: a turn of several posts gets the title they share; "model": a language model
            writes the title.
        model_url: URL of the model's endpoint, up to `/v1`. Its key is read from the environment variable
            PEERCORPUS_MODEL_KEY.
        model: Name of the model at the endpoint.
        max_questions: Maximum number of questions to the model in one run, 1 or more; None means 1,000. Answers are
            stored in the workspace and used again.
    """

    titles: Literal["posts", "model"]
    model_url: str | None
    model: str | None
    max_questions: int | None


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
    points: bool | Literal["rules", "model"] = False,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[PublishOptions],
) -> PublishResult:
    """Write a dataset that `datasets.load_dataset` opens, as `peercorpus publish` does.

    If nothing changed, the existing release is kept. Records that are not public or were taken down are left out.

    Args:
        folder: Folder of the workspace.
        out: Folder to write, in which an earlier release is replaced; None adds one to `releases` of the workspace.
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
        points: Whether to write the configurations `points` and `answers`; "model": a model labels what rules do not.
        progress: Receives lines on how far each venue is, such as `print`; None shows nothing.
        options: The model (`titles`, `model_url`, `model`, `max_questions`): see `api.publish.PublishOptions`.

    Raises:
        WorkspaceError: The folder is not a workspace.
        TableError: The tables are not built or out of date.
        PeercorpusError: An argument is not valid or excludes another, or `out` contains other files.

    Example:
        >>> first = peercorpus.publish("corpus", "dataset")
        >>> first.is_new, peercorpus.publish("corpus", "dataset").is_new
        (True, False)
    """
    content = _choose_content(layout, texts, grade, latex=latex, blocks=blocks)
    asked = _choose_splits(splits, content, _read_date(test_after), splits_from, is_new=new_splits)
    if not isinstance(points, bool):
        require_one_of("points", points, ("rules", "model"))
    ask = _choose_models(options, content, points)
    content = replace(content, with_authors=authors, figures=figures, points=bool(points))
    return _publish(folder, out, list_venues(venue_ids), asked, content, ask, progress)


_ChosenModels = AbstractContextManager[tuple["Titler | None", "Annotator | None"]]


def _publish(
    folder: str | Path,
    out: str | Path | None,
    venue_ids: list[str],
    asked: "SplitRequest | None",
    content: "ReleaseContent",
    ask: Callable[[Path], _ChosenModels],
    progress: Callable[[str], None] | None,
) -> PublishResult:
    from peercorpus.pipeline.build import require_built
    from peercorpus.release.dated_releases import publish_unless_same
    from peercorpus.workspace.workspace import open_workspace

    target, path = read_optional_path(out, "out"), read_path(folder, "folder")
    show = make_receivers(progress)[1]
    with ExitStack() as stack:
        opened = stack.enter_context(open_workspace(path, write=False))
        with naming_parameters():
            by_model = stack.enter_context(ask(path))
        venue_ids = read_venues(venue_ids, opened.venues())
        require_built(opened, venue_ids, points=content.points)
        release, summary = publish_unless_same(opened, target, venue_ids, asked, content, show, *by_model)
    return PublishResult(release, summary is not None, summary)


def _choose_content(layout: str, texts: str, grade: str, *, latex: bool, blocks: bool) -> "ReleaseContent":
    """Return the contents of a release, as far as the layout has room for them.

    Raises:
        PeercorpusError: An argument is not one of its values, or excludes another.
    """
    from peercorpus.corpus.text_choice import TextChoice, TextRule
    from peercorpus.records.enums import Grade
    from peercorpus.release.dated_releases import ReleaseContent
    from peercorpus.release.shards import ReleaseLayout

    chosen = read_value(ReleaseLayout, "layout", layout)
    if chosen is ReleaseLayout.REVIEWBENCH:
        _refuse(latex=latex, blocks=blocks, texts=texts == "all")
    choice, worst_grade = read_value(TextChoice, "texts", texts), read_value(Grade, "grade", grade)
    return ReleaseContent(text_rule=TextRule(choice, worst_grade, latex, blocks), layout=chosen)


def _choose_splits(
    splits: str | None,
    content: "ReleaseContent",
    test_after: date | None,
    splits_from: str | Path | None,
    *,
    is_new: bool,
) -> "SplitRequest | None":
    from peercorpus.release.shards import ReleaseLayout
    from peercorpus.release.split_file import request_splits
    from peercorpus.release.splits import Profile

    is_reviewbench = content.layout is ReleaseLayout.REVIEWBENCH
    if is_reviewbench:
        _refuse(splits=splits not in {None, "none"})
    profile = splits or ("none" if is_reviewbench else "re2")
    require_one_of("splits", profile, (*Profile, "none"))
    earlier = read_optional_path(splits_from, "splits_from")
    with naming_parameters():
        return request_splits(profile, test_after, earlier, is_new=is_new)


def _choose_models(
    options: PublishOptions, content: "ReleaseContent", points: bool | str
) -> Callable[[Path], _ChosenModels]:
    """Return what opens the chosen model, given the folder of the workspace.

    Raises:
        TypeError: There is no such option.
        PeercorpusError: A value is not valid, or does not fit the layout.
    """
    from peercorpus.release.by_model.choose_models import choose_models
    from peercorpus.release.shards import ReleaseLayout

    refuse_unknown("publish", options, PublishOptions)
    titles = options.get("titles", "posts")
    require_one_of("titles", titles, ("posts", "model"))
    if content.layout is ReleaseLayout.REVIEWBENCH:
        _refuse(titles=titles == "model")
    url, model, max_questions = options.get("model_url"), options.get("model"), options.get("max_questions")
    require_text(model_url=url, model=model)
    require_positive_whole(max_questions=max_questions)
    return partial(
        choose_models,
        url=url,
        model=model,
        max_questions=max_questions,
        titles=titles == "model",
        points=points == "model",
    )


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


def _refuse(**unfit: bool) -> None:
    """Raise an error for an argument for which the layout of ReviewBench has no place."""
    name = next((name for name, is_given in unfit.items() if is_given), None)
    if name is not None:
        raise PeercorpusError(f"{name} cannot be used with the layout 'reviewbench'; leave one of them out.")
