"""Every form that is known: those declared, and those of the venues of a workspace, wherever each was read."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from peercorpus.forms.declared import DeclaredForm, as_review_form, declared_form, declared_forms
from peercorpus.forms.form import Question, ReviewForm
from peercorpus.forms.venue import read_venue
from peercorpus.kinds import Aspect, FieldType
from peercorpus.workspace import Workspace


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
