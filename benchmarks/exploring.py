"""Measures the explorer over as many papers as ReviewBench has: index, search beside SQLite's own, server, clients.

If `datasette` is on the path, or named by DATASETTE, its row pages of the same texts are measured in the same turns.
"""

import http.client
import os
import random
import re
import resource
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import urlopen

import tantivy

from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.index_documents import FIELDS_SEARCHED, TEXTS, read_row
from peercorpus.explorer.querying.typed_query import read_query
from peercorpus.explorer.querying.words import parse_words
from peercorpus.explorer.search import search
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.explorer.selection import read_selection
from peercorpus.explorer.server import open_explorer
from peercorpus.workspace.workspace import open_workspace
from publishing import change_venue

QUERIES = 200
CLIENTS = 20
PAPERS = 200
PAGE = 25
MEGABYTE = 1_000_000
WORD = re.compile(r"[a-z]{3,}")


def _memory(pid: int) -> dict[str, int]:
    """Current and peak memory of a process in kB: in total, and without pages of files."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    known = dict(line.split(":", 1) for line in lines)
    return {name: int(known[name].split()[0]) for name in ("VmHWM", "VmRSS", "RssAnon")}


def _build(folder: Path, what: str) -> None:
    """Build the index in a separate process and watch its memory; its own child processes use more."""
    code = (
        "import sys; from pathlib import Path\n"
        "from peercorpus.explorer.server import open_explorer\n"
        "from peercorpus.execution.local_processes import LocalExecutor\n"
        "from peercorpus.execution.progress import show_nothing\n"
        "from peercorpus.workspace.workspace import open_workspace\n"
        "with open_workspace(Path(sys.argv[1]), write=False) as opened:\n"
        "    open_explorer(opened, show_nothing, LocalExecutor())"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began, own = time.monotonic(), 0
    with subprocess.Popen([sys.executable, "-c", code, str(folder)]) as building:
        last = {"VmHWM": 0}
        while building.poll() is None:
            try:
                last = _memory(building.pid)
            except (FileNotFoundError, ProcessLookupError, KeyError):
                break
            own = max(own, last["RssAnon"])
            time.sleep(0.2)
    taken = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = sum(path.stat().st_size for path in (folder / "explorer").rglob("*") if path.is_file())
    took = f"{taken:.0f} s | {used_s:.0f} s CPU | {size / MEGABYTE:,.0f} MB on disk"
    print(f"| index: {what} | {took} | peak {own / 1024:.0f} MB of its own |")
    print(f"  (with pages of files {last['VmHWM'] / 1024:.0f} MB)")


def _texts(opened: OpenIndex) -> Iterator[tuple[str, list[str]]]:
    everything = tantivy.Query.all_query()
    for _, address in opened.searcher.search(everything, opened.searcher.num_docs, count=False).hits:
        document = opened.searcher.doc(address)
        row = read_row(document)
        yield row.forum_id, ["\n\n".join(map(str, document.get_all(name))) for name in TEXTS]


def _fill_fts(opened: OpenIndex, path: Path) -> sqlite3.Connection:
    """The same texts in SQLite's full-text index, with the stemmer it has for English."""
    database = sqlite3.connect(path)
    if database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return database
    began = time.monotonic()
    columns = ", ".join(TEXTS)
    database.execute(f"CREATE VIRTUAL TABLE papers USING fts5(id UNINDEXED, {columns}, tokenize = 'porter unicode61')")
    rows = ((forum_id, *texts) for forum_id, texts in _texts(opened))
    database.executemany(f"INSERT INTO papers VALUES (?{', ?' * len(TEXTS)})", rows)
    database.commit()
    size = path.stat().st_size / MEGABYTE
    print(f"  SQLite's index of the same texts: {time.monotonic() - began:.0f} s, {size:,.0f} MB")
    return database


def _queries(opened: OpenIndex) -> list[str]:
    """Words and phrases of the texts: frequent and rare words, two and three of them, phrases."""
    chance, passages = random.Random(9), []
    for number, (_, texts) in enumerate(_texts(opened)):
        if number % 250 == 0:
            passages.append(WORD.findall(" ".join(texts[1:3])[:4_000].lower()))
        if len(passages) == QUERIES:
            break
    found = []
    for number, words in enumerate(passages):
        at = chance.randrange(len(words) - 3)
        kinds = (words[at], max(words, key=len), f"{words[at]} {words[at + 2]}", " ".join(chance.sample(words, 2)))
        more = (" ".join(chance.sample(words, 3)), f'"{words[at]} {words[at + 1]}"')
        found.append((*kinds, *more)[number % 6])
    return found


