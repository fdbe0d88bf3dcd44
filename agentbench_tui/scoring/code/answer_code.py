"""Extracts the Python code of an answer: the program, and blocks that may support it."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

from agentbench_tui.scoring.code.fences import Block, fenced_blocks

_PYTHON = frozenset({"python", "py", "python3"})
_MARKDOWN = frozenset({"markdown", "md"})
_MARK_BEFORE = re.compile(r"\A\s*\ufeff")
"""A byte order mark, which Python refuses in source text and files may begin with."""
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_STATEMENT = re.compile(
    r"(?:(?:async\s+)?def|class|import|from|if|elif|else|for|while|with|try|except|finally|return|"
    r"assert|raise|print)\b|@|[\w.,\[\] ]{1,80}=|[)\]}]"
)
"""Beginning of a line of code rather than prose."""


_TOP_LEVEL = re.compile(
    r"(?:async[ \t]+)?def[ \t]+\w+[ \t]*[\[(]|class[ \t]+\w+[^\n]*:|import[ \t]+[\w., \t]+$"
    r"|from[ \t]+[\w.]+[ \t]+import[ \t]|@[A-Za-z_]|[A-Z_][A-Z0-9_]*[ \t]*=(?!=)|[)\]}]"
)
"""Beginning of an unindented line that is a definition or import, not prose."""
_CODE_TAG = re.compile(
    r"</?(?:pre|code|answer|python)>|\[/?PYTHON\]|^[ \t]*`|`[ \t]*$", re.MULTILINE
)


class AnswerCode(NamedTuple):
    """The code in an answer."""

    program: str
    helpers: tuple[str, ...] = ()
    """Other blocks, which define names that the program uses and does not define: a definition
    in a later element replaces one in an earlier element.
    """
    definitions: str = ""
    """The program, if the answer has no blocks and is not Python as a whole."""


def answer_code(text: str, entry_point: str | None, *, inside: bool = False) -> AnswerCode:
    """Return the code in an answer: its fenced Python blocks, else its indented ones, else the
    whole text.

    Of several blocks that define the entry point the last is the program (models correct
    themselves), and the others are helpers: the nearest before it first, those after it last. If
    none defines it, all Python blocks together are the program. `inside` says that the prompt
    opened a block, which the answer may continue and close.
    """
    text = _MARK_BEFORE.sub("", text, count=1)
    blocks = _python_blocks(fenced_blocks(text))
    if not any(_has(block, entry_point) for block in blocks):
        blocks = _continued(text, entry_point, inside) or blocks
    if not blocks:
        blocks = _indented_blocks(text, entry_point)
    if not blocks:
        return AnswerCode(text, definitions=_definitions_among_prose(text))
    sources = [_dedented(_MARK_BEFORE.sub("", block.content), entry_point) for block in blocks]
    defining = [index for index, block in enumerate(blocks) if _has(block, entry_point)]
    if defining:
        last = defining[-1]
        return AnswerCode(sources[last], (*sources[last + 1 :], *sources[:last]))
    tagged = [_MARK_BEFORE.sub("", block.content) for block in blocks if block.language]
    return AnswerCode("\n".join(tagged or sources))


def _definitions_among_prose(text: str) -> str:
    """Return the unindented definitions and imports of a text without fences, each with its
    indented body. Prose between them and tags around them are dropped.
    """
    kept: list[str] = []
    inside = False
    for line in _CODE_TAG.sub("\n", text).split("\n"):
        inside = _TOP_LEVEL.match(line) is not None or (
            inside and line[:1] in {"", " ", "\t", "\r"}
        )
        if inside:
            kept.append(line)
    return "\n".join(kept) + "\n"


def _indented_blocks(text: str, entry_point: str | None) -> list[Block]:
    """Return the blocks of a text whose code is indented among prose, without that indentation.

    None where the lines that are not indented are code as well, or where no block defines the
    entry point: the answer may be the body of a function.
    """
    blocks: list[Block] = []
    code: list[str] = []
    prose = False
    for line in [*text.splitlines(keepends=True), "."]:
        if _INDENTED.match(line) or (code and not line.strip()):
            code.append(line)
            continue
        if code:
            content = textwrap.dedent("".join(code)).strip("\n") + "\n"
            blocks.append(Block("python", content, True, 0, 0))
            code = []
        if _STATEMENT.match(line):
            return []
        prose = prose or bool(line.strip(" \t\r\n."))
    defined = any(_has(block, entry_point) for block in blocks)
    if entry_point is not None and not defined:
        return []
    if not prose:  # a nested function of a body, which then returns
        returns = any(re.search(r"^return\b", block.content, re.MULTILINE) for block in blocks)
        return blocks if defined and not returns else []
    return blocks if defined or any(map(_is_module, blocks)) else []


def _is_module(block: Block) -> bool:
    """Return whether a block defines or imports something at the top level, which a body rarely
    does.
    """
    begins = r"^(?:(?:async[ \t]+)?def|class|import|from)\b"
    return re.search(begins, block.content, re.MULTILINE) is not None


def unclosed_code(prompt: str) -> str | None:
    """Return the content of the Python block that a prompt opens and leaves to the answer to
    close.
    """
    blocks = fenced_blocks(prompt)
    if not blocks or blocks[-1].closed or not _python_blocks(blocks[-1:]):
        return None
    return blocks[-1].content


def defines(code: str, entry_point: str) -> bool:
    """Return whether a line of the code defines the name at the top level."""
    name = re.escape(entry_point)
    return (
        re.search(
            rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b|^{name}[ \t]*[:=]", code, re.MULTILINE
        )
        is not None
    )


def _python_blocks(blocks: list[Block]) -> list[Block]:
    """Return the Python blocks, also those inside a Markdown block, to one level."""
    python: list[Block] = []
    for block in blocks:
        inner = fenced_blocks(block.content) if block.language in _MARKDOWN else [block]
        python += [one for one in inner if not one.language or one.language in _PYTHON]
    return python


def _has(block: Block, entry_point: str | None) -> bool:
    return entry_point is not None and defines(_dedented(block.content, entry_point), entry_point)


def _continued(text: str, entry_point: str | None, inside: bool) -> list[Block]:
    """Return the blocks of a text that begins inside a block; none if its first fence opens one."""
    first = next(iter(fenced_blocks(text)), None)
    if first is None or first.language:
        return []
    code = text[: first.start]
    if not code.strip() or not (inside or (entry_point and defines(code, entry_point))):
        return []
    rest = text[first.start :].partition("\n")[2]
    return [Block("python", code, True, 0, first.start), *_python_blocks(fenced_blocks(rest))]


def _dedented(code: str, entry_point: str | None) -> str:
    """Return the code without its common indentation, if that hides the entry point."""
    if entry_point is None or defines(code, entry_point):
        return code
    dedented = textwrap.dedent(code)
    return dedented if defines(dedented, entry_point) else code
