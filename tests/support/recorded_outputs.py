"""Outputs of engines, stages and publishing for recorded inputs, with their declared versions and the record.

The inputs are in `golden/recorded`: responses of OpenReview's API about six invented papers of five venues, and their
PDFs, taken once from `peercorpus simulate` and never regenerated; a resubmitted paper and notes to be set aside were
added. The digests are in `golden/outputs.json`, and those of PDFs
that are not in the repository in `golden/outputs_real.json`; `scripts/record_outputs.py` writes both.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pyarrow.parquet as pq

from asked_releases import publish_release
from harmful_pages import paper
from in_this_process import InThisProcess
from invented_pdfs import by_hand, lines
from peercorpus.execution.requests import BuildRequest
from peercorpus.execution.stage import Stage
from peercorpus.links.version_diff import find_differences
from peercorpus.pdf.repair import read_or_repair
from peercorpus.pipeline.build import STAGES, build
from peercorpus.release import provenance
from peercorpus.release.request import Profile, SplitRequest
from peercorpus.texts.engine import Engine, load_engine
from peercorpus.texts.engines import pdfium_text
from peercorpus.texts.layout import version as layout_version
from peercorpus.versions.inspect import inspect_file
from peercorpus.workspace.harvest_state import StoredFile
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.table_reader import TABLES
from peercorpus.workspace.workspace import Workspace, open_workspace

GOLDEN = Path(__file__).parents[1] / "golden"
INVENTED, REAL = GOLDEN / "outputs.json", GOLDEN / "outputs_real.json"
RECORDED = GOLDEN / "recorded"
PAIRS = Path(__file__).parents[2].parent / "shared" / "data" / "pdf-initial-final"
PACKAGES = ("pikepdf", "pyarrow", "pypdfium2", "rensa")
"""Third-party packages whose versions may change our outputs."""
SEEN_MS = 1_767_225_600_000
"""When everything recorded counts as seen: the first day of 2026, UTC."""
KEY = bytes(32)
"""Key of the pseudonyms, which is otherwise random."""


@dataclass(frozen=True)
class Output:
    """The output of one of them.

    Attributes:
        version: Its declared version.
        made_of: Everything else that affects it, by kind: data and inputs as digests, packages by version.
        outputs: A digest by table or file.
    """

    version: int
    made_of: dict[str, str]
    outputs: dict[str, str]


Recorded = Mapping[str, Mapping[str, Output]]
"""Outputs by name, then by version, in the order in which they were recorded."""


def digest(told: object) -> str:
    """Return a digest of anything that `msgspec` can write: values by field names, whatever the class name."""
    return hashlib.sha256(msgspec.json.encode(told, order="sorted")).hexdigest()[:16]


def _packages() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES}


def read_recorded(path: Path) -> Recorded:
    """Return the digests of a file; empty if there is no file."""
    if not path.exists():
        return {}
    return msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, Output]])


def write_recorded(path: Path, recorded: Recorded) -> None:
    """Write them in a form that people can compare."""
    told = {name: {number: asdict(one) for number, one in found.items()} for name, found in sorted(recorded.items())}
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def changes(found: Output, recorded: Output) -> list[str]:
    """Return the tables or files whose digests differ, or that only one of the two has."""
    names = found.outputs.keys() | recorded.outputs.keys()
    return sorted(name for name in names if found.outputs.get(name) != recorded.outputs.get(name))


def problem(name: str, found: Output, recorded: Mapping[str, Output]) -> str | None:
    """Return what is wrong with an output or its version, in a sentence; None if they agree."""
    number = str(found.version)
    *earlier, last = list(recorded) or [""]
    if number != last:
        state = "is no longer the last one" if number in recorded else "was not recorded"
        return f"{name}: version {number} {state}; run scripts/record_outputs.py."
    differing = changes(found, recorded[last])
    if not differing:
        before = recorded[earlier[-1]] if earlier else None
        if before is not None and not changes(found, before):
            return (
                f"{name}: version {number} makes what version {earlier[-1]} made, and users would have everything made"
                " again; take it back, or record an input that shows the difference."
            )
        return None
    listed = ", ".join(differing)
    if found.made_of != recorded[last].made_of:
        others = ", ".join(sorted(kind for kind, made in found.made_of.items() if recorded[last].made_of[kind] != made))
        return f"{name}: other output ({listed}) of other {others}; look at it, then run scripts/record_outputs.py."
    return (
        f"{name}: other output ({listed}) under the same version {number}, so that users would keep the old one; raise"
        " the version, then run scripts/record_outputs.py."
    )


def record(found: Mapping[str, Output], recorded: Recorded, *, overwrite: bool) -> tuple[Recorded, list[str]]:
    """Return the new record, and the refusals.

    Args:
        found: Current outputs by name.
        recorded: Recorded outputs.
        overwrite: Also record a different output under the same version, and a version that changes nothing.

    Returns:
        The new record, without what no longer exists; and a sentence for each refusal, in which case nothing is
        recorded.
    """
    kept: dict[str, Mapping[str, Output]] = {}
    refused: list[str] = []
    for name, output in found.items():
        before = recorded.get(name, {})
        number = str(output.version)
        after = {**before, number: output}
        held = before.get(number)
        is_silent = held is not None and bool(changes(output, held)) and output.made_of == held.made_of
        told = problem(name, output, before if is_silent else after)
        if told is not None and not overwrite:
            refused.append(told)
        kept[name] = after
    return kept, refused


@contextmanager
def recorded_workspace(folder: Path) -> Iterator[Workspace]:
    """A workspace of the recorded inputs, built in this process."""
    with patch("secrets.token_bytes", return_value=KEY), open_workspace(folder, create=True) as workspace:
        workspace.raw.add(_objects())
        for line in (RECORDED / "files.jsonl").read_text(encoding="utf-8").splitlines():
            workspace.raw.state.add_file(StoredFile(**json.loads(line)))
        for path in sorted((RECORDED / "files").iterdir()):
            assert workspace.files.add(path.read_bytes()) == path.stem
        build(workspace, spread=InThisProcess())
        yield workspace


def _objects() -> Iterator[RawObject]:
    for line in (RECORDED / "objects.jsonl").read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        rest = {"kind": RawKind(told["kind"]), "body": told["body"].encode()}
        yield RawObject(**(told | rest), seen_ms=SEEN_MS, source="recorded")


def invented_outputs(folder: Path) -> dict[str, Output]:
    """Return all outputs for the recorded inputs, by the name of their producer."""
    with recorded_workspace(folder / "corpus") as workspace:
        made = table_outputs(workspace) | {"publishing": release_output(workspace, folder / "release")}
    return made | engine_outputs(recorded_pdfs())


def table_outputs(workspace: Workspace) -> dict[str, Output]:
    """Return the output of each stage, by table."""
    return {stage.name: _stage_output(workspace, stage) for stage in STAGES}


def _stage_output(workspace: Workspace, stage: Stage[Workspace]) -> Output:
    made_of = {
        "data": hashlib.sha256(_data(workspace, stage).encode()).hexdigest()[:16],
        "recorded inputs": digest([path.read_bytes() for path in sorted(RECORDED.rglob("*")) if path.is_file()]),
        "tables": digest({name: _rows(workspace, name) for name in stage.reads}),
    }
    aside = [row for row in _rows(workspace, "set-aside") if row.stage == stage.name]
    outputs = {name: digest(_rows(workspace, name)) for name in stage.writes} | {"set aside": digest(aside)}
    return Output(stage.version, made_of | _packages(), outputs)


def _data(workspace: Workspace, stage: Stage[Workspace]) -> str:
    """Return the stage's data besides its inputs, for all venues and for single ones."""
    venue_ids = [] if stage.is_of_all else workspace.venues()
    of_venues = (stage.made_with_venue(workspace, venue_id) for venue_id in venue_ids)
    return " ".join(filter(None, [stage.made_with(BuildRequest()), *of_venues]))


