"""The symbols of formulas and the accents, with their commands in LaTeX with amsmath and amssymb."""

from collections.abc import Mapping
from types import MappingProxyType

_GREEK = """
α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa ϰ varkappa
λ lambda μ mu µ mu ν nu ξ xi π pi ϖ varpi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi
ψ psi ω omega ϝ digamma
Γ Gamma Δ Delta ∆ Delta Θ Theta ϴ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega Ω Omega
"""
_OPERATORS = """
· cdot ⋅ cdot × times ÷ div ± pm ∓ mp ∗ ast ⋆ star ★ bigstar ∘ circ ∙ bullet ⊕ oplus ⊖ ominus ⊗ otimes ⊘ oslash
⊙ odot ⊎ uplus ⊓ sqcap ⊔ sqcup ∧ wedge ∨ vee ∩ cap ∪ cup ∖ setminus ≀ wr ⋄ diamond ◇ Diamond ◦ circ △ triangle
▽ triangledown ◁ triangleleft ▷ triangleright ⊳ rhd ⊲ lhd ⊴ trianglelefteq ⊵ trianglerighteq ⋈ bowtie ⋉ ltimes
⋊ rtimes ⨿ amalg ∔ dotplus ⊞ boxplus ⊟ boxminus ⊠ boxtimes ⊡ boxdot ⋀ bigwedge ⋁ bigvee ⋂ bigcap ⋃ bigcup
⨀ bigodot ⨁ bigoplus ⨂ bigotimes ⨄ biguplus ⨆ bigsqcup ∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint
∂ partial ∇ nabla ′ prime ∞ infty ∅ emptyset ℵ aleph ℶ beth ℏ hbar ℓ ell ℘ wp ℜ Re ℑ Im ∀ forall ∃ exists ∄ nexists
¬ neg ∠ angle ∡ measuredangle ⊤ top ⊥ bot □ Box ■ blacksquare ▪ blacksquare ▲ blacktriangle ▼ blacktriangledown
▶ blacktriangleright ◀ blacktriangleleft ◆ blacklozenge ◊ lozenge ● bullet ○ bigcirc ♠ spadesuit ♣ clubsuit
♥ heartsuit ♡ heartsuit ♦ diamondsuit ♢ diamondsuit ♭ flat ♮ natural ♯ sharp ✓ checkmark ✔ checkmark ✠ maltese
☆ star ⋯ cdots … ldots ⋮ vdots ⋱ ddots † dagger ‡ ddagger § S ¶ P ð eth
"""
_RELATIONS = """
≤ leq ⩽ leqslant ≥ geq ⩾ geqslant ≠ neq ≡ equiv ≢ not\\equiv ≈ approx ≉ not\\approx ≃ simeq ≅ cong ∼ sim ≁ nsim
∽ backsim ≍ asymp ≐ doteq ≑ doteqdot ≔ mathrel{:=} ≕ mathrel{=:} ≜ triangleq ≝ overset{\\text{def}}{=} ≟ overset{?}{=}
∝ propto ≪ ll ≫ gg ⋘ lll ⋙ ggg ≺ prec ≻ succ ≼ preceq ≽ succeq ⪯ preceq ⪰ succeq ≾ precsim ≿ succsim ≲ lesssim
≳ gtrsim ≶ lessgtr ≷ gtrless ≦ leqq ≧ geqq ≨ lneqq ≩ gneqq ≮ nless ≯ ngtr ≰ nleq ≱ ngeq ∈ in ∉ notin ∋ ni ⊂ subset
⊃ supset ⊄ not\\subset ⊅ not\\supset ⊆ subseteq ⊇ supseteq ⊈ nsubseteq ⊉ nsupseteq ⊊ subsetneq ⊋ supsetneq
⊏ sqsubset ⊐ sqsupset ⊑ sqsubseteq ⊒ sqsupseteq ⊢ vdash ⊣ dashv ⊨ models ⊩ Vdash ⊪ Vvdash ⊬ nvdash ⊭ nvDash
∣ mid ∤ nmid ∥ parallel ‖ Vert ∦ nparallel ⌣ smile ⌢ frown ≬ between ⋔ pitchfork ∴ therefore ∵ because ∶ colon
≎ Bumpeq ≏ bumpeq ⊧ models ⟂ perp
"""
_ARROWS = """
← leftarrow → rightarrow ↔ leftrightarrow ↑ uparrow ↓ downarrow ↕ updownarrow ⇐ Leftarrow ⇒ Rightarrow
⇔ Leftrightarrow ⇑ Uparrow ⇓ Downarrow ⇕ Updownarrow ↦ mapsto ⟵ longleftarrow ⟶ longrightarrow ⟷ longleftrightarrow
⟸ Longleftarrow ⟹ Longrightarrow ⟺ Longleftrightarrow ⟼ longmapsto ↗ nearrow ↘ searrow ↙ swarrow ↖ nwarrow
↩ hookleftarrow ↪ hookrightarrow ↼ leftharpoonup ↽ leftharpoondown ⇀ rightharpoonup ⇁ rightharpoondown
⇌ rightleftharpoons ⇋ leftrightharpoons
↝ rightsquigarrow ⇝ rightsquigarrow ↛ nrightarrow ↚ nleftarrow ↠ twoheadrightarrow
↞ twoheadleftarrow ↣ rightarrowtail ↢ leftarrowtail ↻ circlearrowright ↺ circlearrowleft ⊸ multimap ⇄ rightleftarrows
⇆ leftrightarrows ⇉ rightrightarrows ⇈ upuparrows ⇊ downdownarrows ↾ upharpoonright ⇏ nRightarrow ⇎ nLeftrightarrow
"""
_BRACKETS = """
⟨ langle ⟩ rangle 〈 langle 〉 rangle ⌊ lfloor ⌋ rfloor ⌈ lceil ⌉ rceil ⟦ mathopen{[\\![} ⟧ mathclose{]\\!]}
⌜ ulcorner ⌝ urcorner ⌞ llcorner ⌟ lrcorner √ surd
"""


