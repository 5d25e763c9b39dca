"""Every form that is known: those declared, and those of the venues of a workspace, wherever each was read."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from peercorpus.forms import vocabulary
from peercorpus.forms.declared import DeclaredForm, as_review_form, declared_form, declared_forms
from peercorpus.forms.form import Question, ReviewForm
from peercorpus.forms.venue import read_venue
from peercorpus.kinds import Aspect, FieldType
from peercorpus.workspace import Workspace

NUMBERS = re.compile(r"\d+")
ALIKE = 0.8
"""How alike two names must be for one to be taken for the other, mistyped, as `difflib` measures it; our choice."""


class Origin(StrEnum):
    """Where a form was read."""

    INVITATION = "invitation"
    DECLARED = "declared"
    INFERRED = "inferred"


def origin_named(form_id: str) -> Origin:
    """Where a form was read, as its id says."""
    named = (origin for origin in (Origin.DECLARED, Origin.INFERRED) if form_id.startswith(f"{origin.value}:"))
    return next(named, Origin.INVITATION)


@dataclass(frozen=True, slots=True)
class KnownForm:
    """A form, and how it is known.

    Attributes:
        venue_ids: The venues it is known to hold for; `*` stands for one element of the path.
        declared: Its record, where it is a declared one.
    """

    form: ReviewForm
    venue_ids: tuple[str, ...]
    declared: DeclaredForm | None = None

    @property
    def origin(self) -> Origin:
        """Where it was read."""
        return origin_named(self.form.form_id)

    @property
    def recommendation(self) -> Question | None:
        """The question for the overall verdict, the first where there are several; None where the form has none."""
        asked = (question for name, question in self.form.questions.items() if self._recommends(name))
        return next((question for question in asked if question.type in {None, FieldType.SCORE}), None)

    def _recommends(self, name: str) -> bool:
        return self.form.aspect(name) is Aspect.RECOMMENDATION

    @property
    def asks_rating(self) -> bool | None:
        """Whether it asks for an overall verdict; None where that is not known."""
        if self.recommendation is not None:
            return True
        if self.declared is not None:
            return False if self.declared.is_unrated else None
        is_read = self.origin is Origin.INVITATION and bool(self.form.questions)
        return None if not is_read or any(map(self._may_rate, self.form.questions.values())) else False

    def _may_rate(self, question: Question) -> bool:
        """Whether a question may ask for the verdict, as nothing tells what its answer is about."""
        is_chosen = question.type in {None, FieldType.SCORE, FieldType.CHOICE}
        is_told = self.form.aspect(question.name) is not None or question.name.lower() in vocabulary.ADMINISTRATIVE
        return is_chosen and not is_told


def _declared(record: DeclaredForm) -> KnownForm:
    return KnownForm(as_review_form(record), record.venue_ids, record)


def all_declared() -> list[KnownForm]:
    """Every declared form, also those of which no field is known."""
    return list(map(_declared, declared_forms()))


def known_form(form: ReviewForm, venue_id: str) -> KnownForm:
    """A form with which a venue's reviews are read."""
    records = {f"{Origin.DECLARED.value}:{record.id}": record for record in declared_forms()}
    return KnownForm(form, (venue_id,), records.get(form.form_id))


def held_forms(workspace: Workspace) -> Iterator[KnownForm]:
    """The forms of every venue of a workspace that are not declared ones."""
    for venue_id in workspace.raw.venues():
        found = (known_form(form, venue_id) for form in read_venue(workspace, venue_id).forms)
        yield from (known for known in found if known.declared is None)


def find_declared(name: str) -> KnownForm | None:
    """The form declared for a venue, or by this id; None where there is none."""
    name = name.removeprefix(f"{Origin.DECLARED.value}:")
    named = (record for record in declared_forms() if name in {record.id, *record.venue_ids})
    record = declared_form(name) or next(named, None)
    return _declared(record) if record else None


def close_name(name: str, others: Iterable[str] = ()) -> str | None:
    """The name of a form or its venue that may be meant by a name that is neither; None where none is close.

    One that differs in capitals alone comes first; one with other numbers is another venue, and never meant.

    Args:
        name: In any case.
        others: Names beside those of the declared forms.
    """
    name = name.removeprefix(f"{Origin.DECLARED.value}:")
    venue_ids = (_filled(venue_id, name) for record in declared_forms() for venue_id in record.venue_ids)
    known = (*(record.id for record in declared_forms()), *filter(None, venue_ids), *others)
    by_lower = {one.lower(): one for one in known if NUMBERS.findall(one) == NUMBERS.findall(name)}
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=ALIKE)
    return by_lower[found[0]] if found else None


def _filled(pattern: str, name: str) -> str | None:
    """A venue's id, its `*` replaced by what stands there in a name; None where nothing does."""
    asked, given = pattern.split("/"), name.split("/")
    if "*" in asked and len(asked) != len(given):
        return None
    return "/".join(given[place] if part == "*" else part for place, part in enumerate(asked))
