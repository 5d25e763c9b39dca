"""Texts that make a regular expression backtrack, and every expression of the package exposed to them."""

import ast
import gc
import importlib
import re
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import pairwise
from math import inf, log2
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import peercorpus

ROOT = Path(peercorpus.__file__).parent
FUNCTIONS = frozenset({"compile", "match", "search", "sub", "subn", "findall", "finditer", "fullmatch", "split"})
CALLS = frozenset(f"re.{name}" for name in FUNCTIONS)
CHARACTERS = " \n\t09aZ_é.,:;!?()[]{}<>|#*-/\\\"'`~$%&@=+^\u0301\u200b\u2013\u2192"
"""Characters tried as members of each class of an expression."""
GENERIC = (
    *' \n\t0aA_.<>([{|#*-\\`$~"\u0301\u200b',
    *("< ", "( ", "R1 ,", "R1 , ", ": ", " \n", "\n ", "a ", "a.", "1.", "1,", "a_", "a-", "a@", "a\n", "1 "),
    *("| a ", "|-", "| |\n", "| a | b |\n|---|---|\n", "[a](", "](", "**", "``", "``` ", "{}", "$ ", "\\ "),
    *("<a ", "> \n", "a\u0301", "to ", "we a ", "reviewer ", "Reviewer 1, ", "to 8 from 5 ", "5 -> 8 "),
)
"""Fragments repeated to make a hostile text for any expression or reader."""
UNMISTAKABLE = frozenset({"match", "fullmatch", "search", "finditer", "findall", "sub"})
"""Methods that only compiled expressions have."""
ENDS = ("", "\x00", "!")


@dataclass(frozen=True, slots=True)
class Found:
    """One expression of the package, and the methods by which the package uses it."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def find_patterns(stated: Mapping[str, Callable[[], object]]) -> tuple[list[Found], list[str]]:
    """Return all expressions, and the places of those found neither in the module nor in `stated`."""
    found: dict[tuple[str, str | bytes, int], Found] = {}
    missing: list[str] = []
    for module_name, tree in sources().items():
        for place, call, name in find_calls(tree):
            module = importlib.import_module(module_name)
            where = f"{module.__name__.removeprefix('peercorpus.')}:{place}"
            patterns = _evaluate(module, call, place, name, stated.get(where))
            if not patterns:
                missing.append(where)
            direct = frozenset({ast.unparse(call.func).removeprefix("re.")}) - {"compile"}
            for holder, pattern in patterns:
                used = direct or find_methods(module_name, holder)
                key = (where.partition(":")[0], pattern.pattern, pattern.flags)
                earlier = found[key].methods if key in found else frozenset()
                found[key] = Found(where, pattern, earlier | (used or frozenset({"search", "fullmatch"})))
    return list(found.values()), missing


def find_calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call, str | None]]:
    """Yield each call of `re`, with the enclosing function or name, and the module-level name, if any."""
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        name = next((target.id for target in targets if isinstance(target, ast.Name)), None)
        for scope, call in _walk(statement, name or ""):
            yield scope, call, name


def _walk(node: ast.AST, scope: str) -> Iterator[tuple[str, ast.Call]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        scope = f"{scope}.{node.name}".lstrip(".")
    if isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS:
        yield scope, node
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, scope)


def _evaluate(
    module: ModuleType, call: ast.Call, place: str, name: str | None, stated: Callable[[], object] | None
) -> list[tuple[str | None, re.Pattern[Any]]]:
    """Return the expressions of a call, each with its name: as stated, as assigned, or as written."""
    if stated is not None:
        return [(None, pattern) for pattern in list_patterns(stated())]
    holders: list[str] = [name] if name is not None else _find_made_by(module.__name__, place)
    held: list[tuple[str | None, re.Pattern[Any]]] = [
        (holder, pattern) for holder in holders for pattern in list_patterns(vars(module)[holder])
    ]
    if held:
        return held
    try:
        given = [eval(compile(ast.Expression(node), "call", "eval"), vars(module)) for node in _find_flags(call)]
    except NameError:
        return []
    return [(None, re.compile(given[0], *given[1:]))]


def _find_flags(call: ast.Call) -> list[ast.expr]:
    """Return the arguments of a call that are the expression and its flags, if it has any."""
    keyword = [keyword.value for keyword in call.keywords if keyword.arg == "flags"]
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    at = {"sub": 4, "subn": 4, "split": 3, "compile": 1}.get(method, 2)
    return [call.args[0], *(keyword or call.args[at : at + 1])]


def _find_made_by(module: str, function: str) -> list[str]:
    """Return the names to which a module assigns the result of one of its functions."""
    return [
        target.id
        for statement in sources()[module].body
        if isinstance(statement, ast.Assign)
        and any(isinstance(node, ast.Name) and node.id == function for node in ast.walk(statement.value))
        for node in statement.targets
        for target in ast.walk(node)
        if isinstance(target, ast.Name)
    ]


def list_patterns(value: object) -> Iterator[re.Pattern[Any]]:
    """Yield the expressions within a value of any depth."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        yield from list_patterns([*value.keys(), *value.values()])
    elif isinstance(value, tuple | list | set | frozenset):
        for member in value:
            yield from list_patterns(member)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from list_patterns(getattr(value, field.name))


