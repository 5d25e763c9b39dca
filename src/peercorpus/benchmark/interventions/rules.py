"""The rules that change a paper: for each arm, every change that its text allows."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from peercorpus.benchmark.interventions.change import Arm, Change, Rule, replace_in
from peercorpus.benchmark.interventions.passages import DECIMAL, PaperText, Passage, cites

MIN_DIGITS = 3
"""Fewest digits of a number that is taken to be the one in the table rather than a coincidence."""
LABEL = re.compile(
    r"(?:Sec(?:tion|s?\.)|Tab(?:le|\.)|Fig(?:ure|\.)|Eq(?:uation|s?\.)|Appendix|version|Theorem|Lemma|±)\s*$"
)
"""Matches a word before a number that is not a result."""
CHANGE_SHARES = (0.12, 0.17, 0.23, 0.31, 0.38)
"""Relative changes of a number, up or down."""
OWN_CLAIM = re.compile(
    r"\b(?:we|our|ours|this (?:paper|work|study)|(?:the|our) (?:proposed|results?)|results?|experiments?|findings?"
    r"|performance|accuracy|Table|Figure)\b",
    re.IGNORECASE,
)
"""Matches a word of a sentence with a claim about the paper itself."""
CAUTION = re.compile(
    r"\b(?:limit\w*|hinder\w*|future|sub-?optimal|detrimental|however|although|while|cost of|scope|fail\w*|worse"
    r"|degrad\w*|drop\w*|unable|should|would|could|prohibitive|reader|assume[sd]?|assuming|assumption|whether|prevent\w*|too|not|if)\b",
    re.IGNORECASE,
)
"""Matches a word of a sentence whose hedge is not about a claim of the paper."""
RESULT = re.compile(
    r"\b(?:we|our|ours|results?|Table|Figure|Fig|performance|accuracy|method|model)\b|\d\s?%", re.IGNORECASE
)
"""Matches a word of a sentence that states a result."""
NEAR_LENGTH = 6
"""Largest difference in characters between a wording and its replacement, so that length does not reveal a change."""
MATH = re.compile(r"\$[^$]*\$")
MINUS = "[-−]"
SIGNS: tuple[tuple[str, str], ...] = (
    (rf"(?<=[(=,{{∑∏ ])1(?P<space>\s*){MINUS}(?=\s*[^\W\d_]|\s*\\)", "+"),
    (rf"(?<=exp)\s*[({{]\s*(?P<sign>{MINUS})", ""),
    (rf"e\^\{{\s*(?P<sign>{MINUS})", ""),
    (rf"(?:=|:=)\s*(?P<sign>{MINUS})\s*(?=\\frac|∑|\\sum|𝔼|\\mathbb|\\log|log|ln)", ""),
    (rf"(?<![\w')}}])(?:∥|∣∣|\|\||\\\|)[^∥∣|=+≤≥]+?(?P<sign>{MINUS})(?=[^∥∣|=+≤≥]+(?:∥|∣∣|\|\|)[_^])", "+"),
    (rf"(?P<sign>{MINUS})\s*(?=(?:η|α|γ|λ|\\eta|\\alpha|\\gamma|\\lambda)\w*\s*(?:∇|\\nabla))", "+"),
)
"""Patterns of formulas in which the sign is known, and its replacement.

