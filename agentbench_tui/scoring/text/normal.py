"""Normalizes texts, so that spelling without meaning has no effect.

Signs, decimal points, percent signs, what joins two digits (`1/2`, `3-4`, `12:30`) and names such
as `C#` or `C++` do carry meaning and stay.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = re.compile(
    r"(?<=\d),(?=\d{3})"  # 1,000 is 1000
    r"|(?!(?<=\d)[./:^*-](?=\d))"  # but 3.5 keeps its point, 1/2 its slash,
    r"(?!(?<=\d[eE])-(?=\d))"  # 1e-5 its exponent's
    r"(?!(?<![^\s(])-(?=\.?\d))"  # -5 its sign,
    r"(?!(?<=\w)[%#])"  # and 50% and C# their marks
    r"[!\"#%&'()*,\-./:;?@\[\\\]^_`{}]"
)


class _UnicodePunctuation(dict[int, int | str | None]):
    """Translation table that drops punctuation beyond ASCII, filled on demand."""

    def __missing__(self, code: int) -> int | str | None:
        dropped = code > 127 and unicodedata.category(chr(code))[0] == "P"
        result = self[code] = None if dropped else code
        return result


_BEYOND_ASCII = _UnicodePunctuation(dict.fromkeys((0x2212, *range(0x2010, 0x2016)), "-"))
_STRAIGHT = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u02bc"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f"), '"'),
}


def straight_quotes(text: str) -> str:
    """Return the text with straight apostrophes and quotation marks instead of curly ones."""
    return text if text.isascii() else text.translate(_STRAIGHT)


def normalizer(
    *, case: bool = True, punctuation: bool = True, articles: bool = True, accents: bool = False
) -> Callable[[str], str]:
    """Return a function that normalizes text.

    Always: Unicode NFKC, straight quotes for curly ones, and every run of white space as one space.
    `case` folds case, `punctuation` drops it, `articles` drops the English a, an, the (both unless
    nothing would be left), `accents` drops diacritics. Results are kept for the 4,096 latest short
    texts.
    """

    def normalize(text: str) -> str:
        if not text.isascii():
            text = straight_quotes(unicodedata.normalize("NFKC", text))
            if accents:
                text = _without_accents(text)
        if case:
            # İ is folded to i with a dot above, which no lower-case i has.
            text = text.casefold().replace("i\u0307", "i")
        if punctuation:
            without = _PUNCTUATION.sub("", text.translate(_BEYOND_ASCII))
            text = without if without.strip() else text
        if articles:
            without = _ARTICLES.sub(" ", text)
            text = without if without.strip() else text
        return " ".join(text.split())

    kept = lru_cache(maxsize=4096)(normalize)
    return lambda text: kept(text) if len(text) <= 200 else normalize(text)


def _without_accents(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize(
        "NFC", "".join(c for c in decomposed if unicodedata.category(c) != "Mn")
    )
