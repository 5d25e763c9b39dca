"""A simulated S3 store in a separate process: code that waits for its responses may hold this one's GIL."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from peercorpus.workspace import object_store
from peercorpus.workspace.object_store import S3Path

SECRET = "wJalr-not-a-real-key"
KEY = "AKIANOTAREALKEY"
SERVER = """
import sys
from moto import backends
from moto.server import ThreadedMotoServer
# It lists the folders of its package for each request, which takes half of the time.
services = [*backends.list_of_moto_modules()]
backends.list_of_moto_modules = lambda: services
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="session")
def store_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file to which the simulated S3 store writes a line for each request."""
    return tmp_path_factory.mktemp("store") / "requests.log"


@pytest.fixture(scope="session")
def served(store_log: Path) -> Iterator[str]:
    """The address of a simulated S3 store, on loopback."""
    pytest.importorskip("obstore", reason="obstore is not installed: pip install 'peercorpus[cluster]'")
    pytest.importorskip("moto.server", reason="moto is not installed: pip install 'moto[server]'")
    command = [sys.executable, "-c", SERVER]
    pipe = subprocess.PIPE
    with (
        store_log.open("wb") as log,
        subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        process.stdin.close()


@pytest.fixture
def bucket(served: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Path]:
    """An empty bucket."""
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", served)
    object_store._bucket.cache_clear()
    # Without TLS, no certificates are read.
    with httpx2.Client(base_url=served, timeout=60, verify=False) as client:
        client.post("/moto-api/reset").raise_for_status()
        client.put("/papers").raise_for_status()
    yield S3Path("papers")
    object_store._bucket.cache_clear()
