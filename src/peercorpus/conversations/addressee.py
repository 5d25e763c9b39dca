"""Which reviewers a text names: "Reviewer AbCd", "R2", "AnonReviewer3"; and which one a post is addressed to.

A number names a reviewer only where the venue numbers them (`AnonReviewer2`), or where the authors say whom they mean:
"Reviewer AbCd (R2)". How OpenReview happened to list the reviews is no name.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from peercorpus.parts import part_of
from peercorpus.records import Post

NUMBERED = re.compile(r"(?:Anon)?Reviewer_?(\d{1,2})", re.IGNORECASE)
ANONYMOUS = re.compile(r"Reviewer_(\w{4})")
PREFIX = r"(?:(?:anon(?:ymous)?\s*)?(?:reviewers?|referees?)[\s_#.\-\u2013*`@:]*|rev\.?[\s#*]*|r[\s#*\-]?)"
MENTION = re.compile(rf"(?<![A-Za-z0-9]){PREFIX}(\d{{1,2}}(?![\w%]|\.\d)|\w{{4}}(?!\w))", re.IGNORECASE)
BARE = re.compile(r"(?<!\w)\w{4}(?!\w)")
_NUMBER, _ID = rf"{PREFIX}(?P<number>\d{{1,2}})", rf"(?:{PREFIX})?(?P<id>\w{{4}})"
DEFINITIONS = (
    re.compile(rf"\b{_NUMBER}\W{{0,4}}(?:=|:|is|\(|\[|\u2192|->)\W{{0,3}}{_ID}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<!\w){_ID}\W{{0,4}}(?:=|:|is|as|\(|\[|\u2192|->)\W{{0,3}}{_NUMBER}(?!\w)", re.IGNORECASE),
)
"""Where authors say whom a number means: "R1 = Reviewer AbCd", "AbCd (R1)"."""
MORE = re.compile(
    r"\s*(?:,|and|&|/|or|,\s*and)\s*(?:reviewers?|r)?[\s_#\-*]*(\d{1,2}|\w{4})(?![\w%]|\.\d)", re.IGNORECASE
)
"""A further one behind the first: "Reviewers 1, 2 and 3"."""
TO_ALL = re.compile(
    r"\b(?:all|both|every|each)\s+(?:of\s+)?(?:the\s+|our\s+|these\s+)?(?:\w+\s+)?(?:reviewers?|referees?)\b"
    r"|\b(?:everyone|everybody|reviewers|referees)\b|\b(?:to|dear|hi|hello|and)\s+all\b(?!\s+\w)",
    re.IGNORECASE,
)
TO_CHAIRS = re.compile(
    r"(?:^|\b(?:dear|to|hi|hello|for)\b)\W*(?:the\s+|our\s+)?(?:(?:senior|area|program|meta)[\s\-]*)*(?:chairs?|S?ACs?|PCs?)\b",
    re.IGNORECASE,
)
GENERAL = re.compile(r"\b(?:general|global|common|overall|shared|summary|overview)\b", re.IGNORECASE)
THANKS = re.compile(r"(?:(?:first|firstly)?\W*we\s+(?:\w+\s+){0,3}(?:thank|appreciate)|thanks?\b)", re.IGNORECASE)
ADDRESS = re.compile(
    r"\s*[*_#>@\s]*(?:(?:dear|hi|hello|hey|to|@|for|re:?|cc:?)\b[\s,:]*"
    r"|(?:our\s+)?(?:response|reply|replies|answers?|rebuttal|comments?|follow[- ]?up)\s+(?:to|for)\s+)"
    r"(?:the\s+|our\s+)?",
    re.IGNORECASE,
)
OPENING_CHARACTERS = 100
LONGEST_NAME = 25
"""Characters of a first line that is nothing but a name."""


class Names:
    """How the reviewers of one paper may be named.

    Args:
        reviewers: Their anonymous ids within the paper.
        texts: What the authors wrote: where they say whom "R1" means, it means that.
    """

    def __init__(self, reviewers: Iterable[str], texts: Iterable[str] = ()) -> None:
        self._by_number: dict[int, str] = {}
        self._by_id: dict[str, str] = {}
        for reviewer in reviewers:
            if found := NUMBERED.fullmatch(reviewer):
                self._by_number[int(found[1])] = reviewer
            elif found := ANONYMOUS.fullmatch(reviewer):
                self._by_id[found[1]] = reviewer
        # Letters alone may be a word in another case ("sAid"), so they name only as they are written.
        self._folded = {key.casefold(): one for key, one in self._by_id.items() if not key.isalpha()} | self._by_id
        self._unmistakable = {key: one for key, one in self._by_id.items() if _is_unlike_a_word(key)}
        if self._by_id and not self._by_number:
            self._by_number = self._defined(texts)

    def _defined(self, texts: Iterable[str]) -> dict[int, str]:
        """The numbers that the authors give; one that they give to two reviewers names none."""
        found: dict[int, set[str]] = defaultdict(set)
        naming = filter(self._may_name, texts)
        for match in (match for text in naming for pattern in DEFINITIONS for match in pattern.finditer(text)):
            if reviewer := self._reviewer(match["id"]):
                found[int(match["number"])].add(reviewer)
        return {key: named.pop() for key, named in found.items() if len(named) == 1}

    def _may_name(self, text: str) -> bool:
        """Whether an id is anywhere in a text: sooner known than who is named by it."""
        folded = text.casefold()
        return any(key in text or key in folded for key in self._folded)

    def named(self, text: str) -> set[str]:
        """The reviewers whom a text names.

        >>> sorted(Names(["AnonReviewer1", "AnonReviewer2"]).named("As R1 and Reviewer #2 say, 2 of 3 …"))
        ['AnonReviewer1', 'AnonReviewer2']
        >>> Names(["Reviewer_zm69"]).named("Response to zm69"), Names(["Reviewer_zm69"]).named("R2 is .69")
        ({'Reviewer_zm69'}, set())
        """
        found = {self._unmistakable[word] for word in BARE.findall(text) if word in self._unmistakable}
        walked = 0
        for match in MENTION.finditer(text):
            if match.start() < walked:
                continue
            named: re.Match[str] | None = match
            while named is not None and (reviewer := self._reviewer(named[1])):
                found.add(reviewer)
                walked = named.end()
                named = MORE.match(text, walked)
        return found

    def _reviewer(self, said: str) -> str | None:
        found = self._folded.get(said) or self._folded.get(said.casefold())
        return found or (self._by_number.get(int(said)) if said.isdigit() else None)

    def addressee(self, post: Post) -> str | None:
        """The one reviewer whom a post to the whole forum answers; None where it answers all or several."""
        title = part_of(post).stem or post.title or ""
        opening = post.text.lstrip()[:OPENING_CHARACTERS].partition("\n")[0]
        if TO_CHAIRS.match(opening.lstrip("*#_> ")) or TO_CHAIRS.search(title):
            return None
        said = title if self.named(title) or TO_ALL.search(title) else self._address(title, opening, post.text)
        named = self.named(said)
        return named.pop() if len(named) == 1 and not TO_ALL.search(said) else None

    def _address(self, title: str, opening: str, text: str) -> str:
        """What of the beginning of a text says whom it is to; empty where nothing does."""
        is_bare = len(opening.strip("*#_:, ")) <= LONGEST_NAME
        if ADDRESS.match(opening) or is_bare:
            return opening
        # Thanks to one of several, or at the head of a general response, address nobody.
        is_thanks = THANKS.match(opening) and not GENERAL.search(title) and len(self.named(text)) == 1
        return opening if is_thanks else ""


def _is_unlike_a_word(key: str) -> bool:
    """Whether an id cannot be taken for a word of a text: a digit in it, or a capital behind its first letter."""
    has_digit = any(letter.isdigit() for letter in key) and not key.isdigit()
    return has_digit or any(letter.isupper() for letter in key[1:])


def texts_of(posts: Sequence[Post]) -> list[str]:
    """Titles and texts."""
    return [text for post in posts for text in (post.title, post.text) if text]
