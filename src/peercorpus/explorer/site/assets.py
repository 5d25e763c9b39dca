"""The scripts and the style of a site: files that pages load, and scripts that its first page contains.

A search by a link waits for nothing but bytes and round trips, so the first page contains its scripts, and they are
written without comments and indentation.
"""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

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
_SPACES = re.compile(r"\s+")
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CSS_STRING = re.compile(r"""("[^"]*"|'[^']*')""")
_CSS_SPACE = re.compile(r" ?([{};,>]) ?|(?<=:) (?=[^{}:;]*+;)")


def shorten_script(script: str) -> str:
    r"""Return a script without indentation, and without lines that are empty or comments.

    >>> shorten_script("// What.\n\n(() => {\n  const a = 1;  // Why.\n})();\n")
    '(() => {\nconst a = 1;  // Why.\n})();\n'
    """
    lines = [line.strip() for line in script.splitlines()]
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//"))


def shorten_style(style: str) -> str:
    r"""Return a style sheet without comments, and without needless space outside of strings.

    >>> shorten_style("/* What. */\na, b:hover > i {\n  margin: 0 1px;\n  top: calc(1px + 2px);\n}\n")
    'a,b:hover>i{margin:0 1px;top:calc(1px + 2px)}'
    >>> shorten_style("a { content: '\\2212  '; }")
    "a{content: '\\2212  '}"
    """
    parts = _CSS_STRING.split(_CSS_COMMENT.sub("", style).strip())
    parts[::2] = [_CSS_SPACE.sub(lambda match: match[1] or "", _SPACES.sub(" ", part)) for part in parts[::2]]
    parts[::2] = [part.replace(";}", "}") for part in parts[::2]]
    return "".join(parts)


_SHORTEN = {"css": shorten_style, "js": shorten_script, "svg": str.strip}


def _read(parts: tuple[str, ...]) -> str:
    return "".join((files("peercorpus") / part).read_text(encoding="utf-8") for part in parts)


def list_files() -> dict[str, bytes]:
    """Return the files that pages load, by name."""
    return {name: _SHORTEN[name.rpartition(".")[2]](_read(parts)).encode() for name, parts in _FILES.items()}


@cache
def inline_scripts() -> dict[str, str]:
    """Return the scripts of the first page, by name."""
    return {name: shorten_script(_read(parts)) for name, parts in _INLINE.items()}


def content_policy(*scripts: str) -> str:
    """Return the policy of a page: nothing is fetched, from anywhere; the data for a search are scripts of the site.

    Args:
        scripts: The scripts that the page contains; no others in it run.
    """
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    return _POLICY.format(hashes="".join(f" 'sha256-{digest}'" for digest in digests))
