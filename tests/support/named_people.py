"""Papers with authors and reviewers whose names are written in every form, and searches for them."""

import unicodedata

from invented_tables import ICLR, ai_review, paper, post, review, text, version
from peercorpus.records.enums import Grade, PostKind, Role, SectionKind
from peercorpus.records.reviews import Section

AUTHORS = {
    "Names001": ("Ana María Gómez", "Zoë Li"),
    "Names002": ("Łukasz Müller", "Søren Ångström"),
    "Names003": ("Jean-Luc O'Neil", "Li Wei"),
    "Names004": ("Carlos Gomez", "A. B. Castelli"),
    "Names005": (unicodedata.normalize("NFD", "José Núñez"), "García, Elena"),
    "Names006": ("A. Romero", "B. C. Dahl", "Okafor M."),
    "Names007": ("Xiao-Ming Zhou", "Yue Hua Tan", "Zhi Hu"),
    "Names008": ("Laurens van der Maaten", "J.-P. d'Angelo", "Thomas Mueller"),
    "Names009": ("KT Lindholm", "P. de la Cruz", "Rømer, Þór"),
}
BODY = "# Kites\n\nWe improve on the state of the art by regularising. The art of the state is another matter."


def venues() -> dict[str, list[object]]:
    records: list[object] = []
    for forum_id, authors in AUTHORS.items():
        records.append(paper(forum_id, title=f"Kites {forum_id}", authors=authors, keywords=(), abstract="A study."))
    for forum_id, reviewer in (
        ("Names001", "Reviewer_xY3z"),
        ("Names002", "AnonReviewer2"),
        ("Names003", "Reviewer_Q9ab"),
    ):
        criticism = (Section(SectionKind.WEAKNESSES, "weaknesses", "A reviewer sees two flaws."),)
        records.append(review(forum_id, reviewer, sections=criticism))
        by = (PostKind.REVIEW, Role.REVIEWER, "A reviewer sees two flaws.")
        shown = post(f"{forum_id}-{reviewer}", forum_id, kind=by[0], role=by[1], signature=reviewer, text=by[2])
        records.append(shown)
    records += [ai_review("Names004"), version("Names005", "sha-body", Grade.EXACT), text("sha-body", BODY)]
    return {ICLR: sorted(records, key=lambda record: str(getattr(record, "forum_id", "")))}


NAMES = [
    ("Gómez", {"Names001", "Names004"}),
    ("Gomez", {"Names001", "Names004"}),
    ("Gómez, Ana", {"Names001"}),
    ("gomez ana", {"Names001"}),
    ("Ana Gomez", {"Names001"}),
    ("A. Gomez", {"Names001"}),
    ("A Gómez", {"Names001"}),
    ("Gomez A.", {"Names001"}),
    ("Gómez, A. M.", {"Names001"}),
    ("A.M. Gomez", {"Names001"}),
    ("M. Gomez", {"Names001"}),
    ("C. Gomez", {"Names004"}),
    ("B. Gomez", set()),
    ("A. Castelli", {"Names004"}),
    ("B. Castelli", {"Names004"}),
    ("Z. Li", {"Names001"}),
    ("L. Wei", {"Names003"}),
    ("Wei Li", {"Names003"}),
    ("zoe", {"Names001"}),
    ("Lukasz Muller", {"Names002"}),
    ("Łukasz Müller", {"Names002"}),
    ("Mueller", {"Names002", "Names008"}),
    ("L. Mueller", {"Names002"}),
    ("Soren Angstrom", {"Names002"}),
    ("soeren", {"Names002"}),
    ("Muller, Łukasz", {"Names002"}),
    ("Jean Luc O'Neil", {"Names003"}),
    ("J.-L. O'Neil", {"Names003"}),
    ("oneil jean-luc", {"Names003"}),
    ("Jose Nunez", {"Names005"}),
    ("José Núñez", {"Names005"}),
    (unicodedata.normalize("NFD", "José Núñez"), {"Names005"}),
    ("J. Núñez", {"Names005"}),
    ("Elena García", {"Names005"}),
    ("E. Garcia", {"Names005"}),
    ("Alba Romero", {"Names006"}),
    ("Romero, Alba", {"Names006"}),
    ("romero alba", {"Names006"}),
    ("A. Romero", {"Names006"}),
    ("A.Romero", {"Names006"}),
    ("Romero,A.", {"Names006"}),
    ("Romero A", {"Names006"}),
    ("B. Romero", set()),
    ("Berta Romero", set()),
    ("Bo Dahl", {"Names006"}),
    ("Carl Dahl", {"Names006"}),
    ("Bo Carl Dahl", {"Names006"}),
    ("Bo C. Dahl", {"Names006"}),
    ("BC Dahl", {"Names006"}),
    ("Dahl BC", {"Names006"}),
    ("Dahl AC", set()),
    ("Maria Okafor", {"Names006"}),
    ("kites romero", {"Names006"}),
    ("Xiaoming Zhou", {"Names007"}),
    ("Xiao Ming Zhou", {"Names007"}),
    ("Xiao-Ming Zhou", {"Names007"}),
    ("zhou xiao-ming", {"Names007"}),
    ("X. Zhou", {"Names007"}),
    ("X.-M. Zhou", {"Names007"}),
    ("XM Zhou", {"Names007"}),
    ("Yuehua Tan", {"Names007"}),
    ("Yue-Hua Tan", {"Names007"}),
    ("Z. Hu", {"Names007"}),
    ("Zhu", set()),
    ("van der Maaten", {"Names008"}),
    ("L. van der Maaten", {"Names008"}),
    ("Maaten, L. v. d.", {"Names008"}),
    ("Maaten, Laurens van der", {"Names008"}),
    ("vandermaaten", {"Names008"}),
    ("Jean-Pierre d'Angelo", {"Names008"}),
    ("Jean-Pierre D\u2019Angelo", {"Names008"}),
    ("Jean Pierre dAngelo", {"Names008"}),
    ("J.P. d'Angelo", {"Names008"}),
    ("Thomas Müller", {"Names008"}),
    ("T. Müller", {"Names008"}),
    ("Karin Lindholm", {"Names009"}),
    ("K. T. Lindholm", {"Names009"}),
    ("KT Lindholm", {"Names009"}),
    ("Pedro de la Cruz", {"Names009"}),
    ("Pedro Cruz", {"Names009"}),
    ("delacruz", {"Names009"}),
    ("Thor Romer", {"Names009"}),
    ("Þór Rømer", {"Names009"}),
    ("Thor Roemer", {"Names009"}),
]
"""Words, and the papers that have all of them, in the explorer and on a site."""
PSEUDONYMS = [
    ("Reviewer xY3z", {"Names001"}),
    ("reviewer xy3z", {"Names001"}),
    ("Reviewer_xY3z", {"Names001"}),
    ("xY3z", {"Names001"}),
    ("xY3z flaws", {"Names001"}),
    ("AnonReviewer2", {"Names002"}),
    ("Reviewer2", {"Names002"}),
    ("Reviewer 2", {"Names002"}),
    ("Reviewer Q9ab kites", {"Names003"}),
    ("Reviewer Q9ab xY3z", set()),
    ("reviewer", {"Names001", "Names002", "Names003"}),
    ("flaws", {"Names001", "Names002", "Names003"}),
]
"""The same for reviewers."""
