"""The report as one page that needs nothing else: no script, nothing fetched; texts from papers are only ever text."""

from collections.abc import Iterable
from html import escape

from peercorpus.audit.measure import BALANCED_FACTOR, Audit, Finding, Value
from peercorpus.audit.predictors import FOLDS, SHUFFLES, Kind
from peercorpus.audit.visible import visible

STYLE = """
:root { color-scheme: light dark; --line: #8885; --leak: #c0392b; --fine: #1e8449; --bar: #5b8dd9; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.verdict { border-left: .4rem solid var(--fine); padding: .6rem 1rem; background: #8881; font-size: 1.1rem; }
.verdict.leak { border-color: var(--leak); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .35rem .6rem; }
th, td { border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.leak td:first-child { border-left: .25rem solid var(--leak); }
.bar { display: block; height: .35rem; min-width: 3rem; margin-top: .2rem; align-self: center; }
.bar i { display: block; height: 100%; background: var(--bar); }
.leak .bar i { background: var(--leak); } .quiet { opacity: .75; font-size: .875rem; }
dd { margin: 0 0 .4rem 1.5rem; }
code { font-size: .9em; overflow-wrap: anywhere; } summary { cursor: pointer; }
.value { font-size: .875rem; line-height: 1.5rem; } h1 { overflow-wrap: anywhere; }
@media (max-width: 46rem) {
  thead { position: absolute; left: -999rem; } table, tbody, tr, td { display: block; } td { border: 0; padding: 0; }
  tr { border-bottom: 1px solid var(--line); padding: .6rem; } .leak { border-left: .25rem solid var(--leak); }
  .leak td:first-child { border: 0; } td.number { display: flex; flex-wrap: wrap; text-align: left; gap: 0 .5rem; }
  td.number::before { content: attr(data-label); flex: 0 0 9rem; opacity: .75; } .bar { flex-basis: 6rem; order: 1; }
  .bar i { align-self: center; }
}
"""
ALIKE = 5
"""Other features of the same papers that are named."""
HEADS = ("Accuracy", "Gain", "Balanced", "Accepted with it", "Rejected with it")
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def shown(text: str) -> str:
    r"""A text from outside as HTML shows it: markup is letters, control characters are written as escapes.

    >>> shown("<b>\u202e")
    '&lt;b&gt;\\u202e'
    """
    return escape(visible(text))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}&nbsp;%"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"


def _of(count: int, total: int) -> str:
    return f"{count:,} <span class=quiet>({100 * count / total:.0f}&nbsp;%)</span>"


def _values(finding: Finding) -> Iterable[Value]:
    by_size = sorted(finding.values, key=lambda value: (-(value.accepted + value.rejected), value.name))
    return by_size[:5]


def _examples(finding: Finding) -> str:
    items = "".join(
        f"<li><code>{shown(one.record_id)}</code> ({'accepted' if one.accepted else 'rejected'})"
        f"{': ' if one.context else ''}{shown(one.context)}</li>"
        for one in finding.examples
    )
    return f"<details><summary>Examples</summary><ul class=quiet>{items}</ul></details>" if items else ""


def _alike(finding: Finding) -> str:
    if not finding.alike:
        return ""
    first = "; ".join(shown(name) for name in finding.alike[:ALIKE])
    more = f"; and {len(finding.alike) - ALIKE:,} more" if len(finding.alike) > ALIKE else ""
    return f"<div class=quiet>The same papers: {first}{more}</div>"


