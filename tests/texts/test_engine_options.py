"""The choice of engine and its options: whatever cannot be done as requested is refused in one sentence."""

from pathlib import Path
from typing import Any

import pytest

from naming import Naming
from peercorpus.errors import EngineError
from peercorpus.execution.requests import BuildRequest
from peercorpus.texts.engine import ENGINES, OPTIONS, choose_engine

SET: dict[str, Any] = {
    "ocr": "auto",
    "heavier": "docling",
    "models": Path("models"),
    "engine_url": "http://127.0.0.1:9/v1",
    "engine_model": "m",
    "max_pages": 1_000,
}
ENDPOINT = {name: SET[name] for name in ("engine_url", "engine_model")}


@pytest.mark.parametrize(
    ("engine", "option"),
    [(name, option) for name, engine in ENGINES.items() for option in OPTIONS if option not in engine.takes],
)
def test_an_option_that_an_engine_does_not_take_is_refused(engine: str, option: str) -> None:
    options = BuildRequest(engine=engine, **({} if engine != "vision" else ENDPOINT) | {option: SET[option]})
    with pytest.raises(EngineError) as refused:
        choose_engine(options)
    flag = "--" + option.replace("_", "-")
    assert str(refused.value) == Naming(f"'{engine}'", flag)
    assert any(f"'{name}'" in str(refused.value) for name, own in ENGINES.items() if option in own.takes)
    assert str(refused.value).count(".") == 1


def test_every_option_is_taken_by_some_engine_and_is_one_of_the_options_of_a_build() -> None:
    assert set().union(*(engine.takes for engine in ENGINES.values())) == set(OPTIONS) == set(SET)
    assert all(hasattr(BuildRequest(), option) for option in OPTIONS)


def test_options_reach_the_engine() -> None:
    chosen = choose_engine(BuildRequest(engine="vision", max_pages=7, **ENDPOINT))
    assert chosen.settings.max_pages == 7
    assert choose_engine(BuildRequest(engine="vision", **ENDPOINT)).settings.max_pages == 1_000
    assert (chosen.engine.name, chosen.is_heavy) == ("vision", False)


def test_the_router_accepts_the_options_of_its_heavier_engine() -> None:
    chosen = choose_engine(BuildRequest(engine="auto", heavier="vision", max_pages=7, **ENDPOINT))
    assert (chosen.engine.name, chosen.settings.max_pages) == ("auto", 7)
    with pytest.raises(EngineError, match=r"'auto'.*--models"):
        choose_engine(BuildRequest(engine="auto", heavier="vision", models=Path("models"), **ENDPOINT))


@pytest.mark.parametrize("heavier", ["auto", "pdfium-text", "pdfium-layout"])
def test_the_heavier_engine_reads_more_than_the_default_engine(heavier: str) -> None:
    with pytest.raises(EngineError, match=f"'{heavier}'.*--heavier"):
        choose_engine(BuildRequest(engine="auto", heavier=heavier))
