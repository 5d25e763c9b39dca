"""Declared forms: what is known of review forms whose invitation cannot be read, one record each, from `declared/`.

A record states what its sources state and nothing else; what they leave open is absent, and named under `unknown`.
"""

import hashlib
import tomllib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from peercorpus.forms.declaration import (
    UNVERIFIED,
    Answers,
    DeclaredField,
    DeclaredForm,
    DeclaredReply,
    Evidence,
    Written,
    read_form,
)
from peercorpus.forms.form import Question, ReviewForm
from peercorpus.kinds import FieldType

__all__ = [
    "DIGEST",
    "UNVERIFIED",
    "Answers",
    "DeclaredField",
    "DeclaredForm",
    "DeclaredReply",
    "Evidence",
    "Written",
    "as_review_form",
    "declared_form",
    "declared_forms",
    "read_forms",
]

ANSWERS = "answers.toml"
"""Sets of answers that several fields offer, by name; every other file holds records."""
_FOLDER = files("peercorpus.forms") / "declared"


def read_forms(folder: Traversable) -> tuple[DeclaredForm, ...]:
    """The records of every file of a folder, by file name.

    Raises:
        ValueError: A record says what it may not, or a venue or an id has two; the message names file and record.
    """
    named = tomllib.loads((folder / ANSWERS).read_text(encoding="utf-8"))
    forms: list[DeclaredForm] = []
    claimed: dict[str, str] = {}
    for file in _record_files(folder):
        for raw in _tables(file):
            form = read_form(raw, named, f"{file.name}: form '{raw.get('id')}'")
            for claim in (f"the id '{form.id}'", *(f"the venue '{venue}'" for venue in form.venue_ids)):
                if claim in claimed:
                    raise ValueError(f"{file.name}: form '{form.id}': {claim} is that of '{claimed[claim]}' too.")
                claimed[claim] = form.id
            forms.append(form)
    return tuple(forms)


def _record_files(folder: Traversable) -> list[Traversable]:
    found = (file for file in folder.iterdir() if file.name.endswith(".toml") and file.name != ANSWERS)
    return sorted(found, key=lambda file: file.name)


def _tables(file: Traversable) -> list[dict[str, Any]]:
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file.name}: {error}.") from error
    if set(found) != {"form"} or not isinstance(found["form"], list):
        raise ValueError(f"{file.name}: holds something else than forms.")
    return found["form"]


@cache
def declared_forms() -> tuple[DeclaredForm, ...]:
    """Every record, also those without a field."""
    return read_forms(_FOLDER)


def declared_form(venue_id: str) -> DeclaredForm | None:
    """The form declared for a venue: by its id, else by the narrowest pattern; None where no field is known."""
    forms = _by_venue()
    matching = [pattern for pattern in forms if _matches(pattern, venue_id)]
    found = forms[min(matching, key=lambda pattern: pattern.count("*"))] if matching else None
    return found if found and found.fields else None


@cache
def _by_venue() -> dict[str, DeclaredForm]:
    return {venue: form for form in declared_forms() for venue in form.venue_ids}


def _matches(pattern: str, venue_id: str) -> bool:
    asked, held = pattern.split("/"), venue_id.split("/")
    return len(asked) == len(held) and all(a in {"*", h} for a, h in zip(asked, held, strict=True))


def as_review_form(declared: DeclaredForm) -> ReviewForm:
    """A record as the form that reviews are read with."""
    questions = {field.name: _question(field, order) for order, field in enumerate(declared.fields, start=1)}
    return ReviewForm(f"declared:{declared.id}", questions)


def _question(field: DeclaredField, order: int) -> Question:
    answers, is_score = field.answers or Answers(), field.type is FieldType.SCORE
    return Question(
        field.name,
        order,
        labels=answers.labels if is_score else {},
        bounds=answers.bounds if is_score and not answers.labels else None,
        is_choice=field.type is not FieldType.TEXT,
        title=field.title,
        description=field.description,
        type=field.type,
        answers=answers.held(field.written),
        is_optional=field.optional,
        aspect=field.aspect,
        section=field.section,
    )


def _digest_of(folder: Traversable) -> str:
    texts = [(file.name, file.read_text(encoding="utf-8")) for file in (*_record_files(folder), folder / ANSWERS)]
    return hashlib.sha256(repr(texts).encode()).hexdigest()


DIGEST = _digest_of(_FOLDER)
"""Stands for the declared forms in the keys of what is read with them."""
