"""Digests the pages of the explorer, found by following links from the first page."""

import re
from collections import Counter
from html import unescape
from urllib.error import HTTPError
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.request import urlopen

from canonical import Canon, Section

LINK = re.compile(r'(?:href|src)="([^"]+)"')
MOST_OF_A_KIND = 4
"""Largest number of pages whose addresses begin alike; all pages of one kind come from the same code."""


def _kind(address: str) -> str:
    """Return the first part of a path, which names the kind of page."""
    split = urlsplit(address)
    return split.path.split("/")[1] + ("?" if split.query else "")


def _fetch(address: str) -> tuple[int, bytes]:
    try:
        with urlopen(address, timeout=60) as answer:
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


def put_pages(canon: Canon, first: str) -> None:
    """Follow links breadth first, a few of each kind, and digest every page reached."""
    waiting, seen, kinds = [f"{first}/"], {f"{first}/"}, Counter[str]()
    while waiting:
        address = waiting.pop(0)
        kind = _kind(address)
        kinds[kind] += 1
        if kinds[kind] > MOST_OF_A_KIND:
            continue
        status, body = _fetch(address)
        path = address.removeprefix(first)
        if path.partition("?")[0].endswith((".parquet", ".png")):
            continue
        text = body.decode(errors="replace").replace(first, "http://HOST")
        canon.put_text(f"explorer{path}", f"{status}\n{text}", Section.WORDS)
        for link in LINK.findall(text):
            target = urldefrag(urljoin(address, unescape(link))).url
            if target.startswith(f"{first}/") and target not in seen:
                seen.add(target)
                waiting.append(target)
