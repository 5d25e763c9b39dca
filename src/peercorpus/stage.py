"""What a stage is: a name, a version, what it reads and writes, and the function that does it for one venue.

A partition is finished when the content key of its last commit equals the key expected from the digests of its inputs,
the stage's version and its options. Content decides, never a file's time.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from peercorpus.kinds import Reason

WorkspaceT = TypeVar("WorkspaceT")

Report = Callable[[int, int], None]
"""Told how many of how many are done."""


def no_report(_done: int, _total: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may set for a build; part of every content key of the stages that name it.

    Attributes:
        engine: Which PDF engine reads the files.
        engine_version: As a venue's texts have it, where no engine need be made to ask it; None asks the engine.
        ocr: "off", or "auto": pages without readable text are recognised from their image.
        heavier: The engine to which the engine `auto` sends what the default one reads badly; None takes OCR.
        models: Folder of the models of a heavier engine; None leaves it to the library.
        engine_url: Of a vision endpoint, up to and with `/v1`.
        engine_model: Its model.
        most_pages: Pages a run may send there; None means 1,000.
        most_tokens: Tokens a run may use there, as the endpoint counts them; None means no limit.
        pdf_timeout_s: Seconds a single PDF may take.
        workers: Processes that read PDFs and compare texts; None means one per core. It is in no key: no row depends
            on it.
        retry: Run finished stages again that set rows aside for a reason that may pass, such as a time limit.
    """

    engine: str = "pdfium-layout"
    engine_version: str | None = None
    ocr: str = "off"
    heavier: str | None = None
    models: Path | None = None
    engine_url: str | None = None
    engine_model: str | None = None
    most_pages: int | None = None
    most_tokens: int | None = None
    pdf_timeout_s: float = 60.0
    workers: int | None = None
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Balance:
    """Rows in, rows out and rows set aside of one stage for one venue.

    Attributes:
        unit: What a row in is ("notes", "posts").
    """

    stage: str
    venue_id: str
    unit: str
    rows_in: int
    rows_out: int
    set_aside: Mapping[Reason, int]

    @property
    def holds(self) -> bool:
        """Whether nothing vanished and nothing was made up."""
        return self.rows_in == self.rows_out + sum(self.set_aside.values())


@dataclass(frozen=True, slots=True)
class Stage(Generic[WorkspaceT]):
    """One step from OpenReview's record to the tables.

    Attributes:
        name: A verb.
        version: Raised whenever the same inputs would give other rows.
        reads_raw: Kinds of raw objects it reads; `file`: the PDFs; `pseudonyms`: the key of people's names.
        reads: Tables it reads.
        writes: Tables it writes.
        options: Names of the options that change its rows.
        passing: Reasons of rows set aside that may not hold another time.
        made_with: The version of what else changes its rows (a PDF engine), given the options.
        run: Does the work for one venue and commits it under the key given, reporting how far it is.
        is_of_all: Whether it does the work for all venues at once, whichever is named, and commits each under one key.
        balance: Counts, from what lies on disk and not from what `run` said, rows in, out and set aside.
    """

    name: str
    version: int
    reads_raw: tuple[str, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    options: tuple[str, ...]
    run: Callable[[WorkspaceT, str, Options, str, Report], None]
    balance: Callable[[WorkspaceT, str], Sequence[Balance]]
    passing: frozenset[Reason] = frozenset()
    made_with: Callable[[Options], str] = lambda _: ""
    is_of_all: bool = False


def content_key(stage: Stage[WorkspaceT], options: Options, digests: Mapping[str, str]) -> str:
    """The key a finished partition of this stage carries: 64 hexadecimal digits."""
    chosen = {name: getattr(options, name) for name in stage.options}
    content = [stage.name, stage.version, stage.made_with(options), chosen, dict(sorted(digests.items()))]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
