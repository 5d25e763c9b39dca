"""Determine the addressees of each post by the authors: reviewers, chairs, everyone or the public.

`address_posts` does so for all posts of a forum, from the post that each replies to, its title, the beginning of its
text, and the other parts of the same answer. `ReviewerNames` has the ways in which reviewers can be named.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter

from peercorpus.discussion.letters import addresses_ethics, addresses_public, find_letter, is_confidential
from peercorpus.discussion.multipart import read_part_of_post
from peercorpus.discussion.replies import Replies, count_within
from peercorpus.records.enums import AddressedBy, Addressee, PostKind, Role
from peercorpus.records.reviews import Post

NUMBERED = re.compile(r"(?:\w+_)?(?:Anon)?Reviewer_?(\d{1,2})", re.IGNORECASE)
ANONYMOUS = re.compile(r"[A-Za-z]\w*_(\w{4})")
"""Matches the name of a committee's member, such as `Reviewer_x1Yz` or `Program_Committee_x1Yz`."""
_REVIEWER = r"(?:reviewers?|referees?|committee(?:[\s_]+members?)?)"
PREFIX = rf"(?:(?:anon(?:ymous)?\s*)?{_REVIEWER}[\s_#.\-\u2013*`@:]*|rev\.?[\s#*]*|r[\s#*\-]?)"
MENTION = re.compile(rf"(?<![A-Za-z0-9]){PREFIX}(\d{{1,2}}(?![\w%]|\.\d)|\w{{4}}(?!\w))", re.IGNORECASE)
BARE = re.compile(r"(?<!\w)\w{4}(?!\w)")
_NUMBER, _ID = rf"{PREFIX}(?P<number>\d{{1,2}})", rf"(?:{PREFIX})?(?P<id>\w{{4}})"
DEFINITIONS = (
    re.compile(rf"\b{_NUMBER}\W{{0,4}}(?:=|:|is|\(|\[|\u2192|->)\W{{0,3}}{_ID}(?!\w)", re.IGNORECASE),
    re.compile(rf"(?<!\w){_ID}\W{{0,4}}(?:=|:|is|as|\(|\[|\u2192|->)\W{{0,3}}{_NUMBER}(?!\w)", re.IGNORECASE),
)
"""Match definitions of numbers by the authors: "R1 = Reviewer AbCd", "AbCd (R1)"."""
MORE = re.compile(
    r"\s*+(?:,\s*+and|,|;|and|&|/|\+|or|as well as)\s*+(?:reviewers?|r)?[\s_#\-*]*(\d{1,2}|\w{4})(?![\w%]|\.\d)",
    re.IGNORECASE,
)
"""Matches a further reviewer after the first: "Reviewers 1, 2 and 3"."""
RANGE = re.compile(
    r"\s*(?:[-\u2013\u2014]|to|through)\s*(?P<letter>R|Reviewer\s?)?#?(?P<number>\d{1,2})(?![\w%]|\.\d)", re.I
)
PLURAL = re.compile(r"(?:anon(?:ymous)?\s*)?(?:reviewers|referees)", re.IGNORECASE)
TO_ALL = re.compile(
    r"\b(?:all|both|every|each)\s+(?:of\s+)?(?:the\s+|our\s+|these\s+)?(?:\w+\s+)?(?:reviewers?|referees?)\b"
    r"|\b(?:everyone|everybody|reviewers|referees)\b|\b(?:to|dear|hi|hello|and)\s+all\b(?!\s+\w)",
    re.IGNORECASE,
)
LISTED = frozenset({"reviewers", "referees", "both reviewers", "both referees"})
"""Words that mean all reviewers, unless names follow."""
NAME_BEHIND = re.compile(r"\W{0,3}(?:R(?=\d))?(\d{1,2}|\w{4})(?!\w)")
GENERAL = re.compile(r"\b(?:general|global|common|overall|shared|summary|overview)\b", re.IGNORECASE)
THANKS = re.compile(r"(?:(?:first|firstly)?\W*we\s+(?:\w+\s+){0,3}(?:thank|appreciate)|thanks?\b)", re.IGNORECASE)
ADDRESS = re.compile(
    r"\s*[*_#>@\s]*(?:(?:dear|hi|hello|hey|to|@|for|re:?|cc:?)\b[\s,:]*"
    r"|(?:our\s+)?(?:response|reply|replies|answers?|rebuttal|comments?|follow[- ]?up)\s+(?:to|for)\s+)"
    r"(?:the\s+|our\s+)?",
    re.IGNORECASE,
)
_MAX_TITLE_CHARACTERS = 300
_MAX_OPENING_CHARACTERS = 100
_MAX_NAME_CHARACTERS = 25
"""Largest length of a first line that may consist of a name only."""


