"""Who wrote each reply of a forum, and what each reviewer said beside the review."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from peercorpus.forms.words import Words
from peercorpus.kinds import PostKind, Role
from peercorpus.openreview.objects import Note


def read_remarks(
    kinds: Sequence[tuple[PostKind, Note]], speakers: Mapping[str, tuple[Role, str]]
) -> dict[str, list[str]]:
    """What each reviewer wrote publicly beside the review, by name; nothing of a name that several may sign with."""
    reviewers = Counter(speakers[note.id or ""] for kind, note in kinds if kind is PostKind.REVIEW)
    own = (name for (role, name), reviews in reviewers.items() if role is Role.REVIEWER and reviews == 1)
    remarks: dict[str, list[str]] = {name: [] for name in own if not name.endswith("Reviewers")}
    for kind, note in kinds:
        name = speakers[note.id or ""][1]
        if kind is not PostKind.REVIEW and name in remarks and note.is_public and note.ddate is None:
            remarks[name] += [answer for answer in note.fields.values() if isinstance(answer, str)]
    return remarks


def _accounts(root: Note) -> set[str]:
    """The accounts of a paper's authors: those listed apart, and those that stand beside their names."""
    apart, people = root.fields.get("authorids"), root.fields.get("authors")
    found = list(apart) if isinstance(apart, list) else []
    if isinstance(people, list):
        found += [person.get("username") for person in people if isinstance(person, dict)]
    return {account for account in found if isinstance(account, str)}


def is_account(signature: str) -> bool:
    """Whether a signature is one person's own: a profile or an address.

    >>> is_account("~Ada_Example1"), is_account("V/Paper1/(anonymous)")
    (True, False)
    """
    return signature.startswith("~") or "@" in signature


def read_speakers(
    root: Note, replies: Sequence[Note], words: Words, pseudonym: Callable[[str], str]
) -> dict[str, tuple[Role, str]]:
    """Who wrote each reply: role, and name within the paper.

    Only the names of known anonymous roles are kept. A person's account becomes `public_<pseudonym>`, the same for all
    papers; any other name, which may be several people's, `public_1`, `unknown_1`, … in the order in which they first
    speak here. An author who signs by name is an author.

    Args:
        root: The submission.
        replies: In any order.
        words: What its venue calls its roles.
        pseudonym: Gives an account its pseudonym.
    """
    authors = _accounts(root)
    named: dict[str, int] = {}
    speakers: dict[str, tuple[Role, str]] = {}
    for note in replies:
        signature = (note.signatures or [""])[0]
        name = signature.rpartition("/")[2]
        role = Role.AUTHOR if signature in authors else words.role(name)
        if role is Role.UNKNOWN and signature and root.created_by.startswith(signature):
            role = Role.PROGRAM_CHAIR  # Early venues sign decisions with the venue's own group.
        if signature in authors:
            name = "Authors"
        elif role in {Role.PUBLIC, Role.UNKNOWN}:
            number = named.setdefault(signature, len(named) + 1)
            name = f"{role.value}_{pseudonym(name) if is_account(name) else number}"
        speakers[note.id or ""] = (role, name)
    return speakers
