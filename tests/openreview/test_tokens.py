"""Tokens on disk: who may read them, which service they belong to, and their own expiry time."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from peercorpus.errors import SignInError
from peercorpus.openreview.tokens import Token, TokenCache, config_folder, read_expiry_ms

HERE = ("http://127.0.0.1:1", "http://127.0.0.1:2")
ELSEWHERE = ("http://127.0.0.1:1", "http://127.0.0.1:3")
TOKEN = Token("aaaa.bbbb.s3cret", "reader@example.org", None, 0)
NOW_MS = 1_700_000_000_000


def jwt(**claims: object) -> str:
    """A token with these claims, unsigned."""
    return f"e30.{base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip('=')}.x"


@pytest.mark.parametrize(
    ("text", "expires_ms"),
    [
        (jwt(exp=1_700_003_600, iat=1_700_000_000), NOW_MS + 3_600_000),
        (jwt(exp=1_700_003_600, iat=1_700_000_059), NOW_MS + 3_600_000),
        (jwt(exp=1_699_996_400, iat=1_699_992_800), NOW_MS + 3_600_000),
        (jwt(exp=1_700_010_800, iat=1_700_007_200), NOW_MS + 3_600_000),
        (jwt(exp=1_700_003_600), NOW_MS + 3_600_000),
        (jwt(exp=1_700_003_600.5), NOW_MS + 3_600_500),
        (jwt(exp=None), None),
        (jwt(), None),
        (jwt(exp="soon"), None),
        (jwt(exp=-1), None),
        (jwt(exp=1e300), None),
        ("opaque", None),
        ("a.b.c", None),
        ("a.\u00e9.c", None),
        ("..", None),
    ],
)
def test_token_expires_as_stated(text: str, expires_ms: int | None) -> None:
    assert read_expiry_ms(text, NOW_MS) == expires_ms


@pytest.mark.parametrize(
    ("life_s", "left_s", "is_ending"),
    [
        (3600, 361, False),
        (3600, 359, True),
        (7 * 86400, 601, False),
        (7 * 86400, 599, True),
        (2, 1, False),
        (2, 0, True),
    ],
)
def test_token_ends_in_its_last_tenth(life_s: int, left_s: int, is_ending: bool) -> None:
    token = Token("a", "b", NOW_MS + life_s * 1000, NOW_MS)
    assert token.is_ending(NOW_MS + (life_s - left_s) * 1000) == is_ending


def test_cache_is_private(tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        cache = TokenCache(tmp_path / "new" / "peercorpus")
        cache.write(HERE, TOKEN)
    finally:
        os.umask(mask)
    modes = {path.name: path.stat().st_mode & 0o777 for path in cache.path.parent.iterdir()}
    assert modes == {"tokens.json": 0o600, "tokens.lock": 0o600}
    assert cache.path.parent.stat().st_mode & 0o777 == 0o700


def test_token_is_for_its_service(tmp_path: Path) -> None:
    cache = TokenCache(tmp_path)
    cache.write(HERE, TOKEN)
    assert cache.read((f"{HERE[0]}/", HERE[1])) == TOKEN
    assert cache.read(ELSEWHERE) is None
    cache.write(ELSEWHERE, TOKEN)
    assert cache.remove(HERE) == TOKEN
    assert (cache.read(HERE), cache.read(ELSEWHERE)) == (None, TOKEN)


def test_nothing_stored_makes_no_file(tmp_path: Path) -> None:
    cache = TokenCache(tmp_path / "new")
    assert cache.read(HERE) is None
    assert cache.remove(HERE) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_open_cache_is_refused(tmp_path: Path, mode: int) -> None:
    cache = TokenCache(tmp_path)
    cache.write(HERE, TOKEN)
    cache.path.chmod(mode)
    sentence = f"chmod 600 '{cache.path}'"
    with pytest.raises(SignInError, match=sentence):
        cache.read(HERE)
    with pytest.raises(SignInError, match=sentence):
        cache.write(HERE, TOKEN)
    with pytest.raises(SignInError, match=sentence):
        cache.remove(HERE)


@pytest.mark.fault(
    "disk", "the stored token is damaged", "one sentence that says what to remove; the token is not shown", times=6
)
@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"a": 1}', b'{"a": {"text": "s3cret"}}', b"\xff"])
def test_damaged_cache_gets_advice(tmp_path: Path, text: bytes) -> None:
    cache = TokenCache(tmp_path)
    cache.path.write_bytes(text)
    cache.path.chmod(0o600)
    with pytest.raises(SignInError, match=f"rm '{cache.path}'.*'peercorpus login'") as caught:
        cache.read(HERE)
    assert "s3cret" not in str(caught.value)


def test_unwritable_cache_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SignInError, match="cannot be"):
        TokenCache(tmp_path / "file" / "peercorpus").write(HERE, TOKEN)


WRITE_OFTEN = """
import sys
from pathlib import Path
from peercorpus.openreview.tokens import TokenCache
from peercorpus.openreview.tokens import Token

cache, own = TokenCache(Path(sys.argv[1])), (sys.argv[2], sys.argv[2])
for n in range(100):
    cache.write(own, Token("x" * (n % 7) * 1000, sys.argv[2], n, 0))
    assert cache.read(own).expires_ms == n
"""


@pytest.mark.slow
def test_concurrent_processes_keep_all_tokens(tmp_path: Path) -> None:
    names = ["http://127.0.0.1:1", "http://127.0.0.1:2", "http://127.0.0.1:3"]
    writers = [subprocess.Popen([sys.executable, "-c", WRITE_OFTEN, str(tmp_path), name]) for name in names]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    kept = [TokenCache(tmp_path).read((name, name)) for name in names]
    assert [token.expires_ms for token in kept if token] == [99, 99, 99]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["tokens.json", "tokens.lock"]


def test_named_folder_is_the_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_folder({"PEERCORPUS_CONFIG": "/own"}) == Path("/own")


def test_cache_is_among_the_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert config_folder({}) == config_folder({"PEERCORPUS_CONFIG": ""}) == tmp_path / "peercorpus"


@pytest.mark.parametrize("value", ["settings", ""])
def test_relative_settings_folder_is_ignored(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", value)
    assert config_folder({}).is_relative_to(Path.home())


@pytest.mark.skipif(sys.platform != "linux", reason="every system has folders of its own")
def test_folder_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert config_folder({}) == Path.home() / ".config" / "peercorpus"