EXPLICIT = re.compile(
    r"(?:^|\b(?:dear|to|hi|hello|hey|for|re|cc)\b|@)[\W_]*(?:(?:the|our|all|both|these|dear|other)\b\W*)*$",
    re.IGNORECASE,
)
"""Matches what precedes the name of an addressee, who is not merely mentioned."""
GREETING_END = re.compile(
    r"[,:.!?;]+\W+(?!(?:and|dear|to|(?:the\s+)?(?:anon\w*\s*)?(?:reviewers?|referees?)|R?\d{1,2}|(?=\w*\d|\w+[A-Z])\w{4}|all)\b"
    r"(?:\W*\w{1,4}\b)?\s*(?:[,:;.!]|and\b|&|$))"
)
"""Matches the end of a greeting: a punctuation mark not followed by another addressee."""
UNKNOWN_REVIEWER = re.compile(
    r"\b(?:anon(?:ymous)?\s*)?(?:reviewers?|referees?)[\s_#]*(?:\d{1,2}\b|(?-i:(?=\w*[\dA-Z])\w{4}\b))|\bR\d\b",
    re.IGNORECASE,
)
_GREETING = AddressedBy.GREETING


@dataclass(frozen=True, slots=True)
class Address:
    """The addressees that a post by the authors names itself.

    Attributes:
        to: As `Post.addressed_to`; empty if the post names none.
        is_explicit: Whether it is addressed to these reviewers ("Dear Reviewer AbCd") and does not just name them.
        is_unknown: Whether it addresses a reviewer who is not among those of the paper.
    """

    to: tuple[str, ...]
    by: AddressedBy
    is_explicit: bool = True
    is_unknown: bool = False

    @property
    def is_letter(self) -> bool:
        """Whether it addresses only the chairs."""
        return self.to == (Addressee.CHAIRS,)


