"""Read NLPeer: `data/<paper>/meta.json` and `data/<paper>/v<N>/{meta,reviews,paper.itg}.json`.

Source: the README of UKPLab/nlpeer, "Dataset File Structure" and "Review File Format", and its loader (v1, v2).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from peercorpus.importers.reader import (
    ABOUT_PERSONS,
    PaperParts,
    Reader,
    Record,
    Row,
    Source,
    StatedPaper,
    StatedReview,
    are_forum_ids,
    as_text,
    make_paper_id,
    name_venue,
    read_json_file,
    record_of_files,
)
from peercorpus.records.datasets import Dataset
from peercorpus.wording.untrusted_text import show_path

META, VERSION_META, REVIEWS, DOCUMENT = "meta", "version_meta", "reviews", "paper.itg"
HEADINGS = {"title": "# ", "article-title": "# ", "heading": "## ", "abstract": ""}
"""Markdown prefixes for types of nodes in the ITG format; figures, formulas and page marks are left out."""
PROSE = frozenset({"paragraph", "p", "abstract", "list", "list_item", "title", "article-title", "heading"})
OF_A_REVIEW = frozenset({"rid", "reviewer", "report", "scores", "meta"})
SHORT_YEAR = re.compile(r"(?<=[A-Za-z])(?=\d\d$)")
"""Matches the position of the missing century in a name of NLPeer: `EMNLP23`."""


def find_nlpeer(reader: Reader, files: Sequence[Path]) -> Iterator[Source]:
    """Yield the folders of NLPeer, each with its files."""
    reviews_by_root = defaultdict[Path, list[Path]](list)
    for path in files:
        if path.name == "reviews.json" and re.fullmatch(r"v?\d+", path.parent.name):
            reviews_by_root[path.parent.parent.parent].append(path)
    for root, reviews in reviews_by_root.items():
        if any(map(is_nlpeer_review, map(read_json_file, reviews[:3]))):
            papers = {path.parent.parent for path in reviews}
            yield Source(reader, root, tuple(path for path in files if not papers.isdisjoint(path.parents)))


def list_nlpeer(source: Source) -> Iterator[Record]:
    """Yield the record of each paper: its first version with reviews, or its first."""
    root = source.root.resolve()
    folder = show_path(root.parent.name if root.name == "data" else root.name)
    by_paper: dict[str, list[Path]] = defaultdict(list)
    for path in source.files:
        inner = path.relative_to(source.root).parts
        if len(inner) == 3 and inner[2] == "reviews.json":
            by_paper[inner[0]].append(path)
    is_forum, held = are_forum_ids(by_paper), {*source.files}
    for paper, versions in sorted(by_paper.items()):
        ordered = sorted(versions, key=lambda path: int(path.parent.name.removeprefix("v")))
        reviewed = next((path for path in ordered if read_json_file(path)), ordered[0])
        version = reviewed.parent
        paths = {
            REVIEWS: reviewed,
            META: version.parent / "meta.json",
            VERSION_META: version / "meta.json",
            DOCUMENT: version / "paper.itg.json",
        }
        body = PaperParts(
            make_paper_id(paper, folder, is_forum=is_forum),
            {"version": version.name},
            name_venue(SHORT_YEAR.sub(" 20", folder)),
        )
        paths = {name: path for name, path in paths.items() if path in held}
        yield record_of_files(Dataset.NLPEER, source.root, paths, body)


def is_nlpeer_review(value: object) -> bool:
    """Return whether a JSON value is NLPeer's list of reviews."""
    return isinstance(value, list) and all(
        isinstance(review, Mapping) and "rid" in review and "report" in review for review in value
    )


def read_nlpeer(parts: Row) -> StatedPaper:
    """Return the paper of one version with its reviews."""
    meta = {**(parts.get(META) or {}), **(parts.get(VERSION_META) or {})}
    authors = [name for name in meta.get("authors") or () if isinstance(name, str)]
    read = {"title", "abstract", "authors"}
    return StatedPaper(
        title=as_text(meta.get("title")),
        abstract=as_text(meta.get("abstract")),
        authors=tuple(authors),
        text=read_document(parts),
        reviews=tuple(_read_review(review) for review in parts.get(REVIEWS) or ()),
        extra={
            name: value
            for name, value in meta.items()
            if name not in read and value not in (None, "", []) and not ABOUT_PERSONS.fullmatch(name.casefold())
        },
    )


def _read_review(review: Row) -> StatedReview:
    report, scores, meta = (review.get(name) or {} for name in ("report", "scores", "meta"))
    if isinstance(report, str):
        report = {"main": report}
    answers: dict[str, Any] = {name: value for name, value in report.items() if as_text(value) is not None}
    answers |= {name: value for name, value in scores.items() if value not in (None, "")}
    others = {name: value for name, value in review.items() if name not in OF_A_REVIEW}
    others |= {name: value for name, value in report.items() if not isinstance(value, str)} | meta
    return StatedReview(
        answers,
        # Ids are unique only within a paper. The reviewer, if given, is a person's name.
        None,
        as_text(review.get("rid")),
        scores=frozenset(scores),
        # The split into sentences is the dataset's, not the reviewer's.
        extra={name: value for name, value in others.items() if name != "sentences" and value not in (None, "")},
    )


def read_document(parts: Row) -> str | None:
    """Return the text of a paper in ITG format: its nodes in reading order; None if there is none."""
    document = parts.get(DOCUMENT)
    if not isinstance(document, dict):
        return None
    nodes = _put_in_order(document)
    # In F1000 a "title" is the heading of a section; the article's own is another type.
    marks = HEADINGS | ({"title": "## "} if any(node.get("ntype") == "article-title" for node in nodes) else {})
    texts = []
    for node in nodes:
        content = as_text(node.get("content"))
        if content and node.get("ntype") in PROSE:
            # The node of the abstract contains only that word if paragraphs follow.
            mark = "## " if content.strip().casefold() == "abstract" else marks.get(node["ntype"], "")
            texts.append(f"{mark}{content}")
    return "\n\n".join(texts) or None


def _put_in_order(document: Row) -> list[Row]:
    """Return the nodes of a document in the order of its edges of type "next"; others keep their positions.

    Source: UKPLab/intertext-graph, `IntertextDocument.unroll_graph`.
    """
    nodes = [node for node in document.get("nodes") or () if isinstance(node, dict)]
    edges = [edge for edge in document.get("edges") or () if isinstance(edge, dict) and edge.get("etype") == "next"]
    by_id = {node.get("ix"): node for node in nodes}
    following = {edge.get("src_ix"): edge.get("tgt_ix") for edge in edges}
    if len(by_id) < len(nodes) or len(following) < len(edges):
        return nodes  # Edges that lead from one node to several others give no order.
    at = next((ix for ix in by_id if ix in following and ix not in following.values()), None)
    chain: list[Row] = []
    while at in by_id:
        chain.append(by_id.pop(at))
        at = following.get(at)
    return [*chain, *by_id.values()]


READER = Reader(
    Dataset.NLPEER,
    "NLPeer",
    "NLPeer (<paper>/v1/reviews.json)",
    list_nlpeer,
    read_nlpeer,
    find_nlpeer,
    is_of_folders=True,
    has_text=True,
)
