"""Render Markdown, formulas and values from outside as safe HTML, and name enum values in words."""

import html
import re
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import zip_longest

import nh3
from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

from peercorpus.records.enums import Grade, LinkKind, PostKind, Reason, Role, Status, VersionMoment
from peercorpus.report.corpus_statistics import percent
from peercorpus.wording.untrusted_text import redact_people, replace_controls

SHOWN_CHARACTERS = 1_200
"""Characters of a long text that are always shown, at least."""
FOLDED_CHARACTERS = 900
"""Characters that are folded, at least; a text with less behind the fold is shown whole."""


def split_tokens(tokens: Sequence[Token]) -> tuple[Sequence[Token], Sequence[Token]]:
    """Split the tokens of a text into the part always shown and the folded part, which is empty for short texts."""
    lengths = [len(token.content) for token in tokens]
    whole = sum(lengths)
    shown = 0
    for index, token in enumerate(tokens):
        if shown >= SHOWN_CHARACTERS and _can_fold_before(tokens, index):
            if whole - shown < FOLDED_CHARACTERS:
                break
            return _split_at(tokens, index) if token.level else (tokens[:index], tokens[index:])
        shown += lengths[index]
    return tokens, ()


def _can_fold_before(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a block of the page, or a further item of a list, begins here; a heading stays with its text."""
    token = tokens[index]
    before = tokens[index - 1] if index else None
    if before is None or token.nesting < 0 or before.type == "heading_close":
        return False
    return token.level == 0 or (
        token.level == 1 and token.type == "list_item_open" and before.type == "list_item_close"
    )


def _split_at(tokens: Sequence[Token], index: int) -> tuple[Sequence[Token], Sequence[Token]]:
    """Split within a list; the second part goes on with the number of its first item."""
    start = max(place for place in range(index) if tokens[place].level == 0 and tokens[place].nesting == 1)
    end = next(place for place in range(index, len(tokens)) if tokens[place].level == 0 and tokens[place].nesting == -1)
    again = copy(tokens[start])
    again.attrs = dict(again.attrs)
    if again.type == "ordered_list_open" and tokens[index].info.isdecimal():
        again.attrs["start"] = int(tokens[index].info)
    return [*tokens[:index], tokens[end]], [again, *tokens[index:]]


def split_plain(text: str) -> tuple[str, str]:
    """Split a text that is not Markdown at the end of a line; the second part is empty for short texts."""
    end = text.find("\n", SHOWN_CHARACTERS)
    if end < 0 or len(text) - end < FOLDED_CHARACTERS:
        return text, ""
    return text[:end], text[end + 1 :]


def count_words(tokens: Sequence[Token]) -> int:
    return sum(len(token.content.split()) for token in tokens)


MAX_MARKDOWN_CHARACTERS = 40_000
"""Longer texts are shown as plain text: hostile Markdown beyond this length takes seconds."""
_MAX_PAGE_CHARACTERS = 600_000
"""Characters rendered as Markdown on one page; further texts are shown as plain text."""
_MAX_FORMULA_CHARACTERS = 4_000
"""Longer formulas are shown as TeX."""
_FIELD_NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+")
"""Names of form fields, which posts have as headings."""
_WIDE_FORMULA_CHARACTERS = 60
"""Formulas with more TeX may be wider than the screen of a phone."""
_LINE = r"[A-Za-z](?:[A-Za-z0-9 ,.;:?!%/()'\"=+-]*[A-Za-z0-9,.;:?!%/()'\"=+-])?"
_PARAGRAPHS = re.compile(rf"{_LINE}(?:\n+{_LINE})*")
"""Lines that begin with a letter, end with no space, and hold no sign of Markdown but those that mean something only at
the beginning of a line."""
_MATH_TAGS = (
    "math mrow mi mn mo mtext mspace mfrac msqrt mroot mstyle msub msup msubsup munder mover munderover mtable mtr mtd"
    " mpadded menclose mphantom"
)
_TEXT_TAGS = "p h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s a br hr table thead tbody tr th td span div"
_ATTRIBUTES: dict[str, set[str]] = {
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
_CLASSES = {"span": {"tex"}, "div": {"block", "plain"}, "code": {"tex"}, "ul": {"plus", "minus"}}
_SIGNS = {"+": "plus", "-": "minus"}


def masked(text: str) -> str:
    """Return a text without e-mail addresses, profile ids and control characters."""
    return replace_controls(redact_people(text))


def formula(tex: str, *, is_block: bool) -> str:
    """Return a formula as MathML, or its TeX in `<code>` if it cannot be converted."""
    source = f'<code class="tex">{html.escape(tex.strip())}</code>'
    # The converter does not escape the argument of \text, and passes on unknown commands.
    if len(tex) > _MAX_FORMULA_CHARACTERS or ("<" in tex and "\\text" in tex):
        return source
    try:
        drawn = convert(tex.strip(), display="block" if is_block else "inline")
    except Exception:  # noqa: BLE001 -- whatever a formula from outside makes a reader of TeX do
        return source
    return source if "<mi>\\" in drawn else drawn


def _render_block(tex: str) -> str:
    """Return a displayed formula; a wide one can be focused, so that it can be scrolled by keyboard."""
    focus = ' tabindex="0"' if len(tex) > _WIDE_FORMULA_CHARACTERS else ""
    return f'<div class="block"{focus}>{formula(tex, is_block=True)}</div>'


@cache
def _make_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 20})
    parser.enable(["table", "strikethrough"]).disable("image")
    parser.validateLink = lambda url: url.lower().startswith(("http://", "https://"))  # type: ignore[method-assign]
    dollarmath_plugin(
        parser,
        allow_digits=False,
        double_inline=True,
        label_renderer=lambda label: f"<span>({html.escape(label)})</span>",
        renderer=lambda tex, options: (
            _render_block(tex) if options.get("display_mode") else formula(tex, is_block=False)
        ),
    )
    amsmath_plugin(parser, renderer=_render_block)
    return parser


def _shift_headings(tokens: Sequence[Token], top: int) -> None:
    """Shift headings so that the first level becomes `top`; names of form fields lose their underscores."""
    for token, after in zip_longest(tokens, tokens[1:]):
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + top - 1)}"
        if token.type == "heading_open" and after is not None and _FIELD_NAME.fullmatch(after.content):
            named = Token("text", "", 0, content=after.content.replace("_", " "))
            after.children = [named]


def _keep_signs(tokens: Sequence[Token]) -> None:
    """Give bullets their signs where both + and - are bullets: a reviewer then means strengths and weaknesses."""
    lists = [token for token in tokens if token.type == "bullet_list_open"]
    if _SIGNS.keys() <= {token.markup for token in lists}:
        for token in lists:
            if token.markup in _SIGNS:
                token.attrSet("class", _SIGNS[token.markup])


def _render_paragraphs(text: str) -> str | None:
    """Return the HTML of a text in which no sign means anything in Markdown or HTML, or None if it is not such a text.

    The result equals that of the parser, in a fraction of the time; many points of reviews are such texts.
    """
    if not _PARAGRAPHS.fullmatch(text):
        return None
    return "".join(f"<p>{paragraph}</p>\n" for paragraph in re.split(r"\n\n+", text))


def render_markdown(text: str, top: int) -> str:
    """Render Markdown as sanitised HTML.

    Args:
        text: At most `MAX_MARKDOWN_CHARACTERS` characters.
        top: Level on the page of the text's first level of headings, from 2.
    """
    plain = _render_paragraphs(text)
    return _draw_tokens(_parse_markdown(text, top)) if plain is None else plain


def _parse_markdown(text: str, top: int) -> list[Token]:
    tokens = _make_parser().parse(text)
    _shift_headings(tokens, top)
    _keep_signs(tokens)
    return tokens


def _draw_tokens(tokens: Sequence[Token]) -> str:
    parser = _make_parser()
    drawn = parser.renderer.render(tokens, parser.options, {})
    return nh3.clean(
        drawn,
        tags={*_MATH_TAGS.split(), *_TEXT_TAGS.split()},
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
        strip_comments=True,
    )


def render_plain(text: str) -> str:
    """Return a text as HTML that shows it unchanged, line by line."""
    return f'<div class="plain">{html.escape(text)}</div>'


_EMPTY = Markup()


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as safe HTML in two parts.

    Attributes:
        rest: The folded part; empty for a short text.
        words: Number of words of the rest.
    """

    shown: Markup
    rest: Markup = _EMPTY
    words: int = 0


class Prose:
    """Renders the texts of one page, each once; texts beyond a limit are shown as plain text."""

    def __init__(self, mask: Callable[[str], str], most: int = _MAX_PAGE_CHARACTERS) -> None:
        """Render texts, after `mask` is applied to each; up to `most` characters are rendered as Markdown."""
        self._mask = mask
        self._left = most
        self._drawn: dict[tuple[str, int, bool], Folded] = {}

    def __call__(self, text: str | None, top: int = 4) -> Markup:
        """Return a text from outside as safe HTML, empty if there is none."""
        return self._draw_once(text or "", top, is_folded=False).shown

    def fold(self, text: str | None, top: int = 4) -> Folded:
        """Return a text from outside as safe HTML; a long one in two parts, divided between two of its blocks."""
        return self._draw_once(text or "", top, is_folded=True)

    def _draw_once(self, text: str, top: int, *, is_folded: bool) -> Folded:
        if not text:
            return Folded(Markup())
        key = (text, top, is_folded)
        if key not in self._drawn:
            self._drawn[key] = self._draw(replace_controls(self._mask(text)), top, is_folded=is_folded)
        return self._drawn[key]

    def _draw(self, text: str, top: int, *, is_folded: bool) -> Folded:
        if len(text) <= min(MAX_MARKDOWN_CHARACTERS, self._left):
            self._left -= len(text)
            try:
                if not is_folded or len(text) < SHOWN_CHARACTERS + FOLDED_CHARACTERS:
                    return Folded(Markup(render_markdown(text, top)))
                shown, rest = split_tokens(_parse_markdown(text, top))
                return Folded(Markup(_draw_tokens(shown)), Markup(_draw_tokens(rest)), count_words(rest))
            except (RecursionError, ValueError, IndexError, KeyError):
                pass  # It is shown as plain text.
        start, end = split_plain(text) if is_folded else (text, "")
        return Folded(Markup(render_plain(start)), Markup(render_plain(end) if end else ""), len(end.split()))


ROLES = {
    Role.AUTHOR: "Authors",
    Role.REVIEWER: "Reviewer",
    Role.AREA_CHAIR: "Area chair",
    Role.SENIOR_AREA_CHAIR: "Senior area chair",
    Role.PROGRAM_CHAIR: "Programme chair",
    Role.ETHICS_REVIEWER: "Ethics reviewer",
    Role.PUBLIC: "Public",
    Role.AI: "AI",
    Role.UNKNOWN: "Unknown role",
}
STATUSES = {
    Status.ACCEPTED: "Accepted",
    Status.REJECTED: "Rejected",
    Status.WITHDRAWN: "Withdrawn",
    Status.DESK_REJECTED: "Desk rejected",
    Status.UNDER_REVIEW: "Under review",
    Status.UNKNOWN: "Unknown",
}
GRADES = {
    Grade.EXACT: ("Exact", "An edit on or before the deadline brought this file, and it was fetched for that edit."),
    Grade.EXACT_ATTACHMENT: ("Exact, attachment", "The venue kept the submitted file as an attachment."),
    Grade.UNREVISED: ("Unrevised", "No invitation that can change the PDF edited the paper after the deadline."),
    Grade.ONLY_BEFORE_REVIEW: (
        "The only one before the reviews",
        "The whole history is known, and this PDF alone came before the first review.",
    ),
    Grade.UNREVISED_LIKELY: (
        "Probably unrevised",
        "Chairs edited the paper, which can change a PDF, or its form may have been open when reviewing began.",
    ),
    Grade.BEFORE_FIRST_REVIEW: (
        "Before the first review",
        "The latest PDF that can be seen from before the first review.",
    ),
    Grade.STATED: (
        "Stated by its source",
        "A published dataset, or the user who supplied the file, says that this is the submission; no edit proves it.",
    ),
    Grade.UNSTATED: (
        "Not stated",
        "A published dataset holds this text and does not say of which version.",
    ),
    Grade.UNAVAILABLE: (
        "Not known",
        "Every PDF that can be seen may be later than the reviews, or its file is not here.",
    ),
}
MOMENTS = {
    VersionMoment.INITIAL: "Initial version",
    VersionMoment.BEFORE_DEADLINE: "Before the deadline",
    VersionMoment.BEFORE_REVIEWS: "Before the reviews",
    VersionMoment.DISCUSSION: "During the discussion",
    VersionMoment.CAMERA_READY: "Camera-ready",
    VersionMoment.CURRENT: "Current version",
}
LINKS = {
    LinkKind.RESUBMISSION: "Resubmission",
    LinkKind.COMMITMENT: "Commitment to a venue",
    LinkKind.WORKSHOP: "Workshop version",
    LinkKind.TWIN: "Listed twice",
    LinkKind.UNDATED: "Same work, order not known",
}
FIELDS = {
    "title": "Title",
    "abstract": "Abstract",
    "keywords": "Keywords",
    "authors": "Authors",
    "reviews": "In a review",
    "answers": "In an answer",
    "others": "In another post",
    "ai": "In an AI review",
    "text": "In the paper's text",
    "reviewer": "Reviewer",
}


def format_post_kind(kind: PostKind) -> str:
    """Return a kind of posts in words, for a heading."""
    return "AI review" if kind is PostKind.AI_REVIEW else kind.value.replace("_", " ").capitalize()


def format_reason(reason: Reason) -> str:
    return reason.value.replace("_", " ")


def day(moment: datetime | None) -> str:
    """Format a date, or return "no date" for None.

    >>> day(datetime(2024, 5, 3)), day(None)
    ('3 May 2024', 'no date')
    """
    return f"{moment.day} {moment:%B %Y}" if moment else "no date"


def format_number(value: float | None) -> str:
    """Format a number with at most two decimals, or return "not known" for None.

    >>> format_number(6.0), format_number(4.666667), format_number(None)
    ('6', '4.67', 'not known')
    """
    return "not known" if value is None else f"{value:.2f}".rstrip("0").rstrip(".")


def format_share(part: float, whole: float) -> str:
    """Format a share in whole per cent, or return "none" if the whole is 0.

    >>> format_share(1, 3), format_share(999, 1000), format_share(0, 0)
    ('33 %', 'above 99 %', 'none')
    """
    return percent(part / whole) if whole else "none"
