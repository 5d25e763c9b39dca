"""The commands to run, in order, and which of their outputs are digested."""

import json
import shlex
import shutil
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
from canonical import Canon, Section, dumped
from crawling import put_pages
from prepared import RAW, TAKEDOWN
from product import ADDRESS, Finished, Product, free_port

SHOWN_PAPERS, CONVERTED_PDFS = 2, 3
LOGS = frozenset({".eval", "logs.json", "eval-set.json", ".eval-set-id"})
CLOCK_COLUMNS = {"listings": "started_ms", "objects": "seen_ms", "sightings": "shown_ms"}
"""Tables of `raw.db`, each with the column that records when something was requested."""
UNDIGESTED = {"budget", "secrets", "secret_copies"}
"""Tables of `raw.db` whose content depends only on the clock and on chance."""


@dataclass(frozen=True, slots=True)
class Step:
    """One command.

    Attributes:
        name: Name for the digest of what it prints; if it ends with `.json`, the command prints JSON.
        arguments: As typed in a shell.
        writes: Files and folders to digest afterwards.
    """

    name: str
    arguments: str
    writes: tuple[str, ...] = ()


READING = (
    Step("status.json", "status -w corpus --json"),
    Step("forms.json", "forms -w corpus --json"),
    Step("grades.json", "audit grades corpus --json"),
    Step("verify.txt", "verify release -w corpus"),
    Step(
        "dialogues-author.txt",
        "export release --out dialogues-author --format llama-factory --assistant author",
        ("dialogues-author",),
    ),
)
"""What is run on every workspace once it is built and published."""
PUBLISHING = Step("publish.txt", "publish -w corpus --out release", ("release",))
TEMPORAL = "publish -w corpus --splits temporal --test-after 2023-01-01"
TEMPORAL_PUBLISHING = Step("publish-temporal.txt", f"{TEMPORAL} --out temporal --no-authors", ("temporal",))
TAKEN_PUBLISHING = Step("publish-taken.txt", f"{TEMPORAL} --out taken --splits-from temporal", ("taken",))


def _export(format_name: str, options: str = "") -> Step:
    out = f"export-{format_name}"
    return Step(f"{out}.txt", f"export release --out {out} --format {format_name} {options}", (out,))


DEMO = (
    *(_export(name) for name in ("jsonl", "trl", "llama-factory", "axolotl", "re2")),
    Step("report.txt", "report -w corpus --out report", ("report",)),
    Step("status.txt", "status -w corpus"),
    Step("leaks.json", "audit leaks release --json"),
    Step("diff.json", "diff release temporal --json --ids"),
    Step(
        "dialogues.txt",
        "export release --out dialogues --format trl --paper abstract --unanswered",
        ("dialogues",),
    ),
    Step("select.txt", "explore -w corpus --select= --out selected.jsonl", ("selected.jsonl",)),
    Step("venues.json", "venues --json"),
    Step("known-forms.json", "forms --json"),
    Step("bench.txt", "bench --release release --logs bench --limit 2", ("bench",)),
)
"""What is also run on the demo."""

RECORDED = (
    _export("trl", "--paper abstract --max-characters 4000 --no-system"),
    Step("report.txt", "report -w release --out report --where year>=2018", ("report",)),
)
"""What is also run on the recorded data."""


@dataclass(slots=True)
class Chain:
    """Commands that run one after another in the same folder."""

    product: Product
    folder: Path
    canon: Canon
    seconds: dict[str, float] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def run(self, step: Step, *, must_work: bool = False) -> Finished:
        """Run a step, and digest what it prints and writes."""
        started = time.perf_counter()
        ran = self.product.run(self.folder, shlex.split(step.arguments), must_work=must_work)
        self.seconds[f"{self.canon.prefix}/{step.name}"] = time.perf_counter() - started
        if ran.exit_code:
            self.failed.append(f"{self.canon.prefix}/{step.name}: {ran.exit_code}, {ran.errors.strip()[-300:]}")
        for written in step.writes:
            self._digest_written(written)
        self._digest_printed(step.name, ran)
        return ran

    def _digest_written(self, written: str) -> None:
        path = self.folder / written
        if path.is_dir():
            self.canon.put_folder(written, path, LOGS)
        elif path.exists():
            self.canon.put_file(written, path)

    def _digest_printed(self, name: str, ran: Finished) -> None:
        if name.endswith(".json") and ran.output:
            self.canon.put_json(f"printed/{name}", ran.output)
            self.canon.put(f"printed/{name}#exit", str(ran.exit_code))
            return
        text = f"exit code {ran.exit_code}\n{ran.output}" + (ran.errors if ran.exit_code else "")
        self.canon.put_text(f"printed/{name}", text, Section.WORDS)

    def build(self) -> None:
        """Build the tables, and digest them."""
        self.run(Step("build.txt", "build -w corpus --workers 1"), must_work=True)
        tables = sorted((self.folder / "corpus" / "tables").iterdir())
        for place in tables:
            self._know_versions(pl.read_delta(str(place)))
        for place in tables:
            self.canon.put_rows(f"tables/{place.name}", pl.read_delta(str(place)), in_order=False)

    def _know_versions(self, table: pl.DataFrame) -> None:
        if "inspector" in table.columns:
            found = sorted(set(table["inspector"].to_list()))
            self.canon.put_version("tables/inspector", ", ".join(found))
            self.canon.know_versions(found, "version of the inspector")
        if "engine_version" in table.columns:
            pairs = sorted(set(zip(table["engine"].to_list(), table["engine_version"].to_list(), strict=True)))
            self.canon.put_version("tables/engines", ", ".join(" ".join(pair) for pair in pairs))
            self.canon.know_versions((version for _, version in pairs), "version of the engine")
            for engine, version in pairs:
                if version:
                    self.canon.versions[f"{engine} {version}"] = f"{engine} <version of the engine>"

    def publish(self, step: Step) -> None:
        """Publish a release, and digest it; its bytes go among the versions."""
        self.run(step, must_work=True)
        (release,) = step.writes
        self.canon.put_bytes(f"{release}#bytes", self.folder / release)
        inputs = json.loads((self.folder / release / "inputs.json").read_text(encoding="utf-8"))
        versions = (f"{name} {inputs.get(name)}" for name in ("peercorpus", "pyarrow"))
        self.canon.put_version(f"{release}#made-with", ", ".join(versions))

    def know_code(self) -> None:
        """Look up the version of peercorpus that texts name."""
        version = self.product.run(self.folder, ["--version"], must_work=True).output.strip()
        self.canon.put_version("code", version)
        for text in (f"peercorpus {version}", f"peercorpus:{version}", f'"version": "{version}"'):
            self.canon.versions[text] = text.replace(version, "<version>")

    def digest_raw(self, name: str) -> None:
        """Digest the content of a workspace's `raw.db`, except what depends on the clock and on chance."""
        with closing(sqlite3.connect(self.folder / name / RAW)) as database:
            found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
            for (table,) in found:
                if table not in UNDIGESTED:
                    self.canon.put(f"{name}/raw.db/{table}", "\n".join(_raw_rows(database, table)))


