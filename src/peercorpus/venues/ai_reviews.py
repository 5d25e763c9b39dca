"""Recognise reviews by an AI from the names of invitations and groups, by `ai_reviews.toml`.

Documented names are certain. A word such as `AI`, `LLM`, `Bot` or the name of a model in any other name makes an AI
possible. No title or text is evidence, nor is a personal account: those belong to people.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from operator import itemgetter
from typing import Annotated

import msgspec

from peercorpus.execution.stage import digest_of_data
from peercorpus.records.ai_reviews import SurveyAnswer

_Sources = Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class _Posted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One documented way of posting: names of invitations, and the signatures of their posts."""

    invitations: tuple[str, ...]
    signers: tuple[str, ...]
    read: date
    sources: _Sources


class _Groups(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Groups without people; `venue` is None for those of every venue."""

    venue: str | None = None
    signers: tuple[str, ...]
    read: date
    sources: _Sources


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    helpers: frozenset[str]
    reviewing: frozenset[str]
    roles: frozenset[str]
    subjects: frozenset[str]
    tracks: frozenset[str]


class _Chats(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"beside": "with"}):
    beside: frozenset[str]
    chat: frozenset[str]
    alone: frozenset[str]
    given: frozenset[str]


class _Surveys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    invitations: tuple[str, ...]
    questions: Mapping[str, tuple[str, ...]]


class _Ways(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    posted: tuple[_Posted, ...]
    groups: tuple[_Groups, ...]
    words: _Words
    chats: _Chats
    surveys: _Surveys


_DATA = tomllib.loads(files(__package__).joinpath("ai_reviews.toml").read_text(encoding="utf-8"))
_WAYS = msgspec.convert(_DATA, _Ways)
DIGEST = digest_of_data(_DATA)
"""Digest of `ai_reviews.toml`, part of the content keys of the tables that depend on it."""
SIGNERS: Mapping[str, tuple[str, ...]] = {name.lower(): way.signers for way in _WAYS.posted for name in way.invitations}
"""Signatures of an AI's reviews, by the name of the invitation in lower case."""
SURVEYS = frozenset(name.lower() for name in _WAYS.surveys.invitations)
"""Names of invitations, in lower case, with which people rate the review of an AI."""
_PAPER = r"[A-Za-z_]+\d+"
"""The last element of the group of one submission."""


_VENUE = "{venue}/"
"""Beginning of every signer's group."""


@cache
def _compile(signers: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of the text after the venue's id, because compiling one for each venue is slow."""
    groups = (re.escape(signer.removeprefix(_VENUE)) for signer in signers)
    return re.compile("|".join(group.replace(r"\{paper\}", _PAPER) for group in groups))


def _are_all(signatures: Sequence[str] | None, signers: tuple[str, ...], venue_id: str) -> bool:
    pattern, start = _compile(signers), f"{venue_id}/"
    return bool(signatures) and all(
        signature.startswith(start) and pattern.fullmatch(signature, len(start)) for signature in signatures or ()
    )


def signs_for_ai(signatures: Sequence[str] | None, venue_id: str) -> bool:
    """Return whether a note is signed only by the venue's own groups for posts by an AI.

    >>> signs_for_ai(["V/Submission3/AI_Reviewer"], "V"), signs_for_ai(["V/Submission3/AI_Reviewer_x1Yz"], "V")
    (True, False)
    """
    return any(
        _are_all(signatures, groups.signers, venue_id) for groups in _WAYS.groups if groups.venue in {None, venue_id}
    )


_MODELS, _KINDS = (frozenset(map(str.lower, words)) for words in (_WAYS.words.names, _WAYS.words.kinds))
_NAMES = _MODELS | _KINDS
_HELPERS, _REVIEWING = _WAYS.words.helpers, _WAYS.words.reviewing
_ROLES = _REVIEWING | _WAYS.words.roles
_TRACK = re.compile(
    r"^(?:[a-z0-9-]+_)+?(?:{0})(?!_chair)_|^(?:{0})_(?!chair)[a-z0-9-]+_|_[a-z0-9-]+_(?:{0})$".format(
        "|".join(sorted(_WAYS.words.tracks))
    ),
    re.IGNORECASE,
)
"""Matches a track with its name in the name of a group: before the role or, if it is at the end, after it."""
_PART = re.compile(r"[A-Za-z0-9]+")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_JOINED = re.compile("({ai})({review})|({review})({ai})".format(ai="|".join(_NAMES), review="|".join(_REVIEWING)))
"""An AI's name and a word for reviewing, written together in lower case (`aireviewer`)."""
_RANDOM_CHARACTERS = 4
"""Length of the random letters and digits in an anonymous member's name (`Reviewer_aI1x`, openreview.net)."""
_SPELLED = frozenset(name for name in (*_WAYS.words.names, *_WAYS.words.kinds) if len(name) in {3, _RANDOM_CHARACTERS})


def _split_words(name: str) -> Iterator[str]:
    """Yield the words of a name in lower case, without numbers and without random letters and digits.

    A part as long as those counts only if it is a model's name as usually written, perhaps with a number (`GPT4`,
    `Grok`): of 400,000 random ones, one or two are.
    """
    for index, part in enumerate(_PART.findall(name)):
        if index and len(part) == _RANDOM_CHARACTERS and part.lower() not in _REVIEWING:
            if (spelled := part.rstrip("0123456789")) in _SPELLED:
                yield spelled.lower()
            continue
        letters = part.strip("0123456789").lower()
        if found := {letters, part.lower()} & _NAMES:  # `o3` has its number for a name.
            yield from found
        elif joined := _JOINED.fullmatch(letters):
            yield from filter(None, joined.groups())
        else:
            yield from (word.lower() for word in _WORD.findall(part))


def names_ai(name: str) -> bool:
    """Return whether the name of a group or an invitation says that an AI may be behind it.

    >>> [names_ai(name) for name in ("Reviewer_AIRev1", "LLM_Reviewer_x1Yz", "Reviewer_o3-mini", "CycleReviewer")]
    [True, True, True, True]
    >>> [names_ai(name) for name in ("Reviewer_aI1x", "Reviewer_AI00", "Assistant_Program_Chairs", "Area_Chair_NnAi")]
    [False, False, False, False]
    """
    group, random = name[:-_RANDOM_CHARACTERS], name[-_RANDOM_CHARACTERS:]
    if group.endswith("_") and random.isalnum():  # Members' names differ, those of groups are few.
        return _names_ai(group) or random.rstrip("0123456789") in _SPELLED
    return _names_ai(name)


@lru_cache(maxsize=4_096)
def _names_ai(name: str) -> bool:
    words = list(_split_words(_TRACK.sub("_", name)))
    if not _MODELS.isdisjoint(words) or _names_kind_in_role(words):
        return True
    return not _HELPERS.isdisjoint(words) and _HELPERS.union(_REVIEWING).issuperset(words)


def _names_kind_in_role(words: Sequence[str]) -> bool:
    """Return whether a word for the kind of an AI stands beside one for a role, if there is any, and is no subject."""
    needs_role = not _ROLES.isdisjoint(words)
    beside = [word in _NAMES | _HELPERS | _ROLES for word in words]
    before = ""
    for is_beside, group in groupby(zip(beside, words, strict=True), key=itemgetter(0)):
        run = [word for _, word in group]
        is_of_role = not (needs_role and _ROLES.isdisjoint(run))
        is_subject = run[0] in _KINDS and before in _WAYS.words.subjects
        if is_beside and is_of_role and not is_subject and not _KINDS.isdisjoint(run):
            return True
        before = run[-1]
    return False


@lru_cache(maxsize=4_096)
def may_sign_for_ai(signature: str, venue_id: str) -> bool:
    """Return whether a group that signs may be an AI's, by its names below the venue and the paper.

    >>> [may_sign_for_ai(one, "AI/V") for one in ("AI/V/Paper3/AI_Reviewer_x1Yz", "AI/V/Paper3/Reviewer_x1Yz", "AI/V")]
    [True, False, False]
    """
    start = f"{venue_id}/"
    if signature.startswith("~") or "@" in signature or start.startswith(f"{signature}/"):
        return False
    is_of_venue = signature.startswith(start)
    names = signature.removeprefix(start).split("/") if is_of_venue else [signature.rpartition("/")[2]]
    is_below_paper = len(names) > 1 and _PAPER_GROUP.fullmatch(names[0])
    return any(map(names_ai, names[1:] if is_below_paper else names))


_PAPER_GROUP = re.compile(_PAPER)
_MODEL = _NAMES | _HELPERS | _WAYS.chats.beside
_SENTENCE = re.compile(r"[^.!?\n]+")
_NEGATION = re.compile(r"\b(not|never|no|without|n't)\b")


@lru_cache(maxsize=4_096)
def holds_model_chat(name: str, title: str | None = None, description: str | None = None) -> bool:
    """Return whether a field of a review is for what the reviewer exchanged with a language model.

    >>> holds_model_chat("llm_interactions"), holds_model_chat("interactions_with_a_model"), holds_model_chat("summary")
    (True, True, False)
    >>> holds_model_chat("textbox", None, "Paste all interactions with the language model here.")
    True

    Args:
        name: The field.
        title: The form's heading above it, if any.
        description: The form's instructions, if any.
    """
    for words in (set(_split_field(name)), set(_split_field(title or ""))):
        if words & _WAYS.chats.alone or (words & _WAYS.chats.chat and words & _MODEL):
            return True
    for sentence in _SENTENCE.findall((description or "").lower()):
        words = set(_PART.findall(sentence))
        asks = words & _WAYS.chats.given and not _NEGATION.search(sentence)
        if asks and words & _WAYS.chats.chat and words & _MODEL:
            return True
    return False


def _split_field(name: str) -> Iterator[str]:
    """Yield the words of a field's name or heading in lower case, whole and divided at capitals."""
    for part in _PART.findall(name):
        yield part.lower()
        yield from (word.lower() for word in _WORD.findall(part))


def is_posted_by_venue(name: str, signatures: Sequence[str] | None, venue_id: str) -> bool:
    """Return whether the signatures show that a post to an invitation for AI reviews is one.

    Args:
        name: The last element of the invitation; one that is not documented counts as `AI_Review`.
        signatures: The signatures of the post.
        venue_id: The venue.

    >>> [is_posted_by_venue("AI_Review", [signer], "V") for signer in ("V/Program_Chairs", "~Ada_Example1")]
    [True, False]
    """
    return _are_all(signatures, SIGNERS.get(name.lower(), _WAYS.posted[0].signers), venue_id)


def rate_answer(field: str, answer: str) -> SurveyAnswer:
    """Return an answer to a survey on an AI's review with its rank among the answers that the survey offers.

    >>> rate_answer("false_claims", "One minor").rank, rate_answer("false_claims", "Unsure").rank
    (3, None)
    """
    answers = _WAYS.surveys.questions.get(field.lower(), ())
    return SurveyAnswer(field, answer, answers.index(answer) + 1 if answer in answers else None, answers)
