"""What an export is: for whom, of which tasks, and what became of them."""

from dataclasses import dataclass, field
from enum import StrEnum

from peercorpus.publish.opened import Release
from peercorpus.publish.split_files import SplitFile
from peercorpus.publish.splits import Side, Task
from peercorpus.publish.training_rows import Samples, Telling


class Layout(StrEnum):
    """Whose files."""

    JSONL = "jsonl"
    """The rows of the release as they are, an object a paper."""
    TRL = "trl"
    LLAMA_FACTORY = "llama-factory"
    AXOLOTL = "axolotl"
    RE2 = "re2"
    """Files and fields are named as Re²'s."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to write.

    Attributes:
        tasks: Those named; empty for all that the release has.
        telling: How a paper is told, where the layout tells it.
    """

    layout: Layout
    tasks: tuple[Task, ...] = ()
    telling: Telling = field(default_factory=Telling)


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one side of one task.

    Attributes:
        name: Of the file; it is not there where no row is.
    """

    name: str
    task: Task
    side: Side
    samples: Samples


@dataclass(slots=True)
class Exported:
    """What an export holds, and what it does not.

    Attributes:
        sides: What the release says of its sides; None where it says nothing.
    """

    release: Release
    wanted: Wanted
    sides: SplitFile | None
    files: list[Written] = field(default_factory=list)

    @property
    def written(self) -> list[Written]:
        """The files that are there."""
        return [file for file in self.files if file.samples.rows]
