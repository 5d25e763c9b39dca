"""One request to the simulated service: as it came in, and as its routes see it."""

from collections.abc import Mapping
from dataclasses import dataclass

from peercorpus.simulator.accounts import Accounts
from peercorpus.simulator.answers import invalid
from peercorpus.simulator.holdings import Json
from peercorpus.simulator.shelves import Shelves
from peercorpus.simulator.visibility import Caller


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came in.

    Attributes:
        api: Which API was asked: "v1" or "v2".
        query: One text per parameter; a repeated parameter is a comma list.
        number: Counted over both APIs, from 1.
        has_token: Whether a token came with it, good or not.
        takes_html: Whether it asks for a page, as a browser does.
    """

    method: str
    api: str
    path: str
    query: Mapping[str, str]
    number: int = 0
    has_token: bool = False
    takes_html: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A request whose caller is known.

    Attributes:
        query: One text per parameter; a repeated parameter is a comma list.
        body: The JSON object of a POST; empty otherwise.
    """

    accounts: Accounts
    shelves: Shelves
    caller: Caller
    query: Mapping[str, str]
    body: Json

    @property
    def api(self) -> str:
        """Which API was asked: "v1" or "v2"."""
        return self.shelves.api

    def flag(self, name: str) -> bool:
        """Read a parameter that is `true` or `false`; absent means false."""
        text = self.query.get(name, "false").lower()
        if text not in {"true", "false"}:
            raise invalid(name, text, "must be boolean")
        return text == "true"

    def required(self, name: str) -> str:
        """Read a parameter that must be there."""
        if name not in self.query:
            raise invalid(name, None, "must be given")
        return self.query[name]


def gives_file(path: str) -> bool:
    """Whether a path is answered with a file, not with JSON."""
    return path.startswith("/pdf/") or path.rpartition("/")[2] in {"pdf", "attachment"}