def _rows(workspace: Workspace, name: str) -> list[Any]:
    """Return its rows of all venues, as stored."""
    found: list[Any] = []
    for venue_id in workspace.venues():
        found += workspace.tables.read(TABLES[name], venue_id)
    return found


def release_output(workspace: Workspace, folder: Path) -> Output:
    """Return the output of publishing: the schema and the rows of Parquet files, the text of others.

    Digests and sizes of files are ignored, as they depend on the version of the Parquet writer.
    """
    publish_release(workspace, folder, splits=SplitRequest(Profile.RE2))
    made_of = {"tables": digest({name: _rows(workspace, name) for name in TABLES}), "peercorpus": version("peercorpus")}
    left_out = {"release.json", provenance.INPUTS}
    names = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file())
    outputs = {name: _file_digest(folder / name) for name in names if name not in left_out}
    return Output(provenance.VERSION, made_of | _packages(), outputs)


def _file_digest(path: Path) -> str:
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return digest([str(table.schema), table.to_pylist()])
    text = re.sub(r'[0-9a-f]{64}|"contentSize": "[^"]*"', "", path.read_text(encoding="utf-8"))
    return digest(text)


def engine_outputs(pdfs: Mapping[str, bytes]) -> dict[str, Output]:
    """Return the outputs of engines that need no model."""
    layout, plain = load_engine("pdfium-layout"), load_engine("pdfium-text")
    return {
        layout.name: _engine_output(layout, layout_version.VERSION, pdfs),
        plain.name: _engine_output(plain, int(pdfium_text.OWN_VERSION), pdfs),
    }


