"""Choice letters as written in other scripts."""

from __future__ import annotations

import re

_ALIKE = str.maketrans("АВСЕНІΑΒΕΗΙ", "ABCEHIABEHI") | {
    0xFF21 + index: chr(0x41 + index) for index in range(26)
}
_ALONE = re.compile(
    r"(?<!\w)[АВСЕНІΑΒΕΗΙ](?!\w)|(?<![\uff21-\uff3a\uff41-\uff5a])[\uff21-\uff3a](?![\uff21-\uff3a\uff41-\uff5a])"
)
"""Capitals that look like Latin ones: Cyrillic, Greek and full-width."""
_BRACKETS = str.maketrans("（［【〔〖「『）］】〕〗」』", "(((((((" + ")))))))")
"""A letter in brackets of Chinese and Japanese counts as one in parentheses."""


def in_latin(text: str) -> str:
    """Return the text with isolated capitals, and brackets around letters, in their ASCII form."""
    return _ALONE.sub(lambda match: match[0].translate(_ALIKE), text).translate(_BRACKETS)
