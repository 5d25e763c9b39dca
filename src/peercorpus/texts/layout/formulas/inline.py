"""Write formulas inside a line of text as Markdown."""

import re
from collections.abc import Iterable, Sequence

from peercorpus.pdf.glyphs import TextRun
from peercorpus.texts.layout.formulas.detection import (
    FORMULA_HEAD,
    FORMULA_TAIL,
    FUNCTION_NAME,
    MAX_PROSE_CHARACTERS,
    NUCLEUS,
    TRAILING_MARKS,
    closing_part,
    is_foreign,
    is_upright,
    part_nodes,
)
from peercorpus.texts.layout.formulas.latex import row_latex
from peercorpus.texts.layout.formulas.nodes import (
    CLOSING_BRACKETS,
    MAX_SCRIPT_SIZE_RATIO,
    OPENING_BRACKETS,
    OPERATOR_NAMES,
    RELATIONS,
    SPACED_SIGNS,
    FormulaNode,
    has_mapped_symbols,
    join_bracket_pieces,
    nodes_of,
)

_MIN_SCRIPT_OFFSET_EM = 0.1
"""Minimum distance of a superscript or subscript from the baseline, in em of its line."""
_MAX_LINE_RUNS = 4000
"""Maximum number of runs in a line that is searched for formulas."""
_PROSE_SIGNS = frozenset("∗*†‡§¶•·.,:;|{}/<>−-–×±✓✗©®°→←∘⋆★■□▷◁ ")
"""Symbols of maths fonts that occur in prose as well."""
_NO_SPACE_BEFORE = ",.;:)"
"""Characters without a space before them, even if the page content has one."""
_BULLET = "•"
_PAUSES = (",", ";")
_ITEM_NUMBER = re.compile(r"\(\w{1,3}\)(?!\w)")
_MAX_TOUCHING_GAP_EM = 0.15
"""Maximum gap that is not a space, in em."""
_MIN_SEPARATE_GAP_EM = 0.9
"""Minimum gap between prose and an unrelated formula, in em."""
_FORMULA_SIGNS = re.compile(r"[ˆ˜¯˙¨ˇ⃗˘´`\u0370-\u03ff∀-⋿]+$")
"""Accents, Greek letters and symbols: a formula in any font."""


def inline(runs: Sequence[TextRun], base: float, size: float) -> str:
    """Return a line as Markdown: formulas as `$…$`, other scripts as `<sup>…</sup>` and `<sub>…</sub>`."""
    least = MAX_SCRIPT_SIZE_RATIO * size
    for run in runs:
        if run.font.is_maths or (run.size < least and abs(run.base - base) > _MIN_SCRIPT_OFFSET_EM * size):
            break
    else:
        return _join_runs(runs)
    if len(runs) > _MAX_LINE_RUNS:
        return _join_runs(runs)
    return _Writer(base, size).write(runs)


def _join_runs(runs: Sequence[TextRun]) -> str:
    text = "".join([f" {run.text}" if run.has_space and number else run.text for number, run in enumerate(runs)])
    return text.replace("$", r"\$") if "$" in text else text


