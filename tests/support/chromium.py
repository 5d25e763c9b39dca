"""Finds Chromium, and collects what it reports about a page."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
IN_CHROMIUM = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: apt-get install chromium"),
]
"""Marks for tests that need it."""


@dataclass
class Seen:
    """What a browser reported about one page."""

    errors: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    popups: list[str] = field(default_factory=list)


def watched(page: "Page") -> Seen:
    seen = Seen()
    page.on("console", lambda message: seen.errors.append(message.text))
    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("request", lambda request: seen.asked.append(request.url))

    def dismiss(dialog: Any) -> None:
        seen.popups.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    return seen


def assert_nothing_runs(browser: "Browser", address: str, site: str) -> None:
    """Assert that a page with hostile texts runs nothing, asks nobody else, and has no element that might."""
    context = browser.new_context()
    context.add_init_script(
        "document.addEventListener('securitypolicyviolation', e => console.error('CSP', e.violatedDirective))"
    )
    page = context.new_page()
    seen = watched(page)
    answer = page.goto(address, timeout=300_000)
    assert answer is not None
    assert answer.status == 200
    page.wait_for_timeout(100)
    assert page.evaluate("window.pwned") is None
    assert (seen.errors, seen.popups) == ([], [])
    assert all(asked.startswith((site, "data:,")) for asked in seen.asked)
    assert page.evaluate("document.querySelectorAll('[onerror],[onload],[onclick],iframe,object,img').length") == 0
    context.close()


def assert_injected_blocked(page: "Page") -> None:
    """Assert that the policy of a page keeps a script from running that is in the page."""
    seen = watched(page)
    page.evaluate(
        "document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=x onerror=window.pwned=1>')"
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None
    assert any("Content Security Policy" in error for error in seen.errors)


def assert_accessible(page: "Page") -> None:
    """Assert that axe finds only issues in a page that it rates as minor, and none of contrast in the dark scheme."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme="light")
    found = axe.run(page).response
    assert len(found["passes"]) > 10
    page.emulate_media(color_scheme="dark")
    of_colours = axe.run(page, options={"runOnly": ["color-contrast"]}).response
    assert len(of_colours["passes"]) == 1
    violations = [one for response in (found, of_colours) for one in response["violations"]]
    serious = [(one["id"], one["nodes"][0]["html"][:200]) for one in violations if one["impact"] != "minor"]
    assert serious == []


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder below a path, like the pages of a code forge."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder.parent))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/{folder.name}/"
        server.shutdown()