def _engine_output(engine: Engine, number: int, pdfs: Mapping[str, bytes]) -> Output:
    made_of = {"files": digest(pdfs)} | _packages()
    return Output(number, made_of, {name: digest(_read(engine, pdf)) for name, pdf in pdfs.items()})


def _read(engine: Engine, pdf: bytes) -> dict[str, Any]:
    """Return an engine's output for a PDF; for an engine without blocks it is the same as before blocks existed."""
    converted, _ = read_or_repair(engine.convert, pdf)
    told = {field.name: getattr(converted, field.name) for field in fields(converted)}
    return {name: value for name, value in told.items() if (name, value) != ("blocks", None)}


TYPESET = Path(__file__).parents[1] / "texts" / "typeset"


def typeset_pdfs() -> dict[str, bytes]:
    """Return an invented paper typeset in four classes that few recorded files use."""
    return {f"typeset {name}": (TYPESET / f"{name}.pdf").read_bytes() for name in ("acl", "ieee", "lncs", "tmlr")}


def recorded_pdfs() -> dict[str, bytes]:
    """The recorded PDFs, and a small one that was written by hand."""
    files = {path.stem[:12]: path.read_bytes() for path in sorted((RECORDED / "files").iterdir())}
    invented = {
        "by hand": by_hand([lines("1 Introduction", "We measure and ob-", "serve clouds."), lines("End.")]),
        "without its tail": paper()[:-300],
    }
    return {name: pdf for name, pdf in files.items() if pdf.startswith(b"%PDF")} | typeset_pdfs() | invented


def real_outputs(folder: Path) -> dict[str, Output]:
    """Return the outputs of the default engine, the inspection and the comparison for pairs of real PDFs."""
    pdfs = {f"{path.parent.name}/{path.stem}": path.read_bytes() for path in sorted(folder.glob("*/*.pdf"))}
    engine, numbers = load_engine("pdfium-layout"), {stage.name: stage.version for stage in STAGES}
    texts = {name: engine.convert(pdf) for name, pdf in pdfs.items()}
    looked = {name: digest(inspect_file(pdf)) for name, pdf in pdfs.items()}
    pairs = sorted({name.partition("/")[0] for name in pdfs})
    compared = {
        pair: digest(find_differences(texts[f"{pair}/initial"].markdown, texts[f"{pair}/final"].markdown))
        for pair in pairs
    }
    read = {name: digest(text) for name, text in texts.items()}
    damaged = {"without its tail": digest(read_or_repair(engine.convert, paper()[:-300])[0])}
    typeset = {name: digest(engine.convert(pdf)) for name, pdf in typeset_pdfs().items()}
    files = {"files": digest(pdfs)} | _packages()
    return {
        engine.name: Output(layout_version.VERSION, files, read | damaged | typeset),
        "inspect_files": Output(numbers["inspect_files"], files, looked),
        "compare_versions": Output(numbers["compare_versions"], {"texts": digest(read)} | _packages(), compared),
    }
