"""The scripts and the style of a site, and its pages, with fewer bytes.

A search by a link waits for nothing but bytes and round trips, so the first page contains its scripts, and they are
written without comments and indentation.
"""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

_BLOCKS = (
    "article|blockquote|body|dd|details|div|dl|dt|figcaption|figure|footer|form|h[1-6]|head|header|hr|html|li|link|main"
    "|meta|nav|ol|option|p|pre|script|section|summary|table|tbody|td|th|thead|title|tr|ul"
)
_TAG = re.compile(r'<[a-z](?:[^<>"]|"[^"]*")*>')
_UNQUOTED = re.compile(r'="([A-Za-z0-9_.#:/~-]*[A-Za-z0-9_.#:~-])"(?=\s|$)')
_SPACE_BEFORE = re.compile(rf"(?<!\s)\s++(?=</?(?:{_BLOCKS})[ >])")
_SPACE_AFTER = re.compile(rf'(</?(?:{_BLOCKS})(?:\s(?:[^<>"]|"[^"]*")*)?>)\s+')
_VERBATIM = re.compile(r'(<pre\b.*?(?:</pre>|\Z)|<div class="plain">.*?(?:</div>|\Z))', re.DOTALL)
"""Parts in which space is shown."""
_CLOSED_BY = "article|blockquote|details|div|dl|figure|footer|form|h[1-6]|header|hr|main|nav|ol|p|pre|section|table|ul"
_END_OF_PARAGRAPH = re.compile(
    rf"</p>(?=<(?:{_CLOSED_BY})[ >]|</(?:article|blockquote|dd|details|div|footer|header|li|main|nav|section|td)>)"
)
_EMPTY = re.compile(r' (?:class|title)=""')
_END_OF_ITEM = re.compile(r"</li>(?=<li[ >]|</[uo]l>)|</d[td]>(?=<d[td]>)")
_END_OF_CELL = re.compile(
    r"</t[dh]>(?=<t[dh][ >]|</tr>)|</tr>(?=<tr>|</t(?:body|head)>)|</t(?:body|head)>(?=<tbody>|</table>)"
)
_MADE_BY_SCRIPT = re.compile(r'(<(?:article class="turn|section class="conversation)[^<>]*) tabindex="-1">')
"""The script of the page makes these elements focusable."""
_DATE = re.compile(r"(<a class=when [^<>]*>)<time>([^<]*)</time></a>")
_FOLD = re.compile(r"<span class=unfold>Show the other ([^<]*)</span><span class=refold>Fold</span>")


def _shorten_tag(match: re.Match[str]) -> str:
    """Return a tag with single spaces, and without the quotes that it can do without."""
    tag = match[0]
    if '"' not in tag:
        return f"{' '.join(tag[:-1].split())}>"
    pieces = tag[:-1].split('"')
    pieces[::2] = [re.sub(r"\s+", " ", piece) for piece in pieces[::2]]
    return _UNQUOTED.sub(r"=\1", _EMPTY.sub("", '"'.join(pieces))).rstrip() + ">"


def compact(page: str) -> str:
    r"""Return a page that a browser reads as the same elements and texts.

    >>> compact('<ul>\n<li class="a">\n<p>One <b>two</b>.</p>\n</li>\n<li >three</li>\n</ul>')
    '<ul><li class=a><p>One <b>two</b>.<li>three</ul>'
    >>> compact('<pre>a\n <b>b</b></pre>\n<p>if a = "b"</p>')
    '<pre>a\n <b>b</b></pre><p>if a = "b"</p>'
    """
    parts = _VERBATIM.split(_MADE_BY_SCRIPT.sub(r"\1>", page))
    parts[::2] = [_SPACE_AFTER.sub(r"\1", _SPACE_BEFORE.sub("", part)) for part in parts[::2]]
    shorter = _TAG.sub(_shorten_tag, "".join(parts))
    for optional in (_END_OF_PARAGRAPH, _END_OF_ITEM, _END_OF_CELL):
        shorter = optional.sub("", shorter)
    return _FOLD.sub(r"Show or fold the other \1", _DATE.sub(r"\1\2</a>", shorter))


_FILES = {
    "style.css": ("explorer/static/style.css", "explorer/static/paper.css", "explorer/site/static/site.css"),
    "search.css": ("explorer/static/style.css", "explorer/site/static/site.css"),
    "icon.svg": ("explorer/site/static/icon.svg",),
    "keys.js": ("explorer/site/static/paper.js", "explorer/site/static/cite.js", "explorer/static/keys.js"),
}
"""Files that pages load, each with the files that it is made from."""
_INLINE = {
    "early": ("explorer/site/static/words.js", "explorer/site/static/files.js"),
    "search": ("explorer/site/static/search.js",),
}
"""Scripts of the first page, in their order: `early` asks for the files of the words in the address of the page."""
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'{hashes}; form-action 'none';"
    " base-uri 'none'"
)


def shorten_script(script: str) -> str:
    r"""Return a script without indentation, and without lines that are empty or comments.

    >>> shorten_script("// What.\n\n(() => {\n  const a = 1;  // Why.\n})();\n")
    '(() => {\nconst a = 1;  // Why.\n})();\n'
    """
    lines = [line.strip() for line in script.splitlines()]
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def _read(parts: tuple[str, ...]) -> str:
    return "".join((files("peercorpus") / part).read_text(encoding="utf-8") for part in parts)


def list_files() -> dict[str, bytes]:
    """Return the files that pages load, by name."""
    shown = {name: _read(parts) for name, parts in _FILES.items()}
    return {name: (shorten_script(text) if name.endswith(".js") else text).encode() for name, text in shown.items()}


@cache
def inline_scripts() -> dict[str, str]:
    """Return the scripts of the first page, by name."""
    return {name: shorten_script(_read(parts)) for name, parts in _INLINE.items()}


def content_policy(*scripts: str) -> str:
    """Return the policy of a page that contains these scripts: no others in it run.

    Nothing is fetched, from anywhere; the data for a search are scripts of the site.
    """
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    return _POLICY.format(hashes="".join(f" 'sha256-{digest}'" for digest in digests))