@cache
def sources() -> dict[str, ast.Module]:
    """Return the parsed modules of the package by name."""
    parsed = {}
    for path in sorted(ROOT.rglob("*.py")):
        name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        parsed[name.removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"))
    return parsed


def find_methods(module: str, name: str | None) -> frozenset[str]:
    """Return the methods with which the package applies an expression assigned to a name in a module."""
    users = [module, *importers().get((module, name or ""), ())]
    called = [by_name(user) for user in users]
    if name is None or any(name in passed_on for _, passed_on in called):
        return frozenset[str]().union(*(used for methods, _ in called for used in methods.values())) & UNMISTAKABLE
    return frozenset[str]().union(*(methods.get(name, set()) for methods, _ in called))


@cache
def importers() -> Mapping[tuple[str, str], set[str]]:
    """Return by module and name the other modules that import that name from it."""
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for name, tree in sources().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    found[node.module or "", alias.name].add(name)
    return found


@cache
def by_name(module: str) -> tuple[dict[str, set[str]], set[str]]:
    """Return the methods called on each name in a module, and the names that are used otherwise."""
    methods: dict[str, set[str]] = {"re": set()}
    seen: set[int] = set()
    nodes = list(ast.walk(sources()[module]))
    applied = FUNCTIONS | {"pattern"}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in applied:
            methods.setdefault(node.value.id, set()).add(node.attr)
            seen.add(id(node.value))
    names = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    del methods["re"]
    return methods, {node.id for node in names if id(node) not in seen}


Nodes = Any
"""Items of a parsed expression, as Python's own parser gives them."""


def members(item: tuple[Any, Any], flags: int) -> list[str]:
    """Return characters that one item of an expression matches, ordinary ones first."""
    code, argument = item
    if code is codes.LITERAL:
        return [chr(argument)]
    tried = CHARACTERS
    if code is codes.IN:
        tried += "".join(chr(value) for kind, value in argument if kind is codes.LITERAL)
        tried += "".join(chr(value[0]) for kind, value in argument if kind is codes.RANGE)
    return [letter for letter in dict.fromkeys(tried) if _matches(item, letter, flags)]


def _matches(item: tuple[Any, Any], letter: str, flags: int) -> bool:
    code, argument = item
    if code is codes.ANY:
        return letter != "\n" or bool(flags & re.DOTALL)
    if code is codes.NOT_LITERAL:
        return bool(ord(letter) != argument)
    negated = argument[0][0] is codes.NEGATE
    return any(_in_class(kind, value, letter) for kind, value in argument[negated:]) is not bool(negated)


CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}


def _in_class(kind: Any, value: Any, letter: str) -> bool:
    if kind is codes.LITERAL:
        return bool(ord(letter) == value)
    if kind is codes.RANGE:
        return bool(value[0] <= ord(letter) <= value[1])
    return re.match(CATEGORIES[value], letter) is not None


REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def sample(nodes: Nodes, flags: int) -> str:
    """Return a short text that the items of an expression match, lookarounds aside."""
    return "".join(_sample_one(item, flags) for item in nodes)


def _sample_one(item: tuple[Any, Any], flags: int) -> str:
    code, argument = item
    if code in (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY):
        return next(iter(members(item, flags)), "")
    if code is codes.BRANCH:
        return sample(argument[1][0], flags)
    if code is codes.SUBPATTERN:
        return sample(argument[3], flags)
    if code is codes.ATOMIC_GROUP:
        return sample(argument, flags)
    if code in REPEATS:
        least: int = argument[0]
        return sample(argument[2], flags) * least
    if code is codes.ASSERT and argument[0] < 0:
        return sample(argument[1], flags)
    return ""


