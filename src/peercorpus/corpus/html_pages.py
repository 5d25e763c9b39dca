"""Set up Jinja2 templates for HTML pages in which text from outside is always escaped.

Every package has its templates in its folder `templates`. `templates/frame.html` in this package is the frame of
single-file pages: it loads nothing, runs no script, and contains the styles that these pages share.
"""

from collections.abc import Callable

import jinja2
from markupsafe import Markup

from peercorpus.wording.untrusted_text import escape_and_cut


def page_templates(package: str, clean: Callable[[str], str] = escape_and_cut) -> jinja2.Environment:
    r"""Return the templates of a package; each value is cleaned, then escaped, when it is put into a page.

    >>> page_templates("peercorpus.corpus").from_string("{{ title }}").render(title="<b>\u202e")
    '&lt;b&gt;\\u202e'

    Args:
        package: Import name of the package with the folder `templates`.
        clean: Function applied to each text that is not yet markup, before it is escaped.
    """

    def finalize(value: object) -> object:
        return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    return jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), jinja2.PackageLoader("peercorpus.corpus")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
