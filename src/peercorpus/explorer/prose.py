"""Markdown with mathematics from outside → HTML that executes nothing: no HTML of its own, no pictures, safe links."""

import html
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any

import nh3
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from peercorpus.explorer.legible import legible

LONGEST = 40_000
"""Characters of a text that are read as Markdown: hostile ones take seconds beyond. A longer text is shown as it is."""
MOST_ON_A_PAGE = 600_000
"""Characters read as Markdown on one page; what comes after is shown as it is."""
LONGEST_FORMULA = 4_000
FIELD_NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
"""How forms name their fields; posts hold them as headings."""
WIDE = 60
"""Characters of TeX from which a formula may be wider than a phone."""
MATHS = (
    "math mrow mi mn mo mtext mspace mfrac msqrt mroot mstyle msub msup msubsup munder mover munderover mtable mtr mtd"
    " mpadded menclose mphantom"
)
TEXTS = "p h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a br hr table thead tbody tr th td span div"
ATTRIBUTES: dict[str, set[str]] = {
    "a": {"href"},
    "ol": {"start"},
    "math": {"display"},
    "mi": {"mathvariant"},
    "mo": {"stretchy", "fence", "form", "separator", "minsize", "maxsize", "lspace", "rspace", "movablelimits"},
    "mover": {"accent"},
    "mfrac": {"linethickness"},
    "mspace": {"width"},
    "mstyle": {"displaystyle", "scriptlevel"},
    "mtable": {"columnalign"},
    "div": {"tabindex"},
}
CLASSES = {"span": {"tex"}, "div": {"block", "plain"}, "code": {"tex"}}


def formula(tex: str, *, is_block: bool) -> str:
    """A formula in MathML; in `<code>`, as it was written, where it cannot be read."""
    source = f'<code class="tex">{html.escape(tex.strip())}</code>'
    # The reader does not escape what stands in \text, and lets commands through that it does not know.
    if len(tex) > LONGEST_FORMULA or ("<" in tex and "\\text" in tex):
        return source
    try:
        drawn = convert(tex.strip(), display="block" if is_block else "inline")
    except Exception:  # noqa: BLE001 -- whatever a formula from outside makes a reader of TeX do
        return source
    return source if "<mi>\\" in drawn else drawn


def _block(tex: str) -> str:
    """A formula on lines of its own; a long one can be reached by the keyboard, to scroll in it."""
    reach = ' tabindex="0"' if len(tex) > WIDE else ""
    return f'<div class="block"{reach}>{formula(tex, is_block=True)}</div>'


def _link(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20})
    parser.enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = _link  # type: ignore[method-assign]
    dollarmath_plugin(parser, allow_digits=False, double_inline=True, renderer=_in_dollars)
    amsmath_plugin(parser, renderer=_block)
    return parser


def _in_dollars(tex: str, options: dict[str, Any]) -> str:
    return _block(tex) if options.get("display_mode") else formula(tex, is_block=False)


def _lowered(tokens: Sequence[Token], top: int) -> None:
    """Headings below the page's own: the first level becomes `top`. A name of a field loses its underscores."""
    for token, after in zip_longest(tokens, tokens[1:]):
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + top - 1)}"
        if token.type == "heading_open" and after is not None and FIELD_NAME.fullmatch(after.content):
            named = Token("text", "", 0, content=after.content.replace("_", " "))
            after.children = [named]


def rendered(text: str, top: int) -> str:
    """Markdown as sanitised HTML.

    Args:
        text: At most `LONGEST` characters.
        top: Which level of heading the text's first level is, from 2.
    """
    parser = _parser()
    tokens = parser.parse(text)
    _lowered(tokens, top)
    drawn = parser.renderer.render(tokens, parser.options, {})
    return nh3.clean(
        drawn,
        tags={*MATHS.split(), *TEXTS.split()},
        attributes=ATTRIBUTES,
        allowed_classes=CLASSES,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


def plain(text: str) -> str:
    """A text as it is, line by line."""
    return f'<div class="plain">{html.escape(text)}</div>'


class Prose:
    """The texts of one page: each is drawn once, and those beyond what a page may take are shown as they are."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        self._mask, self._left = mask, MOST_ON_A_PAGE
        self._drawn: dict[tuple[str, int], Markup] = {}

    def __call__(self, text: str | None, top: int = 4) -> Markup:
        """A text from outside as safe HTML; empty where there is none."""
        if not text:
            return Markup()
        if (text, top) not in self._drawn:
            self._drawn[text, top] = self._draw(legible(self._mask(text)), top)
        return self._drawn[text, top]

    def _draw(self, text: str, top: int) -> Markup:
        if len(text) > min(LONGEST, self._left):
            return Markup(plain(text))
        self._left -= len(text)
        try:
            return Markup(rendered(text, top))
        except (RecursionError, ValueError, IndexError, KeyError):
            return Markup(plain(text))
