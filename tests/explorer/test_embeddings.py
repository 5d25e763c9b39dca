"""Papers that are alike by embeddings: which are shown, what is embedded, and what is left on disk."""

import os
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from explored import HOST
from invented_tables import ICLR, ICML, invented, keep, paper
from peercorpus.errors import WorkspaceError
from peercorpus.execution.progress import show_nothing
from peercorpus.explorer.querying import embeddings
from peercorpus.explorer.querying.embeddings import Embedder, PaperVectors, Rows
from peercorpus.explorer.server import make_app, open_explorer
from peercorpus.workspace.workspace import open_workspace

SUBJECTS = ["kites", "pumps", "moths", "tides", "bells", "yeast", "roads", "lamps", "seeds", "glass"]
TITLES = [*(f"On {subject}" for subject in SUBJECTS), "Kites again"]


class Counting:
    """An embedder of one dimension a subject, which remembers the texts that it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Rows:
        self.texts += texts
        rows = np.array([[subject in text.lower() for subject in SUBJECTS] for text in texts], np.float32) + 0.01
        lengths: Rows = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / lengths


def page(folder: Path, embedder: Embedder | None, later: str | None = None, taken: str = "") -> str:
    """The page of the first paper of a corpus of these titles, to which one of another venue may come."""
    venues = {ICLR: [paper(f"f{number:02}", ICLR, title=title, abstract="") for number, title in enumerate(TITLES)]}
    if later:
        venues[ICML] = [paper("later", ICML, title=later, abstract="")]
    with invented(folder, venues) as workspace:
        keep(workspace)
        (folder / "takedown.txt").write_text(taken)
        app = make_app(open_explorer(workspace, show_nothing, embedder=embedder), "127.0.0.1")
        with TestClient(app, base_url=HOST) as client:
            return client.get("/paper/f00").text


def stored(folder: Path) -> list[str]:
    return [path.name for path in (folder / "explorer").glob("vectors-*")]


def test_a_page_lists_the_paper_of_the_same_subject_and_names_the_model(tmp_path: Path) -> None:
    text = page(tmp_path, Embedder("tiny|revision:<1>", Counting().embed))
    alike = text.partition("Papers like this one")[2].partition("</section>")[0]
    assert "Kites again" in alike
    assert alike.count("<li>") == 1
    assert "tiny|revision:&lt;1&gt;" in alike


def test_each_text_is_embedded_once_and_only_new_ones_after_a_build(tmp_path: Path) -> None:
    counting = Counting()
    embedder = Embedder("tiny", counting.embed)
    page(tmp_path, embedder)
    page(tmp_path, embedder)
    assert sorted(counting.texts) == sorted(TITLES)
    page(tmp_path, embedder, later="Kites at sea")
    assert counting.texts[len(TITLES) :] == ["Kites at sea"]
    assert len(stored(tmp_path)) == 1


def test_a_stopped_run_resumes_after_the_saved_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after_some(tmp_path, monkeypatch)
    counting = Counting()
    page(tmp_path, Embedder("tiny", counting.embed))
    assert len(counting.texts) == len(TITLES) - 4
    assert len(stored(tmp_path)) == 1


def test_a_takedown_removes_stored_embeddings(tmp_path: Path) -> None:
    embedder = Embedder("tiny", Counting().embed)
    page(tmp_path, embedder)
    assert "Kites again" not in page(tmp_path, embedder, taken="f10\n")
    (name,) = stored(tmp_path)
    with np.load(tmp_path / "explorer" / name) as kept:
        assert "f10" not in kept["forum_ids"].tolist()
        assert len(kept["digests"]) == len(kept["rows"]) == len(TITLES) - 1


def forum_ids(folder: Path) -> dict[str, list[str]]:
    """Ids of the papers whose embeddings each stored file has."""
    found = {}
    for name in stored(folder):
        with np.load(folder / "explorer" / name) as kept:
            found[name] = kept["forum_ids"].tolist()
    return found


def test_stored_embeddings_outlast_explorers_without_a_model_or_with_another(tmp_path: Path) -> None:
    counting = Counting()
    embedder = Embedder("tiny", counting.embed)
    page(tmp_path, embedder)
    page(tmp_path, None, later="Kites at sea")
    page(tmp_path, Embedder("other", Counting().embed), later="Kites at sea")
    assert sorted(counting.texts) == sorted(TITLES)
    page(tmp_path, embedder, later="Kites at sea")
    assert counting.texts[len(TITLES) :] == ["Kites at sea"]
    assert len(stored(tmp_path)) == 2


def stop_after_some(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the file of a run that was stopped after the first four texts."""
    counting = Counting()

    def stop_at_the_second(texts: Sequence[str]) -> Rows:
        if counting.texts:
            raise KeyboardInterrupt
        return counting.embed(texts)

    monkeypatch.setattr(embeddings, "_SAVED_AFTER", 4)
    with pytest.raises(KeyboardInterrupt):
        page(folder, Embedder("tiny", stop_at_the_second))


def test_a_stopped_run_resumes_after_an_explorer_without_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_some(tmp_path, monkeypatch)
    page(tmp_path, None)
    page(tmp_path, None, later="Kites at sea")
    counting = Counting()
    page(tmp_path, Embedder("tiny", counting.embed), later="Kites at sea")
    assert len(counting.texts) == len(TITLES) + 1 - 4