class _Writer:
    def __init__(self, base: float, size: float) -> None:
        self._base = base
        self._size = size
        self._parts: list[str] = []
        self._nodes: list[FormulaNode] = []
        self._spaced: list[bool] = []
        self._is_foreign = self._has_table = False

    def write(self, runs: Sequence[TextRun]) -> str:
        self._has_table = has_mapped_symbols(runs)
        self._is_foreign = any(not run.font.is_maths and is_foreign(run.font.name) for run in runs)
        for number, run in enumerate(runs):
            has_space = run.has_space and number > 0
            if (
                has_space
                and run.text[0] in _NO_SPACE_BEFORE
                and run.left - runs[number - 1].right < _MAX_TOUCHING_GAP_EM * self._size
            ):
                has_space = False
            if self._is_script(run):
                has_space = has_space and run.left - runs[number - 1].right > 0.2 * self._size
                self._add_script(run, has_space)
            elif self._is_maths(run):
                self._add_nodes(nodes_of(run, self._has_table), has_space)
            else:
                following = runs[number + 1] if number + 1 < len(runs) else None
                is_near = following is not None and following.left - run.right < _MIN_SEPARATE_GAP_EM * self._size
                opens = following is not None and is_near and self._opens(following)
                if self._begins_item(run, has_space):
                    self._end_formula()
                # A comma of prose is between two formulas; a comma of a formula is in the formula's own font.
                is_pause = run.text in _PAUSES and following is not None and following.has_space and not self._is_open()
                self._add_prose(run, has_space, opens and not is_pause)
        self._end_formula()
        return "".join(self._parts)

    def _is_script(self, run: TextRun) -> bool:
        return (
            run.size < MAX_SCRIPT_SIZE_RATIO * self._size
            and abs(run.base - self._base) > _MIN_SCRIPT_OFFSET_EM * self._size
        )

    def _is_maths(self, run: TextRun) -> bool:
        return (
            run.font.is_maths
            or (self._is_foreign and is_upright(run.font.name))
            or bool(_FORMULA_SIGNS.match(run.text))
        )

    def _opens(self, run: TextRun) -> bool:
        if self._nodes:
            return self._is_maths(run) or self._is_script(run)
        return self._is_maths(run) and not _PROSE_SIGNS.issuperset(run.text)

    def _begins_item(self, run: TextRun, has_space: bool) -> bool:
        is_behind = has_space and bool(self._nodes) and self._nodes[-1].latex in _PAUSES
        return is_behind and _ITEM_NUMBER.match(run.text) is not None and not self._is_open()

    def _is_open(self) -> bool:
        return (
            sum(
                (node.latex in OPENING_BRACKETS) - (node.latex in CLOSING_BRACKETS)
                for node in self._nodes
                if len(node.latex) == 1
            )
            > 0
        )

    def _add_nodes(self, nodes: Iterable[FormulaNode], has_space: bool) -> None:
        first = True
        for node in nodes:
            self._nodes.append(node)
            self._spaced.append(has_space and first)
            first = False

    def _add_script(self, run: TextRun, has_space: bool) -> None:
        if self._nodes:
            self._add_nodes(nodes_of(run, self._has_table), has_space)
            return
        before = self._parts[-1] if self._parts else ""
        nucleus = None if has_space else NUCLEUS.search(before, max(0, len(before) - MAX_PROSE_CHARACTERS))
        is_variable = nucleus is not None and nucleus[0].isalpha() and len(nucleus[0]) == 1
        is_maths = is_variable or (run.font.is_maths and not _PROSE_SIGNS.issuperset(run.text))
        is_power = run.font.is_maths and nucleus is not None and nucleus[0].isdigit() and run.text[:1] in "−∘◦"
        if is_maths or is_power:
            nucleus_text = nucleus[0] if nucleus else ""
            if nucleus:
                self._parts[-1] = before[: nucleus.start()]
            kind = (
                "name"
                if nucleus_text in OPERATOR_NAMES
                else "text"
                if len(nucleus_text) > 1 and nucleus_text[0].isalpha()
                else "letter"
            )
            self._add_nodes(
                [
                    FormulaNode(
                        latex=nucleus_text,
                        left=run.left,
                        right=run.left,
                        bottom=self._base,
                        top=self._base,
                        base=self._base,
                        size=self._size,
                        kind=kind,
                    )
                ],
                has_space,
            )
            self._add_nodes(nodes_of(run, self._has_table), False)
            return
        name = "sup" if run.base > self._base else "sub"
        text = "".join(node.latex for node in nodes_of(run)) if run.font.is_maths else run.text
        if not has_space and before.endswith(f"</{name}>"):
            self._parts[-1] = before[: -len(name) - 3]
            self._add(f"{text}</{name}>")
        else:
            self._add((" " if has_space else "") + f"<{name}>{text}</{name}>")

    def _add_prose(self, run: TextRun, has_space: bool, opens: bool) -> None:
        text = run.text
        if (
            self._nodes
            and opens
            and FUNCTION_NAME.match(text)
            and (not has_space or self._nodes[-1].latex in SPACED_SIGNS)
        ):
            self._add_nodes(nodes_of(run, self._has_table), has_space)
            return
        if self._nodes:
            match = FORMULA_HEAD.match(text, 0, MAX_PROSE_CHARACTERS)
            head = match[0] if match else ""
            behind = text[len(head) :]
            if behind[:1].isalnum() and head and not head[-1].isspace() and head[-1] not in "([=+/<>|−":
                head = head.rstrip("0123456789.") if head[-1].isdigit() else head
            if behind or not opens:
                head = closing_part(head, self._nodes)
            if head.strip():
                self._add_nodes(part_nodes(run, head), has_space)
                has_space = head[-1:].isspace() or text[len(head) : len(head) + 1] == " "
                text = text[len(head) :].lstrip()
                if not text:
                    return
            self._end_formula()
        if opens:
            match = FORMULA_TAIL.search(text, max(0, len(text) - MAX_PROSE_CHARACTERS))
            if (
                match
                and match[0].strip()
                and (match.start() == 0 or text[match.start() - 1] in " (" or match[0][0] in "([")
            ):
                before = text[: match.start()]
                text = before.rstrip()
                if text:
                    self._add((" " if has_space else "") + text.replace("$", r"\$"))
                self._add_nodes(part_nodes(run, match[0]), before.endswith(" ") or (has_space and not text))
                return
        self._add((" " if has_space else "") + text.replace("$", r"\$"))

    def _end_formula(self) -> None:
        nodes, spaced = self._nodes, self._spaced
        self._nodes = []
        self._spaced = []
        while cut := self._find_unopened(nodes, spaced):
            self._write_formula(nodes[:cut], spaced[:cut])
            self._add((" " if spaced[cut] else "") + nodes[cut].latex)
            nodes, spaced = nodes[cut + 1 :], spaced[cut + 1 :]
        if nodes:
            self._write_formula(nodes, spaced)

    def _find_unopened(self, nodes: Sequence[FormulaNode], spaced: Sequence[bool]) -> int:
        depth = 0
        for index, node in enumerate(nodes):
            if len(node.latex) == 1 and not self._is_small(node):
                depth += (node.latex in OPENING_BRACKETS) - (node.latex in CLOSING_BRACKETS)
                if depth < 0:
                    behind = (
                        index + 2 if index + 2 < len(nodes) and nodes[index + 1].latex in TRAILING_MARKS else index + 1
                    )
                    is_end = node.latex == ")" and node.kind == "letter" and behind < len(nodes) and spaced[behind]
                    return index if is_end else 0
        return 0

    def _write_formula(self, nodes: list[FormulaNode], spaced: list[bool]) -> None:
        behind = ""
        while (
            nodes and nodes[-1].latex in TRAILING_MARKS and nodes[-1].kind == "letter" and not self._is_small(nodes[-1])
        ):
            behind = (" " if spaced.pop() else "") + nodes.pop().latex + behind
        before = ""
        if len(nodes) > 1 and nodes[0].latex == _BULLET and not self._parts:
            before = nodes.pop(0).latex
            spaced[:2] = [True]
        while nodes and nodes[0].latex in (*TRAILING_MARKS, ")", "]") and not self._is_small(nodes[0]):
            before += (" " if spaced.pop(0) else "") + nodes.pop(0).latex
        opened = sum(
            (node.latex in OPENING_BRACKETS) - (node.latex in CLOSING_BRACKETS)
            for node in nodes
            if len(node.latex) == 1
        )
        while nodes and opened > 0 and nodes[0].latex in ("(", "["):
            before += (" " if spaced.pop(0) else "") + nodes.pop(0).latex
            opened -= 1
        self._add(before)
        if nodes:
            self._add(" " if spaced[0] else "")
            self._add(self._write_formula_markdown(nodes, spaced))
        self._add(behind)

    def _write_formula_markdown(self, nodes: Sequence[FormulaNode], spaced: Sequence[bool]) -> str:
        if self._is_prose(nodes):
            return "".join(
                (" " if gap and number else "") + node.latex
                for number, (node, gap) in enumerate(zip(nodes, spaced, strict=True))
            )
        latex = row_latex(join_bracket_pieces(nodes))
        return f"${latex}$" if latex else ""

    def _is_prose(self, nodes: Sequence[FormulaNode]) -> bool:
        return not any(self._is_small(node) for node in nodes) and all(
            node.latex in _PROSE_SIGNS
            or node.latex[:1].isdigit()
            or node.latex in OPENING_BRACKETS
            or node.latex in CLOSING_BRACKETS
            or node.latex in RELATIONS
            or node.latex in "+%"
            for node in nodes
        )

    def _is_small(self, node: FormulaNode) -> bool:
        return (
            node.size < MAX_SCRIPT_SIZE_RATIO * self._size
            and abs(node.base - self._base) > _MIN_SCRIPT_OFFSET_EM * self._size
        )

    def _add(self, text: str) -> None:
        if text:
            self._parts.append(text)