def _row(finding: Finding, audit: Audit) -> str:
    values, name, names = list(_values(finding)), shown(finding.feature.title), ""
    if finding.feature.kind is Kind.NUMBER:
        name = f"{name}: {shown(values[0].name)}"
    if finding.feature.kind is Kind.CATEGORY:
        names = "".join(f"<div class=value>{shown(value.name) or '(empty)'}</div>" for value in values)
    # Counts stand beside the names of their values, one line each.
    pad = "<div>&nbsp;</div>" if names else ""
    accepted = pad + "".join(f"<div class=value>{_of(value.accepted, audit.accepted)}</div>" for value in values)
    rejected = pad + "".join(f"<div class=value>{_of(value.rejected, audit.rejected)}</div>" for value in values)
    width = max(0.0, finding.gain) / (1 - audit.majority)
    bar = f'<span class=bar><i style="width:{100 * width:.0f}%"></i></span>'
    cells = (_percent(finding.outcome.accuracy), _points(finding.gain) + bar, _percent(finding.outcome.balanced))
    return (
        f"<tr{' class=leak' if finding.is_leak else ''}><td>{name}{names}{_alike(finding)}{_examples(finding)}</td>"
        + "".join(
            f'<td class=number data-label="{head}">{cell}</td>'
            for head, cell in zip(HEADS, (*cells, accepted, rejected), strict=True)
        )
        + "</tr>"
    )


def _counts(audit: Audit) -> str:
    aside = "".join(f"<li>{number:,} set aside: {shown(reason)}</li>" for reason, number in audit.set_aside.items())
    untried = "".join(f"<li>not tried: {number:,} {shown(what)}</li>" for what, number in audit.untried.items())
    files = "".join(
        f"<li>passed over, without such columns: <code>{shown(n)}</code></li>" for n in audit.source.passed_over
    )
    return (
        f"<p>{audit.read:,} papers were read from <code>{shown(audit.source.name)}</code> (text:"
        f" <code>{shown(audit.source.text)}</code>, decision: <code>{shown(audit.source.decision)}</code>);"
        f" {audit.accepted:,} accepted and {audit.rejected:,} rejected ones were audited.</p>"
        f"<ul>{aside}{untried}{files}</ul>"
    )


def _method(audit: Audit) -> str:
    return (
        f"<h2>How to read it</h2><dl><dt>Accuracy</dt><dd>Of a predictor that sees this one feature and says the"
        f" decision that most papers with its value have; learnt on {FOLDS - 1} parts of the papers, tested on the"
        f" other, in turn for all {FOLDS}. A length is parted at the best threshold.</dd>"
        f"<dt>Gain</dt><dd>Points above {_percent(audit.majority)}, which the majority reaches that sees nothing.</dd>"
        f"<dt>Balanced</dt><dd>The mean of the shares of accepted and of rejected papers that are told rightly when"
        f" both weigh the same; 50&nbsp;% is chance.</dd>"
        f"<dt>Chance</dt><dd>{audit.tried:,} different features were tried. With the decisions shuffled"
        f" {SHUFFLES} times, the best of them reached {_percent(audit.chance.accuracy)}"
        f" ({_points(audit.chance.accuracy - audit.majority)} points), balanced"
        f" {_percent(audit.chance.balanced)}.</dd>"
        f"<dt>Leak</dt><dd>A feature above chance whose gain is above {100 * audit.threshold:g} points, or whose"
        f" balanced accuracy is above {50 + 100 * BALANCED_FACTOR * audit.threshold:g}&nbsp;%.</dd></dl>"
    )


def page(audit: Audit, verdict: str) -> str:
    """The whole page."""
    rows = "".join(_row(finding, audit) for finding in audit.findings)
    return (
        '<!doctype html>\n<html lang="en-GB"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        f"<title>Leak audit of {shown(audit.source.name)}</title><style>{STYLE}</style></head><body>"
        f"<h1>Leak audit of {shown(audit.source.name)}</h1>"
        f'<p class="verdict{" leak" if audit.leaks else ""}">{shown(verdict)}</p>{_counts(audit)}'
        f"<h2>The features that tell most</h2><div class=scroll><table><thead><tr><th>Feature</th>"
        f"{''.join(f'<th class=number>{head}</th>' for head in HEADS)}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{_method(audit)}</body></html>\n"
    )
