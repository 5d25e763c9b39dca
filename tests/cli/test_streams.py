"""Unprintable characters, streams without readers, and signals at every moment at which they can arrive."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from peercorpus.cli import interrupts

PROGRAM = (sys.executable, "-m", "peercorpus")
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
LOST = """
import time
from peercorpus.cli import interrupts

class Callback:
    def __del__(self):
        raise KeyboardInterrupt

interrupts.catch_signals()
try:
    Callback()
    time.sleep(30)
except KeyboardInterrupt:
    print("stopped")
"""
SLOW_IMPORT = """
import os, signal, sys

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.kill(os.getpid(), signal.SIG{name})

sys.meta_path.insert(0, Slow())
from peercorpus.cli.main import main
main(["venues"])
"""
BROKEN_OFF = """
import sys
from types import SimpleNamespace
from peercorpus.cli import interrupts, main

class Broken(SimpleNamespace):
    def __getattr__(self, name):
        {how}

def break_off(*_, **__):
    {how}

whole = SimpleNamespace(call_command=break_off)
sys.modules["{module}"] = whole if "{module}" == "peercorpus.cli.commands" else Broken(__path__=[])
main.main([])
"""
NOTE = {
    "id": "rkgO66VKDS",
    "forum": "rkgO66VKDS",
    "invitation": "Invented.cc/2024/Conference/-/Submission",
    "readers": ["everyone"],
    "content": {"title": "Über 数 and \U0001d538"},
}


def run(command: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    both = dict(os.environ) | (environment or {})
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=60, env=both)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace of one note, built where nothing but ASCII can be shown; tests copy it."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "note.json").write_text(json.dumps([NOTE]), encoding="utf-8")
    for command in (["import", str(folder / "note.json")], ["build"]):
        assert run([*PROGRAM, *command, "--workspace", str(folder / "corpus")], ASCII).returncode == 0
    return folder / "corpus"


@pytest.fixture
def corpus(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "corpus")


@pytest.mark.slow
@pytest.mark.fault("machine", "a locale that is not UTF-8", "what cannot be shown is escaped", times=3)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "euc_jp"])
def test_output_fits_the_terminals_encoding(corpus: Path, encoding: str) -> None:
    command = [*PROGRAM, "show", str(NOTE["id"]), "--workspace", str(corpus)]
    shown = subprocess.run(
        command, capture_output=True, timeout=60, env=os.environ | ASCII | {"PYTHONIOENCODING": encoding}
    )
    assert shown.returncode == 0, shown.stderr
    assert r"\ud835\udd38" in shown.stdout.decode(encoding)


@pytest.mark.slow
@pytest.mark.fault("machine", "standard output or error that is closed", "the work is done all the same", times=3)
@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-"])
def test_a_closed_stream_ends_no_command(corpus: Path, closed: str) -> None:
    shutil.rmtree(corpus / "tables")
    line = f"{sys.executable} -m peercorpus build --workspace '{corpus}' {closed}"
    assert run(["sh", "-c", line]).returncode == 0
    assert (corpus / "tables" / "1-papers").is_dir()


@pytest.mark.slow
def test_a_closed_pipe_ends_no_command(corpus: Path) -> None:
    shutil.rmtree(corpus / "tables")
    command = [*PROGRAM, "build", "--workspace", str(corpus)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as building:
        assert building.stdout is not None
        assert building.stderr is not None
        building.stdout.close()
        building.stderr.close()
        assert building.wait(60) == 0
    assert (corpus / "tables" / "1-papers").is_dir()


@pytest.mark.fault(
    "kill", "an interrupt in a callback, where Python only prints it", "it is raised again", lost="nothing"
)
def test_an_interrupt_in_a_callback_is_not_lost() -> None:
    began = time.monotonic()
    assert run([sys.executable, "-c", LOST]).stdout == "stopped\n"
    assert time.monotonic() - began < 25


def test_errors_in_callbacks_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Callback:
        def __del__(self) -> None:
            raise ValueError

    told: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_type))
    for _ in range(2 * sys.getrecursionlimit()):
        interrupts.catch_signals()
    Callback()
    assert told == [ValueError]


def heed_signals() -> None:
    """Stop ignoring signals that `nohup` or a shell's `&` made this process ignore, as this is inherited."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.fault("kill", "Ctrl-C, SIGTERM or SIGHUP during the imports", "one sentence, exit code 130", times=5)
@pytest.mark.parametrize(
    ("name", "module"),
    [("INT", "cyclopts"), ("TERM", "cyclopts"), ("HUP", "cyclopts"), ("INT", "logging"), ("INT", "sqlite3")],
)
def test_a_signal_during_imports_ends_it(name: str, module: str) -> None:
    code = SLOW_IMPORT.replace("{name}", name).replace("{module}", module)
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        preexec_fn=heed_signals,
    )
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.strip() == "Stopped; run the same command again to continue."


@pytest.mark.slow
@pytest.mark.fault("kill", "Ctrl-C where a library makes another error of it", "one sentence, exit code 130", times=9)
@pytest.mark.parametrize("module", ["peercorpus.cli.commands", "cyclopts", "logging"])
@pytest.mark.parametrize(
    "how",
    [
        "exec('raise KeyboardInterrupt')",
        "raise ImportError('It failed.') from KeyboardInterrupt()",
        "interrupts._lost.set(); raise ValueError('It failed.')",
    ],
)
def test_an_interrupt_as_another_error_ends_it(tmp_path: Path, how: str, module: str) -> None:
    (tmp_path / "breaking.py").write_text(BROKEN_OFF.replace("{how}", how).replace("{module}", module))
    ended = run([sys.executable, "-m", "breaking"], {"PYTHONPATH": str(tmp_path)})
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.strip() == "Stopped; run the same command again to continue."


ENDING = """
import atexit, os, signal
from types import SimpleNamespace
import sys

# The first that is registered is the last that is called.
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.modules["peercorpus.cli.commands"] = SimpleNamespace(call_command=lambda _: 1)
from peercorpus.cli.main import main
main([])
"""


@pytest.mark.fault("kill", "Ctrl-C after the work is done, while Python ends", "the exit code of the work")
def test_late_interrupts_keep_the_exit_code() -> None:
    ended = run([sys.executable, "-c", ENDING])
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "")
