"""Find papers like a paper by embeddings of title and abstract, which are computed once and stored beside the index."""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from tantivy import Query

from peercorpus.errors import WorkspaceError
from peercorpus.execution.progress import Meter, Show
from peercorpus.explorer.index_documents import read_stored
from peercorpus.explorer.paper_row import PaperRow
from peercorpus.explorer.search_index import OpenIndex
from peercorpus.workspace.private_files import LEFT_AFTER_S

PARTIAL = "partial"
Rows: TypeAlias = NDArray[np.float32]
"""Embeddings, one row of length 1 for each text."""
_SAVED_AFTER = 4_096
"""Texts after whose embedding all are saved, so that a stopped run is continued."""
_UNSAVED = "unsaved-vectors-"
"""Beginning of the name of a file that is being written."""
_DEVIATIONS = 2.0
"""Standard deviations above the mean cosine with all other papers from which a paper is like another; our choice.
Cosines of unrelated texts differ from model to model, so that no fixed number serves."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """A model that embeds texts.

    Attributes:
        name: The model with its revision.
        embed: Returns the embedding of each text.
    """

    name: str
    embed: Callable[[Sequence[str]], Rows]


@dataclass(frozen=True, slots=True)
class PaperVectors:
    """The embeddings of all papers of an index that have a title or an abstract.

    Attributes:
        model: The model with its revision.
        forum_ids: Ids of the papers.
        digests: SHA-256 of the text that was embedded, in hexadecimal, for each paper.
        rows: The embedding of each paper.
    """

    model: str
    forum_ids: Sequence[str]
    digests: Sequence[str]
    rows: Rows

    def nearest(self, forum_id: str, limit: int) -> list[str]:
        """Return the ids of the papers like one, the most alike first; none if it has no embedding.

        A paper is like another if their cosine exceeds the mean over all other papers by two standard deviations.
        """
        try:
            own = self.forum_ids.index(forum_id)
        except ValueError:
            return []
        cosines = (self.rows @ self.rows[own]).astype(np.float64)
        others = np.delete(cosines, own)
        if not others.size:
            return []
        least = others.mean() + _DEVIATIONS * others.std()
        cosines[own] = -np.inf
        ordered = np.argsort(-cosines, kind="stable")[:limit]
        return [self.forum_ids[place] for place in ordered if cosines[place] > least]


def open_vectors(index: OpenIndex, embedder: Embedder, show: Show, stored: Path) -> PaperVectors:
    """Return the embeddings of the papers of an index; those of texts that are not stored yet are computed.

    Those that the model's files of other states of the index have are kept until all are saved.

    Args:
        index: The index.
        embedder: The model.
        show: Receives the progress, in papers.
        stored: The folder of embeddings of the workspace; those of an index in a temporary folder are saved there.

    Raises:
        MissingExtraError: A package of the model is not installed.
        ModelError: The model cannot be loaded.
        WorkspaceError: Some are to be computed and cannot be saved, as the workspace is read only.
    """
    path = _name_file(index.folder.parent, embedder, index.folder.name)
    vectors = _load(path) or _load(_name_file(stored, embedder, index.folder.name))
    if vectors is None:
        vectors = _compute(index, embedder, show, stored)
        try:
            _save(path, vectors)
        except OSError:  # All may be known from files of other states, and the workspace read only.
            return vectors
    _clear_others(path, embedder)
    return vectors


def _explain_unsaved(path: Path, error: OSError) -> WorkspaceError:
    return WorkspaceError(
        f"The embeddings cannot be saved in '{path.parent}' ({error.strerror or error}); make it writable, or leave out"
        " --embeddings."
    )


def forget_vectors(folder: Path, forum_ids: Set[str]) -> None:
    """Remove the embeddings of papers that are taken down from every file of a folder, whichever its model.

    Incomplete files that killed processes left, in which they may be too, are removed.
    """
    with suppress(OSError):  # The workspace may be read only.
        for left in folder.glob(f"{_UNSAVED}*"):
            if time.time() - left.stat().st_mtime > LEFT_AFTER_S:
                left.unlink()
        for path in folder.glob("vectors-*.npz") if forum_ids else ():
            _forget_in(path, forum_ids)


def _forget_in(path: Path, forum_ids: Set[str]) -> None:
    vectors = _load(path)
    if vectors is None:  # What cannot be read cannot be searched for them.
        path.unlink()
        return
    kept = [place for place, forum_id in enumerate(vectors.forum_ids) if forum_id not in forum_ids]
    if len(kept) < len(vectors.forum_ids):
        _save(path, _take(vectors, kept))


def _take(vectors: PaperVectors, places: Sequence[int]) -> PaperVectors:
    forum_ids, digests = ([values[place] for place in places] for values in (vectors.forum_ids, vectors.digests))
    return PaperVectors(vectors.model, forum_ids, digests, vectors.rows[places])


def _clear_others(path: Path, embedder: Embedder) -> None:
    """Remove a model's files of other states of the index: the given file has those of their embeddings that count."""
    for other in path.parent.glob(_name_file(path.parent, embedder, "*").name):
        if other != path:
            with suppress(OSError):  # The workspace may be read only.
                other.unlink()


