r"""The commands and environments that a formula may use; anything else is never written to a document.

All belong to LaTeX, amsmath or amssymb. None reads or writes a file, defines a command, or changes how TeX reads input.
"""

from collections.abc import Mapping
from types import MappingProxyType

from peercorpus.latex.signs import MATHS_ACCENTS, SIGNS


def _list(names: str) -> frozenset[str]:
    return frozenset(rf"\{name}" for name in names.split())


OPERATORS = _list(
    "arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf injlim ker lg"
    " lim liminf limsup ln log"
    " max min Pr projlim sec sin sinh sup tan tanh sum prod coprod int iint iiint oint bigcap bigcup bigvee bigwedge"
    " bigoplus bigotimes bigodot biguplus bigsqcup varlimsup varliminf idotsint"
)
r"""Operators; only these may have `\limits`."""
_MORE = _list(
    "quad qquad dots dotsc dotsb dotsm dotsi ldots cdots vdots ddots colon lbrace rbrace lbrack rbrack langle rangle"
    " lfloor rfloor lceil rceil lvert rvert lVert rVert vert Vert backslash le ge ne to gets"
    " land lor lnot iff implies"
    " impliedby owns emptyset varnothing prime hbar hslash ell wp Re Im imath jmath partial"
    " nabla infty exists nexists"
    " forall neg angle top bot triangle surd star ast bullet cdot cdotp ldotp times div pm mp dag ddag dagger ddagger"
    " not in notin ni perp mid nmid parallel nparallel smile frown bowtie propto varpropto models vdash dashv Vdash"
    " vDash leqslant geqslant eqslantless eqslantgtr lesssim gtrsim lessapprox gtrapprox"
    " precsim succsim thickapprox"
    " thicksim approxeq Cap Cup curlywedge curlyvee circledast circledcirc circleddash divideontimes"
    " ltimes rtimes leftthreetimes rightthreetimes intercal dotplus smallsetminus barwedge veebar doublebarwedge"
    " preccurlyeq succcurlyeq subseteqq supseteqq Subset Supset sqsubset sqsupset risingdotseq"
    " fallingdotseq circeq triangleq backsim backsimeq vartriangleleft vartriangleright"
    " trianglelefteq trianglerighteq"
    " because therefore between pitchfork varsubsetneq varsupsetneq nsim ncong nleq ngeq nless ngtr nprec nsucc"
    " longleftarrow longrightarrow Longleftarrow Longrightarrow Longleftrightarrow longleftrightarrow longmapsto"
    " leadsto dashrightarrow dashleftarrow rightsquigarrow leftrightsquigarrow curvearrowleft curvearrowright"
    " Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega varGamma varDelta varTheta varLambda varXi varPi"
    " varSigma varUpsilon varPhi varPsi varOmega complement mho eth Finv Game beth gimel daleth Bbbk circledS"
    " blacksquare square Box lozenge blacklozenge Diamond diamond diamondsuit clubsuit heartsuit spadesuit bigstar"
    " textless textgreater textbar amalg wr"
    " bigcirc bigtriangleup bigtriangledown triangleleft triangleright sharp flat natural checkmark aleph"
    " uparrow downarrow Uparrow Downarrow updownarrow Updownarrow bmod bbone"
    " rm bf it sf tt cal displaystyle textstyle scriptstyle scriptscriptstyle"
)
_PUNCTUATION = frozenset(
    {r"\,", r"\;", r"\:", r"\!", r"\>", r"\ ", r"\{", r"\}", r"\|", r"\%", r"\#", r"\&", r"\_", r"\$"}
)
SYMBOLS = (
    OPERATORS | _MORE | _PUNCTUATION | {sign for sign in SIGNS.values() if sign[:1] == "\\" and sign[1:].isalpha()}
)
"""Commands without an argument."""
ARITY: Mapping[str, int] = MappingProxyType(
    dict.fromkeys(
        _list(
            "sqrt mathrm mathbf mathit mathsf mathtt mathcal mathbb mathfrak mathnormal boldsymbol pmb widehat"
            " widetilde overline underline overbrace underbrace overrightarrow overleftarrow"
            " overleftrightarrow underrightarrow"
            " underleftarrow mathop mathbin mathrel mathord mathopen mathclose mathpunct mathinner phantom hphantom"
            " vphantom smash pmod pod xrightarrow xleftarrow boxed ddddot"
        )
        | {command for command in MATHS_ACCENTS.values() if command != r"\not"},
        1,
    )
    | dict.fromkeys(_list("frac dfrac tfrac cfrac binom dbinom tbinom stackrel overset underset"), 2)
)
"""Commands that take arguments, with their number."""
OPTIONAL = _list("sqrt xrightarrow xleftarrow")
"""Commands that may have an argument in square brackets before the others."""
TEXT_COMMANDS = _list("text textrm textbf textit textsf texttt textnormal mbox operatorname")
"""Commands whose argument is text."""
BIG = _list("big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm biggm Biggm")
"""Commands that are followed by a delimiter."""
DELIMITERS = frozenset("()[]/|.<>") | _list(
    "{ } | langle rangle lfloor rfloor lceil rceil lvert rvert lVert rVert vert Vert mid parallel backslash uparrow"
    " downarrow Uparrow Downarrow updownarrow Updownarrow lbrace rbrace lbrack rbrack ulcorner urcorner llcorner"
    " lrcorner"
)
MOST_COLUMNS = 100
ENVIRONMENTS: Mapping[str, int] = MappingProxyType(
    dict.fromkeys(
        ["matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "aligned", "array"],
        MOST_COLUMNS,
    )
    | {"cases": 2, "gathered": 1}
)
"""Environments within a formula, with the largest number of columns in their rows."""
SAME: Mapping[str, str] = MappingProxyType(
    {
        r"\bm": r"\boldsymbol",
        r"\mathbbm": r"\mathbb",
        r"\mathds": r"\mathbb",
        r"\mathscr": r"\mathcal",
        r"\mit": r"\it",
        r"\textsc": r"\text",
        r"\bigtimes": r"\times",
    }
)
"""Commands of other packages, and their equivalents."""
SIMPLE: Mapping[str, str] = MappingProxyType(
    {
        r"\argmax": r"\arg\max",
        r"\argmin": r"\arg\min",
        r"\nonumber": "",
        r"\notag": "",
        r"\coloneqq": r"\mathrel{:=}",
        r"\eqqcolon": r"\mathrel{=:}",
        r"\lbrack": "[",
        r"\rbrack": "]",
        r"\lt": "<",
        r"\gt": ">",
    }
)
"""Commands that may be undefined, and their definitions."""
SAME_ENVIRONMENTS: Mapping[str, str] = MappingProxyType(
    {
        "align": "aligned",
        "align*": "aligned",
        "eqnarray": "aligned",
        "eqnarray*": "aligned",
        "equation": "aligned",
        "equation*": "aligned",
        "displaymath": "aligned",
        "split": "aligned",
        "gather": "gathered",
        "gather*": "gathered",
        "multline": "gathered",
        "multline*": "gathered",
        "dcases": "cases",
        "rcases": "cases",
    }
)
"""Environments that are not allowed within a formula, and their equivalents."""
