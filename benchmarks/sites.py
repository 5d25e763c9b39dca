"""Measures a site: its bytes by part, and what a search takes in Chromium as a phone, from a plain file server.

`site_corpus.py OUT` makes a release of as many papers as ReviewBench has, `peercorpus site OUT/release --out SITE` its
site, and `sites.py SITE` measures that. A phone: 360 pixels wide, processor slowed to a quarter, 1.6 Mbit/s, and 150 ms
for each request. The cache is empty at each search. Time runs from the key that asks, or from the link that is opened,
to the frame in which the result is drawn.
"""

import html
import json
import os
import random
import re
import statistics
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from peercorpus.explorer.site.search_words import stem

PHONE: Any = {"width": 360, "height": 740}
SLOWER = 4
LATENCY_MS = 150
BYTES_PER_S = 1_600_000 / 8
RUNS = 5
PLACES = (("page open", True), ("by a link", False))
"""The page is open and a search is typed; or a link with the search opens the page."""
SAMPLE = 2_000
MEGABYTE = 1_000_000
CHROMIUM_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
WATCH = """
addEventListener("submit", () => { window.asked = performance.now(); }, true);
const seen = {};
window.seen = seen;
const draw = (name) => {
  if (name in seen) return;
  seen[name] = null;
  requestAnimationFrame(() => { seen[name] = performance.now(); });
};
new MutationObserver(() => {
  const results = document.querySelectorAll("#results li").length;
  const spelling = document.getElementById("spelling");
  if (results >= 1) draw("first");
  if (results >= 10) draw("ten");
  if (spelling && !spelling.hidden) draw("spelling");
}).observe(document, { subtree: true, childList: true, attributes: true });
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder as `python -m http.server` does."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def tell_sizes(site: Path) -> None:
    """Print the bytes of the parts of a site, and of what pages of papers hold."""
    sizes: dict[str, list[int]] = {}
    for name in json.loads((site / "site.json").read_bytes())["files"]:
        parts = name.split("/")
        part = "/".join(parts[:2]) if parts[0] == "search" else parts[0] if len(parts) > 1 else "other pages"
        sizes.setdefault(part, []).append((site / name).stat().st_size)
    papers = len(sizes["paper"])
    print("| part | files | MB | bytes for each paper |\n|---|---:|---:|---:|")
    for part, files in sorted(sizes.items()):
        print(f"| {part} | {len(files):,} | {sum(files) / MEGABYTE:,.1f} | {sum(files) / papers:,.0f} |")
    every = [size for files in sizes.values() for size in files]
    print(f"| **all** | {len(every):,} | {sum(every) / MEGABYTE:,.1f} | {sum(every) / papers:,.0f} |")
    pages = [path.read_text(encoding="utf-8") for path in sorted(site.glob("paper/*/*.html"))[:: papers // SAMPLE or 1]]
    shown = [html.unescape(re.sub(r"<[^>]*>", "", page.partition("<body>")[2])) for page in pages]
    whole = statistics.fmean(len(page.encode()) for page in pages)
    text = statistics.fmean(len(page.encode()) for page in shown)
    print(f"\nOf a page of a paper ({len(pages):,} of them): {whole:,.0f} bytes, of which {text:,.0f} are text.")


def _choose_queries(site: Path) -> Mapping[str, str]:
    """Return queries of each kind, of words that the site has in as many papers."""
    counts: dict[str, int] = {}
    for path in site.glob("search/s/*/*.js"):
        for words in json.loads(path.read_bytes().partition(b",")[2].rpartition(b")")[0]).values():
            counts |= {word: int(count) for word, count in (each.split(":") for each in words.split())}
    papers = sum(1 for _ in site.glob("paper/*/*.html"))
    chance = random.Random(5)

    def draw(number: int, low: float, high: float, letters: int = 4) -> list[str]:
        fit = sorted(word for word, n in counts.items() if low <= n / papers <= high and len(word) >= letters)
        return chance.sample(fit, number)

    frequent = sorted(counts, key=lambda word: -counts[word])[:12]
    known = draw(1, 0.01, 0.1, 8)[0]
    queries = {
        "a rare word": _find_rare(site),
        "two words": " ".join(draw(2, 0.03, 0.15)),
        "four frequent words": " ".join(chance.sample(frequent, 4)),
        "a misspelt word": f"{known[:3]}{known[4]}{known[3]}{known[5:]}",
        "two words of which one is misspelt": f"{draw(1, 0.03, 0.15)[0]} {known[:4]}{known[5:]}",
    }
    for kind, query in queries.items():
        print(f"- {kind}: {query} ({', '.join(f'{counts.get(word, 0):,}' for word in query.split())} papers)")
    return queries


def _find_rare(site: Path) -> str:
    """Return a word of the index that is in one to thirty papers, which are the first three digits of its entry."""
    content = (site / "search/w/0/0.js").read_bytes().partition(b",")[2].rpartition(b")")[0]
    words: dict[str, str] = json.loads(content)
    return next(
        word
        for word, entry in words.items()
        if word.isalpha() and len(word) > 5 and stem(word) == word and entry.startswith("AA") and "B" <= entry[2] <= "Z"
    )


def _slow_down(page: Page) -> CDPSession:
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    conditions = {"offline": False, "latency": LATENCY_MS, "downloadThroughput": BYTES_PER_S}
    session.send("Network.emulateNetworkConditions", conditions | {"uploadThroughput": BYTES_PER_S})
    session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    return session


def _search_once(browser: Browser, address: str, query: str, wait_for: str, *, is_open: bool) -> dict[str, float]:
    """Return ms until the first result, the tenth and a suggestion stand, the bytes of the files, and their number."""
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    page.add_init_script(WATCH)
    session = _slow_down(page)
    loaded: list[float] = []
    session.on("Network.loadingFinished", lambda event: loaded.append(event["encodedDataLength"]))
    if is_open:
        page.goto(f"{address}index.html")
        page.wait_for_timeout(500)
        loaded.clear()
        page.fill("#q", query)
        page.press("#q", "Enter")
    else:
        page.goto(f"{address}index.html#q={query.replace(' ', '+')}")
    page.locator(wait_for).first.wait_for(timeout=20_000)
    page.wait_for_timeout(1_500)
    seen = page.evaluate("({...window.seen, asked: window.asked ?? 0})")
    context.close()
    begin = seen.pop("asked") if is_open else 0
    return {name: at - begin for name, at in seen.items()} | {"bytes": sum(loaded), "files": len(loaded)}


def _middle(found: Sequence[Mapping[str, float]], name: str) -> str:
    values = sorted(one[name] for one in found if name in one)
    return f"{statistics.median(values):,.0f} ({values[0]:,.0f} to {values[-1]:,.0f})" if values else "-"


def measure_searches(site: Path) -> None:
    """Print what searches of each kind take."""
    queries = _choose_queries(site)
    program = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(f"\nMedian, least and most of {RUNS} searches, in ms; {load}.\n")
    print(
        "| search | where | first result | ten results | suggestion | kB | files |\n|---|---|---:|---:|---:|---:|---:|"
    )
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=CHROMIUM_FLAGS)
        for kind, query in queries.items():
            wait_for = "#spelling:visible" if "misspelt" in kind else "#results li"
            for where, is_open in PLACES:
                found = [_search_once(browser, address, query, wait_for, is_open=is_open) for _ in range(RUNS)]
                times = " | ".join(_middle(found, name) for name in ("first", "ten", "spelling"))
                sizes = [statistics.median(one[name] for one in found) for name in ("bytes", "files")]
                print(f"| {kind} | {where} | {times} | {sizes[0] / 1000:,.0f} | {sizes[1]:,.0f} |", flush=True)
        browser.close()
    print(f"\nLoad at the end: {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    if "searches" not in sys.argv[2:]:
        tell_sizes(Path(sys.argv[1]))
    measure_searches(Path(sys.argv[1]))