def test_a_takedown_removes_stored_embeddings_without_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page(tmp_path, Embedder("other", Counting().embed))
    stop_after_some(tmp_path, monkeypatch)
    (partial,) = (ids for name, ids in forum_ids(tmp_path).items() if "partial" in name)
    taken = partial[0]
    page(tmp_path, None, taken=f"{taken}\n")
    after = forum_ids(tmp_path)
    assert sorted(map(len, after.values())) == [3, len(TITLES) - 1]
    assert all(taken not in ids for ids in after.values())


def test_a_takedown_removes_files_that_cannot_be_read_and_what_a_killed_process_left(tmp_path: Path) -> None:
    page(tmp_path, None)
    folder = tmp_path / "explorer"
    for name in ("vectors-1-2.npz", "unsaved-vectors-old", "unsaved-vectors-new"):
        (folder / name).write_bytes(b"")
    os.utime(folder / "unsaved-vectors-old", (0, 0))
    page(tmp_path, None, taken="f10\n")
    assert [path.name for path in folder.glob("*vectors-*")] == ["unsaved-vectors-new"]


def test_an_explorer_that_starts_while_another_saves_leaves_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = np.savez

    def start_another(*args: Any, **kwargs: Any) -> None:
        save(*args, **kwargs)
        monkeypatch.setattr(np, "savez", save)
        with open_workspace(tmp_path, write=False) as workspace:
            open_explorer(workspace, show_nothing)

    monkeypatch.setattr(np, "savez", start_another)
    monkeypatch.setattr(embeddings, "_SAVED_AFTER", 4)
    counting = Counting()
    page(tmp_path, Embedder("tiny", counting.embed))
    assert sorted(counting.texts) == sorted(TITLES)
    assert [name.endswith("-partial.npz") for name in stored(tmp_path)] == [False]


def test_a_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    monkeypatch.setattr(embeddings, "_SAVED_AFTER", 4)
    with pytest.raises(WorkspaceError, match=r"cannot be saved in .* \(No space left on device\)"):
        page(tmp_path, Embedder("tiny", Counting().embed))
    assert [path.name for path in (tmp_path / "explorer").glob("*vectors-*")] == []


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00v\x00{}"])
def test_a_damaged_file_of_embeddings_is_replaced(tmp_path: Path, damage: bytes) -> None:
    counting = Counting()
    embedder = Embedder("tiny", counting.embed)
    whole = page(tmp_path, embedder)
    (tmp_path / "explorer" / stored(tmp_path)[0]).write_bytes(damage)
    assert page(tmp_path, embedder) == whole
    assert len(counting.texts) == 2 * len(TITLES)


def vectors_with_cosines(cosines: Sequence[float]) -> PaperVectors:
    """A paper `0` and others, each with a given cosine with it."""
    rows = np.array([[1.0, 0.0], *([cosine, (1 - cosine**2) ** 0.5] for cosine in cosines)], np.float32)
    names = [str(number) for number in range(len(rows))]
    return PaperVectors("tiny", names, names, rows)


@pytest.mark.parametrize(
    ("cosines", "alike"),
    [
        ([0.2, 0.19, 0.21, 0.2, 0.9, 0.2, 0.19, 0.21, 0.2], ["5"]),
        ([0.9], []),
        ([0.9, 0.1], []),
        ([0.3] * 10, []),
        ([], []),
    ],
)
def test_a_paper_is_compared_with_the_others_and_not_with_itself(cosines: Sequence[float], alike: list[str]) -> None:
    assert vectors_with_cosines(cosines).nearest("0", 5) == alike


def test_a_paper_without_an_embedding_has_no_similar_papers() -> None:
    vectors = PaperVectors("tiny", ["a", "b"], ["1", "2"], np.eye(2, dtype=np.float32))
    assert vectors.nearest("c", 5) == []


def count_saves(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that are saved from now on."""
    saved: list[str] = []
    save = embeddings._save

    def save_and_note(path: Path, vectors: PaperVectors) -> None:
        saved.append(path.name)
        save(path, vectors)

    monkeypatch.setattr(embeddings, "_save", save_and_note)
    return saved


def test_the_last_texts_are_saved_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "_SAVED_AFTER", 4)
    saved = count_saves(monkeypatch)
    page(tmp_path / "few", Embedder("tiny", Counting().embed))
    assert [name.endswith("-partial.npz") for name in saved] == [True, True, False]


def refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no file be made beside the embeddings, as in a workspace that is read only."""

    def fail(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("peercorpus.explorer.querying.embeddings.tempfile", SimpleNamespace(mkstemp=fail))


def test_a_workspace_that_is_read_only_is_one_sentence_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch)
    counting = Counting()
    with pytest.raises(WorkspaceError) as raised:
        page(tmp_path, Embedder("tiny", counting.embed))
    assert "cannot be saved in" in str(raised.value)
    assert "make it writable, or leave out --embeddings" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert counting.texts == []


def test_a_workspace_that_is_read_only_uses_the_embeddings_that_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting = Counting()
    embedder = Embedder("tiny", counting.embed)
    whole = page(tmp_path, embedder)
    refuse(monkeypatch)
    assert page(tmp_path, embedder) == whole
    assert "Kites again" not in page(tmp_path, embedder, taken="f10\n")
    assert len(counting.texts) == len(TITLES)