def _name_file(folder: Path, embedder: Embedder, state: str) -> Path:
    model = hashlib.sha256(embedder.name.encode()).hexdigest()[:16]
    return folder / f"vectors-{model}-{state}.npz"


def _read_texts(index: OpenIndex) -> Iterator[tuple[str, str]]:
    hits = index.searcher.search(Query.all_query(), max(index.searcher.num_docs, 1), count=False).hits
    for _, address in hits:
        row: PaperRow = read_stored(index.searcher.doc(address)).row
        if text := "\n\n".join(filter(None, (row.title, row.abstract))):
            yield row.forum_id, text


def _compute(index: OpenIndex, embedder: Embedder, show: Show, stored: Path) -> PaperVectors:
    """Embed the texts of an index that no stored file of the model has; what is done is saved as it grows."""
    texts = sorted(_read_texts(index))
    digests = [hashlib.sha256(text.encode()).hexdigest() for _, text in texts]
    folder = index.folder.parent
    known = _read_known({folder, stored}, embedder)
    missing = {digest: text for digest, (_, text) in zip(digests, texts, strict=True) if digest not in known}
    meter = Meter("papers", "embed", show, total=len(missing))
    if missing:
        _require_writable(_name_file(folder, embedder, PARTIAL))
    papers = [(forum_id, digest) for (forum_id, _), digest in zip(texts, digests, strict=True)]
    done = 0
    for some in _divide(list(missing)):
        known |= dict(zip(some, embedder.embed([missing[digest] for digest in some]), strict=True))
        meter.advance(len(some))
        done += len(some)
        if done < len(missing):  # The last ones are saved with all others.
            _save_some(_name_file(folder, embedder, PARTIAL), _collect(embedder, papers, known))
    return _collect(embedder, papers, known)


def _save_some(path: Path, vectors: PaperVectors) -> None:
    try:
        _save(path, vectors)
    except OSError as error:
        raise _explain_unsaved(path, error) from None


def _require_writable(path: Path) -> None:
    """Check that embeddings can be saved, before hours are spent on computing them."""
    try:
        handle, probe = tempfile.mkstemp(prefix=_UNSAVED, dir=path.parent)
    except OSError as error:
        raise _explain_unsaved(path, error) from None
    os.close(handle)
    Path(probe).unlink()


def _read_known(folders: Iterable[Path], embedder: Embedder) -> dict[str, Rows]:
    """Return the embeddings of a model that folders have, by the digest of their text."""
    known: dict[str, Rows] = {}
    for path in sorted(path for folder in folders for path in folder.glob(_name_file(folder, embedder, "*").name)):
        if (stored := _load(path)) is not None:
            known |= dict(zip(stored.digests, stored.rows, strict=True))
    return known


def _divide(digests: Sequence[str]) -> Iterator[Sequence[str]]:
    yield from (digests[at : at + _SAVED_AFTER] for at in range(0, len(digests), _SAVED_AFTER))


def _collect(embedder: Embedder, papers: Iterable[tuple[str, str]], known: Mapping[str, Rows]) -> PaperVectors:
    """Return the embeddings of those papers, given by id and digest of their text, of which they are known."""
    found = [(forum_id, digest) for forum_id, digest in papers if digest in known]
    rows = np.stack([known[digest] for _, digest in found]) if found else np.empty((0, 1), np.float32)
    return PaperVectors(embedder.name, [forum_id for forum_id, _ in found], [digest for _, digest in found], rows)


def _load(path: Path) -> PaperVectors | None:
    """Return what a file stores; None if it is missing, or not such a file."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            model, forum_ids, digests, rows = (stored[name] for name in ("model", "forum_ids", "digests", "rows"))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    if rows.ndim != 2 or rows.dtype != np.float32 or not len(rows) == len(forum_ids) == len(digests):
        return None
    return PaperVectors(str(model), forum_ids.tolist(), digests.tolist(), rows)


def _save(path: Path, vectors: PaperVectors) -> None:
    handle, partial = tempfile.mkstemp(prefix=_UNSAVED, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(
                file,
                model=np.array(vectors.model),
                forum_ids=np.array(vectors.forum_ids, dtype=np.str_),
                digests=np.array(vectors.digests, dtype=np.str_),
                rows=vectors.rows,
            )
        Path(partial).replace(path)
    finally:
        Path(partial).unlink(missing_ok=True)
