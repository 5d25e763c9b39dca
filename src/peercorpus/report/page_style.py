"""How the page of the report looks: light and dark, on paper and on a phone."""

STYLE = """
:root { color-scheme: light dark; --ink: #1b1e23; --soft: #5d6570; --faint: #d3d8de; --paper: #ffffff;
  --ground: #f6f7f8; --link: #0b5c93; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #9aa4b0; --faint: #3a4149; --paper: #191d22;
  --ground: #111417; --link: #7cc0ee; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.25rem 4rem; max-width: 58rem; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 3rem 0 1rem; padding-bottom: .35rem; border-bottom: 1px solid var(--faint); }
h3 { font-size: 1.05rem; margin: 0 0 .35rem; }
a { color: var(--link); text-underline-offset: .15em; }
p { margin: 0 0 .6rem; max-width: 46rem; overflow-wrap: anywhere; }
code { font-size: .9em; overflow-wrap: anywhere; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem 2.5rem; list-style: none; padding: 0; margin: 1.25rem 0; }
.tiles li { color: var(--soft); } .tiles b { display: block; color: var(--ink); font-size: 1.5rem; line-height: 1.2; }
nav { font-size: .9rem; }
nav ul { list-style: none; margin: 0; padding: 0; } nav ul ul { margin: .25rem 0 1rem; }
nav > ul { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 0 1.5rem; }
nav > ul > li { color: var(--soft); }
section { background: var(--paper); border: 1px solid var(--faint); border-radius: .5rem; padding: 1.25rem 1.4rem .7rem;
  margin: 0 auto 1.25rem; scroll-margin-top: 1rem; }
figure { margin: .75rem 0; } figure svg { display: block; width: 100%; max-width: 54rem; height: auto; margin: 0 auto;
  stroke-linejoin: round; stroke-linecap: butt; }
figcaption { font-size: .875rem; margin-top: .75rem; } figcaption p { margin: 0 0 .3rem; }
.quiet, .files { color: var(--soft); font-size: .875rem; } .files { margin-top: .5rem; }
summary { cursor: pointer; font-size: .875rem; color: var(--link); }
.scroll { overflow-x: auto; max-height: 28rem; margin: .5rem 0; }
table { border-collapse: collapse; font-size: .8125rem; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--faint); vertical-align: top;
  max-width: 24rem; overflow-wrap: break-word; }
th { color: var(--soft); font-weight: 600; position: sticky; top: 0; background: var(--paper); }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
@media (max-width: 40rem) { body { padding: 1.25rem .75rem 2rem; } section { padding: 1rem .8rem .5rem; }
  figure { overflow-x: auto; } figure svg { min-width: 27rem; } }
@media print { :root { --ink: #1b1e23; --soft: #5d6570; --faint: #d3d8de; --paper: #ffffff; --ground: #ffffff; }
  body { padding: 0; font-size: 10pt; } section { border: 0; padding: 0; break-inside: avoid; }
  nav, .files { display: none; } details::details-content { content-visibility: visible; }
  .scroll { max-height: none; overflow: visible; } }
"""
