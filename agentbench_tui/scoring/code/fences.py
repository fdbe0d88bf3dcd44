"""Finds fenced code blocks of Markdown, by the rules of CommonMark 0.31 (section 4.5).

A block ends at a fence of the same character that is at least as long as the one that opened it, or
at the end of the text. In a block quote it also ends with the quote, whose `>` are taken off its
lines. As much indentation as the opening fence has is taken off every line, so
that code inside a list item is read as it is meant.
"""

from __future__ import annotations

import re
from io import StringIO
from typing import NamedTuple

_FENCE = re.compile(
    # A fence may follow the markers of list items.
    r"(?P<indent>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}|~{3,})(?P<info>.*)"
)
_QUOTE = re.compile(r" {0,3}> ?")
_LANGUAGE = re.compile(r"[ \t]*([\w+#.-]*)")
_END_MARK = re.compile(r"<[|/][^<>]*>")
_MOST_CLOSING_INDENT = 3
"""Columns by which a closing fence may be indented further than the opening one."""


class Block(NamedTuple):
    """A fenced block."""

    language: str
    """The first word after the opening fence, in lower case."""
    content: str
    closed: bool
    start: int
    """Offset in the text of the line of the opening fence."""
    end: int
    """Offset of what follows the block."""


class _Opening(NamedTuple):
    fence: str
    indent: str
    language: str
    start: int
    quotes: int
    """Block quotes around the fence."""


def fenced_blocks(text: str) -> list[Block]:
    """Return every fenced block in order; an unclosed one extends to the end of the text."""
    blocks: list[Block] = []
    opening: _Opening | None = None
    lines: list[str] = []
    offset = 0
    for line in StringIO(text, newline=""):  # splits at no form feed, as splitlines would
        start, offset = offset, offset + len(line)
        quotes, body = _without_quotes(line, None if opening is None else opening.quotes)
        if opening is not None and quotes < opening.quotes:  # the quote has ended
            content = "".join(lines)
            blocks.append(Block(opening.language, content, True, opening.start, start))
            opening = None
            quotes, body = _without_quotes(line, None)
        match = _FENCE.match(body.rstrip("\r\n"))
        if opening is None:
            if match is not None:
                opening, lines = _opened(match, start, quotes), []
        elif match is not None and _closes(match, opening):
            content = "".join(lines)
            blocks.append(Block(opening.language, content, True, opening.start, offset))
            opening = None
        else:
            lines.append(_without_indent(body, opening.indent))
    if opening is not None:
        content = "".join(lines)
        blocks.append(Block(opening.language, content, False, opening.start, offset))
    return blocks


def _without_quotes(line: str, most: int | None) -> tuple[int, str]:
    """Return the number of block quotes of a line, at most `most`, and the line without their
    `>`.
    """
    quotes, at = 0, 0
    while quotes != most and (mark := _QUOTE.match(line, at)) is not None:
        quotes, at = quotes + 1, mark.end()
    return quotes, line[at:]


def _opened(match: re.Match[str], start: int, quotes: int) -> _Opening | None:
    fence, info = match["fence"], match["info"]
    if fence[0] == "`" and "`" in info:
        return None  # a code span: ```like this```
    language = _LANGUAGE.match(info)
    assert language is not None
    indent = re.sub(r"\S", " ", match["indent"])
    return _Opening(fence, indent, language[1].lower(), start, quotes)


def _closes(match: re.Match[str], opening: _Opening) -> bool:
    """Return whether a line ends the block: only a mark such as `</s>`, which servers leave at
    the end of a text, may follow its fence.
    """
    fence, indent, info = match["fence"], match["indent"], match["info"].strip()
    return (
        fence[0] == opening.fence[0]
        and len(fence) >= len(opening.fence)
        and not indent.strip()
        and len(indent.expandtabs(4)) <= len(opening.indent.expandtabs(4)) + _MOST_CLOSING_INDENT
        and (not info or _END_MARK.fullmatch(info) is not None)
    )


def _without_indent(line: str, indent: str) -> str:
    if line.startswith(indent):
        return line[len(indent) :]
    bare = line.lstrip(" \t")
    return bare if len(line) - len(bare) < len(indent) else line[len(indent) :]
