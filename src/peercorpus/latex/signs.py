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
