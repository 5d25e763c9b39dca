"""Zips that are not what they should be, made of the true ones."""

import io
from collections.abc import Mapping
from dataclasses import replace
from zipfile import ZIP_DEFLATED, ZipFile

from peercorpus.simulator.answers import NO_PDF, Answer, page

BOMB_BYTES = 512 << 20
_BLOCK = bytes(1 << 22)


def without_member(answer: Answer) -> Answer:
    """The zip without its last member."""
    return _rezipped(answer, dict(list(_members(answer).items())[:-1])) if _is_zip(answer) else answer


def with_html_member(answer: Answer) -> Answer:
    """The zip with a page of HTML under its first member's name."""
    return _with_first(answer, page(NO_PDF).body) if _is_zip(answer) else answer


def with_cut_pdf(answer: Answer) -> Answer:
    """The first half of a PDF, as if it were whole; of a zip, the first member is cut."""
    if _is_zip(answer):
        first = next(iter(_members(answer).values()), b"")
        return _with_first(answer, first[: len(first) // 2])
    if answer.status != 200:
        return answer
    return replace(answer, body=answer.body[: len(answer.body) // 2])


def with_bomb(answer: Answer) -> Answer:
    """The zip with its first member replaced by half a gigabyte of zeros behind the first line of a PDF, deflated."""
    if not _is_zip(answer):
        return answer
    members = _members(answer)
    name = next(iter(members), None)
    archive = io.BytesIO()
    with ZipFile(archive, "w") as written:
        for member, content in members.items():
            if member != name:
                written.writestr(member, content)
        if name is not None:
            written.compression = ZIP_DEFLATED
            with written.open(name, "w", force_zip64=True) as bomb:
                bomb.write(b"%PDF-1.7\n")
                for _ in range(BOMB_BYTES // len(_BLOCK)):
                    bomb.write(_BLOCK)
    return replace(answer, body=archive.getvalue())


def _is_zip(answer: Answer) -> bool:
    return answer.status == 200 and answer.content_type == "application/zip"


def _members(answer: Answer) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(answer.body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _with_first(answer: Answer, content: bytes) -> Answer:
    members = _members(answer)
    return _rezipped(
        answer, {name: content if place == 0 else old for place, (name, old) in enumerate(members.items())}
    )


def _rezipped(answer: Answer, members: Mapping[str, bytes]) -> Answer:
    archive = io.BytesIO()
    with ZipFile(archive, "w") as written:
        for name, content in members.items():
            written.writestr(name, content)
    return replace(answer, body=archive.getvalue())
