"""What each part of a paper's Markdown becomes in LaTeX."""

import pytest

from invented_markdown import PAPER, WORDS
from latex_reading import body, check_balance, words
from peercorpus.latex.document import MARK, write_latex
from peercorpus.latex.maths import UnfitFormulaError, read_formula


def latex_of(markdown: str) -> str:
    latex = write_latex(markdown).latex
    check_balance(latex)
    return body(latex).strip()


def test_a_paper_is_written_completely() -> None:
    written = write_latex(PAPER)
    check_balance(written.latex)
    assert words(written.latex) == WORDS
    assert (written.formulas, written.shown_as_text.total()) == (3, 0)
    assert written.latex.startswith(MARK)
    assert written.latex.endswith("\\end{document}\n")


@pytest.mark.parametrize(
    ("markdown", "latex"),
    [
        ("", r"\mbox{}"),
        (
            "# One\n\n## Two\n\n### Three",
            "\\title{One}\n\\author{}\n\\date{}\n\\maketitle\n\n\\section*{Two}\n\n\\subsection*{Three}",
        ),
        ("# One\n\n# Two", "\\title{One}\n\\author{}\n\\date{}\n\\maketitle\n\n\\section*{Two}"),
        ("One.\n\n---\n\nTwo.", "One.\n\n\\newpage\n\nTwo."),
        (r"\---", "-{}-{}-"),
        (
            r"It costs \$5, or 5% of {a_b}~c^d\e.",
            r"It costs \$5, or 5\% of \{a\_b\}\textasciitilde{}c\textasciicircum{}d\textbackslash{}e.",
        ),
        (
            "**Data.** *We* __use__ snake_case_names and 3*4*5",
            r"\textbf{Data.} \emph{We} \textbf{use} snake\_case\_names and 3*4*5",
        ),
        (
            "x<sup>2</sup> y<sub>i</sub> a<sup b<br>c",
            "x\\textsuperscript{2} y\\textsubscript{i} a<sup b\\leavevmode\\newline{}\nc",
        ),
        ("[us](https://a.example/b%20c_d) [x](y.md)", r"\href{https://a.example/b\%20c\_d}{us} [x](y.md)"),
        ("![A kite](figures/kite_1.png)", r"A kite \texttt{figures/kite\_1.png}"),
        ("- [29] says", "\\begin{itemize}\n\\item {}[29] says\n\\end{itemize}"),
        ("3. third\n4. fourth", "\\begin{itemize}\n\\item[{3.}] third\n\\item[{4.}] fourth\n\\end{itemize}"),
        ("```\na_b % {\n```", "\\begin{verbatim}\na_b % {\n\\end{verbatim}"),
        ("AT&amp;T &lt;1", r"AT\&T <1"),
        ("$5 and $6", r"\$5 and \$6"),
        ("$$x$$ (1)", r"\[x \tag{1}\]"),
        ("$$a \\\\ b$$", r"\[\begin{gathered}a \\ b\end{gathered}\]"),
        ("See\n\\[x & y\\]", "See\n\n\\[\\begin{aligned}x & y\\end{aligned}\\]"),
        (r"\(a_1\)", "$a_1$"),
        ("## On $$x$$", r"\section*{On $x$}"),
        ("中", "中"),
        ("Figure 1: A kite.", "\\begin{quote}\n\\small\nFigure 1: A kite.\n\\end{quote}"),
    ],
)
def test_parts(markdown: str, latex: str) -> None:
    assert latex_of(markdown) == latex


def test_a_table_has_its_columns_and_escaped_pipes() -> None:
    latex = latex_of("| a | b \\| c |\n| :-: | --: |\n| [1] | 50% | more |\n| * |")
    assert "\\begin{longtable}{@{}crl@{}}" in latex
    assert "a & b | c &  \\\\\n\\midrule\n\\endhead\n{}[1] & 50\\% & more \\\\\n{}* &  &  \\\\\n\\bottomrule" in latex


