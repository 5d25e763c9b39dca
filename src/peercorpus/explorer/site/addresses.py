"""Name the files of a site after ids, which come from outside, and link them relative to each page.

No two ids share a file, not even where case is ignored, and no id names anything outside its folder.
"""

import hashlib
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass, field

_MAX_CHARACTERS = 120
"""Longer names are replaced by their digest: file systems take 255 bytes."""
_PLAIN = re.compile(r"[a-z0-9-]")


def file_stem(record_id: str) -> str:
    """Return the name of the file of an id, of lower-case letters, digits, `-`, `_` and `~` only.

    Different ids have different names: an upper-case letter becomes `_` and its lower case, any other byte `~` and two
    digits; `~~` begins a digest in the place of a long name. The first letter keeps names apart from those that Windows
    reserves, such as `con`.

    >>> file_stem("rJl-b3_X"), file_stem("con"), file_stem("../a.b")
    ('p-r_jl-b3~5f_x', 'p-con', 'p-~2e~2e~2fa~2eb')
    """
    encoded = "".join(map(_encode_character, record_id))
    if len(encoded) > _MAX_CHARACTERS:
        encoded = f"~~{hashlib.sha256(record_id.encode('utf-8', 'surrogatepass')).hexdigest()}"
    return f"p-{encoded}"


def _encode_character(character: str) -> str:
    if _PLAIN.fullmatch(character):
        return character
    if "A" <= character <= "Z":
        return f"_{character.lower()}"
    return "".join(f"~{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))


def paper_file(forum_id: str, kind: str = "paper") -> str:
    """Return the path of a paper's page, or that of its `text` or its `changes`.

    They are spread over 256 folders, as some hosts limit files in a folder.
    """
    folder = hashlib.sha256(forum_id.encode("utf-8", "surrogatepass")).hexdigest()[:2]
    return f"{kind}/{folder}/{file_stem(forum_id)}.html"


def venue_file(venue_id: str, page: int = 1) -> str:
    """Return the path of a page with papers of a venue; pages are counted from 1.

    >>> venue_file("JLE"), venue_file("JLE", 2)
    ('venue/p-_j_l_e/index.html', 'venue/p-_j_l_e/2.html')
    """
    return f"venue/{file_stem(venue_id)}/{'index' if page == 1 else page}.html"


_SINGLE_PAGES = {"home": "index.html", "search": "index.html", "venues": "venues.html", "about": "about.html"}


@dataclass(frozen=True)
class Addresses:
    """The links of one page of a site.

    Attributes:
        page: Path of the page in the site.
        papers: Forum ids of the papers that have a page.
        further: Forum ids of the papers that have a further page, by its kind: `text`, `changes`.
    """

    page: str
    papers: Set[str]
    further: Mapping[str, Set[str]] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The way from the page to the folder of the site: empty, or one `../` for each folder."""
        return "../" * self.page.count("/")

    def __call__(self, kind: str, name: str | None = None) -> str:
        """Return the link to what a template names as `explorer.pages.address` does; empty if the site has no such."""
        if name is None:
            return self.root + _SINGLE_PAGES[kind] if kind in _SINGLE_PAGES else ""
        if kind == "static":
            return f"{self.root}static/{name}"
        if kind == "venue":
            return self.root + venue_file(name)
        named = self.papers if kind == "paper" else self.further.get(kind, ())
        return self.root + paper_file(name, kind) if name in named else ""