def _raw_rows(database: sqlite3.Connection, table: str) -> list[str]:
    cursor = database.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    # The body is compressed, and its digest identifies it.
    kept = [place for place, name in enumerate(names) if name not in {"seen", "body", CLOCK_COLUMNS.get(table)}]
    lines = (dumped({names[place]: row[place] for place in kept}, sort_keys=True) for row in cursor)
    return sorted(ADDRESS.sub("http://HOST/", line) for line in lines)


def _make(chain: Chain, prepared: Path) -> None:
    """Build and publish a copy of a prepared workspace."""
    shutil.copytree(prepared, chain.folder / "corpus")
    chain.know_code()
    chain.build()
    chain.publish(PUBLISHING)


def _read(chain: Chain, steps: Sequence[Step]) -> None:
    """Run all commands that read a workspace and its release."""
    for step in steps:
        chain.run(step)
    papers = pl.read_delta(str(chain.folder / "corpus" / "tables" / "1-papers")).sort("venue_id", "forum_id")
    ids = papers["forum_id"].to_list()
    for forum_id in ids[:: max(1, len(ids) // SHOWN_PAPERS)][:SHOWN_PAPERS]:
        chain.run(Step(f"show-{forum_id}.txt", f"show -w corpus -- {shlex.quote(forum_id)}"))
    with chain.product.serving(chain.folder, ["explore", "-w", "corpus", "--port", "0", "--no-browser"]) as address:
        put_pages(chain.canon, address)


def _convert(chain: Chain) -> None:
    pdfs = chain.folder / "pdfs"
    pdfs.mkdir()
    for path in sorted((chain.folder / "corpus" / "files").rglob("*.pdf"))[:CONVERTED_PDFS]:
        shutil.copy2(path, pdfs)
    chain.run(Step("convert.txt", "convert pdfs --out converted --workers 1", ("converted",)))


def run_demo(chain: Chain, inputs: Path) -> None:
    """Run everything on the demo, and finally again with a paper and a post taken down."""
    _make(chain, inputs / "demo")
    chain.publish(TEMPORAL_PUBLISHING)
    _read(chain, (*READING, *DEMO))
    _convert(chain)
    for name in TAKEDOWN:
        shutil.copy2(inputs / "takedown" / name, chain.folder / "corpus" / name)
    chain.publish(TAKEN_PUBLISHING)


def run_recorded(chain: Chain, inputs: Path) -> None:
    """Import the recorded dumps again; then run everything on the workspace prepared from them."""
    shutil.copytree(inputs / "dumps", chain.folder / "dumps")
    chain.run(Step("import.txt", "import -w imported --keep-going dumps"), must_work=True)
    chain.digest_raw("imported")
    _make(chain, inputs / "recorded")
    _read(chain, (*READING, *RECORDED))


def run_received(chain: Chain, inputs: Path) -> None:
    """Harvest the simulator, and import datasets that others publish."""
    chain.know_code()
    _harvest(chain, inputs)
    shutil.copytree(inputs / "published", chain.folder / "published")
    for name in ("re2", "reviewbench"):
        chain.run(Step(f"import-{name}.txt", f"import -w corpus --keep-going published/{name}"), must_work=True)
    chain.digest_raw("corpus")
    chain.build()
    chain.publish(PUBLISHING)


def _harvest(chain: Chain, inputs: Path) -> None:
    with closing(sqlite3.connect(inputs / "demo" / RAW)) as database:
        rows = database.execute("SELECT DISTINCT venue_id FROM listings ORDER BY venue_id").fetchall()
    venues = " ".join(venue for (venue,) in rows)
    port = free_port()
    with chain.product.serving(chain.folder, ["simulate", "--port", str(port)]):
        urls = f"--url-v1 http://127.0.0.1:{port} --url-v2 http://127.0.0.1:{port + 1}"
        chain.product.run(chain.folder, shlex.split(f"harvest {venues} -w harvested {urls}"), must_work=True)
    chain.digest_raw("harvested")


CHAINS: dict[str, Callable[[Chain, Path], None]] = {
    "demo": run_demo,
    "recorded": run_recorded,
    "received": run_received,
}
"""The chains, which run concurrently."""