A complement (1 - p), a decaying exponential, a negative log-likelihood, a distance, a step of gradient descent.
"""


@dataclass(frozen=True, slots=True)
class Wording:
    """Words to replace, and their possible replacements.

    Attributes:
        near: Matches sentences to which it applies; None for all.
        new: Wordings by the words that they replace, or `any`.
    """

    old: re.Pattern[str]
    near: re.Pattern[str] | None
    new: Mapping[str, list[str]]

    def find(self, sentence: Passage) -> Iterator[Change]:
        """Yield the changes to a sentence, one for each wording of similar length, or for all if there is none."""
        if self.near is not None and not self.near.search(sentence.text):
            return
        formulas = [match.span() for match in MATH.finditer(sentence.text)]
        for match in self.old.finditer(sentence.text):
            if not any(start <= match.start() < end for start, end in formulas):
                wordings = self.new.get(match[0].lower()) or self.new["any"]
                near = [new for new in wordings if abs(len(new) - len(match[0])) <= NEAR_LENGTH]
                for new in near or wordings:
                    yield replace_in(sentence, *match.span(), _copy_case(match[0], new))


def _copy_case(old: str, new: str) -> str:
    """Return words with the same case of the first letter as those that they replace."""
    return (new[0].upper() if old[0].isupper() else new[0].lower()) + new[1:]


@cache
def _read_wordings() -> dict[str, Any]:
    return tomllib.loads((files("peercorpus.benchmark.interventions") / "wordings.toml").read_text("utf-8"))


@cache
def _wordings(kind: str) -> tuple[Wording, ...]:
    return tuple(
        Wording(
            old=re.compile(entry["old"]),
            near=re.compile(entry["near"], re.IGNORECASE) if "near" in entry else None,
            new=entry["new"],
        )
        for entry in _read_wordings()[kind]
    )


@cache
def _swaps(kind: str) -> tuple[Wording, ...]:
    """Return the pairs of a table, each in both directions."""
    pairs = [pair for old, new in _read_wordings()[kind].items() for pair in ((old, new), (new, old))]
    return tuple(
        Wording(re.compile(rf"(?<![\w-]){re.escape(old)}(?![\w-])"), None, {"any": [new]}) for old, new in pairs
    )


def _change_number(old: str, used: Iterable[str], chance: Random) -> str | None:
    """Return a number with as many decimals that does not occur in the paper; None if there is none."""
    value = Decimal(old)
    for share in chance.sample(CHANGE_SHARES, len(CHANGE_SHARES)):
        for sign in chance.sample((1, -1), 2):
            new = (value * (1 + sign * Decimal(str(share)))).quantize(value)
            is_share_left = new <= 100 if value <= 100 else True
            is_fraction_left = new <= 1 if value <= 1 else True
            if is_share_left and is_fraction_left and new != value and str(new) not in used:
                return str(new)
    return None


def find_table_numbers(paper: PaperText, chance: Random) -> Iterator[Change]:
    """Yield changes of numbers in the prose that also occur in a table."""
    used = paper.table_numbers | set(paper.prose_numbers)
    for sentence in paper.sentences:
        for match in DECIMAL.finditer(sentence.text):
            old = match[0]
            digits = len(old.replace(".", "").lstrip("0"))
            is_label = LABEL.search(sentence.text[: match.start()])
            if digits < MIN_DIGITS or old not in paper.table_numbers or is_label:
                continue
            new = _change_number(old, used, chance)
            if new is not None:
                yield replace_in(sentence, *match.span(), new, is_number=True)


def find_signs(paper: PaperText, chance: Random) -> Iterator[Change]:  # noqa: ARG001 -- the rules' own protocol
    """Yield changes of a sign in display formulas."""
    for formula in paper.formulas:
        for shape, new in SIGNS:
            for match in re.finditer(shape, formula.text):
                start, end = match.span("sign") if "sign" in match.re.groupindex else (match.end() - 1, match.end())
                yield replace_in(formula, start, end, new)


def find_directions(paper: PaperText, chance: Random) -> Iterator[Change]:  # noqa: ARG001 -- the rules' own protocol
    """Yield changes of the direction of one of the paper's own results."""
    for sentence in paper.sentences:
        if RESULT.search(sentence.text) and not cites(sentence.text):
            for wording in _swaps("directions"):
                yield from wording.find(sentence)


def _is_control(sentence: str) -> bool:
    return not cites(sentence)


def _is_claim(sentence: str) -> bool:
    return OWN_CLAIM.search(sentence) is not None and not CAUTION.search(sentence) and not cites(sentence)


def _is_any(sentence: str) -> bool:  # noqa: ARG001 -- as the others of its kind
    return True


def _find_wording(wording: Wording, is_fit: Callable[[str], bool]) -> Rule:
    """Return the rule that changes the sentences that fit."""

    def find(paper: PaperText, chance: Random) -> Iterator[Change]:  # noqa: ARG001 -- the rules' own protocol
        for sentence in paper.sentences:
            if is_fit(sentence.text):
                yield from wording.find(sentence)

    return find


def find_hidden_places(paper: PaperText, chance: Random) -> Iterator[Change]:
    """Yield insertions of a paragraph before each block of prose except the first."""
    paragraphs = _read_wordings()["hidden"]["paragraphs"]
    for block in paper.blocks[1:]:
        inserted = f"{chance.choice(paragraphs)}\n\n"
        yield Change(block.start, block.start, inserted, Passage("", block.start))


@cache
def rules_of(arm: Arm) -> tuple[Rule, ...]:
    """Return the rules of an arm, one of which is drawn; none for the clean paper."""
    return {
        Arm.CLEAN: (),
        Arm.TABLE_NUMBER: (find_table_numbers,),
        Arm.FLIPPED_SIGN: (find_signs, find_directions),
        Arm.REMOVED_CONTROL: tuple(_find_wording(wording, _is_control) for wording in _wordings("controls")),
        Arm.OVERSTATED_CLAIM: tuple(_find_wording(wording, _is_claim) for wording in _wordings("claims")),
        Arm.HIDDEN_INSTRUCTION: (find_hidden_places,),
        Arm.HARMLESS: tuple(_find_wording(wording, _is_any) for wording in _swaps("synonyms")),
    }[arm]


def choose_change(paper: PaperText, arm: Arm, seed: str) -> Change | None:
    """Return the change of an arm drawn by a seed: first an applicable rule, then a place; None if no rule applies.

    Args:
        paper: The paper.
        arm: Any arm except the clean one.
        seed: Seed of the draw, which is combined with the paper's id.
    """
    chance = Random(f"{seed}/{arm.value}")
    found = [changes for rule in rules_of(arm) if (changes := list(rule(paper, chance)))]
    return chance.choice(chance.choice(found)) if found else None
