"""Many current PDFs in one request: `/attachment?name=pdf&ids=…` gives a zip of at most fifty.

openreview-py's `get_all_attachments` shows the call, and by the name it gives to a single file, `<number>_pdf.pdf`,
what members are called. What else comes, or cannot be told apart, is left to be asked for one by one.
"""

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import PurePosixPath
from typing import IO

from peercorpus.errors import BusyError, SignInError, SourceError
from peercorpus.harvest.visit import Visit
from peercorpus.harvest.wanted import Wanted
from peercorpus.openreview.client import MOST_FILE_BYTES, is_pdf, is_whole

MOST_IN_ONE = 50
"""OpenReview's own limit (openreview-py, `get_attachment`)."""

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
"""What `zipfile` raises for archives that are cut off, damaged, locked, or packed in a way it does not know."""


def download_archive(visit: Visit, batch: Sequence[Wanted], scratch: IO[bytes]) -> bool:
    """Fetch the files of some papers as one zip.

    Args:
        visit: The venue.
        batch: Current files of different papers, two to fifty.
        scratch: Where the zip is written.

    Returns:
        Whether anything came.

    Raises:
        BusyError: OpenReview asks to wait.
        SignInError: A token is needed, or was refused.
    """

    def begin() -> None:
        scratch.seek(0)
        scratch.truncate()

    ids = ",".join(wanted.forum_id for wanted in batch)
    try:
        visit.client.get_archive(visit.api, "/attachment", {"name": "pdf", "ids": ids}, begin, scratch.write)
    except SignInError:
        raise
    except BusyError as error:
        if error.wait_s is not None:
            raise
        return False
    except SourceError:
        return False
    return True


def unpack(scratch: IO[bytes], batch: Sequence[Wanted]) -> Iterator[tuple[Wanted, bytes]]:
    """The files of an archive that are whole PDFs, as far as its members can be told apart."""
    named = _by_member(batch)
    # What is read before a fault is whole: each member carries its own checksum.
    with suppress(*BROKEN), zipfile.ZipFile(scratch) as archive:
        times = Counter(PurePosixPath(member.filename).name for member in archive.infolist())
        # From the end: were members named by their place, the first might bear its own number by chance.
        for member in reversed(archive.infolist()):
            name = PurePosixPath(member.filename).name
            wanted = named.get(name) if times[name] == 1 else None
            if wanted is not None and (content := _content(archive, member)) is not None:
                yield wanted, content


def _by_member(batch: Sequence[Wanted]) -> dict[str, Wanted]:
    """Which file a member is, by its name; two papers of one number are not told apart."""
    numbers = Counter(wanted.number for wanted in batch)
    return {f"{wanted.number}_pdf.pdf": wanted for wanted in batch if wanted.number and numbers[wanted.number] == 1}


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | None:
    """The bytes of a member; None where they are no whole PDF, or more than a file may have."""
    if member.file_size > MOST_FILE_BYTES:
        return None
    with archive.open(member) as unpacked:
        content = unpacked.read(MOST_FILE_BYTES + 1)
    return content if len(content) <= MOST_FILE_BYTES and is_pdf(content) and is_whole(content) else None
