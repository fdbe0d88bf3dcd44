"""Finds where the reasoning in an answer's text ends and the answer begins.

Servers without a reasoning parser (plain vLLM, llama.cpp, Ollama) send the model's reasoning in
the content, between tags. It is not the answer: a guess that the model discards must not count.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(
    r"<(/?)(think|thinking|thought|reasoning|seed:think)\s*>|\[(/?)(THINK)\]|◁(/?)(think)▷",
    re.IGNORECASE,
)
_QUOTES = frozenset("`'\"")
_BACKTICKS = re.compile(r"`+")
_QUOTATION_ENDS = re.compile(r"[^\s:([{<>=]")
"""Characters before a closing quote; an opening one follows a space or one of these."""
_QUOTATION_BEGINS = re.compile(r"[^\s.,;:!?)\]}<>]")
"""After an opening quote."""
_BLANKS = re.compile(r"[\s\ufeff\u200b\u2060]*")
"""A byte order mark and spaces without a width too: `str.strip` keeps them."""


class Split(NamedTuple):
    """A text without its reasoning."""

    answer: str
    """The unchanged text if it has no reasoning."""
    unclosed: bool = False
    """The text ends inside its reasoning, so the answer is empty."""


class _Tag(NamedTuple):
    start: int
    end: int
    closes: bool
    name: str


def split_reasoning(text: str) -> Split:
    """Remove the reasoning that a text begins with.

    Reasoning is one or more blocks from an opening to a closing tag (`<think>`, `<thinking>`,
    `<thought>`, `<reasoning>`, `<seed:think>`, `[THINK]`, `◁think▷`), or everything before a
    closing tag whose opening tag was in the prompt. A block that other text precedes belongs to
    the answer, and a tag in quotes or backticks is a mention. But reasoning that ends with a
    quotation may be followed by an answer that begins with one: a tag between the two closes the
    block.
    """
    if "<" not in text and "[" not in text and "◁" not in text:  # as all tags begin
        return Split(text)
    tags, quoted = _tags(text)
    # The index of the tag that ends the reasoning so far; -1 while there is none.
    last = _closing_without_opening(tags)
    while last + 1 < len(tags):
        start = tags[last].end if last >= 0 else 0
        opening = tags[last + 1]
        if opening.closes or _after_blanks(text, start) < opening.start:
            break
        last, balanced = _end_of_block(tags, last + 1)
        if last < 0:
            closing = _quoted_end(text, opening, quoted)
            return Split("", unclosed=True) if closing is None else _answer_after(text, closing)
        if not balanced:
            break
    return _answer_after(text, tags[last]) if last >= 0 else Split(text)


def _answer_after(text: str, closing: _Tag) -> Split:
    return Split(text[_after_blanks(text, closing.end) :])


def _after_blanks(text: str, start: int) -> int:
    blanks = _BLANKS.match(text, start)
    assert blanks is not None, "it matches nothing as well"
    return blanks.end()


def _tags(text: str) -> tuple[list[_Tag], list[_Tag]]:
    """Return all tags, and those with the same quote or backtick directly on both sides."""
    tags: list[_Tag] = []
    quoted: list[_Tag] = []
    for match in _TAG.finditer(text):
        before = text[max(0, match.start() - 1) : match.start()]
        closes, name = (group for group in match.groups() if group is not None)
        is_quoted = before in _QUOTES and text[match.end() : match.end() + 1] == before
        tag = _Tag(match.start(), match.end(), bool(closes), name.lower())
        (quoted if is_quoted else tags).append(tag)
    return tags, quoted


def _quoted_end(text: str, opening: _Tag, quoted: list[_Tag]) -> _Tag | None:
    """Return the tag between quotes that closes a block which no other tag closes; None without
    any.

    It is between two quotations rather than inside one: the backticks before it pair
    up, and with quotes one quotation ends right before it and another begins right after.
    """
    place, backticks = opening.end, 0
    for tag in quoted:
        if tag.start < opening.end or not tag.closes or tag.name != opening.name:
            continue
        if text[tag.end] == "`":
            # Counted from tag to tag, so that many tags take linear time.
            backticks += len(_BACKTICKS.findall(text, place, tag.start))
            place = tag.start
            if backticks % 2 == 0:
                return tag
        elif _QUOTATION_ENDS.match(
            text, max(opening.end, tag.start - 2), tag.start - 1
        ) and _QUOTATION_BEGINS.match(text, tag.end + 1):
            return tag
    return None


def _closing_without_opening(tags: list[_Tag]) -> int:
    """Return the index of the first closing tag without a preceding opening tag of its name; -1
    without any.
    """
    opened = set()
    for index, tag in enumerate(tags):
        if not tag.closes:
            opened.add(tag.name)
        elif tag.name not in opened:
            return index
    return -1


def _end_of_block(tags: list[_Tag], opening: int) -> tuple[int, bool]:
    """Return the index of the tag that ends a block, or -1, and whether the tags inside are
    balanced.

    Reasoning may mention its tag without closing it: then the first closing tag ends the block.
    """
    depth, first = 0, -1
    for index in range(opening, len(tags)):
        tag = tags[index]
        if tag.name == tags[opening].name:
            depth += -1 if tag.closes else 1
            if not depth:
                return index, True
            if tag.closes and first < 0:
                first = index
    return first, False
