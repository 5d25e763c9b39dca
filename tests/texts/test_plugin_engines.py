"""An engine added by another package is found by name, and anything that is not an engine is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Run, assert_refused
from invented_pdfs import by_hand, lines, put
from peercorpus.errors import EngineError
from peercorpus.execution import code_version
from peercorpus.texts.engine import EngineSettings, load_engine

GOOD = """
from peercorpus.texts.engine import join_pages
from peercorpus.texts.engines.pdfium_text import PdfiumText

class Shouting(PdfiumText):
    name = "shouting"
    version = "1"
    takes = frozenset({"models"})
    is_heavy = True
    models = None

    @classmethod
    def with_settings(cls, settings):
        engine = cls()
        engine.models = settings.models
        return engine

    def convert(self, pdf):
        return join_pages([super(Shouting, self).convert(pdf).markdown.upper()])
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of packages."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    code_version.engine_entry_points.cache_clear()
    yield folder
    code_version.engine_entry_points.cache_clear()


def install(site: Path, package: str, code: str, *engines: str) -> None:
    """Create a package that adds engines, each as `NAME = CLASS`."""
    module = package.replace("-", "_")
    (site / f"{module}.py").write_text(code)
    told = site / f"{module}-3.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 3.0\n")
    lines_of = "".join(f"{engine.replace('= ', f'= {module}:')}\n" for engine in engines)
    (told / "entry_points.txt").write_text(f"[{code_version.ENGINES_ENTRY_POINT_GROUP}]\n{lines_of}")
    code_version.engine_entry_points.cache_clear()


def test_another_packages_engine_reads_pdfs(site: Path, run: Run, tmp_path: Path) -> None:
    install(site, "shouting-package", GOOD, "shouting = Shouting")
    put(site, "paper", by_hand([lines("Quiet.")]))
    ended = run("convert", site, "--out", tmp_path / "out", "--engine", "shouting", "--models", tmp_path)
    assert ended.code == 0
    assert (tmp_path / "out" / "paper.md").read_text() == "QUIET.\n"


@pytest.mark.parametrize(
    ("code", "culprit"),
    [
        ("raise ValueError('No\\nway')", "ValueError: No way"),
        ("", "AttributeError"),
        ("class Shouting:\n  pass", "name None "),
        (GOOD.replace('"shouting"', '"other"'), "'other'"),
        (GOOD.replace('"1"', '""'), "version '' "),
        ("class Shouting:\n  name, version = 'shouting', '1'", "'convert'"),
        (GOOD.replace('"models"', '"colour"'), "'colour'"),
        (GOOD.replace('frozenset({"models"})', "3"), "'takes'"),
    ],
)
def test_an_invalid_engine_is_refused(site: Path, code: str, culprit: str, request: pytest.FixtureRequest) -> None:
    package = f"bad-package-{abs(hash(request.node.name))}"
    install(site, package, code, "shouting = Shouting")
    with pytest.raises(EngineError) as raised:
        load_engine("shouting", EngineSettings())
    message = str(raised.value)
    assert [part for part in ("'shouting'", f"'{package}'", culprit) if part not in message] == []
    assert message.endswith(".")
    assert "\n" not in message


def test_a_duplicate_engine_name_is_refused(site: Path, run: Run, tmp_path: Path) -> None:
    install(site, "first-package", GOOD, "shouting = Shouting")
    put(site, "paper", by_hand([lines("Quiet.")]))
    install(site, "second-package", GOOD, "shouting = Shouting")
    refused = run("convert", site, "--out", tmp_path / "out")
    assert_refused(refused, "'first-package'", "'second-package'", "'shouting'")