def _read(*tables: str) -> dict[str, str]:
    """Return symbol → command from tables that alternate a symbol and the name of its command."""
    words = " ".join(tables).split()
    return {sign: rf"\{name}" for sign, name in zip(words[::2], words[1::2], strict=True)}


SIGNS: Mapping[str, str] = MappingProxyType(
    _read(_GREEK, _OPERATORS, _RELATIONS, _ARROWS, _BRACKETS)
    | {"−": "-", "⁄": "/", "∕": "/", "ο": "o", "ı": r"\imath", "ȷ": r"\jmath", "°": r"{}^{\circ}", "∎": r"\blacksquare"}
    | dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", (rf"\mathrm{{{letter}}}" for letter in "ABEZHIKMNOPTX"), strict=True))
    | dict(zip("ℂℍℕℙℚℝℤ", (rf"\mathbb{{{letter}}}" for letter in "CHNPQRZ"), strict=True))
    | dict(zip("ℬℰℱℋℐℒℳℛ", (rf"\mathcal{{{letter}}}" for letter in "BEFHILMR"), strict=True))
    | dict(zip("ℭℌℨ", (rf"\mathfrak{{{letter}}}" for letter in "CHZ"), strict=True))
    | {"𝟙": r"\bbone", "𝟘": r"\mathbf{0}", "⎷": r"\surd", "𝕜": r"\Bbbk", "ℯ": "e", "ℊ": "g", "ℴ": "o", "ℎ": "h"}
)
"""Symbol → its LaTeX in a formula."""
TEXT_ACCENTS: Mapping[str, str] = MappingProxyType(
    {
        "\u0300": r"\`",
        "\u0301": r"\'",
        "\u0302": r"\^",
        "\u0303": r"\~",
        "\u0304": r"\=",
        "\u0306": r"\u",
        "\u0307": r"\.",
        "\u0308": r"\"",
        "\u030a": r"\r",
        "\u030b": r"\H",
        "\u030c": r"\v",
        "\u0323": r"\d",
        "\u0328": r"\k",
        "\u0331": r"\b",
    }
)
"""Combining accent → its command in text."""
MATHS_ACCENTS: Mapping[str, str] = MappingProxyType(
    {
        "\u0300": r"\grave",
        "\u0301": r"\acute",
        "\u0302": r"\hat",
        "\u0303": r"\tilde",
        "\u0304": r"\bar",
        "\u0305": r"\overline",
        "\u0306": r"\breve",
        "\u0307": r"\dot",
        "\u0308": r"\ddot",
        "\u030a": r"\mathring",
        "\u030c": r"\check",
        "\u0331": r"\underline",
        "\u0332": r"\underline",
        "\u0338": r"\not",
        "\u20d1": r"\vec",
        "\u20d7": r"\vec",
        "\u20db": r"\dddot",
    }
)
"""Combining accent → its command in a formula."""


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
