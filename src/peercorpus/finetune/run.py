"""Prepare a fine-tuning run: check the release, select and encode the examples, and record the run's settings."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path

import msgspec

from peercorpus.errors import ModelError, PeercorpusError
from peercorpus.execution.executor import Executor
from peercorpus.execution.progress import Show, show_nothing
from peercorpus.finetune.examples import list_tasks, load_encoder
from peercorpus.finetune.lengths import Fitting, check_lengths, check_window
from peercorpus.finetune.prepare import Prepared, Sink, adopt_prepared, drop, prepare
from peercorpus.finetune.request import TuneRequest
from peercorpus.finetune.run_folder import DATA, LENGTHS, RUN, RunFile, RunRequest, check_same
from peercorpus.finetune.selection import prepare_selection
from peercorpus.models import prompts
from peercorpus.models.checkpoints import TOKENIZER, find_weights
from peercorpus.records.enums import Grade
from peercorpus.release.folder import Release, check_outside, open_release
from peercorpus.release.provenance import check_worst_grade
from peercorpus.release.splits import Split
from peercorpus.release.verify.files import Check
from peercorpus.release.verify.ids import TASK_OF, SplitsAgree, check_links, read_id_rows


@dataclass(frozen=True, slots=True)
class Fitness:
    """Result of the checks of a release before training.

    Attributes:
        profile: The split profile.
        held_out: Number of papers in the splits `test` and `validation`, none of which is in `train`.
        links: Number of pairs of submissions of one work, none of which is in two splits; None if the release has
            no links, either because none were found or because the search was not run.
    """

    profile: str
    held_out: int
    links: int | None


def check_fit(release: Release) -> Fitness:
    """Check that a release may be used for training.

    Raises:
        PeercorpusError: It has no splits; a training paper, or a paper linked to it, is held out.
    """
    file = release.splits()
    if file is None:
        raise PeercorpusError(
            f"The release '{release.folder}' has no splits to train on; publish it with --splits re2 or temporal."
        )
    splits = SplitsAgree(release)
    for shard in release.shards():
        if shard.config in TASK_OF:
            for row in read_id_rows(shard, splits.check, ["forum_id"]):
                splits.see(shard, row)
    links = check_links(release, splits)
    for check in (splits.end(), links):
        _refuse(release, check)
    held_out = sum(len(file.splits.get(split, [])) for split in Split if split is not Split.TRAIN)
    return Fitness(file.profile.value, held_out, links.looked_at if release.shards("links") else None)


def _refuse(release: Release, check: Check) -> None:
    if not check.found:
        return
    first = check.breaches[0]
    what = f"the paper '{first.record_id}' {first.what}" if first.record_id else f"'{first.file}' {first.what}"
    more = f" (and {check.found - 1:,} more)" if check.found > 1 else ""
    raise PeercorpusError(
        f"The release '{release.folder}' cannot be trained on: {what}{more}; 'peercorpus verify' lists all problems;"
        " publish it again."
    )


Say = Callable[[str], None]
"""Receives text for the user."""


def _resolve_model(named: str) -> str:
    """Return the absolute path of a model's folder, so that its adapter finds it from anywhere, or the name."""
    return str(Path(named).resolve()) if Path(named).is_dir() else named


def _identify_weights(named: str) -> str:
    """Return an identifier of a model's weights.

    Returns:
        For a local folder, the digest of the weights; for a model on the Hub, the commit whose tokenizer is in the
        local cache, or an empty string if none is.

    Raises:
        ModelError: It is an adapter.
    """
    weights = find_weights(named)
    if weights is not None and weights.base is not None:
        raise ModelError(f"'{named}' is an adapter; name its base model, or a model with the adapter merged into it.")
    if weights is not None:
        return weights.digest
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(named, TOKENIZER)
    return Path(path).parent.name if isinstance(path, str) else ""


def _identify(release: Release, request: TuneRequest, model: str, tokenizer: str) -> RunRequest:
    return RunRequest(
        version=version("peercorpus"),
        release=release.sha256,
        prompts=prompts.DIGEST,
        weights=_identify_weights(request.model),
        tokenizer=tokenizer,
        request=replace(request, model=model, recipe=None),
        recipe=request.settings,
    )


def _record(prepared: Prepared, release: Release, asked: RunRequest, fitness: Fitness) -> RunFile:
    # By count, then name, because the order in which reasons occur depends on the executor.
    left_out = {
        split.value: dict(sorted(counts.left_out.items(), key=lambda item: (-item[1], item[0])))
        for split, counts in prepared.taken.items()
    }
    rows = release.rows("papers", None, ("forum_id", "licence"))
    licences = Counter(row["licence"] or "" for row in rows if row["forum_id"] in prepared.papers[Split.TRAIN])
    return RunFile(
        asked=asked,
        examples={split.value: prepared.examples[split] for split in prepared.taken},
        papers={split.value: len(papers) for split, papers in prepared.papers.items()},
        left_out=left_out,
        fitness=asdict(fitness),
        licences=dict(licences.most_common()),
        files=prepared.files,
    )


def prepare_run(
    release_folder: Path,
    out: Path,
    request: TuneRequest,
    say: Say,
    show: Show = show_nothing,
    sink: Sink | None = None,
    spread: Executor | None = None,
) -> RunFile:
    """Write the examples of a run and report their lengths; those written by an earlier call are kept.

    Args:
        release_folder: The release.
        out: The folder of the run.
        request: The run.
        say: Receives the table of lengths.
        show: Receives the number of papers read.
        sink: Receives every example that this call writes, as often as it is repeated.
        spread: Executor for the processes that fit examples; None does all in this process.

    Raises:
        PeercorpusError: The release may not be trained on, no example is left, an answer would be cut, or the folder
            contains something else.
    """
    release = open_release(release_folder)
    check_worst_grade(release_folder, Grade(request.grade))
    check_outside(out, release_folder)
    model = _resolve_model(request.model)
    encoder = load_encoder(model)
    asked = _identify(release, request, model, encoder.digest)
    existing = check_same(out, asked)
    if existing is not None:
        say((out / DATA / LENGTHS).read_text("utf-8").rstrip())
        return existing
    fitting = Fitting(encoder, request.settings, spread)
    fitness = check_fit(release)
    choice = prepare_selection(release, request)
    try:
        prepared = prepare(choice, list_tasks(request.task), fitting, out, show, sink)
        _check_prepared(prepared, release, out, asked, say)
        check_window(prepared.lengths, request.model, encoder.window)
    except PeercorpusError:
        drop(out)
        raise
    run = _record(prepared, release, asked, fitness)
    (out / f".{RUN}").write_bytes(msgspec.json.format(msgspec.json.encode(run), indent=1))
    adopt_prepared(out)
    return run


def _check_prepared(prepared: Prepared, release: Release, out: Path, asked: RunRequest, say: Say) -> None:
    left_out = prepared.taken[Split.TRAIN].left_out
    if not prepared.examples[Split.TRAIN] and not any(of_task.too_long for of_task in prepared.lengths.values()):
        why = "; ".join(f"{reason}: {count:,}" for reason, count in left_out.most_common(3)) or "it has no such paper"
        raise PeercorpusError(f"Nothing in '{release.folder}' is left to train on ({why}); select more.")
    unmet = sorted({*asked.request.venue} - prepared.venues)
    if unmet:
        raise PeercorpusError(
            f"No training paper is from '{unmet[0]}'; check how the release names the venue or conference."
        )
    say((out / f".{DATA}" / LENGTHS).read_text("utf-8").rstrip())
    if not asked.request.leave_out_long:
        check_lengths(prepared.lengths, asked.recipe.context)
