"""Makes a release of as many papers as ReviewBench has, from the simulated world, with as many words as English.

The world is written into a workspace without HTTP, then built and published without PDFs. Every word of its prose is
replaced by one that is drawn anew, as the simulator knows some thousands only: by rank, with Zipf's exponent of 1 up
to rank 7,873 and of 1.77 beyond it, which Gerlach and Altmann (2013, doi 10.1103/PhysRevX.3.021006) fitted to English.
"""

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fill import ORIGIN, is_public
from peercorpus.openreview.raw_rows import build_note, build_setting
from peercorpus.simulator.world.holdings import Holdings, Json
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind, RawObject
from peercorpus.workspace.workspace import open_workspace

PAPERS = 51_529
VENUE_YEARS = 22
CORE = 7_873
BEYOND = 1.77
RANKS = 4_000_000
DRAWN = 1_000_000
_WORD = re.compile(r"[A-Za-z]{2,}")
_NAMED = {"title", "keywords", "TL;DR", "TLDR"}
_PROSE_CHARACTERS = 100
_FRAME = re.compile(r"\d+:|[A-Za-z_]+$")


class Vocabulary:
    """Draws words: a rank is written with consonants and vowels in turn, short for frequent ones."""

    def __init__(self) -> None:
        ranks = np.arange(1, RANKS + 1, dtype=np.float64)
        weights = np.where(ranks <= CORE, 1 / (ranks + 2.7), CORE ** (BEYOND - 1) / ranks**BEYOND)
        self._cumulative = np.cumsum(weights) / weights.sum()
        self._chance = np.random.default_rng(7)
        self._known: dict[int, str] = {}
        self._words: Iterator[str] = iter(())

    def _spell(self, rank: int) -> str:
        if rank not in self._known:
            letters: list[str] = []
            number = (rank * 48_271 + 11) % 5_000_011 if rank > 60 else rank
            while number or len(letters) < 2 + (rank > 60):
                number, consonant = divmod(number, 18)
                number, vowel = divmod(number, 6)
                letters.append("bcdfghjklmnprstvwz"[consonant] + "aeiouy"[vowel])
            self._known[rank] = "".join(letters)[: None if rank > 60 else 3]
        return self._known[rank]

    def _draw(self) -> Iterator[str]:
        while True:
            ranks = np.searchsorted(self._cumulative, self._chance.random(DRAWN))
            yield from map(self._spell, ranks.tolist())

    def replace(self, text: str) -> str:
        """Return a text with other words of the same case."""
        words = self._words

        def draw(match: re.Match[str]) -> str:
            word = next(words)
            return word.capitalize() if match[0][0].isupper() else word

        return _WORD.sub(draw, text)

    def __enter__(self) -> "Vocabulary":
        self._words = self._draw()
        return self

    def __exit__(self, *_: object) -> None:
        self._words = iter(())

    def rewrite(self, content: object, name: str = "") -> object:
        """Return the content of a note with other words in its titles, keywords and prose."""
        if isinstance(content, dict):
            within = name if set(content) == {"value"} else ""
            return {key: self.rewrite(value, within or key) for key, value in content.items()}
        if isinstance(content, list):
            return [self.rewrite(value, name) for value in content]
        if isinstance(content, str) and (name in _NAMED or len(content) >= _PROSE_CHARACTERS):
            return content if _FRAME.match(content) and name not in _NAMED else self.replace(content)
        return content


def _rewritten(note: Json, vocabulary: Vocabulary) -> bytes:
    return json.dumps({**note, "content": vocabulary.rewrite(note.get("content", {}))}).encode()


def _rows(holdings: Holdings, vocabulary: Vocabulary) -> Iterator[RawObject]:
    for note in filter(is_public, holdings.notes.values()):
        yield build_note(_rewritten(note, vocabulary), ORIGIN)
    for invitation in filter(is_public, holdings.invitations.values()):
        yield build_setting(RawKind.INVITATION, json.dumps(invitation).encode(), ORIGIN)


def make_release(folder: Path, papers: int) -> None:
    """Write a workspace and a release of so many papers into a folder; each step is left out if its result is there."""
    began = time.monotonic()
    with open_workspace(folder / "corpus", create=True) as workspace:
        if not (folder / "filled").exists():
            world = build_world(papers=papers, number=VENUE_YEARS, is_large=True, papers_per_file=64)
            with workspace.raw.transaction(), Vocabulary() as vocabulary:
                for holdings in (world.v1, world.v2):
                    workspace.raw.add(_rows(holdings, vocabulary))
                workspace.raw.place()
            (folder / "filled").touch()
            print(f"filled after {time.monotonic() - began:,.0f} s", flush=True)


if __name__ == "__main__":
    make_release(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else PAPERS)