class ReviewerNames:
    """The ways in which the reviewers of one paper can be named; texts by the authors may define "R1"."""

    def __init__(self, reviewers: Iterable[str], texts: Iterable[str] = ()) -> None:
        self.all = frozenset(reviewers := list(reviewers))
        numbered: dict[int, list[str]] = defaultdict(list)
        by_id: dict[str, list[str]] = defaultdict(list)
        for reviewer in reviewers:
            if match := NUMBERED.fullmatch(reviewer):
                numbered[int(match[1])].append(reviewer)
            elif match := ANONYMOUS.fullmatch(reviewer):
                by_id[match[1]].append(reviewer)
        # Members of two committees may have the same number, and then it names neither.
        self._by_number = {number: names[0] for number, names in numbered.items() if len(names) == 1}
        self._by_id = {key: names[0] for key, names in by_id.items() if len(names) == 1}
        # An id of letters only may be a word in another case ("sAid"), so it must match exactly.
        self._folded = {key.casefold(): name for key, name in self._by_id.items() if not key.isalpha()} | self._by_id
        self._unmistakable = {key: name for key, name in self._by_id.items() if _is_unlike_a_word(key)}
        if self._by_id and not self._by_number:
            self._by_number = self._read_definitions(texts)

    def _read_definitions(self, texts: Iterable[str]) -> dict[int, str]:
        reviewers_by_number: dict[int, set[str]] = defaultdict(set)
        naming = filter(self._may_name, texts)
        for match in (match for text in naming for pattern in DEFINITIONS for match in pattern.finditer(text)):
            if reviewer := self._find_reviewer(match["id"]):
                reviewers_by_number[int(match["number"])].add(reviewer)
        return {key: named.pop() for key, named in reviewers_by_number.items() if len(named) == 1}

    def _may_name(self, text: str) -> bool:
        """Return whether a text may name a reviewer: a quick test before the slow search."""
        if self._by_number:
            return True
        folded = text.casefold()
        return any(key in text or key in folded for key in self._folded)

    def named(self, text: str) -> set[str]:
        """Return the reviewers whom a text names.

        >>> sorted(ReviewerNames(["AnonReviewer1", "AnonReviewer2"]).named("As R1 and Reviewer #2 say, 2 of 3 …"))
        ['AnonReviewer1', 'AnonReviewer2']
        >>> names = ReviewerNames(["Reviewer_zm69"])
        >>> names.named("Response to zm69"), names.named("R2 is .69")
        ({'Reviewer_zm69'}, set())
        """
        if not self._may_name(text):
            return set()
        reviewers = {self._unmistakable[word] for word in BARE.findall(text) if word in self._unmistakable}
        walked = 0
        for match in MENTION.finditer(text):
            if match.start() < walked:
                continue
            named: re.Match[str] | None = match
            while named is not None and (reviewer := self._find_reviewer(named[1])):
                reviewers.add(reviewer)
                walked = named.end()
                reviewers |= self._read_range(match[0], named, text)
                named = MORE.match(text, walked)
        return reviewers

    def _read_range(self, first: str, named: re.Match[str], text: str) -> set[str]:
        last = RANGE.match(text, named.end())
        is_range = last is not None and (PLURAL.match(first) is not None or last["letter"])
        if not is_range or last is None or not named[1].isdigit():
            return set()
        numbers = range(int(named[1]) + 1, int(last["number"]) + 1)
        return {self._by_number[number] for number in numbers if number in self._by_number}

    def _find_reviewer(self, name: str) -> str | None:
        reviewer = self._folded.get(name) or self._folded.get(name.casefold())
        return reviewer or (self._by_number.get(int(name)) if name.isdigit() else None)

    def address(self, post: Post) -> "Address":
        """Return the addressees in the title, the beginning of the text or the invitation of a post by the authors."""
        if post.kind is PostKind.WITHDRAWAL:
            return Address((Addressee.CHAIRS,), AddressedBy.INVITATION)
        title = read_part_of_post(post).stem or (post.title or "")[:_MAX_TITLE_CHARACTERS]
        opening = post.text.lstrip()[:_MAX_OPENING_CHARACTERS].partition("\n")[0]
        return self._find_other_addressee(post, title, opening) or self._find_reviewers(title, opening, post.text)

    def names_twice(self, post: Post, reviewer: str) -> bool:
        """Return whether the title and the greeting of a post each address this reviewer and nobody else."""
        opening = post.text.lstrip()[:_MAX_OPENING_CHARACTERS].partition("\n")[0]
        greeting = self._find_address("", opening, post.text)
        return all(
            self.named(text) == {reviewer} and self._addresses_reviewers(text) for text in (post.title or "", greeting)
        )

    def _find_other_addressee(self, post: Post, title: str, opening: str) -> "Address | None":
        found = self._read_other_addressee(title, AddressedBy.TITLE, opening)
        if found is not None:
            return found
        greeted = self._read_other_addressee(opening, AddressedBy.GREETING, opening)
        if greeted is not None and not self._addresses_reviewers(title):
            return greeted
        if is_confidential(post.invitation.rpartition("/")[2].replace("_", " ")):
            return Address((Addressee.CHAIRS,), AddressedBy.INVITATION)
        return None

    def _read_other_addressee(self, text: str, by: AddressedBy, opening: str) -> "Address | None":
        is_title = by is AddressedBy.TITLE
        if addresses_ethics(text, is_title=is_title):
            return Address((Addressee.ETHICS,), by)
        if addresses_public(text, is_title=is_title):
            return Address((Addressee.PUBLIC,), by)
        letter = find_letter(text, is_title=is_title)
        if letter is None and is_title and is_confidential(text):
            letter = ""
        if letter is None:
            return None
        greeting = find_letter(opening, is_title=False) if is_title else None
        return self._read_letter(f"{letter} {greeting or ''}", by)

    def _read_letter(self, addressees: str, by: AddressedBy) -> "Address":
        if named := self.named(addressees):
            return Address((*sorted(named), Addressee.CHAIRS), by)
        return Address((Addressee.EVERYONE if self._find_all(addressees) else Addressee.CHAIRS,), by)

    def _addresses_reviewers(self, title: str) -> bool:
        """Return whether a title shows that the post is to reviewers, not just about them."""
        found = self._find_mention(title) or self._find_all(title)
        return found is not None and EXPLICIT.search(title[: found.start()]) is not None

    def _find_all(self, text: str) -> re.Match[str] | None:
        """Return the offset at which a text addresses all reviewers, or None; "Reviewers 2 and 4" are not all."""
        for match in TO_ALL.finditer(text):
            name = NAME_BEHIND.match(text, match.end())
            if match[0].casefold() not in LISTED or name is None or not self._find_reviewer(name[1]):
                return match
        return None

    def _find_mention(self, text: str) -> re.Match[str] | None:
        """Return the offset at which a text first names a reviewer, or None."""
        if not self._may_name(text):
            return None
        bare = (match for match in BARE.finditer(text) if match[0] in self._unmistakable)
        mentions = (match for match in MENTION.finditer(text) if self._find_reviewer(match[1]))
        found = [match for match in (next(bare, None), next(mentions, None)) if match is not None]
        return min(found, key=lambda match: match.start(), default=None)

    def _find_reviewers(self, title: str, opening: str, text: str) -> "Address":
        for address, by in ((title, AddressedBy.TITLE), (self._find_address(title, opening, text), _GREETING)):
            named = self.named(address)
            if self._find_all(address):
                return Address((Addressee.EVERYONE,), by, is_explicit=self._addresses_reviewers(address))
            if named:
                is_explicit = self._addresses_reviewers(address) and not THANKS.match(address)
                return Address(tuple(sorted(named)), by, is_explicit=is_explicit)
        return Address((), AddressedBy.NONE, is_unknown=self._names_somebody_else(title))

    def _names_somebody_else(self, title: str) -> bool:
        found = UNKNOWN_REVIEWER.search(title)
        return found is not None and EXPLICIT.search(title[: found.start()]) is not None

    def _find_address(self, title: str, opening: str, text: str) -> str:
        """Return the opening of a text if it names the addressees, otherwise an empty string."""
        if ADDRESS.match(opening):
            return GREETING_END.split(opening, maxsplit=1)[0]
        if len(opening.strip("*#_:, ")) <= _MAX_NAME_CHARACTERS:
            return opening
        # Thanks to one of several reviewers, or at the start of a general response, are not an address.
        is_thanks = THANKS.match(opening) and not GENERAL.search(title) and len(self.named(text)) == 1
        return opening if is_thanks else ""


