"""`peercorpus push` against a Hub on loopback: what arrives, what a dry run prints, and what is refused."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import Ended, Run, assert_refused
from hub_stand_in import Hub, serving_hub
from peercorpus.installation import advise_install
from planted_releases import Plan, plan

__all__ = ["plan"]
ID = "ada/kites"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    constants = pytest.importorskip("huggingface_hub.constants")
    from huggingface_hub.utils._http import close_session

    with serving_hub() as serving:
        monkeypatch.setenv("HF_ENDPOINT", serving.url)
        monkeypatch.setenv("HF_TOKEN", serving.token)
        # The Hub's other protocol, which is compiled and talks to a different service.
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "no-token"))
        monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
        close_session()
        yield serving
        close_session()


@pytest.fixture
def release(plan: Plan, tmp_path: Path) -> Path:
    return plan.write(tmp_path / "release")


PROGRESS = "release: verifying files "
"""Progress of the check before an upload."""


def contents(release: Path) -> dict[str, bytes]:
    return {path.relative_to(release).as_posix(): path.read_bytes() for path in release.rglob("*") if path.is_file()}


def refused(ended: Ended, hub: Hub, *named: str, code: int = 2) -> None:
    told = [line for line in ended.err.splitlines() if not line.startswith(PROGRESS)]
    assert (ended.code, ended.out, len(told)) == (code, "", 1), ended
    assert told[0].startswith("peercorpus: ")
    assert [part for part in named if part not in told[0]] == []
    assert hub.token not in ended.err


@pytest.mark.slow
def test_releases_arrive_in_one_commit(run: Run, hub: Hub, release: Path) -> None:
    ended = run("push", release, ID, "--yes")
    assert ended.code == 0, ended.err
    private, there = hub.repos[ID]
    assert (private, there) == (False, contents(release))
    assert len(hub.commits) == 1
    assert {line["key"] for line in hub.commits[0]} == {"header", "file", "lfsFile"}
    assert f"{hub.url}/datasets/{ID}" in ended.out
    assert hub.token not in ended.out + ended.err


def test_without_yes_uploads_are_listed(run: Run, hub: Hub, release: Path) -> None:
    ended = run("push", release, ID)
    assert ended.code == 0
    assert hub.repos == {}
    assert {line.split()[0] for line in hub.asked} == {"GET"}
    lines = ended.out.splitlines()
    assert f"{hub.url}/datasets/{ID}" in lines[0]
    assert {line.split()[0] for line in lines[1:-2]} == set(contents(release))
    assert "--yes" in lines[-2]
    # The release does not belong to a workspace.
    assert lines[-1].startswith("takedown  not checked: ")
    assert "--workspace" in lines[-1]
    hub.repos[ID] = (True, {})
    assert run("push", release, ID).out.startswith(f"To {hub.url}/datasets/{ID}: it exists, private.\n")


@pytest.mark.slow
def test_files_of_an_earlier_release_are_removed(run: Run, hub: Hub, release: Path) -> None:
    stale = "data/papers/iclr-00000-of-00002.parquet"
    hub.repos[ID] = (False, {stale: b"old", "splits/temporal.json": b"{}", "LICENSE": b"mine", ".gitattributes": b"x"})
    dry = run("push", release, ID)
    assert [line for line in dry.out.splitlines() if line.strip().startswith("removed") and line.endswith(stale)]
    ended = run("push", release, ID, "--yes")
    assert re.search(r"\b2 files [^.;]*removed", ended.out)
    assert hub.repos[ID][1] == contents(release) | {"LICENSE": b"mine", ".gitattributes": b"x"}
    assert not any("create" in line for line in hub.asked)


@pytest.mark.slow
def test_a_second_run_resumes_where_the_first_stopped(run: Run, hub: Hub, release: Path) -> None:
    hub.fails = {"POST .*/commit/": 500}
    refused(run("push", release, ID, "--yes"), hub, "(500)", code=3)
    sent = {line for line in hub.asked if line.startswith("PUT")}
    assert len(sent) == len(hub.objects) > 5
    hub.fails, hub.asked = {}, []
    assert run("push", release, ID, "--yes").code == 0
    assert not any(line.startswith("PUT") for line in hub.asked)
    assert hub.repos[ID][1] == contents(release)


def test_an_invalid_release_is_not_uploaded(run: Run, hub: Hub, release: Path) -> None:
    (release / "README.md").write_text("other")
    ended = run("push", release, ID, "--yes")
    assert ended.code == 1
    assert "  README.md: differs from what release.json states\n" in ended.out
    assert hub.asked == []


def test_a_missing_hub_is_one_sentence(run: Run, hub: Hub, release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub.utils._http import close_session

    hub.fails = {"GET": 500}
    refused(run("push", release, ID), hub, "(500)", code=3)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    refused(run("push", release, ID), hub, "try again", code=3)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    close_session()
    refused(run("push", release, ID), hub, "try again", code=3)


def test_a_wrong_token_is_refused_first(run: Run, hub: Hub, release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    ended = run("push", release, ID, "--yes")
    refused(ended, hub, "(401)")
    assert "hf_other" not in ended.err
    monkeypatch.delenv("HF_TOKEN")
    refused(run("push", release, ID, "--yes"), hub, "set HF_TOKEN")
    assert hub.repos == {}


@pytest.mark.parametrize("hub_id", ["", "kites", "a/b/c", "../x", "ada/ki tes", "https://hub.example/ada/kites"])
def test_an_invalid_dataset_id_is_refused(run: Run, release: Path, hub_id: str) -> None:
    assert_refused(run("push", release, hub_id), f"'{hub_id}'", "owner/name")


def test_without_the_package_the_extra_is_named(run: Run, release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    ended = run("push", release, ID)
    assert ended.code == 2
    assert advise_install("hf") in ended.err
