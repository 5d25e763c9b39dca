"""A line of text with the formulas in it, as Markdown."""

import re
from collections.abc import Iterable, Sequence

from peercorpus.texts.layout.formulas_nodes import (
    BRACKETS,
    ENDS,
    NAMES,
    RELATIONS,
    SCRIPT,
    SPACED,
    Node,
    large_of,
    nodes_of,
    without_parts,
)
from peercorpus.texts.layout.formulas_prose import CALL, HEAD, NEAR, NUCLEUS, SOFT, TAIL, closed, is_upright, pieces_of
from peercorpus.texts.layout.formulas_written import written
from peercorpus.texts.layout.glyphs import Run

RAISED = 0.1
"""How far a small run is off the baseline at least, in the size of its line, to count as raised or lowered."""
LONGEST = 4000
"""Runs of a line that are read as formulas."""
MARKS = frozenset("∗*†‡§¶•·.,:;|{}/<>−-–×±✓✗©®°→←∘⋆★■□▷◁ ")
"""Signs from the fonts of formulas that prose has as well."""
CLOSE = ",.;:)"
"""What has no space before it, though the content of a page may have one."""
BULLET = "•"
PAUSES = (",", ";")
ITEM = re.compile(r"\(\w{1,3}\)(?!\w)")
"""The number of an item, in prose."""
TOUCHING = 0.15
"""A gap without a space, in the size of the line, at most."""
APART = 0.9
"""Gap between prose and a formula that has nothing to do with it, in the size of the line, at least."""
ALONE = re.compile(r"[ˆ˜¯˙¨ˇ⃗˘´`\u0370-\u03ff∀-⋿]+$")
"""Accents, Greek and signs: a formula in any font."""


def inline(runs: Sequence[Run], base: float, size: float) -> str:
    r"""One line as Markdown: formulas as `$…$`, other raised text as `<sup>…</sup>`.

    Args:
        runs: From left to right.
        base: Of the line, in points from the lower edge of the page.
        size: Of its font, in points.
    """
    least = SCRIPT * size
    for run in runs:
        if run.font.is_maths or (run.size < least and abs(run.base - base) > RAISED * size):
            break
    else:
        return _joined(runs)
    if len(runs) > LONGEST:
        return _joined(runs)
    return _Writer(base, size).write(runs)


def _joined(runs: Sequence[Run]) -> str:
    text = "".join([f" {run.text}" if run.has_space and number else run.text for number, run in enumerate(runs)])
    return text.replace("$", r"\$") if "$" in text else text