def _times(asks: Mapping[str, Callable[[str], object]], queries: Sequence[str]) -> dict[str, list[float]]:
    """Sorted milliseconds of each way of searching; they alternate, as the machine may be busy."""
    taken: dict[str, list[float]] = {name: [] for name in asks}
    for query in queries:
        for name, ask in asks.items():
            began = time.perf_counter()
            ask(query)
            taken[name].append((time.perf_counter() - began) * 1000)
    return {name: sorted(times) for name, times in taken.items()}


def _line(name: str, taken: Sequence[float]) -> None:
    p95 = taken[int(0.95 * (len(taken) - 1))]
    print(f"| {name} | {statistics.median(taken):.1f} | {p95:.1f} | {taken[-1]:.0f} |")


def _measure_search(opened: OpenIndex, scratch: Path) -> None:
    queries = _queries(opened)
    database = _fill_fts(opened, scratch / "fts.db")

    def ask_sqlite(query: str) -> object:
        words = query if query.startswith('"') else " ".join(f'"{word}"' for word in query.split())
        asked = "SELECT id FROM papers WHERE papers MATCH ? ORDER BY rank LIMIT ?"
        return database.execute(asked, (words, PAGE)).fetchall()

    def ask(query: str) -> object:
        return search(opened, read_selection(urlencode({"q": query})))

    def ask_ids(query: str) -> object:
        return opened.searcher.search(
            parse_words(opened, read_query(query, FIELDS_SEARCHED), FIELDS_SEARCHED).query, PAGE, count=False
        ).hits

    def ask_misspelt(query: str) -> object:
        return search(opened, read_selection(urlencode({"q": f"{query[:2]}x{query[2:]}"})))

    print("| 200 queries | p50 ms | p95 ms | most ms |\n|---|---:|---:|---:|")
    asks = {
        "the index alone": ask_ids,
        "a page of hits with facets": ask,
        "misspelt": ask_misspelt,
        "SQLite": ask_sqlite,
    }
    _times(asks, queries)
    for name, taken in _times(asks, queries).items():
        _line(name, taken)


def _measure_server(folder: Path, opened: OpenIndex) -> None:
    command = [sys.executable, "-m", "peercorpus", "explore", "-w", str(folder), "--port", "0", "--no-browser"]
    ids = random.Random(3).sample([forum_id for forum_id, _ in _texts(opened)], PAPERS)
    queries = _queries(opened)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        assert server.stdout is not None
        try:
            address = next(word for word in server.stdout.readline().split() if word.startswith("http"))

            def get(path: str) -> object:
                with urlopen(address + path) as answer:
                    return answer.read()

            print("| pages over HTTP | p50 ms | p95 ms | most ms |\n|---|---:|---:|---:|")
            pages = {
                "search": [f"?{urlencode({'q': query})}" for query in queries],
                "search and two filters": [
                    f"?{urlencode({'q': query, 'status': 'accepted', 'year': 2024})}" for query in queries
                ],
                "paper": [f"paper/{quote(one, safe='')}" for one in ids],
                "text of a paper": [f"text/{quote(one, safe='')}" for one in ids[:50]],
            }
            for name, paths in pages.items():
                _line(name, _times({name: get}, paths)[name])
            before = _memory(server.pid)
            began = time.monotonic()
            get("export.jsonl")
            held = _memory(server.pid)
            print(f"export of all papers: {time.monotonic() - began:.1f} s")
            print(
                f"server: peak {held['VmHWM'] / 1024:.0f} MB with pages of files; of its own"
                f" {before['RssAnon'] / 1024:.0f} MB after the pages, {held['RssAnon'] / 1024:.0f} MB after the export"
            )
        finally:
            server.terminate()