def _is_unlike_a_word(key: str) -> bool:
    """Return whether an id cannot be a word: it contains a digit, or a capital after the first letter."""
    has_digit = any(letter.isdigit() for letter in key) and not key.isdigit()
    return has_digit or any(letter.isupper() for letter in key[1:])


def post_texts(posts: Sequence[Post]) -> list[str]:
    """Return the titles and texts of posts, without empty ones."""
    return [text for post in posts for text in (post.title, post.text) if text]


PARTIES = {
    Role.AREA_CHAIR: Addressee.CHAIRS,
    Role.SENIOR_AREA_CHAIR: Addressee.CHAIRS,
    Role.PROGRAM_CHAIR: Addressee.CHAIRS,
    Role.ETHICS_REVIEWER: Addressee.ETHICS,
    Role.PUBLIC: Addressee.PUBLIC,
}
"""Addressees of a post that replies to someone with a certain role; for other roles, the signature."""


def read_names(posts: Sequence[Post]) -> ReviewerNames:
    """Return the ways in which the reviewers of a forum can be named, given all its posts in time order."""
    reviewers = {post.signature for post in posts if post.role is Role.REVIEWER}
    return ReviewerNames(sorted(reviewers), post_texts([post for post in posts if post.role is Role.AUTHOR]))


