"""Transcripts by line, sanitized; two of them side by side with matching lines."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain, zip_longest
from typing import Any, Literal, NamedTuple

from agentbench_tui.model.answer import Message
from agentbench_tui.model.text.untrusted import one_line, visible

MOST_LINES = 100_000
"""Maximum lines of one transcript; further lines are counted and omitted."""
LONGEST_LINE = 10_000
"""Characters of a line that are kept."""
_MATCHED = 1_000
"""Lines, or messages, up to which the best alignment is looked for; more go by their position."""
_TAB = 4

Kind = Literal["role", "text", "call", "result"]


@dataclass(frozen=True, slots=True)
class Transcript:
    """Messages to and from one agent."""

    name: str
    messages: tuple[Message, ...]


class Line(NamedTuple):
    """A line as written, sanitized. (A tuple: a transcript may have 100,000 of them.)"""

    kind: Kind
    text: str


Lines = tuple[Line, ...]
"""Lines of one message."""


class Pair(NamedTuple):
    """Lines shown side by side; None if one side has no line."""

    left: Line | None
    right: Line | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One or two transcripts, line by line."""

    names: tuple[str, ...]
    pairs: tuple[Pair, ...]
    differences: tuple[int, ...] = ()
    """Pairs at which both begin to differ."""
    notes: tuple[str, ...] = ()
    """Notes on omitted lines."""
    reason: str = "no transcript was kept"


def alone(one: Transcript) -> Reading:
    """Return one transcript."""
    messages, notes = _messages(one)
    pairs = tuple(Pair(line) for lines in messages for line in lines)
    return Reading((one.name,), pairs, notes=notes)


def beside(left: Transcript, right: Transcript) -> Reading:
    """Align two transcripts by equal lines; long ones (from 1,000 lines on) only within matching
    messages, and still longer ones by position.
    """
    (ours, our_notes), (theirs, their_notes) = _messages(left), _messages(right)
    pairs: list[Pair] = []
    for a, b in _together(ours, theirs):
        pairs += (
            Pair(None if at is None else a[at], None if to is None else b[to])
            for at, to in _matched(a, b)
        )
    apart = [pair.left != pair.right for pair in pairs]
    begins = (at for at, differs in enumerate(apart) if differs and not (at and apart[at - 1]))
    return Reading((left.name, right.name), tuple(pairs), tuple(begins), our_notes + their_notes)


def _together(ours: Sequence[Lines], theirs: Sequence[Lines]) -> Iterator[tuple[Lines, Lines]]:
    """Yield what is matched line by line: everything at once, or message by message."""
    if max(sum(map(len, side)) for side in (ours, theirs)) <= _MATCHED:
        yield tuple(chain.from_iterable(ours)), tuple(chain.from_iterable(theirs))
        return
    for here, there in _matched(ours, theirs):
        yield () if here is None else ours[here], () if there is None else theirs[there]


def _messages(one: Transcript) -> tuple[list[Lines], tuple[str, ...]]:
    """Return the lines of each message, and a note on omitted ones."""
    room, left_out, kept = MOST_LINES, 0, []
    for message in one.messages:
        lines = tuple(_lines(message))
        kept.append(lines[:room])
        left_out += max(0, len(lines) - room)
        room = max(0, room - len(lines))
    if left_out:
        return kept, (f"{left_out:,} lines of {one_line(one.name, 40)} left out",)
    return kept, ()


def _lines(message: Message) -> Iterator[Line]:
    yield Line("role", one_line(message.role, 40))
    if message.content:
        yield from _split("text", message.content)
    for call in message.tool_calls:
        given = ", ".join(f"{name}={_json(value)}" for name, value in call.arguments.items())
        yield from _split("call", f"{call.name}({given})")
        if call.result is not None:
            yield from _split("result", call.result)


def _split(kind: Kind, said: Any) -> Iterator[Line]:
    text = said if isinstance(said, str) else _json(said)
    for line in text.replace("\r\n", "\n").split("\n"):
        yield Line(kind, visible(line, LONGEST_LINE).expandtabs(_TAB))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _matched(
    left: Sequence[Hashable], right: Sequence[Hashable]
) -> Iterator[tuple[int | None, int | None]]:
    """Yield matching positions in order, each of both sides once."""
    shorter = min(len(left), len(right))
    start = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    same = (left[-1 - at] == right[-1 - at] for at in range(shorter - start))
    tail = next((at for at, alike in enumerate(same) if not alike), shorter - start)
    a, b = left[start : len(left) - tail], right[start : len(right) - tail]
    blocks = [("replace", 0, len(a), 0, len(b))]
    if max(len(a), len(b)) <= _MATCHED:
        blocks = [*SequenceMatcher(None, a, b).get_opcodes()]
    yield from ((at, at) for at in range(start))
    for _, first, last, other_first, other_last in blocks:
        yield from zip_longest(
            range(start + first, start + last), range(start + other_first, start + other_last)
        )
    yield from ((len(left) - at, len(right) - at) for at in range(tail, 0, -1))