def find_pumps(nodes: Nodes, flags: int, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the text before each repetition in an expression, and what may be repeated there."""
    for item in nodes:
        code, argument = item
        inner: list[Nodes] = []
        if code in REPEATS:
            inner = [argument[2]]
            if argument[1] > 8:
                yield from ((prefix, text) for text in _variants(argument[2], flags))
        elif code is codes.BRANCH:
            inner = list(argument[1])
        elif code is codes.SUBPATTERN:
            inner = [argument[3]]
        elif code is codes.ATOMIC_GROUP:
            inner = [argument]
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            inner = [argument[1]]
        for part in inner:
            yield from find_pumps(part, flags, prefix)
        prefix += _sample_one(item, flags)


def _variants(nodes: Nodes, flags: int) -> list[str]:
    if len(nodes) == 1 and nodes[0][0] in (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY):
        matching = members(nodes[0], flags)
        return [*matching[:4], *matching[-1:]]
    if len(nodes) == 1 and nodes[0][0] is codes.BRANCH:
        return [sample(branch, flags) for branch in nodes[0][1][1]][:6]
    if len(nodes) == 1 and nodes[0][0] is codes.SUBPATTERN:
        return _variants(nodes[0][1][3], flags)
    return [sample(nodes, flags)]


@dataclass(frozen=True, slots=True)
class Hostile:
    """A text of any length: something, something else repeated, and an end."""

    begin: str
    repeated: str
    end: str

    def of_length(self, n: int) -> str:
        return self.begin + self.repeated * (n // len(self.repeated)) + self.end


def hostile_to(pattern: re.Pattern[Any]) -> list[Hostile]:
    """Return the texts most likely to make an expression slow."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    nodes = parser.parse(source, flags)
    pumps = list(dict.fromkeys(find_pumps(nodes, flags)))
    whole = sample(nodes, flags)
    texts = [Hostile(before, text, end) for before, text in pumps if text for end in ENDS]
    texts += [Hostile("", before + text, "") for before, text in pumps if before + text]
    texts += [Hostile("", text, "\x00") for text in (whole, whole[:-1], f"{whole} ", f"{whole}\n") if text]
    singles = [text for _, text in pumps if text]
    for one, other in pairwise(singles):
        texts += [Hostile(pumps[0][0], one + other, "\x00"), Hostile(whole, one, "\x00")]
    texts += [Hostile("", text, "\x00") for text in GENERIC]
    return list(dict.fromkeys(texts))


class TooSlowError(Exception):
    """A reader did not end in time."""


def _stop(*_: object) -> None:
    raise TooSlowError


@cache
def _handle_limit() -> None:
    """Make the timer of `measure` raise TooSlowError; once, as setting it takes longer than most calls measured."""
    signal.signal(signal.SIGVTALRM, _stop)


def measure(read: Callable[[], object], limit_s: float) -> float:
    """Return the processor seconds that a call takes; raise TooSlowError beyond a limit."""
    _handle_limit()
    gc.disable()  # It traverses all objects of the other tests.
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    started = time.process_time()
    try:
        read()
        return time.process_time() - started
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        gc.enable()


MAX_GROWTH = 2.3
"""Largest growth of the time when the text doubles."""

ATTEMPTS = 5
"""Comparisons that must all find too large a growth, as another program may disturb one."""


def find_growth(
    read: Callable[[int], Callable[[], object]],
    sizes: Sequence[int],
    floor_s: float,
    limit_s: float = 5,
    *,
    is_expression: bool = False,
) -> str | None:
    """Return in words how the time of a reader grows too fast, or None if it does not.

    Where a single time has grown too fast since the last size, the best of three is compared with that of half the
    size, and then that of twice the size with it: a text that no longer fits into a cache grows too fast only once.

    Args:
        read: Makes the call for a size.
        sizes: Sizes, ascending.
        floor_s: Processor seconds below which a time is not compared.
        limit_s: Processor seconds after which a reader counts as too slow, whatever its growth.
        is_expression: Whether the reader is an expression alone. If its time for one size is so short that, growing by
            the square, it would be below the floor at the next, that size is not measured. A higher power would show
            at the first size already: a cube of 2,000 characters is seconds.
    """
    earlier = floor_s
    last = sizes[0]
    elapsed = inf
    for size in sizes:
        if elapsed * (size / last) ** 2 < floor_s:
            continue
        call = read(size)
        # The clock of the processor may tick too rarely for short times, and this one never shows less.
        began = time.perf_counter()
        try:
            took = measure(call, limit_s)
        except TooSlowError:
            return f"more than {limit_s} s at {size:,}"
        elapsed = time.perf_counter() - began if is_expression else inf
        if took > max(floor_s, earlier * MAX_GROWTH ** log2(size / last)):
            growth = _compare(read, size, floor_s, limit_s)
            if growth and _compare(read, 2 * size, floor_s, limit_s):
                return growth
        earlier = took
        last = size
    return None


def _compare(read: Callable[[int], Callable[[], object]], size: int, floor_s: float, limit_s: float) -> str | None:
    """Return in words how much longer a reader takes than for half the size, or None if it is not too much."""
    half, whole = read(size // 2), read(size)
    for _ in range(ATTEMPTS):
        try:
            # Alternately, so that a moment when the machine is faster or slower affects both.
            times = [(measure(half, limit_s), measure(whole, limit_s)) for _ in range(3)]
        except TooSlowError:
            return f"more than {limit_s} s at {size:,}"
        before = max(floor_s / MAX_GROWTH, min(of_half for of_half, _ in times))
        took = min(of_whole for _, of_whole in times)
        if took <= MAX_GROWTH * before:
            return None
    return f"{took:.3f} s at {size:,}, {before:.3f} s at half of it"


def uses(found: Found) -> Iterator[Callable[[Any], object]]:
    """Yield the ways in which the package applies an expression."""
    pattern = found.pattern
    if found.methods & {"search", "sub", "subn", "findall", "finditer", "split"}:
        # It searches the whole text as the others do, and takes the least time besides.
        yield lambda text: pattern.sub(text[:0], text)
    if "match" in found.methods:
        yield pattern.match
    if "fullmatch" in found.methods:
        yield pattern.fullmatch
