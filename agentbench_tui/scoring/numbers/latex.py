"""Converts LaTeX to plain text: delimiters, spacing and styles removed, symbols as Unicode
characters.

`\\frac`, `\\sqrt`, `\\boxed` and unknown commands stay, for `expression` to read. A dollar
sign that is left is a currency: `$12$` becomes `12`, `\\$12` becomes `$12`.
"""

from __future__ import annotations

import re

_STYLES = frozenset({
    "text", "textbf", "textit", "textrm", "textsf", "texttt", "textnormal", "emph",
    "underline", "mathrm", "mathbf", "mathit", "mathsf", "mathtt", "mathnormal",
    "boldsymbol", "bm", "operatorname", "mbox", "hbox", "displaystyle", "textstyle",
    "scriptstyle", "limits", "nolimits", "bf", "rm", "it", "large", "Large", "bigl",
    "bigr", "Bigl", "Bigr", "big", "Big", "bigg", "Bigg", "mathopen", "mathclose",
    "ensuremath", "phantom", "strut",
})  # fmt: skip
_SYMBOLS = {
    "times": "×", "cdot": "·", "ast": "*", "div": "÷", "pi": "π", "pm": "±", "mp": "±",
    "approx": "≈", "simeq": "≈", "cong": "≈", "doteq": "≈", "sim": "≈", "equiv": "=",
    "le": "≤", "leq": "≤", "leqslant": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥",
    "lt": "<", "gt": ">", "ne": "≠", "neq": "≠", "infty": "∞", "degree": "°", "circ": "°",
    "lor": "∨", "vee": "∨", "land": "∧", "wedge": "∧", "cup": "∪", "cap": "∩",
    "euro": "€", "pounds": "£", "yen": "¥", "cent": "¢", "mu": "µ", "dots": "…", "ldots": "…",
    "cdots": "…", "to": "→", "rightarrow": "→", "Rightarrow": "→", "implies": "→",
    "quad": "  ", "qquad": "  ", "dfrac": r"\frac", "tfrac": r"\frac", "cfrac": r"\frac",
    "fbox": r"\boxed", "lbrace": "⦃", "rbrace": "⦄", "langle": "⟨", "rangle": "⟩",
}  # fmt: skip
_CHARACTERS = {
    ",": "\u2009", ":": "\u2009", ";": "\u2009", " ": " ", "!": "", "(": "", ")": "",
    "[": "\n", "]": "\n", "\\": "\n", "{": "⦃", "}": "⦄", "\n": "\n",
}  # fmt: skip
_PIECE = re.compile(
    r"\{(?P<mark>[,.])\}"
    r"|(?P<degree>\^\s{0,3}(?:\\circ(?![A-Za-z])|\{\s{0,3}\\circ\s{0,3}\}))"
    r"|\\(?P<side>left|right)(?![A-Za-z])\s{0,3}\.?"
    r"|\\(?P<command>[A-Za-z]+)"
    r"|\\(?P<character>!\s{0,3}|.)"
    r"|(?P<dollars>\$+)"
    r"|(?P<brace>[{}])",
    re.DOTALL,
)
_DOLLAR = re.compile(r"(?<!\\)\$+")
_COMMAND = re.compile(r"\\(?:text\w*|mathrm|mbox)\s?\{[^{}]*\}|\\[A-Za-z]+")
_PROSE = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}|\n\s*\n")
_ANNOTATION = re.compile(r"<<[^<>\n]{0,200}>>(?=\s?[-−]?[$€£¥]?[\d.])")
"""GSM8K's notes for a calculator: `<<9*2=18>>18`."""
_ORDINAL = re.compile(
    r"(?<=\d)\^\s?(?:\\text(?:rm)?\s?)?\{(?:\\text(?:rm)?\s?\{)?(st|nd|rd|th)\}{1,2}"
)
_MAX_FORMULA = 500
"""Characters between two dollar signs that delimit one formula."""


def plain_text(text: str) -> str:
    """Return the text without LaTeX markup; see the module. Takes time linear in the text's
    length.
    """
    text = _ORDINAL.sub(r"\1", _ANNOTATION.sub("", text).replace("~", " "))
    if "\\" not in text and "$" not in text and "{" not in text:
        return text
    delimiters = _delimiters(text)
    pieces: list[str] = []
    dropped: list[bool] = []  # for each open brace, whether it belongs to a style
    style_ends, position = -1, 0
    for match in _PIECE.finditer(text):
        pieces.append(text[position : match.start()])
        if text[style_ends : match.start()].strip() if style_ends >= 0 else False:
            style_ends = -1
        position = match.end()
        brace = match["brace"]
        if brace == "{":
            dropped.append(style_ends >= 0)
            pieces.append("" if dropped[-1] else "{")
        elif brace == "}":
            pieces.append("" if dropped and dropped.pop() else "}")
        elif match["dollars"]:
            pieces.append("" if match.start() in delimiters else "$")
        elif match["command"]:
            pieces.append(_command(match["command"]))
        else:
            pieces.append(_other(match))
        style_ends = position if match["command"] in _STYLES else -1
    pieces.append(text[position:])
    return "".join(pieces)


def _command(name: str) -> str:
    return "" if name in _STYLES else _SYMBOLS.get(name, f"\\{name}")


def _other(match: re.Match[str]) -> str:
    if match["mark"]:
        return match["mark"]
    if match["degree"]:
        return "°"
    if match["side"]:
        return ""
    return _CHARACTERS.get(match["character"][:1], match["character"])


def _delimiters(text: str) -> set[int]:
    """Return the positions of dollar signs that delimit a formula, rather than being a currency."""
    delimiters: set[int] = set()
    opening: re.Match[str] | None = None
    for match in _DOLLAR.finditer(text):
        if len(match[0]) > 1:  # a displayed formula
            delimiters.add(match.start())
            opening = None
        elif opening is not None and _is_formula(text, opening.start(), match.start()):
            delimiters |= {opening.start(), match.start()}
            opening = None
        else:
            opening = match
    return delimiters


def _is_formula(text: str, start: int, end: int) -> bool:
    content = text[start + 1 : end]
    bare = content.strip()
    if not bare or len(content) > _MAX_FORMULA or text[end + 1 : end + 2].isdigit():
        return False
    if content[0].isspace() != content[-1].isspace():
        return False
    if content[0].isspace() and bare.isalpha():
        return False
    if bare[0] in ",.;:)!?/*×=" or bare[-1] in "+-−–*/×÷=,(:" or _PROSE.search(content):
        return False
    if text[max(0, start - 1) : start].isdigit() and "\\" not in content:
        return False  # 5$ and 6$
    return not (content[0].isspace() and re.search(r"[A-Za-z]{2}", _COMMAND.sub("", content)))