class _Writer:
    """Takes in the runs of a line, and knows whether it stands in a formula."""

    def __init__(self, base: float, size: float) -> None:
        self._base, self._size = base, size
        self._parts: list[str] = []
        self._nodes: list[Node] = []
        self._spaced: list[bool] = []
        self._is_foreign = self._has_table = False

    def write(self, runs: Sequence[Run]) -> str:
        """The Markdown of all runs, from left to right."""
        self._has_table = large_of(runs)
        self._is_foreign = any(not run.font.is_maths and not is_upright(run.font.name) for run in runs)
        for number, run in enumerate(runs):
            has_space = run.has_space and number > 0
            if has_space and run.text[0] in CLOSE and run.left - runs[number - 1].right < TOUCHING * self._size:
                has_space = False
            if self._is_script(run):
                has_space = has_space and run.left - runs[number - 1].right > 0.2 * self._size
                self._take_script(run, has_space)
            elif self._is_maths(run):
                self._take(nodes_of(run, self._has_table), has_space)
            else:
                following = runs[number + 1] if number + 1 < len(runs) else None
                is_near = following is not None and following.left - run.right < APART * self._size
                opens = following is not None and is_near and self._opens(following)
                if self._begins_item(run, has_space):
                    self._end()
                self._take_prose(run, has_space, opens and not self._is_pause(run, following))
        self._end()
        return "".join(self._parts)

    def _is_script(self, run: Run) -> bool:
        return run.size < SCRIPT * self._size and abs(run.base - self._base) > RAISED * self._size

    def _is_maths(self, run: Run) -> bool:
        return run.font.is_maths or (self._is_foreign and is_upright(run.font.name)) or bool(ALONE.match(run.text))

    def _opens(self, run: Run) -> bool:
        if self._nodes:
            return self._is_maths(run) or self._is_script(run)
        return self._is_maths(run) and not MARKS.issuperset(run.text)

    def _is_pause(self, run: Run, following: Run | None) -> bool:
        """Whether a run is a comma of the prose between two formulas: those of a formula are in its own font."""
        return run.text in PAUSES and following is not None and following.has_space and not self._is_open()

    def _begins_item(self, run: Run, has_space: bool) -> bool:
        """Whether a run begins with the number of an item, behind a formula with a comma."""
        is_behind = has_space and bool(self._nodes) and self._nodes[-1].latex in PAUSES
        return is_behind and ITEM.match(run.text) is not None and not self._is_open()

    def _is_open(self) -> bool:
        """Whether a bracket of the formula is open."""
        return sum((node.latex in BRACKETS) - (node.latex in ENDS) for node in self._nodes if len(node.latex) == 1) > 0

    def _take(self, nodes: Iterable[Node], has_space: bool) -> None:
        first = True
        for node in nodes:
            self._nodes.append(node)
            self._spaced.append(has_space and first)
            first = False

    def _take_script(self, run: Run, has_space: bool) -> None:
        if self._nodes:
            self._take(nodes_of(run, self._has_table), has_space)
            return
        before = self._parts[-1] if self._parts else ""
        nucleus = None if has_space else NUCLEUS.search(before, max(0, len(before) - NEAR))
        is_variable = nucleus is not None and nucleus[0].isalpha() and len(nucleus[0]) == 1
        is_maths = is_variable or (run.font.is_maths and not MARKS.issuperset(run.text))
        is_power = run.font.is_maths and nucleus is not None and nucleus[0].isdigit() and run.text[:1] in "−∘◦"
        if is_maths or is_power:
            found = nucleus[0] if nucleus else ""
            if nucleus:
                self._parts[-1] = before[: nucleus.start()]
            kind = "name" if found in NAMES else "text" if len(found) > 1 and found[0].isalpha() else "letter"
            self._take(
                [Node(found, run.left, run.left, self._base, self._base, self._base, self._size, kind)], has_space
            )
            self._take(nodes_of(run, self._has_table), False)
            return
        name = "sup" if run.base > self._base else "sub"
        text = "".join(node.latex for node in nodes_of(run)) if run.font.is_maths else run.text
        if not has_space and before.endswith(f"</{name}>"):
            self._parts[-1] = before[: -len(name) - 3]
            self._add(f"{text}</{name}>")
        else:
            self._add((" " if has_space else "") + f"<{name}>{text}</{name}>")

    def _take_prose(self, run: Run, has_space: bool, opens: bool) -> None:
        text = run.text
        if self._nodes and opens and CALL.match(text) and (not has_space or self._nodes[-1].latex in SPACED):
            self._take(nodes_of(run, self._has_table), has_space)
            return
        if self._nodes:
            found = HEAD.match(text, 0, NEAR)
            head = found[0] if found else ""
            rest = text[len(head) :]
            if rest[:1].isalnum() and head and not head[-1].isspace() and head[-1] not in "([=+/<>|−":
                head = head.rstrip("0123456789.") if head[-1].isdigit() else head
            if not (not rest and opens):
                head = closed(head, self._nodes)
            if head.strip():
                self._take(pieces_of(run, head), has_space)
                has_space = head[-1:].isspace() or text[len(head) : len(head) + 1] == " "
                text = text[len(head) :].lstrip()
                if not text:
                    return
            self._end()
        if opens:
            found = TAIL.search(text, max(0, len(text) - NEAR))
            if (
                found
                and found[0].strip()
                and (found.start() == 0 or text[found.start() - 1] in " (" or found[0][0] in "([")
            ):
                text, gap = text[: found.start()].rstrip(), text[: found.start()].endswith(" ")
                if text:
                    self._add((" " if has_space else "") + text.replace("$", r"\$"))
                self._take(pieces_of(run, found[0]), gap or (has_space and not text))
                return
        self._add((" " if has_space else "") + text.replace("$", r"\$"))

    def _end(self) -> None:
        """Close the formula that was read; a parenthesis of the prose around it divides it."""
        nodes, spaced = self._nodes, self._spaced
        self._nodes, self._spaced = [], []
        while cut := self._unopened(nodes, spaced):
            self._close(nodes[:cut], spaced[:cut])
            self._add((" " if spaced[cut] else "") + nodes[cut].latex)
            nodes, spaced = nodes[cut + 1 :], spaced[cut + 1 :]
        if nodes:
            self._close(nodes, spaced)

    def _unopened(self, nodes: Sequence[Node], spaced: Sequence[bool]) -> int:
        """Where a parenthesis with space behind it ends that does not begin in a formula; 0 where none does."""
        depth = 0
        for at, node in enumerate(nodes):
            if len(node.latex) == 1 and not self._small(node):
                depth += (node.latex in BRACKETS) - (node.latex in ENDS)
                if depth < 0:
                    behind = at + 2 if at + 2 < len(nodes) and nodes[at + 1].latex in SOFT else at + 1
                    is_end = node.latex == ")" and node.kind == "letter" and behind < len(nodes) and spaced[behind]
                    return at if is_end else 0
        return 0

    def _close(self, nodes: list[Node], spaced: list[bool]) -> None:
        behind = ""
        while nodes and nodes[-1].latex in SOFT and nodes[-1].kind == "letter" and not self._small(nodes[-1]):
            behind = (" " if spaced.pop() else "") + nodes.pop().latex + behind
        before = ""
        if len(nodes) > 1 and nodes[0].latex == BULLET and not self._parts:
            before = nodes.pop(0).latex
            spaced[:2] = [True]
        while nodes and nodes[0].latex in (*SOFT, ")", "]") and not self._small(nodes[0]):
            before += (" " if spaced.pop(0) else "") + nodes.pop(0).latex
        opened = sum((node.latex in BRACKETS) - (node.latex in ENDS) for node in nodes if len(node.latex) == 1)
        while nodes and opened > 0 and nodes[0].latex in ("(", "["):
            before += (" " if spaced.pop(0) else "") + nodes.pop(0).latex
            opened -= 1
        self._add(before)
        if nodes:
            self._add(" " if spaced[0] else "")
            self._add(self._formula(nodes, spaced))
        self._add(behind)

    def _formula(self, nodes: Sequence[Node], spaced: Sequence[bool]) -> str:
        if self._is_prose(nodes):
            return "".join(
                (" " if gap and number else "") + node.latex
                for number, (node, gap) in enumerate(zip(nodes, spaced, strict=True))
            )
        latex = written(without_parts(nodes))
        return f"${latex}$" if latex else ""

    def _is_prose(self, nodes: Sequence[Node]) -> bool:
        """Whether there is nothing but digits and signs that prose has too."""
        return not any(self._small(node) for node in nodes) and all(
            node.latex in MARKS
            or node.latex[:1].isdigit()
            or node.latex in BRACKETS
            or node.latex in ENDS
            or node.latex in RELATIONS
            or node.latex in "+%"
            for node in nodes
        )

    def _small(self, node: Node) -> bool:
        return node.size < SCRIPT * self._size and abs(node.base - self._base) > RAISED * self._size

    def _add(self, text: str) -> None:
        if text:
            self._parts.append(text)
