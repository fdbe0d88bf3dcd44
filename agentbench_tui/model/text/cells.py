"""Untrusted text as a cell of a spreadsheet or of a Markdown table."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from agentbench_tui.model.text.untrusted import one_line

_FORMULA = frozenset("=+-@|%\t\r＝＋－＠")
"""First characters that a spreadsheet may take for a formula or a command (OWASP, CSV injection);
those of full width mean the same to some."""
_INVISIBLE = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
"""Categories of characters that a spreadsheet may skip before a formula: spaces, control and
zero-width characters."""
_LONGEST = 4000
_BREAK = "\u200b"
"""A space without width: it keeps a page from making a link, a mention or a reference of text."""
_LINKS = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=\bwww)(?=\.)", re.IGNORECASE)


def csv_cell(value: Any, longest: int = _LONGEST) -> Any:
    """Return a value that no spreadsheet interprets as a formula, as text of at most `longest`
    characters. Numbers stay numbers.
    """
    if value is None or isinstance(value, bool | int | float):
        return "" if value is None else value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = one_line(text, longest)
    return f"'{text}" if _first_visible(text) in _FORMULA else text


def _first_visible(text: str) -> str:
    return next((one for one in text if unicodedata.category(one) not in _INVISIBLE), "")


def markdown_cell(text: str, most: int = 400) -> str:
    """Return text of limited length that stays inside its cell and is neither link nor code."""
    safe = one_line(text, most)
    for character in "\\|`[]<>*_":
        safe = safe.replace(character, f"\\{character}")
    return safe


def passed_on_markdown(text: str, most: int = 2000) -> str:
    """Return `markdown_cell` of text for a page that renders more than plain Markdown.

    In a comment on a pull request `@name` would notify a person, `#1` refer to an issue, and a URL
    become a link without being asked.
    """
    return markdown_cell(_LINKS.sub(_BREAK, text.replace("&", "&amp;")), most)
