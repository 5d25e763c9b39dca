"""Read PeerRead: `reviews/<id>.json` with title, reviews and `accepted`, and `parsed_pdfs/<id>.pdf.json` with sections.

Source: allenai/PeerRead, `data/<venue>/<train|dev|test>/`, as published; ICLR 2017, ACL 2017, CoNLL 2016, arXiv, and
NIPS 2013 to 2017 as its crawler makes them. The facts about its files are from its code
(`aspect_predict/assign_annot_iclr_2017.py`, `models/Paper.py`, `data_prepare/crawler/NIPS_crawl.py`) and its paper.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from peercorpus.importers.reader import (
    CONFERENCE_YEAR,
    PaperParts,
    Reader,
    Record,
    Row,
    Source,
    StatedPaper,
    StatedPost,
    StatedReview,
    as_text,
    is_stated,
    make_paper_id,
    name_venue,
    read_json_file,
    record_of_files,
)
from peercorpus.records.datasets import Dataset
from peercorpus.records.enums import PostKind, Role, Status
from peercorpus.wording.untrusted_text import show_path

REVIEW = "review"
PARSED = "parsed_pdf"
OVERALL = ("RECOMMENDATION", "REVIEWER_CONFIDENCE")
ASPECTS = (
    *("RECOMMENDATION_UNOFFICIAL", "SUBSTANCE", "CLARITY", "IMPACT", "APPROPRIATENESS", "ORIGINALITY"),
    *("SOUNDNESS_CORRECTNESS", "MEANINGFUL_COMPARISON", "REPLICABILITY"),
)
IS_ANNOTATED = "IS_ANNOTATED"
"""Marks a review of ICLR 2017 with aspect scores by PeerRead's annotators, not by its reviewer."""
ANNOTATED = "annotated_aspects"
SPEAKER = "OTHER_KEYS"
OF_A_POST = ("DATE", SPEAKER, "TITLE")
"""Members found only for ICLR 2017, whose reviews include questions and comments; elsewhere every entry is a review."""
OF_ARXIV = frozenset({"SUBJECTS", "VERSION", "DATE_OF_SUBMISSION"})
"""Members of papers from arXiv, whose `accepted` is PeerRead's inference, not a decision."""
FINAL_DECISION = "final decision"
"""Part of the title of the chairs' post at ICLR 2017."""
REPEATED, COPIED, EMPTY = "repeated_entries", "copies_of_a_review", "entries_without_text"
"""Names under which a paper states how many entries of its file were left out."""


FOLDERS = frozenset({"reviews", "parsed_pdfs", "pdfs"})


def find_peerread(reader: Reader, files: Sequence[Path]) -> Iterator[Source]:
    """Yield the folders of PeerRead, each with its files."""
    reviews_by_root = defaultdict[Path, list[Path]](list)
    for path in files:
        if path.suffix == ".json" and path.parent.name == "reviews":
            reviews_by_root[path.parent.parent].append(path)
    for root, reviews in reviews_by_root.items():
        if any(map(is_peerread, map(read_json_file, reviews[:3]))):
            own = (path for path in files if path.parent.parent == root and path.parent.name in FOLDERS)
            yield Source(reader, root, tuple(own))


def list_peerread(source: Source) -> Iterator[Record]:
    """Yield the record of each paper: its reviews, and its parsed PDF if there is one."""
    root = source.root.resolve()
    folder = show_path(root.name if CONFERENCE_YEAR.match(root.name) else root.parent.name)
    parsed = {path.name.removesuffix(".pdf.json"): path for path in source.files if path.parent.name == "parsed_pdfs"}
    for path in sorted(path for path in source.files if path.parent.name == "reviews" and path.suffix == ".json"):
        paths = {REVIEW: path} | ({PARSED: parsed[path.stem]} if path.stem in parsed else {})
        body = PaperParts(make_paper_id(path.stem, folder), {}, name_venue(folder))
        yield record_of_files(Dataset.PEERREAD, source.root, paths, body)


def is_peerread(members: object) -> bool:
    """Return whether a JSON value is PeerRead's file of reviews."""
    if not isinstance(members, dict):
        return False
    reviews = members.get("reviews")
    named = {"conference", "accepted", "histories", "abstract", "SCORE"} & members.keys()
    return (
        isinstance(reviews, list) and "title" in members and bool(named) and not {"forum", "content"} & members.keys()
    )


def read_peerread(parts: Row) -> StatedPaper:
    """Return the paper of one file of reviews; posts without a recommendation are not reviews."""
    found = parts[REVIEW]
    entries, left_out = _sort_out([entry if isinstance(entry, dict) else {} for entry in found.get("reviews") or ()])
    authors = _read_authors(found.get("authors"))
    reviews = [entry for entry in entries if _is_review(entry)]
    posts = [_read_post(entry, authors) for entry in entries if not _is_review(entry)]
    accepted = None if OF_ARXIV & found.keys() else found.get("accepted")
    status = {True: Status.ACCEPTED, False: Status.REJECTED}[accepted] if isinstance(accepted, bool) else None
    decided = (post.text for post in posts if post.kind is PostKind.DECISION)
    read = {"reviews", "title", "abstract", "authors", *(("accepted",) if status else ())}
    others = {name: value for name, value in found.items() if name not in read and value not in (None, "", [])}
    return StatedPaper(
        title=as_text(found.get("title")),
        abstract=as_text(found.get("abstract")),
        authors=authors,
        status=status,
        decision_comment=next(decided, None),
        text=read_sections(parts),
        reviews=tuple(_read_review(entry) for entry in reviews),
        posts=tuple(posts),
        extra=others | left_out,
    )