def test_a_rare_character_is_declared() -> None:
    latex = write_latex("中 文 é").latex
    assert latex.count("\\showcode{") == latex.count("\\showcode{4E2D}\n") + latex.count("\\showcode{6587}\n") == 2


@pytest.mark.parametrize(
    ("formula", "latex"),
    [
        (r"\frac{a}{b} + \sqrt[3]{x}", r"\frac{a}{b} + \sqrt[{3}]{x}"),
        (r"\frac12", r"\frac{1}{2}"),
        ("β_i^2", r"\beta_i^2"),
        ("αx", r"\alpha x"),
        ("x_β", r"x_{\beta}"),
        ("x^2^3", "x^2{}^3"),
        ("x^2'", "x^2{}'"),
        ("x'^2", "x'^2"),
        ("x̂ + ŷ_i", r"\hat{x} + \hat{y}_i"),
        ("50%", r"50\%"),
        (r"\begin{cases} a & b \\ [c] & d \end{cases}", r"\begin{cases} a & b \\{} [c] & d \end{cases}"),
        (r"\begin{align} a &= b \\ c &= d \end{align}", r"\begin{aligned} a &= b \\ c &= d \end{aligned}"),
        (r"\text{for all $}", None),
        (r"\text{5\% of a_b}", r"\text{5\% of a\_b}"),
        (r"\left( a \\ b \right)", r"\left(\begin{matrix} a \\ b \end{matrix}\right)"),
        (r"{\rm loss}", r"{\rm loss}"),
        (r"\bm{x}", r"\boldsymbol{x}"),
        ("中", r"\text{中}"),
        (r"\left( a", None),
        ("{a", None),
        ("a}", None),
        (r"\begin{cases} a & b & c \end{cases}", None),
        (r"\begin{document}", None),
        (r"\begin{cases} a", None),
        ("x^", None),
        (r"\frac{1}", None),
        (r"x\limits", None),
        (r"\unknown", None),
        ("\\", None),
        ("{" * 300 + "}" * 300, None),
    ],
)
def test_formulas(formula: str, latex: str | None) -> None:
    if latex is None:
        with pytest.raises(UnfitFormulaError):
            read_formula(formula)
    else:
        assert read_formula(formula).latex == latex


@pytest.mark.parametrize(
    "command",
    [
        r"\input{/etc/passwd}",
        r"\include{x}",
        r"\write18{ls}",
        r"\openin1=x",
        r"\catcode`\%=12",
        r"\def\x{y}",
        r"\csname x\endcsname",
        r"\immediate\write18{ls}",
        r"\newcommand{\x}{y}",
        r"\let\x\y",
        r"\includegraphics{x}",
        r"\href{file:///x}{y}",
        r"\url{x}",
        r"\special{x}",
        r"\directlua{os.exit()}",
        r"\loop\repeat",
        r"\verb|x|",
        r"\^^69nput{x}",
        r"\expandafter\x",
        r"\usepackage{x}",
    ],
)
@pytest.mark.parametrize(
    "around", ["%s", "$%s$", "$$%s$$", "| a |\n| --- |\n| $%s$ |", "# %s", "`%s`", "$\\text{%s}$", "```\n%s\n```"]
)
def test_no_command_of_a_paper_reaches_tex(command: str, around: str) -> None:
    latex = write_latex(around % command).latex
    check_balance(latex)
    shown = body(latex)
    if "\\begin{verbatim}" not in shown:
        assert command.replace("\\ ", "")[:4] not in shown.replace(r"\textbackslash{}", "").replace("\\href{", "")


def test_a_formula_not_set_is_shown() -> None:
    written = write_latex(r"Let $\unknown{x}$ be, and $y$.")
    assert "% A formula is shown as text: \\unknown is not a known command for formulas.\n" in written.latex
    assert r"\texttt{\$\textbackslash{}unknown\{x\}\$} be, and $y$." in written.latex
    assert (written.formulas, written.shown_as_text.total()) == (2, 1)
    assert "% 1 of 2 formulas" in written.latex
