"""The Python interface: typed names with docstrings and examples, nothing printed, and corpora displayed safely."""

import inspect
import io
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from functools import partial
from importlib import import_module
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

import peercorpus
from asked_releases import publish_release
from invented_tables import ICLR, a_forum, invented, review
from peercorpus.errors import PeercorpusError, RefusedAlikeError, TableError
from peercorpus.workspace.raw_store import RawKind, RawObject

NAMES = [name for name in peercorpus.__all__ if name != "__version__"]


def public_callables() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield every public function, class and method with its dotted name."""
    for name in NAMES:
        found = getattr(peercorpus, name)
        yield name, found
        for member, value in vars(found).items() if inspect.isclass(found) else ():
            function = value.fget if isinstance(value, property) else value
            if not member.startswith("_") and inspect.isfunction(function):
                yield f"{name}.{member}", function


CALLABLES = dict(public_callables())


def annotations_of(function: Callable[..., Any]) -> dict[str, object]:
    """Return the annotation of each parameter other than `self`, and of the result."""
    signature = inspect.signature(function)
    parameters = {name: one.annotation for name, one in signature.parameters.items() if name != "self"}
    return parameters if inspect.isclass(function) else parameters | {"return": signature.return_annotation}


def names_in(annotation: object) -> set[str]:
    """Return the names in an annotation."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return set(re.findall(r"\w+", text))


def test_the_public_interface_has_the_expected_names() -> None:
    expected = {"Corpus", "__version__", "open", "open_text", "harvest", "build", "publish", "load_release", "simulate"}
    assert expected <= set(peercorpus.__all__) == set(dir(peercorpus))
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", peercorpus.__version__)
    assert len(CALLABLES) > 30
    with pytest.raises(AttributeError):
        peercorpus.nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", CALLABLES)
def test_everything_public_is_annotated(name: str) -> None:
    function = CALLABLES[name]
    annotations = annotations_of(function)
    assert inspect.Parameter.empty not in annotations.values()
    assert [parameter for parameter, one in annotations.items() if names_in(one) & {"Any", "object"}] == []
    is_result = inspect.isclass(function) and name not in {"Corpus", "LoadedRelease"}
    assert inspect.getdoc(function)
    assert is_result or ">>> " in (inspect.getdoc(function) or "")


@pytest.mark.slow
def test_the_functions_print_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    with peercorpus.simulate(papers=5) as openreview:
        venue_id = openreview.venue_ids[0]
        for progress in (None, lines.append):
            result = peercorpus.harvest(
                venue_id, tmp_path / "w", url_v1=openreview.url_v1, url_v2=openreview.url_v2, progress=progress
            )
    assert (result.folder, result.is_complete, result.venues[0].submissions) == (tmp_path / "w", True, 1)
    built = peercorpus.build(tmp_path / "w", workers=1)
    assert (built.papers, built.losses, any(step.was_finished for step in built.steps)) == (1, (), False)
    first = peercorpus.publish(tmp_path / "w", progress=lines.append)
    again = peercorpus.publish(tmp_path / "w")
    assert first.summary is not None
    assert (first.is_new, first.summary.papers, again.is_new, again.folder) == (True, 1, False, first.folder)
    assert any(venue_id in line for line in lines)
    assert capfd.readouterr() == ("", "")


def test_a_harvest_with_every_request_refused_raises(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = import_module("peercorpus.harvest.harvest")
    monkeypatch.setattr(module, "_find_failures", lambda *_: iter(["All refused."]))
    with peercorpus.simulate(papers=5) as openreview, pytest.raises(RefusedAlikeError, match="All refused"):
        peercorpus.harvest(
            openreview.venue_ids[0],
            tmp_path / "w",
            no_files=True,
            url_v1=openreview.url_v1,
            url_v2=openreview.url_v2,
        )


def build_with_limit(limit: Any, folder: Path) -> object:
    return peercorpus.build(folder, pdf_timeout_s=limit)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda folder: peercorpus.open(folder), "raw.db"),
        (lambda folder: peercorpus.load_release(folder), "release.json"),
        (lambda folder: peercorpus.harvest([], folder), "venue"),
        (lambda folder: peercorpus.harvest("V", folder, limit=0), "limit"),
        *((partial(build_with_limit, limit), "pdf_timeout_s") for limit in (nan, inf, 0, -1.0, True)),
        (lambda folder: peercorpus.build(folder), "raw.db"),
        (lambda folder: peercorpus.build(folder, engine="none"), "none"),
        (lambda folder: peercorpus.build(folder, workers=0), "workers"),
        (lambda folder: peercorpus.publish(folder), "raw.db"),
        (lambda folder: peercorpus.publish(folder, grade="best"), "grade"),
        (lambda folder: peercorpus.publish(folder, layout="reviewbench", latex=True), "latex"),
        (lambda folder: peercorpus.publish(folder, splits="none", test_after=date(2024, 1, 1)), "none"),
        (lambda _: peercorpus.simulate(papers=0).__enter__(), "paper"),
        (lambda _: peercorpus.simulate(venue_ids="None/2024").__enter__(), "None/2024"),
    ],
)
def test_impossible_requests_raise_one_error(tmp_path: Path, call: Callable[[Path], object], named: str) -> None:
    with pytest.raises(PeercorpusError, match=re.escape(named)):
        call(tmp_path)
    assert list(tmp_path.iterdir()) == []


