"""Tables of the encodings of TeX's math fonts and of Symbol: the character for each code.

Every table of TeX lists 128 characters in code order; U+FFFD marks a code that is empty or has no character.
Sources: The LaTeX encodings guide, `encguide`, for OML, OMS and OMX; the guide of the AMS fonts for `msam` and `msbm`;
the packages `stmaryrd`, `latexsym` and `txfonts` for their fonts; ISO 32000-1, D.5 for Symbol.
"""

OML = (
    "ΓΔΘΛΞΠΣΥΦΨΩαβγδϵζηθικλμνξπρστυϕχψωεϑϖϱςφ↼↽⇀⇁↩↪▷◁0123456789.,</>⋆∂ABCDEFGHIJKLMNOPQRSTUVWXYZ♭♮♯⌣⌢ℓ"
    "abcdefghijklmnopqrstuvwxyzıȷ℘\u20d7⁀"
)
"""Encoding of math italic fonts (`cmmi`)."""
OMS = (
    "−·×∗÷⋄±∓⊕⊖⊗⊘⊙○∘•≍≡⊆⊇≤≥⪯⪰∼≈⊂⊃≪≫≺≻←→↑↓↔↗↘≃⇐⇒⇑⇓⇔↖↙∝′∞∈∋△▽\u0338↦∀∃¬∅ℜℑ⊤⊥ℵABCDEFGHIJKLMNOPQRSTUVWXYZ∪∩⊎∧∨⊢⊣⌊⌋⌈⌉{}⟨⟩|∥↕⇕∖≀√⨿∇∫"
    "⊔⊓⊑⊒§†‡¶♣♢♡♠"
)
"""Encoding of math symbol fonts (`cmsy`); its capitals are calligraphic."""
OMX = (
    "()[]⌊⌋⌈⌉{}⟨⟩|∥/∖()()[]⌊⌋⌈⌉{}⟨⟩/∖()[]⌊⌋⌈⌉{}⟨⟩/∖/∖⎛⎞⎡⎤⎣⎦⎢⎥⎧⎫⎩⎭⎨⎬⎪|⎝⎠⎜⎟⟨⟩⨆⨆∮∮⨀⨀⨁⨁⨂⨂∑∏∫⋃⋂⨄⋀⋁∑∏∫⋃⋂⨄⋀⋁∐∐"
    "\u0302\u0302\u0302\u0303\u0303\u0303[]⌊⌋⌈⌉{}√√√√√||∥↑↓⏞⏞⏟⏟⇑⇓"
)
"""Encoding of math extension fonts (`cmex`), which contain large symbols."""
MSAM = (
    "⊡⊞⊠□■·◇⧫↻↺⇌⇋⊟⊩⊪⊨↠↞⇇⇉⇈⇊↾⇂↿⇃↣↢⇆⇄↰↱⇝↭↫↬≗≿≳⪆⊸∴∵≑≜≾≲⪅⪕⪖⋞⋟≼≦⩽≶‵╌≓≒≽≧⩾≷⊏⊐▷◁⊵⊴★≬▼▶◀→←△▲▽≖⋚⋛⪋⪌¥⇛⇚✓⊻⊼⩞∠∡∢∝⌣⌢⋐⋑⋓⋒⋏⋎⋋⋌⫅⫆≏≎⋘⋙⌜⌝®Ⓢ⋔∔"
    "∽⋍⌞⌟✠∁⊺⊚⊛⊝"
)
"""First AMS symbol font (`msam`)."""
MSBM = (
    "≨≩≰≱≮≯⊀⊁≨≩≰≱⪇⪈⋠⋡⋨⋩⋦⋧≰≱⪵⪶⪹⪺⪉⪊≁≇╱╲⊊⊋⊈⊉⫋⫌⫋⫌⊊⊋⊈⊉∦∤∤∦⊬⊮⊭⊯⋭⋬⋪⋫↚↛⇍⇏⇎↮⋇∅∄𝔸𝔹ℂ𝔻𝔼𝔽𝔾ℍ𝕀𝕁𝕂𝕃𝕄ℕ𝕆ℙℚℝ𝕊𝕋𝕌𝕍𝕎𝕏𝕐ℤ"
    "\u0302\u0302\u0303\u0303\ufffdℲ⅁\ufffd\ufffd\ufffd\ufffd℧ð≂ℶℷℸ⋖⋗⋉⋊∣∥∖∼≈≊⪸⪷↶↷Ϝϰ𝕜ℏℏ϶"
)
"""Second AMS symbol font (`msbm`): negated relations and double-struck capitals."""
STMARY = (
    "←→↑↓⅄?≺≻⋎⋏⦵⦶⫽??⊗⊛⦶⊙⊘⦸⊚⊕⊖⧆◫⊡⧄⧅⧇⧈□☇?×⨟↙↘??⫽?⟅⟆◯???↖↗??⧀⧁??⫾⫴⦶⦸⧀⧁??"
    "▯???⪿⫀??⟅⟆⟦⟧⦇⦈?⅋⊴⊵⋬⋭????\u0338\u0338???⇿⇽⇾▽△⋎⋏⨅□∥⫴????????"
    "????????????????"
).replace("?", "\ufffd")
"""Symbol font of `stmaryrd`."""
TXSYC = (
    "???????○●∥∥∦∦??⩴?≐⟜⧟⊸????⊫?≅⪳⪴⋨⋩≴≵??⋠⋡≹≸????≠≭≢≁≉⊄⊅????⪹⪺⪵⪶≄∉∌??⋢⋣≔≕??⩴???⥽"
    "??⅋⟅⟆??????????⋈???◇◆???⇠⇢?⇜??⧆⧅◫⧄??ƛ♧♦♥♤⇗⇘⇖⇙?⫫?⇝??⟦⟧"
).replace("?", "\ufffd")
"""Third symbol font of `txfonts` and `pxfonts` (`txsyc`)."""
LASY = {"✁": "◁", "✂": "⊴", "✄": "▷", "☎": "⊵", "✵": "℧", "✶": "⋈", "✷": "□", "✸": "◇", "❀": "⇝", "❁": "⊏", "❂": "⊐"}
"""Symbols of `lasy` by pdfium's character, which is that of Zapf Dingbats because both use the same glyph names."""
SYMBOL = dict(
    zip(
        range(0x20, 0x7F),
        " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
        strict=True,
    )
) | dict(
    zip(
        range(0xA1, 0xFF),
        "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\ufffd⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
        strict=True,
    )
)
"""Encoding of Symbol, by code; Windows gives its codes in the private range from U+F000."""
