"""Which engine reads, and whether it takes what the user set for it: settled before any file is looked at."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from peercorpus.errors import EngineError
from peercorpus.stage import Options
from peercorpus.texts.added import added_engines
from peercorpus.texts.engine import ENGINES, HEAVY, NOT_HEAVIER, OPTIONS, TAKES, Engine, load_engine
from peercorpus.texts.settings import EngineSettings, settings_of

DEFAULTS = {field.name: field.default for field in fields(Options)}


@dataclass(frozen=True, slots=True)
class Chosen:
    """An engine, what it is told, and whether it loads models, and so may take as much memory as there is."""

    engine: Engine
    settings: EngineSettings
    is_heavy: bool


def choose_engine(options: Options, answers: Path | None = None) -> Chosen:
    """Make the engine that the options name, told what they say.

    Args:
        options: As the user set them.
        answers: File that keeps what a vision endpoint answered.

    Raises:
        PeercorpusError: There is none of this name, or two have it.
        MissingExtraError: It is not installed.
        EngineError: It does not take an option that is set, or cannot be used with it.
    """
    added_engines(ENGINES)  # Two engines of one name are no choice, whichever engine is asked for.
    if options.heavier in NOT_HEAVIER:
        raise EngineError(f"'{options.heavier}' is no heavier engine; name one that reads hard files with --heavier.")
    settings = settings_of(options, answers)
    names = [name for name in (options.engine, options.heavier) if name is not None]
    added = [load_engine(name, settings) for name in names if name not in ENGINES]
    _require_taken(options, {*_own_takes(names), *(taken for each in added for taken in getattr(each, "takes", ()))})
    is_heavy = not HEAVY.isdisjoint(names) or any(getattr(each, "is_heavy", False) for each in added)
    return Chosen(load_engine(options.engine, settings), settings, is_heavy)


def _own_takes(names: list[str]) -> Iterator[str]:
    for name in names:
        yield from TAKES.get(name, ())


def _require_taken(options: Options, taken: set[str]) -> None:
    """Pass if each option that is set is one that the engine takes.

    Raises:
        EngineError: It is not; what is ignored in silence would be believed to have been done.
    """
    for option in OPTIONS:
        if option not in taken and getattr(options, option) != DEFAULTS[option]:
            flag = f"--{option.replace('_', '-')}"
            takers = " or ".join(f"'{name}'" for name in ENGINES if option in TAKES.get(name, ()))
            raise EngineError(f"The engine '{options.engine}' does not take {flag}; leave it out, or choose {takers}.")
