"""The values that an option lists are those that the code knows."""

from enum import StrEnum
from typing import get_args, get_type_hints

import pytest

from peercorpus.benchmark.cases import BenchTask
from peercorpus.cli.benchmark import TaskName
from peercorpus.cli.finetune import finetune
from peercorpus.cli.pdfs import PdfGrade
from peercorpus.cli.release import export
from peercorpus.finetune.examples import TrainingTask
from peercorpus.records.enums import Grade, WorstGrade


def choices(annotation: object) -> set[str]:
    """Return the strings among the values of a type, however nested."""
    return {each for part in get_args(annotation) for each in ([part] if isinstance(part, str) else choices(part))}


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (get_type_hints(finetune)["task"], TrainingTask),
        (get_type_hints(export)["task"], TrainingTask),
        (TaskName, BenchTask),
    ],
)
def test_an_option_offers_every_task(offered: object, known: type[StrEnum]) -> None:
    assert choices(offered) == set(known)


@pytest.mark.parametrize("offered", [WorstGrade, PdfGrade])
def test_an_option_offers_only_grades_that_exist(offered: object) -> None:
    assert choices(offered) - {"proven"} <= set(Grade)
