"""A Hugging Face Hub on loopback: the part of its API that uploads use, and what it received."""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LARGE = 1_000
"""Size in bytes from which a file goes through LFS."""

NO_REPOSITORY = {"error": "Repository not found"}


@dataclass
class Hub:
    """The content and requests of the stand-in.

    Attributes:
        token: The token it accepts.
        repos: Whether each repository is private, and its files, by id.
        objects: Content by sha256, as uploaded by LFS.
        ignored: Paths excluded by a .gitignore there.
        fails: Status to return, by a pattern for a request's method and path.
        asked: Method and path of every request received.
    """

    url: str = ""
    token: str = "hf_secret"
    repos: dict[str, tuple[bool, dict[str, bytes]]] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    ignored: set[str] = field(default_factory=set)
    fails: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    commits: list[list[dict[str, Any]]] = field(default_factory=list)

    def answer(self, method: str, path: str, authorization: str, body: bytes) -> tuple[int, Any]:
        """The status, and the body as JSON."""
        path = path.partition("?")[0]
        self.asked.append(f"{method} {path}")
        for pattern, status in self.fails.items():
            if re.search(pattern, f"{method} {path}"):
                return status, {"error": f"refused for {self.token}"}
        if path.startswith("/lfs/"):
            return self._store(path.removeprefix("/lfs/"), body)
        if method != "GET" and authorization != f"Bearer {self.token}":
            return 401, {"error": f"{authorization} is none"}
        routes: list[tuple[str, Callable[[str, bytes], tuple[int, Any]]]] = [
            (r"GET /api/datasets/([^/]+/[^/]+)", self._info),
            (r"GET /api/datasets/([^/]+/[^/]+)/revision/\w+", self._info),
            (r"GET /api/datasets/([^/]+/[^/]+)/tree/\w+", self._tree),
            (r"POST /api/repos/create", self._create),
            (r"POST /api/validate-yaml", lambda *_: (200, {})),
            (r"POST /api/datasets/([^/]+/[^/]+)/preupload/main", self._modes),
            (r"POST /datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", self._batch),
            (r"POST /api/datasets/([^/]+/[^/]+)/commit/main", self._commit),
        ]
        for pattern, answer in routes:
            found = re.fullmatch(pattern, f"{method} {path}")
            if found:
                repo = found[1] if found.groups() else ""
                if repo and repo not in self.repos:
                    return 404, NO_REPOSITORY
                return answer(repo, body)
        return 404, {"error": "no such route"}

    def _store(self, oid: str, body: bytes) -> tuple[int, Any]:
        if hashlib.sha256(body).hexdigest() != oid:
            return 400, {"error": "other content"}
        self.objects[oid] = body
        return 200, {}

    def _info(self, repo: str, _: bytes) -> tuple[int, Any]:
        private, files = self.repos[repo]
        siblings = [{"rfilename": name} for name in files]
        return 200, {"id": repo, "sha": "0" * 40, "private": private, "siblings": siblings, "tags": []}

    def _tree(self, repo: str, _: bytes) -> tuple[int, Any]:
        return 200, [self._entry(name, content) for name, content in self.repos[repo][1].items()]

    def _entry(self, name: str, content: bytes) -> dict[str, Any]:
        oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        entry: dict[str, Any] = {"type": "file", "path": name, "size": len(content), "oid": oid}
        if len(content) >= LARGE:
            sha256 = hashlib.sha256(content).hexdigest()
            entry["lfs"] = {"oid": sha256, "size": len(content), "pointerSize": 134}
        return entry

    def _create(self, _: str, body: bytes) -> tuple[int, Any]:
        asked = json.loads(body)
        repo = f"{asked['organization']}/{asked['name']}"
        if asked["type"] != "dataset" or repo in self.repos:
            return 409, {"error": "there already"}
        self.repos[repo] = (asked.get("visibility") == "private", {})
        return 200, {"url": f"{self.url}/datasets/{repo}"}

    def _modes(self, _: str, body: bytes) -> tuple[int, Any]:
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if file["size"] >= LARGE else "regular",
                "shouldIgnore": file["path"] in self.ignored,
            }
            for file in json.loads(body)["files"]
        ]
        return 200, {"files": files}

    def _batch(self, _: str, body: bytes) -> tuple[int, Any]:
        objects = []
        for one in json.loads(body)["objects"]:
            href = f"{self.url}/lfs/{one['oid']}"
            missing = {} if one["oid"] in self.objects else {"actions": {"upload": {"href": href}}}
            objects.append({"oid": one["oid"], "size": one["size"], **missing})
        return 200, {"transfer": "basic", "objects": objects}

    def _commit(self, repo: str, body: bytes) -> tuple[int, Any]:
        lines = [json.loads(line) for line in body.splitlines()]
        files = dict(self.repos[repo][1])
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.objects[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        self.repos[repo] = (self.repos[repo][0], files)
        self.commits.append(lines)
        oid = f"{len(self.commits):040x}"
        return 200, {"commitUrl": f"{self.url}/datasets/{repo}/commit/{oid}", "commitOid": oid}


@contextmanager
def serving_hub() -> Iterator[Hub]:
    """Run the Hub for the duration of the block."""
    hub = Hub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self._body()
            status, told = hub.answer(self.command, self.path, self.headers.get("authorization", ""), body)
            content = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            if status == 404 and told == NO_REPOSITORY:
                self.send_header("x-error-code", "RepoNotFound")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def do_PUT(self) -> None:
            self.answer()

        def _body(self) -> bytes:
            if self.headers.get("transfer-encoding") != "chunked":
                return self.rfile.read(int(self.headers.get("content-length", 0)))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
