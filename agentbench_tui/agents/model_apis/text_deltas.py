"""Fast path for stream parts that differ only in their text, which are read without decoding.

A stream repeats one piece of JSON around every token. Once a part was read the whole way, and a
trial shows that another text in its place would be read as just that, a part which has the same
bytes before and behind its text is that text: nothing else in it can mean anything else.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.agents.model_apis.model_api import ErrorObject
from agentbench_tui.agents.model_apis.transcript import Transcript
from agentbench_tui.http.sse import SseParser
from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.model.text.not_json import NOT_JSON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.agents.model_apis.model_api import Dialect

_QUOTE, _BACKSLASH = b'"\\'
_MOST_TRIES = 3
"""Number of attempts with parts of one stream.

The first part often includes the role; and a part with a counter can never be cached.
"""


class TextDeltas:
    """Fast path of one stream, whose events a dialect reads into a transcript."""

    __slots__ = ("_before", "_begin", "_behind", "_dialect", "_end", "_transcript", "_tries")

    def __init__(self, dialect: Dialect, transcript: Transcript) -> None:
        self._dialect = dialect
        self._transcript = transcript
        self._before: bytes | None = None
        self._behind = b""
        self._tries = 0

    def take(self, parts: Sequence[tuple[int, bytes]], place: int) -> int:
        """Add the text of parts to the transcript, from index `place` to the first part that needs
        full parsing; return the index of that part. Each part has its receive time. The stream must
        be between two events.
        """
        before = self._before
        if before is None:
            return place
        behind, begin, end = self._behind, self._begin, self._end
        add, mark = self._transcript.texts.append, self._transcript.content_ns.append
        for received_ns, part in islice(parts, place, None):
            quoted = part[begin:end]
            if (
                _QUOTE in quoted
                or _BACKSLASH in quoted
                or not part.startswith(before)
                or not part.endswith(behind)
            ):
                break
            try:
                text = quoted.decode()
            except UnicodeDecodeError:
                break
            # JSON has no control characters (RFC 8259 §7).
            if not text or not text.isprintable():
                break
            add(text)
            # Not the first that says something: another was learned from.
            mark(received_ns)
            place += 1
        return place

    def learn(self, part: bytes, text: str) -> None:
        """Learn from a part with that text that was read completely, starting and ending between
        two events.
        """
        if self._tries == _MOST_TRIES:
            return
        self._tries += 1
        quote = msgspec.json.encode
        before, quoted, behind = part.partition(quote(text))
        trial = text + "~"  # another: the same would prove nothing where it stands twice
        if quoted and self._says_alone(trial, before + quote(trial) + behind):
            self._before, self._behind = before + b'"', b'"' + behind
            self._begin, self._end = len(before) + 1, -len(behind) - 1

    def _says_alone(self, text: str, part: bytes) -> bool:
        """Return whether a part is one event with this text and nothing else, since other events
        may depend on earlier ones.
        """
        parser, found = SseParser(), Transcript({})
        parser.feed(b"\n")
        try:
            events = parser.feed(part)
            for event in events:
                self._dialect.read_event(event, 1, found)
        except (ErrorObject, AgentFailure, *NOT_JSON):
            return False
        is_whole = len(events) == 1 and parser.is_between
        return is_whole and found.is_one_text and found.text == text