def address_posts(posts: Sequence[Post]) -> list[Post]:
    """Return all posts of one forum in the same order, with addressees added to those of the authors.

    Posts that already have addressees are unchanged.
    """
    if all(post.addressed_by is not None for post in posts if post.role is Role.AUTHOR):
        return list(posts)
    addressed = _Forum(posts).address()
    return [addressed[post.post_id] if post.role is Role.AUTHOR else post for post in posts]


_FIELDS = tuple(field.name for field in fields(Post))
_PLACE = _FIELDS.index("addressed_to")
_read_fields = attrgetter(*_FIELDS)


def _say_address(post: Post, to: tuple[str, ...], by: AddressedBy, greets: tuple[str, ...]) -> Post:
    """Return a post with its addressees; `dataclasses.replace` takes three times as long."""
    values = list(_read_fields(post))
    values[_PLACE : _PLACE + 3] = to, by, greets
    return Post(*values)


Whole = tuple[str | None, str, int | None]
"""Key of an answer posted in parts: the post replied to, the title without the part's number, the number of parts."""


class _Forum:
    def __init__(self, posts: Sequence[Post]) -> None:
        self._replies = Replies(posts)
        self._posts = self._replies.in_time_order(posts)
        self._names = read_names(self._posts)
        self._own = {post.post_id: self._names.address(post) for post in posts if post.role is Role.AUTHOR}
        self._siblings = self._find_part_addressees()
        self._reviewers = self._replies.fold(self._add_reviewer)
        self._found: dict[str, Post] = {}

    def address(self) -> dict[str, Post]:
        for post in self._replies.downward:
            if post.role is Role.AUTHOR:
                self._found[post.post_id] = self._address_below(post)
        return self._found

    def _add_reviewer(self, post: Post, above: frozenset[str] | None) -> frozenset[str]:
        reviewers = above or frozenset()
        is_new = post.role is Role.REVIEWER and post.signature not in reviewers
        return reviewers | {post.signature} if is_new else reviewers

    def _address_below(self, post: Post) -> Post:
        own = self._own[post.post_id]
        to, by = self._read_place(post)
        reviewers = self._reviewers[post.post_id]
        sibling = self._siblings.get(post.post_id)
        greets: tuple[str, ...] = ()
        if not own.to and sibling is not None and not reviewers:
            to, by = (sibling,), AddressedBy.PART
        elif not own.to and own.is_unknown and to == (Addressee.EVERYONE,):
            to, by = (), AddressedBy.NONE
        elif own.to and (own.is_explicit or not reviewers):
            named = tuple(sorted(self._names.all.intersection(own.to)))
            greets = named if reviewers and reviewers.isdisjoint(named) else ()
            if not greets or self._is_misplaced(post, greets, reviewers):
                to, by = own.to, own.by
        return _say_address(post, to, by, greets)

    def _read_place(self, post: Post) -> tuple[tuple[str, ...], AddressedBy]:
        if post.reply_to is None:
            return (Addressee.EVERYONE,), AddressedBy.TREE
        answered = self._replies.above(post)
        if answered is None:
            return (), AddressedBy.NONE
        if answered.role is Role.AUTHOR:
            to = self._found[answered.post_id].addressed_to
            return to, AddressedBy.TREE if to else AddressedBy.NONE
        return (PARTIES.get(answered.role, answered.signature),), AddressedBy.TREE

    def _is_misplaced(self, post: Post, greets: tuple[str, ...], reviewers: frozenset[str]) -> bool:
        """Return whether a post is certainly under the wrong reviewer's review.

        It must address one reviewer who has posted and must have no reply by anyone else. If that reviewer replies to
        it, or title and greeting both name them, no more is needed; otherwise they must have no other answer by the
        authors, and the post must not name the reviewers above it. A number is weaker evidence, because authors number
        reviewers by their position on the page: in that case the reviewer above must also have another answer.
        """
        (addressee, *more) = greets
        if more or addressee not in self._speakers:
            return False
        span = self._replies.span(post)
        spoken = self._spoken
        below = sum(count_within(places, span) for name, places in spoken.items() if name != addressee)
        is_confirmed = count_within(spoken.get(addressee, ()), span) > 0 or self._names.names_twice(post, addressee)
        if below or (not is_confirmed and self._names.named(f"{post.title or ''} {post.text}") & reviewers):
            return False

        def is_answered(reviewer: str) -> bool:
            places = self._answered[reviewer]
            return len(places) > count_within(places, span)

        is_number = NUMBERED.fullmatch(addressee) is not None
        is_free = is_confirmed or not is_answered(addressee)
        return is_free and (not is_number or all(map(is_answered, reviewers)))

    @cached_property
    def _speakers(self) -> set[str]:
        return {post.signature for post in self._posts if post.reply_to is None}

    @cached_property
    def _spoken(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = defaultdict(list)
        for place, post in enumerate(self._replies.downward):
            if post.role is Role.REVIEWER:
                places[post.signature].append(place)
        return places

    @cached_property
    def _answered(self) -> dict[str, list[int]]:
        """The positions in `downward` of the authors' posts below each reviewer's, or explicitly addressed to them.

        A post counts for both, because another, misplaced one may answer either.
        """
        places: dict[str, list[int]] = defaultdict(list)
        for place, post in enumerate(self._replies.downward):
            if post.role is Role.AUTHOR:
                own = self._own[post.post_id]
                for reviewer in self._reviewers[post.post_id].union(own.to if own.is_explicit else ()):
                    places[reviewer].append(place)
        return places

    def _find_part_addressees(self) -> dict[str, str]:
        """Return the addressee of each part of an answer by post id, if the parts that name one agree.

        A post without a part marker that has the title of marked parts beside it is one of them.
        """
        posts_by_whole: dict[Whole, list[Post]] = defaultdict(list)
        unmarked: dict[tuple[str | None, str], list[Post]] = defaultdict(list)
        for post in (post for post in self._posts if post.role is Role.AUTHOR):
            part = read_part_of_post(post)
            if part.continues or (part.number is not None and part.is_sure):
                posts_by_whole[post.reply_to, part.stem.casefold(), part.total].append(post)
            elif part.number is None and post.title:
                unmarked[post.reply_to, part.stem.casefold()].append(post)
        found: dict[str, str] = {}
        for (reply_to, stem, _), parts in posts_by_whole.items():
            beside = unmarked.get((reply_to, stem), [])
            whole = [*parts, *(beside if len(beside) == 1 else [])]
            named = {one for post in whole for one in self._own[post.post_id].to if one in self._names.all}
            if len(named) == 1:
                found |= dict.fromkeys((post.post_id for post in whole), *named)
        return found
