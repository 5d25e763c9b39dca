"""Make `encodings.pdf`, `encodings.json` and `formulas.pdf` from the sources beside this script, with pdflatex.

The outlines of the Type 1 fonts are replaced by boxes; the names, encodings and widths of the glyphs stay as TeX wrote
them. What each code means is taken from the same pages with the Unicode tables that pdfTeX can write.
"""

import ctypes
import json
import re
import subprocess
from pathlib import Path

import pikepdf
import pypdfium2 as pdfium
import pypdfium2.raw as raw
from fontTools.misc import eexec

from peercorpus.pdf.math_fonts import join_surrogates

HERE = Path(__file__).parent
CHARSTRING = re.compile(rb"(/\S+) (\d+) (RD|-\|) ")
SUBROUTINES = re.compile(rb"/(?:OtherSubrs|Subrs)\b.*?(2 index\s*/CharStrings|/CharStrings)", re.DOTALL)
CHARSTRING_KEY = 4330
PROGRAM_KEY = 55665
BOX = eexec.encrypt(bytes(4) + bytes([139, 248, 136, 13, 139, 139, 21, 159, 6, 159, 7, 119, 6, 9, 14]), CHARSTRING_KEY)[
    0
]
"""Charstring of a small box, 500 units wide, behind four bytes that are skipped."""


def remove_outlines(program: bytes) -> bytes:
    """Return the encrypted part of a Type 1 font with other charstrings."""
    plain = SUBROUTINES.sub(rb"\1", eexec.decrypt(program, PROGRAM_KEY)[0])
    kept, end = b"", 0
    for match in CHARSTRING.finditer(plain):
        if match.start() < end:
            continue
        kept += plain[end : match.start()] + b"%s %d %s " % (match[1], len(BOX), match[3]) + BOX
        end = match.end() + int(match[2])
    return bytes(eexec.encrypt(kept + plain[end:], PROGRAM_KEY)[0])


def read_meanings() -> dict[str, list[str]]:
    """Return the characters of all codes of each font, by pdfTeX's own Unicode tables; empty for a code without one."""
    meanings: dict[str, list[str]] = {}
    with pdfium.PdfDocument(HERE / "encodings.pdf") as pdf:
        for page in pdf:
            textpage = page.get_textpage()
            glyphs: list[str] = []
            for index in range(textpage.count_chars()):
                item = raw.FPDFText_GetTextObject(textpage, index)
                if not item:
                    continue
                name = ctypes.create_string_buffer(99)
                raw.FPDFFont_GetBaseFontName(raw.FPDFTextObj_GetFont(item), name, 99)
                if b"CMTT" in name.value:
                    glyphs.append("")
                    continue
                font = name.value.decode()
                is_known = raw.FPDFText_HasUnicodeMapError(textpage, index) == 0
                glyphs[-1] += chr(raw.FPDFText_GetUnicode(textpage, index)) * is_known
            meanings[font] = [join_surrogates(glyph.strip("\0\r\n ")) for glyph in glyphs]
    return meanings


def typeset(name: str, *, has_tables: bool) -> None:
    source = rf"\pdfgentounicode={int(has_tables)} \input{{{name}}}"
    for _ in range(2):
        command = ["pdflatex", "-interaction=batchmode", f"-jobname={name}", source]
        subprocess.run(command, cwd=HERE, check=True)
    for suffix in ("aux", "log"):
        (HERE / f"{name}.{suffix}").unlink()


def shrink(name: str) -> None:
    with pikepdf.open(HERE / f"{name}.pdf", allow_overwriting_input=True) as pdf:
        for item in pdf.objects:
            if not isinstance(item, pikepdf.Dictionary) or "/FontFile" not in item:
                continue
            file = item.FontFile
            data, first = file.read_bytes(), int(file.Length1)
            program = remove_outlines(data[first : first + int(file.Length2)])
            file.write(data[:first] + program)
            file.Length2, file.Length3 = len(program), 0
        pdf.save(HERE / f"{name}.pdf", object_stream_mode=pikepdf.ObjectStreamMode.generate)


def main() -> None:
    typeset("encodings", has_tables=True)
    (HERE / "encodings.json").write_text(json.dumps(read_meanings(), ensure_ascii=False, indent=1) + "\n")
    for name in ("encodings", "formulas"):
        typeset(name, has_tables=False)
        shrink(name)


if __name__ == "__main__":
    main()
