"""Mask the numbers of references, equations, figures and the like in sentence keys, because edits renumber them."""

import re

LABEL = re.compile(r"^\W{0,4}(?:\d{1,4}\s+)?\[(\d{1,3})\](?=\s)", re.MULTILINE)
"""Matches the number before an entry of a list of references, possibly after a line number."""

NUMBERS = re.compile(r"\[(\d{1,3}(?:[,\u2013]\d{1,3})*)\]")
"""Matches a citation by numbers in a key: `[3,7\u20139]`."""

NAMES = re.compile(r"\((?:[a-z.,]{0,8}(?=[A-Z])[^()]{2,400}[,.])?(?:1[89]|20)\d\d[a-z]?(?:[,;][^()]{1,400})?\)")
"""Matches a citation by names and years, or by a year after names, in a key: `(Leeetal.,2019;Wu,2020)`."""

YEAR = re.compile(r"(?:1[89]|20)\d\d[a-z]?(?=[,;)])")

EQUATION = re.compile(r"\$\$\s*\((\d{1,3}[a-z]?)\)|\\tag\{(\d{1,3}[a-z]?)\}")
"""Matches the number of a displayed formula."""

FORMULA_REFERENCE = re.compile(r"\b(\w+)\s+(\((\d{1,3}[a-z]?|\?{2,})\))")
"""Matches a word and the number of an equation after it, or the marks that LaTeX prints for an unknown one."""

_NUMBER = r"\(?(?:\d{1,3}|[A-Z](?=[\d.]))(?:\.?\d{1,3}){0,3}\)?"
CROSS_REFERENCE = re.compile(
    r"((?i:(?:eqn?|fig|tab|sec|thm|lem|prop|cor|def|alg|app)s?\.|(?:equation|figure|table|section|theorem|lemma"
    r"|proposition|corollar(?:y|ie)|definition|remark|assumption|algorithm|example|claim|conjecture|appendi(?:x|ce))s?)"
    "|(?:Eqn?|Fig|Tab|Sec|Thm|Alg)s?"
    "|\u00a7{1,2})"
    rf"(?:{_NUMBER}(?:(?:,and|and|,|\u2013|to|&|(?<=\))(?=\()){_NUMBER}){{0,5}}|[A-Z](?![a-z]))"
)
"""Matches a reference to something numbered by LaTeX, in a key: `Figures3and4`, `Eq.(5)`, `AppendixB`."""

MAY_REFER = re.compile("[.abcegkmnqsxyABCEGKMNQSXY\u017f\u212a\u00a7]\\(?(?:\\d|[A-Z](?![a-z]))")
"""Matches what every `CROSS_REFERENCE` contains, and most keys do not: the last letter of a name before its number.
This search is faster."""


def find_labels(text: str) -> frozenset[str]:
    r"""Return the numbers of a list of references; none if its entries are not numbered.

    >>> sorted(find_labels("As in [7].\nReferences\n[1] A. Lee.\n[2] B. Wu."))
    ['1', '2']
    """
    return frozenset(LABEL.findall(text))


def find_equations(text: str) -> frozenset[str]:
    r"""Return the numbers of the displayed formulas of a text.

    >>> sorted(find_equations("$$a$$ (1)\n\n$$b \\tag{2a}$$"))
    ['1', '2a']
    """
    return frozenset(number for pair in EQUATION.findall(text) for number in pair if number)


def mask_equations(key: str, words: str, equations: frozenset[str]) -> str:
    """Return the key of a sentence without the numbers of equations that stand in its prose without a name.

    Args:
        key: Key of the sentence.
        words: The sentence, with its formulas left out.
        equations: Numbers of the equations of its text; other numbers in parentheses are not references.

    >>> mask_equations("By(4)andf(4)itholdsfor(9).", "By (4) and it holds for (9).", frozenset("4"))
    'Byandf(4)itholdsfor(9).'
    """
    for word, reference, number in FORMULA_REFERENCE.findall(words):
        if number in equations or number.startswith("?"):
            key = key.replace(word + reference, word)
    return key


def mask_numbers(key: str, labels: frozenset[str], *, with_names: bool) -> str:
    """Return a key with the number of works in each citation instead of the works, and without cross-reference numbers.

    Args:
        key: Key of a sentence.
        labels: Numbers of the references in its text; other numbers in brackets are not citations.
        with_names: Whether to mask citations by names and years too, because the other text cites by numbers.

    >>> mask_numbers("Weuseit[2],seeEq.(4),on[0,1].", frozenset("123"), with_names=True)
    'Weuseit[*1],seeEq.,on[0,1].'
    >>> mask_numbers("Weuseit(Leeetal.,2019),seeEq.(5),on[0,1].", frozenset(), with_names=True)
    'Weuseit[*1],seeEq.,on[0,1].'
    >>> mask_numbers("Table2andFigures3and4haveall17clouds.", frozenset(), with_names=False)
    'TableandFigureshaveall17clouds.'
    """
    if "[" in key and labels:
        key = NUMBERS.sub(lambda citation: _mask_citation(citation, labels), key)
    if with_names and "(" in key:
        key = NAMES.sub(lambda citation: f"[*{len(YEAR.findall(citation[0]))}]", key)
    return CROSS_REFERENCE.sub(r"\1", key) if MAY_REFER.search(key) else key


def _mask_citation(citation: re.Match[str], labels: frozenset[str]) -> str:
    works = 0
    for part in citation[1].split(","):
        first, *last = part.split("\u2013")
        if not labels.issuperset([first, *last]):
            return citation[0]
        works += int(last[-1]) - int(first) + 1 if last else 1
    return f"[*{works}]"
