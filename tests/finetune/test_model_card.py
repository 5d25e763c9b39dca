"""The card of an adapter: accurate about its run, readable by the Hub, without a path of this machine."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from huggingface_hub import ModelCard

from invented_bench import bench_paper, bench_release
from naming import Naming
from peercorpus.errors import PeercorpusError
from peercorpus.finetune import run
from peercorpus.finetune.model_card import write_model_card
from peercorpus.finetune.request import TuneRequest
from peercorpus.finetune.run import prepare_run
from peercorpus.finetune.run_folder import ADAPTER, DATA, EXAMPLES, RUN, TRAINED, load_run
from peercorpus.models import prompts
from peercorpus.release.record_rows import Row
from recipe_files import write_recipe
from word_encoder import word_encoder

HOSTILE = "KITE.org/2021/<script>|*Conference*"


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tokens of the model are words."""
    monkeypatch.setattr(run, "load_encoder", lambda _: word_encoder())


@pytest.fixture
def wanted(tmp_path: Path) -> TuneRequest:
    recipe = write_recipe(tmp_path, learning_rate=2e-5, validation=3)
    return TuneRequest(task="mixed", model="some/model_2", recipe=recipe)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return bench_release(tmp_path / "release").with_name("run")


def prepared(request: TuneRequest, folder: Path, release: str = "release") -> Path:
    prepare_run(folder.with_name(release), folder, request, lambda _: None)
    return folder


def trained(
    request: TuneRequest,
    folder: Path,
    release: str = "release",
    first: float | None = 5.25,
    last: float | None = 2.125,
) -> Path:
    prepared(request, folder, release)
    told = {"steps": 1_234, "first": first, "last": last}
    (folder / TRAINED).write_text(json.dumps(told), "utf-8")
    (folder / ADAPTER).mkdir()
    return folder


def changed(folder: Path, **fields: Any) -> None:
    made = msgspec.structs.replace(load_run(folder), **fields)
    (folder / RUN).write_bytes(msgspec.json.encode(made))


def cells(text: str) -> set[tuple[str, ...]]:
    """Return the rows of all its tables."""
    rows = (line.strip("|").split("|") for line in text.splitlines() if line.startswith("|"))
    return {tuple(cell.strip() for cell in row) for row in rows}


def test_the_hub_can_read_the_cards_metadata(wanted: TuneRequest, folder: Path) -> None:
    card = ModelCard.load(write_model_card(trained(wanted, folder)))
    assert card.data.base_model == "some/model_2"
    assert card.data.library_name == "peft"
    assert card.data.pipeline_tag == "text-generation"
    assert (card.data.license, card.data.license_name) == ("other", "per-record")
    assert {"lora", "peer-review", "mixed"} <= set(card.data.tags)


def test_the_card_lists_what_was_left_out(wanted: TuneRequest, folder: Path) -> None:
    trained(replace(wanted, venue=("iclr",), min_words=3), folder)
    made, text = load_run(folder), write_model_card(folder).read_text("utf-8")
    found = cells(text)
    assert f"`{made.asked.release}`" in text
    assert f"`{prompts.DIGEST}`" in text
    for split, said in (("train", "to learn from"), ("validation", "to validate on")):
        assert (said, f"{made.examples[split]:,}", f"{made.papers[split]:,}") in found
    assert made.left_out["train"]
    for reason, count in made.left_out["train"].items():
        escaped = "".join(letter if re.match(r"[A-Za-z0-9./ -]", letter) else f"&#{ord(letter)};" for letter in reason)
        assert ("to learn from", escaped, f"{count:,}") in found
    assert {("`venue`", "iclr"), ("`min_words`", "3")} <= found
    examples = [json.loads(line) for line in (folder / DATA / EXAMPLES).read_text("utf-8").splitlines()]
    reviews = [one for one in examples if (one["split"], one["task"]) == ("train", "review")]
    told, papers = len(reviews), len({one["forum_id"] for one in reviews})
    assert ("ICLR.cc/2020/Conference", "review", str(told), str(papers)) in found
    assert (folder / DATA / "lengths.md").read_text("utf-8").strip() in text
    assert ("none stated", "0") in found
    # The invented release lists one of these papers.
    rest = str(made.papers["train"] - 1)
    assert ("CC BY 4.0", "1") in found
    assert (Naming("unknown"), rest) in [row for row in found if len(row) == 2]


def test_without_validation_papers_the_card_has_no_validation_loss(wanted: TuneRequest, folder: Path) -> None:
    text = write_model_card(trained(wanted, folder, first=None, last=None)).read_text("utf-8")
    assert "1,234 steps" in text
    assert "Steps: " not in text
    assert not re.search(r"^\| (before|after) ", text, re.MULTILINE)


def test_the_card_lists_refused_papers_and_unknowns(wanted: TuneRequest, folder: Path) -> None:
    trained(wanted, folder)
    changed(folder, fitness={"profile": "re2", "held_out": 1_200, "links": 37})
    known = write_model_card(folder).read_text("utf-8")
    assert "none of the 1,200 test and validation papers" in known
    assert "None of 37 pairs" in known
    changed(folder, fitness={"profile": "re2", "held_out": 1_200, "links": None})
    unknown = write_model_card(folder).read_text("utf-8")
    assert "no links" in unknown
    assert (" pairs of" in known, " pairs of" in unknown) == (True, False)


def test_nothing_contains_a_path_of_this_machine(wanted: TuneRequest, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "my_model").mkdir()
    (tmp_path / "my_model" / "config.json").write_text("{}")
    trained(replace(wanted, model=str(tmp_path / "my_model")), folder)
    card = write_model_card(folder)
    for path in (folder / ADAPTER).iterdir():
        assert str(tmp_path) not in path.read_text("utf-8")
    assert "my&#95;model, " in card.read_text("utf-8")
    assert ModelCard.load(card).data.base_model is None


def test_text_from_openreview_is_escaped(wanted: TuneRequest, folder: Path, tmp_path: Path) -> None:
    def paper(number: int) -> Row:
        return bench_paper(number) | {"venue_id": HOSTILE}

    bench_release(tmp_path / "hostile", paper)
    trained(wanted, folder, "hostile")
    changed(folder, licences={"<b>|free": 4, "": 2})
    text = write_model_card(folder).read_text("utf-8")
    assert "KITE.org/2021/&#60;script&#62;&#124;&#42;Conference&#42;" in text
    assert "<script>" not in text
    assert {("&#60;b&#62;&#124;free", "4"), ("none stated", "2")} <= cells(text)


def test_an_untrained_run_has_no_card(wanted: TuneRequest, folder: Path) -> None:
    prepared(wanted, folder)
    with pytest.raises(PeercorpusError, match=r"trained\.json"):
        write_model_card(folder)
