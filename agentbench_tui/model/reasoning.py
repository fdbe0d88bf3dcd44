"""Where the reasoning in an answer's text ends and the answer begins.

Servers without a reasoning parser (plain vLLM, llama.cpp, Ollama) send the model's reasoning in
the content, between tags. It is not the answer: a guess that the model discards must not count.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TAG = re.compile(
    r"<(/?)(think|thinking|thought|reasoning|seed:think)>|\[(/?)(THINK)\]|◁(/?)(think)▷",
    re.IGNORECASE,
)
_QUOTES = frozenset("`'\"")


class Split(NamedTuple):
    """A text without its reasoning."""

    answer: str
    """The text as it is when it has no reasoning."""
    unclosed: bool = False
    """The text ends inside its reasoning, so the answer is empty."""


class _Tag(NamedTuple):
    start: int
    end: int
    closes: bool
    name: str


def split_reasoning(text: str) -> Split:
    """Leave out the reasoning that a text begins with.

    Reasoning is one or more blocks from an opening to a closing tag (`<think>`, `<thinking>`,
    `<thought>`, `<reasoning>`, `<seed:think>`, `[THINK]`, `◁think▷`), or everything before a
    closing tag whose opening tag was in the prompt. A block that other text precedes belongs to
    the answer, and a tag in quotes or backticks is a mention.
    """
    tags = _tags(text)
    # The index of the tag that ends the reasoning so far; -1 while there is none.
    last = _closing_without_opening(tags)
    while last + 1 < len(tags):
        start = tags[last].end if last >= 0 else 0
        opening = tags[last + 1]
        if opening.closes or text[start : opening.start].strip():
            break
        last, balanced = _end_of_block(tags, last + 1)
        if last < 0:
            return Split("", unclosed=True)
        if not balanced:
            break
    return Split(text[tags[last].end :].lstrip() if last >= 0 else text)


def _tags(text: str) -> list[_Tag]:
    tags = []
    for match in _TAG.finditer(text):
        before = text[max(0, match.start() - 1) : match.start()]
        if before not in _QUOTES or text[match.end() : match.end() + 1] != before:
            closes, name = (group for group in match.groups() if group is not None)
            tags.append(_Tag(match.start(), match.end(), bool(closes), name.lower()))
    return tags


def _closing_without_opening(tags: list[_Tag]) -> int:
    """The first closing tag that no opening tag of its name precedes; -1 without any."""
    opened = set()
    for index, tag in enumerate(tags):
        if not tag.closes:
            opened.add(tag.name)
        elif tag.name not in opened:
            return index
    return -1


def _end_of_block(tags: list[_Tag], opening: int) -> tuple[int, bool]:
    """The tag that ends a block, or -1, and whether the tags inside the block are balanced.

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
