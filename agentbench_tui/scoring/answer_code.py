"""The Python code in an answer: which of its blocks is the program, and which may help it."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

from agentbench_tui.scoring.fences import Block, fenced_blocks

_PYTHON = frozenset({"python", "py", "python3"})


class AnswerCode(NamedTuple):
    """The code in an answer."""

    program: str
    helpers: tuple[str, ...] = ()
    """Further blocks. What the program uses and does not define comes from them: a definition in a
    later element replaces the same name in an earlier one."""


def answer_code(text: str, entry_point: str | None, *, inside: bool = False) -> AnswerCode:
    """The code in an answer: its fenced Python blocks, else the whole text.

    Of several blocks that define the entry point the last is the program (models correct
    themselves), and the others are helpers: the nearest before it first, those after it last. If
    none defines it, all Python blocks together are the program. `inside` says that the prompt
    opened a block, which the answer may continue and close.
    """
    blocks = _python_blocks(fenced_blocks(text))
    if not any(_has(block, entry_point) for block in blocks):
        blocks = _continued(text, entry_point, inside) or blocks
    if not blocks:
        return AnswerCode(text)
    sources = [_dedented(block.content, entry_point) for block in blocks]
    defining = [index for index, block in enumerate(blocks) if _has(block, entry_point)]
    if defining:
        last = defining[-1]
        return AnswerCode(sources[last], (*sources[last + 1 :], *sources[:last]))
    tagged = [block.content for block in blocks if block.language]
    return AnswerCode("\n".join(tagged or sources))


def unclosed_code(prompt: str) -> str | None:
    """What stands in the Python block that a prompt opens and leaves to the answer to close."""
    blocks = fenced_blocks(prompt)
    if not blocks or blocks[-1].closed or not _python_blocks(blocks[-1:]):
        return None
    return blocks[-1].content


def defines(code: str, entry_point: str) -> bool:
    """Whether a line of the code defines the name at the top level."""
    name = re.escape(entry_point)
    return (
        re.search(
            rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b|^{name}[ \t]*[:=]", code, re.MULTILINE
        )
        is not None
    )


def _python_blocks(blocks: list[Block]) -> list[Block]:
    return [block for block in blocks if not block.language or block.language in _PYTHON]


def _has(block: Block, entry_point: str | None) -> bool:
    return entry_point is not None and defines(_dedented(block.content, entry_point), entry_point)


def _continued(text: str, entry_point: str | None, inside: bool) -> list[Block]:
    """The blocks of a text that begins inside a block; none if its first fence opens one."""
    first = next(iter(fenced_blocks(text)), None)
    if first is None or first.language:
        return []
    code = text[: first.start]
    if not code.strip() or not (inside or (entry_point and defines(code, entry_point))):
        return []
    rest = text[first.start :].partition("\n")[2]
    return [Block("python", code, True, 0, first.start), *_python_blocks(fenced_blocks(rest))]


def _dedented(code: str, entry_point: str | None) -> str:
    """The code without the indentation of all of it, where that hides the entry point."""
    if entry_point is None or defines(code, entry_point):
        return code
    dedented = textwrap.dedent(code)
    return dedented if defines(dedented, entry_point) else code
