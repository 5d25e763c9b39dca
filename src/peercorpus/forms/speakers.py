"""Who wrote each reply of a forum, and what each reviewer said beside the review."""

from collections import Counter
from collections.abc import Mapping, Sequence

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


def read_speakers(root: Note, replies: Sequence[Note], words: Words) -> dict[str, tuple[Role, str]]:
    """Who wrote each reply: role, and name within the paper.

    Only the names of known anonymous roles are kept. All others, people's names and addresses among them, become
    `public_1`, `unknown_1`, … in the order in which they first speak; an author who signs by name is an author.
    """
    authors = _accounts(root)
    named: dict[str, str] = {}
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
            name = named.setdefault(signature, f"{role.value}_{len(named) + 1}")
        speakers[note.id or ""] = (role, name)
    return speakers
