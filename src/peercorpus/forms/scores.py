"""One answer → `Score`: a value the form offers, or null; the answer itself is always kept, verbatim."""

from peercorpus.forms import vocabulary
from peercorpus.forms.form import Question, ReviewForm
from peercorpus.forms.numbers import is_labelled_number, read_number
from peercorpus.kinds import Aspect, FieldType, Phase, ScoreSource
from peercorpus.records import Score

LONGEST_LABEL = 300
"""Characters of the longest option text met in a form; a longer answer to an ambiguous field is prose."""
MOST_READ = 10_000
"""Answers kept as read with one form; a form offers some hundred."""


def is_prose(answer: str, question: Question) -> bool:
    """Whether an answer is too long for one that was chosen, and none the form offers."""
    return (len(answer) > LONGEST_LABEL or "\n" in answer.strip()) and answer not in question.answers


def find_score(name: str, answer: object, form: ReviewForm) -> Score | None:
    """The score that a field holds; None where it holds none."""
    if isinstance(answer, str) and form.question(name).type is FieldType.TEXT:
        return None
    key = (name, type(answer), answer) if isinstance(answer, str | int | float) else None
    if key in form.read:
        return form.read[key]
    score = read_score(answer, name, form) if is_score(name, answer, form) else None
    is_short = not isinstance(answer, str) or len(answer) <= LONGEST_LABEL
    if key is not None and is_short and len(form.read) < MOST_READ:
        form.read[key] = score
    return score


def _chosen(answer: object, question: Question) -> int | float | str | None:
    """The one answer given; None where several were chosen, or what was given is no answer."""
    if isinstance(answer, list) and len(answer) == 1 and question.type is not FieldType.LIST:
        answer = answer[0]
    return answer if isinstance(answer, int | float | str) and not isinstance(answer, bool) else None


def is_score(name: str, answer: object, form: ReviewForm) -> bool:
    """Whether a field is a score: by the form where it is known, else by name and answer together."""
    question, aspect = form.question(name), form.aspect(name)
    chosen = None if name.lower() in vocabulary.ADMINISTRATIVE else _chosen(answer, question)
    if chosen is None or (isinstance(chosen, str) and is_prose(chosen, question)):
        return False
    if question.type is FieldType.SCORE or question.has_scale:
        return True
    if isinstance(chosen, int | float) or aspect is None:
        return aspect is not None
    return question.is_choice or (question.type is None and _looks_chosen(name, chosen, aspect))


def _looks_chosen(name: str, answer: str, aspect: Aspect) -> bool:
    """A rating or confidence is always chosen; another field only if it is a number with its name, or a word or two."""
    always = aspect in {Aspect.RECOMMENDATION, Aspect.CONFIDENCE} or name.startswith("review_assessment:")
    return always or is_labelled_number(answer) or len(answer.split()) <= 2


def read_score(answer: object, name: str, form: ReviewForm, source: ScoreSource = ScoreSource.NOTE) -> Score:
    """Read `8`, `"8: accept, good paper"`, `"3 good"` or `["4 = Conference"]`.

    The value is None where the answer has no number, or one the form did not offer; the label stays verbatim, and a
    bare number takes the text of the option it chose.
    """
    question = form.question(name)
    chosen = _chosen(answer, question)
    labels, label = question.labels, str(answer if chosen is None else chosen)
    value = None if chosen is None else read_number(chosen, labels)
    if value is not None and (question.has_scale or question.answers) and not question.offers(value):
        value = None
    if value is not None and not isinstance(chosen, str):
        label = labels.get(value, label)
    offered = question.offered
    low, high = (offered[0], offered[-1]) if offered else question.bounds or (None, None)
    is_initial = source in {ScoreSource.EDIT, ScoreSource.SNAPSHOT} or name.lower() in vocabulary.INITIAL_SCORES
    phase = Phase.INITIAL if is_initial else form.shows
    aspect = form.aspect(name) or Aspect.OTHER
    return Score(aspect, name, value, low, high, label, phase, source, offered, form.unify(name, value))
