"""The encoding of the font Symbol, whose codes word processors write as U+F020 to U+F0FF.

Source: Adobe, "Symbol Encoding to Unicode" (unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt).
"""

_LOW = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼\ufffd"
_HIGH = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\ufffd⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭\ufffd"
_FIRST_LOW, _FIRST_HIGH, _PRIVATE = 0x20, 0xA0, 0xF000
SYMBOL = {
    chr(_PRIVATE + first + number): letter
    for first, letters in ((_FIRST_LOW, _LOW), (_FIRST_HIGH, _HIGH))
    for number, letter in enumerate(letters)
}
"""Private character → the one that the font shows; U+FFFD where there is no glyph."""
