"""Parts of a stream that are read without being decoded, for they differ in their text alone.

A stream repeats one piece of JSON around every token. Once a part was read the whole way, and a
trial shows that another text in its place would be read as just that, a part which has the same
bytes before and behind its text is that text: nothing else in it can mean anything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.agents.model_api import ErrorObject
from agentbench_tui.agents.transcript import Transcript
from agentbench_tui.http.sse import SseParser
from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.model.not_json import NOT_JSON

if TYPE_CHECKING:
    from agentbench_tui.agents.model_api import Dialect

_PLAIN = bytes(byte for byte in range(0x20, 0x100) if byte not in b'"\\')
"""What a JSON text may hold as it is, if it is UTF-8 besides (RFC 8259 §7)."""
_TRIAL = "~0"
_QUOTED_TRIAL = b'"~0"'
"""A text that is put in the place of another."""
_MOST_LOOKS = 3
"""At parts of one stream. The first often tells the role along; and where a number is counted up in
each, there is nothing to be had."""


class TextDeltas:
    """Of one stream, whose events are read by a dialect."""

    __slots__ = ("_before", "_behind", "_dialect", "_looks")

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._before: bytes | None = None
        self._behind = b""
        self._looks = 0

    def text(self, part: bytes) -> str | None:
        """The text, all that `part` says, where it is known; never empty. The stream must be
        between two events."""
        before, behind = self._before, self._behind
        if before is not None and part.startswith(before) and part.endswith(behind):
            text = part[len(before) : -len(behind)]
            if text and not text.translate(None, _PLAIN):
                try:
                    return text.decode()
                except UnicodeDecodeError:
                    return None
        return None

    def look_at(self, part: bytes, text: str) -> None:
        """Learn from a part with that text, read from between two events to between two."""
        if self._looks == _MOST_LOOKS:
            return
        self._looks += 1
        before, quoted, behind = part.partition(msgspec.json.encode(text))
        if quoted and self._says_alone(_TRIAL, before + _QUOTED_TRIAL + behind):
            self._before, self._behind = before + b'"', b'"' + behind

    def _says_alone(self, text: str, part: bytes) -> bool:
        """Whether a part says this, and nothing else."""
        parser, found = SseParser(), Transcript({})
        parser.feed(b"\n")
        try:
            for event in parser.feed(part):
                self._dialect.read_event(event, 1, found)
        except (ErrorObject, AgentFailure, *NOT_JSON):
            return False
        return parser.is_between and found.is_one_text and found.text == text