@dataclass(frozen=True, slots=True)
class _Served:
    """A server of pages of papers, and the paths of these pages."""

    name: str
    process: subprocess.Popen[str]
    address: str
    paths: Sequence[str]

    def used_s(self) -> float:
        """Processor time of the server so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def read(self, paths: Sequence[str]) -> list[float]:
        """Milliseconds that each page takes one client, which keeps its connection."""
        connection, taken = http.client.HTTPConnection(urlsplit(self.address).netloc), []
        for path in paths:
            began = time.perf_counter()
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            taken.append((time.perf_counter() - began) * 1000)
            if answer.status != 200:
                raise SystemExit(f"{self.name} answered {answer.status} to {path}.")
        connection.close()
        return taken


def _serve_datasette(opened: OpenIndex, folder: Path, ids: Sequence[str]) -> _Served | None:
    program = shutil.which(os.environ.get("DATASETTE", "datasette"))
    if program is None:
        print("Datasette is not here; name it by DATASETTE to measure its row pages beside.")
        return None
    path = folder / "rows.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE papers (id TEXT PRIMARY KEY, {', '.join(TEXTS)})")
        rows = ((forum_id, *texts) for forum_id, texts in _texts(opened))
        database.executemany(f"INSERT INTO papers VALUES (?{', ?' * len(TEXTS)})", rows)
        database.commit()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [program, "serve", str(path), "--port", str(port)],
        text=True,
        encoding="utf-8",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}/"
    for _ in range(300):
        try:
            urlopen(address).close()
            break
        except OSError:
            time.sleep(0.1)
    return _Served("Datasette's row page", process, address, [f"/rows/papers/{quote(one, safe='')}" for one in ids])


def _measure_clients(folder: Path, opened: OpenIndex) -> None:
    """Read pages of papers with one client and with twenty at once, from each server in turn; no page twice."""
    command = [sys.executable, "-m", "peercorpus", "explore", "-w", str(folder), "--port", "0", "--no-browser"]
    ids = random.Random(4).sample([forum_id for forum_id, _ in _texts(opened)], min(opened.searcher.num_docs, 1_200))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    servers = []
    try:
        assert process.stdout is not None
        address = next(word for word in process.stdout.readline().split() if word.startswith("http"))
        paths = [f"/paper/{quote(one, safe='')}" for one in ids]
        servers.append(_Served("the explorer's page of a paper", process, address, paths))
        beside = _serve_datasette(opened, folder, ids)
        servers += [beside] if beside else []
        print(
            "| pages of papers | clients | p50 ms | p95 ms | most ms | server's processor ms each | clients' | load |"
        )
        print("|---|---:|---:|---:|---:|---:|---:|---:|")
        start = 0
        for clients, share in ((1, len(ids) // 25), (CLIENTS, len(ids) // 6)):
            taken: dict[str, list[float]] = {server.name: [] for server in servers}
            used, own = dict.fromkeys(taken, 0.0), dict.fromkeys(taken, 0.0)
            for turn in range(5):
                for server in servers:
                    mine = server.paths[start + turn * share : start + (turn + 1) * share]
                    before, own_before = server.used_s(), time.process_time()
                    with ThreadPoolExecutor(clients) as pool:
                        parts = list(pool.map(server.read, [mine[number::clients] for number in range(clients)]))
                    taken[server.name] += [each for part in parts for each in part]
                    used[server.name] += server.used_s() - before
                    own[server.name] += time.process_time() - own_before
            start += 5 * share
            for name, times in taken.items():
                times.sort()
                p95, most = times[int(0.95 * (len(times) - 1))], times[-1]
                row = (f"{clients}", *(f"{each:.0f}" for each in (statistics.median(times), p95, most)))
                each = (1000 * used[name] / len(times), 1000 * own[name] / len(times), os.getloadavg()[0])
                print(f"| {name} | {' | '.join(row)} | {' | '.join(f'{one:.1f}' for one in each)} |")
    finally:
        for running in {process, *(server.process for server in servers)}:
            running.terminate()
            running.wait()


def main() -> None:
    """Measure: `exploring.py FOLDER [search|server|clients]…`, a workspace that `publishing.py fill` made.

    One of its venues is changed. All three parts are measured if none is named.
    """
    folder, named = Path(sys.argv[1]), sys.argv[2:]
    if not (folder / "explorer").is_dir():
        _build(folder, "from nothing")
        _build(folder, "nothing changed")
        change_venue(folder, 3)
        _build(folder, "a venue changed")
    with open_workspace(folder, write=False) as workspace:
        opened = open_explorer(workspace, show_nothing).index
        parts = {
            "search": lambda: _measure_search(opened, folder),
            "server": lambda: _measure_server(folder, opened),
            "clients": lambda: _measure_clients(folder, opened),
        }
        for name in named or parts:
            parts[name]()


if __name__ == "__main__":
    main()