def given(path: Any) -> Any:
    """A value for an argument that may be None, where None is not to be tried."""
    return 0 if path is None else path


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (peercorpus.open, "folder"),
        (peercorpus.load_release, "folder"),
        (peercorpus.open_text, "path"),
        (peercorpus.build, "folder"),
        (peercorpus.publish, "folder"),
        (lambda path: peercorpus.publish("w", given(path)), "out"),
        (lambda path: peercorpus.publish("w", splits_from=given(path)), "splits_from"),
        (lambda path: peercorpus.harvest("ICLR2024", path), "folder"),
        (lambda path: peercorpus.harvest("ICLR2024", "w", token_file=given(path)), "token_file"),
    ],
)
@pytest.mark.parametrize("path", [None, 3, b"corpus", ["corpus"], "", "  ", "a\0b"])
def test_a_wrong_path_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: Callable[[Any], object], named: str, path: object
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PeercorpusError, match=f"^{named} (must be|is empty|contains)"):
        call(path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("venues", [3, None, [3], ["ICLR2024", None]])
def test_venues_of_a_wrong_type_are_refused(tmp_path: Path, venues: Any) -> None:
    for call in (
        lambda: peercorpus.harvest(venues, tmp_path),
        lambda: peercorpus.build(tmp_path, venues),
        lambda: peercorpus.publish(tmp_path, venue_ids=venues),
    ):
        with pytest.raises(PeercorpusError, match=r"^venue_ids must be"):
            call()


@pytest.mark.parametrize(
    "arguments", [{"papers": "3"}, {"papers": 1.5}, {"papers": True}, {"seed": "x"}, {"port": None}, {"venue_ids": 3}]
)
def test_simulations_of_wrong_types_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(PeercorpusError, match=f"^{next(iter(arguments))} must be"):
        peercorpus.simulate(**arguments).__enter__()


@pytest.mark.parametrize(
    "name",
    ["Aurora2020", "aurora 2020", "https://openreview.net/group?id=Aurora.cc/2020/Conference#tab-accept-oral"],
)
def test_a_venue_may_be_a_page(tmp_path: Path, name: str) -> None:
    venue_id = "Aurora.cc/2020/Conference"
    with peercorpus.simulate(papers=5) as openreview:
        asked = name if "?" in name else venue_id
        harvested = peercorpus.harvest(
            asked, tmp_path / "w", no_files=True, url_v1=openreview.url_v1, url_v2=openreview.url_v2
        )
    assert [venue.venue_id for venue in harvested.venues] == [venue_id]
    built = peercorpus.build(tmp_path / "w", name)
    assert {step.venue_id for step in built.steps if step.venue_id != "all venues"} == {venue_id}
    published = peercorpus.publish(tmp_path / "w", tmp_path / "release", name)
    assert published.summary is not None
    assert published.summary.papers == 1


def test_changed_release_files_are_not_read(tmp_path: Path) -> None:
    with invented(tmp_path / "w", {ICLR: a_forum("p")}) as workspace:
        publish_release(workspace, tmp_path / "release")
    release = peercorpus.load_release(tmp_path / "release")
    (path,) = (tmp_path / "release" / "data" / "reviews").iterdir()
    assert release.table("reviews").collect().height == 1
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(PeercorpusError, match="reviews"):
        peercorpus.load_release(tmp_path / "release").table("reviews")
    for arguments in (("none",), ("reviews", "none")):
        with pytest.raises(PeercorpusError, match="none"):
            release.table(*arguments)


def fill(folder: Path, venue_id: str, records: Iterable[object]) -> Path:
    """Make a workspace of one venue, with a note so that it is not removed as empty."""
    with invented(folder, {venue_id: records} if records else {}) as workspace:
        workspace.raw.add([RawObject(RawKind.NOTE, "p", 2, venue_id, "p", "p", 1, 1, "invented", b"{}")])
    return folder


def test_a_notebook_shows_public_data_escaped(tmp_path: Path) -> None:
    venue_id = "<b>Bad.cc/2020/Conference"
    records = [*a_forum("p", venue_id), review("p", "R2", venue_id, readers_public=False), *a_forum("q", venue_id)]
    folder = fill(tmp_path / "<i>w", venue_id, records)
    (folder / "takedown.txt").write_text("q\n")
    html = peercorpus.open(folder)._repr_html_()
    assert "<td>&lt;b&gt;Bad.cc/2020/Conference</td><td>1</td><td>1</td>" in html
    assert "&lt;i&gt;w" in html
    assert re.search(r"built \d{4}-\d\d-\d\d \d\d:\d\d UTC", html)
    assert not {"<b>", "<i>"} & set(re.findall(r"<\w+>", html))


def test_an_unbuilt_workspace_is_shown_so(tmp_path: Path) -> None:
    corpus = peercorpus.open(fill(tmp_path / "w", ICLR, ()))
    assert "not built yet" in corpus._repr_html_()
    with pytest.raises(TableError, match="peercorpus"):
        corpus.sql("SELECT 1")


def test_progress_can_be_printed() -> None:
    from peercorpus.api.arguments import make_receivers
    from peercorpus.execution.progress import Progress

    out = io.StringIO()
    _, show = make_receivers(lambda line: print(line, file=out))
    show(Progress("V", "files", 3, None, None))
    assert out.getvalue() == "V: files 3\n"
