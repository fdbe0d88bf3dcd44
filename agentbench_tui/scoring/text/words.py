"""Word boundaries, also in scripts without spaces between words.

Chinese, Japanese, Thai, Lao, Khmer and Burmese have no word boundaries that a program finds without
a dictionary, so there each character counts as a word. Korean has spaces, but its particles are
written onto the word before them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_WITHOUT_SPACES = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar, and its extensions
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # 々, 〆 and 〇, which are used as Han characters
    (0x3041, 0x309F),  # Hiragana
    (0x30A1, 0x30FA),  # Katakana; 30FB is its middle dot
    (0x30FC, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # Katakana of half width
    (0x20000, 0x323AF),
)
_SCRIPTS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _WITHOUT_SPACES)


def _of_category(initials: str) -> str:
    """Return the characters of these scripts whose Unicode category begins with one of the
    letters.

    Ranges of Han characters are skipped: all of them are letters.
    """
    return "".join(
        chr(code)
        for first, last in _WITHOUT_SPACES
        if last - first < 0x400
        for code in range(first, last + 1)
        if unicodedata.category(chr(code))[0] in initials
    )


_MARKS = _of_category("M")
"""Vowels and tones that are written onto the character before them."""
_SPACED = rf"[^\W{_SCRIPTS}]"
"""A character of a word in a script with spaces."""
_CHARACTER = rf"(?![{_MARKS}{_of_category('PSC')}])[{_SCRIPTS}][{_MARKS}]*(?![{_MARKS}])"
_WORD = re.compile(rf"{_CHARACTER}|[^\W_{_SCRIPTS}]+")
_PIECE = re.compile(rf"{_CHARACTER}|[^\s{_SCRIPTS}]+")
_WIDE_PUNCTUATION = re.compile(
    "[\u3001-\u3003\u3008-\u3020\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
)
_IN_SCRIPTS = re.compile(f"[{_SCRIPTS}]")

# Korean particles and forms of 이다, to be, which are written onto the word before them.
_PARTICLE = (
    "은|는|이|가|을|를|의|에|와|과|로|야|요|인|다|나|랑|께|뿐|에서|에게|에는|에도|으로|로는|까지|부터"
    "|처럼|보다|마다|조차|마저|밖에|한테|이나|이랑|하고|이며|이고|이다|이야|예요|였다|라고|라는|에서는"
    "|에서도|에게는|으로는|이에요|이었다|입니다|입니까|였습니다|이었습니다|이라고|이라는|지만|이지만"
)
_AFTER_NUMBER = rf"(?=(?:{_PARTICLE})(?!\w))"
_AFTER_WORD = rf"(?=(?:{_PARTICLE}|도|만)(?!\w))"
"""After a number 도 means degrees and 만 ten thousand."""
_NUMERALS = "十百千万萬億亿兆"
"""3 is not in 3万, which is 30,000."""


_SIGN = rf"(?<![^\W_{_SCRIPTS}])(?<!\d[{_SCRIPTS}])(?<![-−–)\]}}%°])[-−–±∓]"
"""A dash that is a sign: not one after a word, a bracket or a dash, where it joins or subtracts."""
_MONEY = "$€£¥"
_SLASH = "[/⁄∕]"
_NOT_SIGNED = rf"(?<!{_SIGN})(?<!{_SIGN}[{_MONEY}])(?<!\d[eE][-+−])"
_FRACTION_AHEAD = rf"{_SLASH}\d+(?!\d|/\d)"
_NOT_DENOMINATOR = rf"(?:(?<!\d{_SLASH})|(?<=\d/\d/)|(?<=\d/\d\d/))"
"""Not after the slash of a fraction, but at the end of a date such as 7/20/1969."""


@lru_cache(maxsize=1024)
def whole_words(text: str) -> re.Pattern[str]:
    """Return a pattern that finds `text` if it begins and ends with whole words.

    A number does not begin after its sign, nor end before its decimals, thousands or denominator: 3
    is not in -3, 3.5 or 3/4. A letter does not end before the marks of a name: C is not in C# and
    C++. A Korean particle may follow a word.
    """
    if not text:
        return re.compile("")
    before = "" if _IN_SCRIPTS.match(text[0]) else f"(?<!{_SPACED})"
    digits = text[1:] if text[0] in _MONEY else text
    if digits[:1].isdigit():
        before += rf"(?<!\d[.,])(?<!\d'(?=\d{{3}}(?!\d)))(?<![{_NUMERALS}]){_NOT_SIGNED}"
    written = re.escape(text)
    if text[-1].isdigit():
        after = rf"(?:(?!{_SPACED})|{_AFTER_NUMBER})(?![.,]\d|'\d{{3}}(?!\d))(?![{_NUMERALS}])"
    elif _IN_SCRIPTS.match(text[-1]):
        after = f"(?![{_MARKS}])"
    else:
        after = f"(?:(?!{_SPACED})|{_AFTER_WORD})"
        if text[-1].isalpha():
            after += rf"(?!(?:#|\+\+|\+(?![(\[{{\\$]))(?:(?!{_SPACED})|{_AFTER_WORD}))"
    if not (digits[:1].isdigit() or text[-1].isdigit()):
        return re.compile(before + written + after)
    whole = before + (_NOT_DENOMINATOR if digits[:1].isdigit() else "") + written + after
    if text[-1].isdigit():
        whole += f"(?!{_FRACTION_AHEAD})"
    # The middle of a date has a slash on either side.
    return re.compile(rf"{whole}|(?<=\d/){written}(?=/\d)")


def has_no_spaces(text: str) -> bool:
    """Return whether a text begins in a script without spaces between words."""
    return _IN_SCRIPTS.match(text) is not None


def words(text: str) -> list[str]:
    """Return the runs of letters and digits in a text; in scripts without spaces each character."""
    return _WORD.findall(text)


def pieces(text: str) -> list[str]:
    """Return the text split at white space; in scripts without spaces each character, without
    punctuation.
    """
    return _PIECE.findall(_WIDE_PUNCTUATION.sub(" ", text))