def _sort_out(entries: Sequence[Row]) -> tuple[list[Row], dict[str, int]]:
    """Return the entries with content of their own, and the number of others by reason.

    For ICLR 2017 most files contain every entry twice, questions have lost their text, and an entry marked as a
    meta-review is the text of one of the reviews.
    """
    texts = {_text_of(entry) for entry in entries if not _is_meta_review(entry)}
    kept: list[Row] = []
    left_out = dict.fromkeys((REPEATED, COPIED, EMPTY), 0)
    for number, entry in enumerate(entries):
        if entry in entries[:number]:
            left_out[REPEATED] += 1
        elif not _text_of(entry):
            left_out[EMPTY] += 1
        elif _is_meta_review(entry) and _text_of(entry) in texts:
            left_out[COPIED] += 1
        else:
            kept.append(entry)
    return kept, {name: number for name, number in left_out.items() if number}


def _text_of(entry: Row) -> str:
    return (as_text(entry.get("comments")) or "").strip()


def _is_meta_review(entry: Row) -> bool:
    return bool(entry.get("IS_META_REVIEW") or entry.get("is_meta_review"))


def read_sections(parts: Row) -> str | None:
    """Return the text of the parsed PDF as Markdown: its sections in order; None if there is none."""
    metadata = (parts.get(PARSED) or {}).get("metadata") or {}
    texts = list(_read_passages(metadata))
    return "\n\n".join(texts) if len(texts) > bool(metadata.get("title")) else None


def _read_passages(metadata: Row) -> Iterator[str]:
    if title := as_text(metadata.get("title")):
        yield f"# {title}"
    if abstract := as_text(metadata.get("abstractText")):
        yield f"## Abstract\n\n{abstract}"
    for section in (section for section in metadata.get("sections") or () if isinstance(section, dict)):
        heading, text = as_text(section.get("heading")), as_text(section.get("text"))
        if heading or text:
            yield "\n\n".join(part for part in (heading and f"## {heading}", text) if part)


def _is_review(entry: Row) -> bool:
    """Return whether an entry is a review: a post of ICLR 2017 is one if it has a recommendation."""
    if _is_meta_review(entry):
        return False
    return is_stated(entry.get("RECOMMENDATION")) or not any(is_stated(entry.get(name)) for name in OF_A_POST)


def _read_review(entry: Row) -> StatedReview:
    scored = OVERALL if entry.get(IS_ANNOTATED) else (*OVERALL, *ASPECTS)
    answers = {name: entry[name] for name in (*scored, "TITLE", "comments") if is_stated(entry.get(name))}
    annotated = {name: entry[name] for name in ASPECTS if name not in scored and is_stated(entry.get(name))}
    read = {*answers, *annotated, "IS_META_REVIEW", "is_meta_review", SPEAKER}
    others = {name: value for name, value in entry.items() if name not in read and is_stated(value)}
    return StatedReview(
        answers,
        reviewer=_find_reviewer(entry),
        scores=frozenset(scored),
        extra=others | ({ANNOTATED: annotated} if annotated else {}),
    )


def _find_reviewer(entry: Row) -> str | None:
    """Return the pseudonym of a reviewer; None if a person's name or none is given."""
    speaker = as_text(entry.get(SPEAKER)) or ""
    return speaker.split()[-1] if "AnonReviewer" in speaker else None


def _read_post(entry: Row, authors: Sequence[str]) -> StatedPost:
    speaker, title = as_text(entry.get(SPEAKER)) or "", as_text(entry.get("TITLE"))
    role = Role.UNKNOWN
    kind = PostKind.META_REVIEW if _is_meta_review(entry) else PostKind.COMMENT
    if title and FINAL_DECISION in title.casefold():
        kind, role = PostKind.DECISION, Role.PROGRAM_CHAIR
    elif _find_reviewer(entry):
        role = Role.REVIEWER
    elif speaker == "(anonymous)":
        role = Role.PUBLIC
    elif speaker and speaker.casefold() in {author.strip("*†‡ ").casefold() for author in authors}:
        role = Role.AUTHOR
    return StatedPost(kind, role, _find_reviewer(entry) or "", title, str(entry["comments"]))


def _read_authors(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",")
    return (
        tuple(name.strip() for name in value if isinstance(name, str) and name.strip())
        if isinstance(value, list)
        else ()
    )


READER = Reader(
    Dataset.PEERREAD,
    "PeerRead",
    "PeerRead (reviews/*.json)",
    list_peerread,
    read_peerread,
    find_peerread,
    is_of_folders=True,
    has_text=True,
)
