"""`inspect view` over stored logs, in a browser: the question, the answer, and the score or why there is none."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

LOGS = Path(__file__).parents[1] / "golden" / "bench"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PATIENCE_MS = 60_000

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: apt-get install chromium"),
    pytest.mark.slow,
]


@pytest.fixture
def viewer() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "inspect_ai", "view", "start", "--log-dir", str(LOGS), "--port", str(port)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    assert process.stdout is not None
    try:
        assert any("Running on" in line for line in process.stdout)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=30)


def test_a_run_can_be_viewed(viewer: str) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    log = sorted(LOGS.glob("*_acceptance_*.eval"))[0].name
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1_400, "height": 900})
        page.set_default_timeout(PATIENCE_MS)

        def see(place: str, *said: str) -> None:
            page.goto(viewer + place, wait_until="domcontentloaded")
            for words in said:
                page.get_by_text(words).first.wait_for()

        see("/", "acceptance", "mockllm/middling")
        page.goto("about:blank")
        see(f"/#/logs/{log}", "mockllm/middling", "p17", "I would accept it.", "p23")
        assert "ACCURACY" in page.inner_text("body").upper()
        page.goto("about:blank")
        see(f"/#/logs/{log}/samples/sample/p17/1", "Submitted to kite 2021.", "I would accept it.", "no_object")
        browser.close()
