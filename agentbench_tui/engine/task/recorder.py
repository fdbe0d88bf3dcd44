"""From what happened to rows: the one place that knows how observations are written.

Everything that an agent said passes through here on its way to the store, so secrets are masked
and sizes are bounded here.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.answer import Answer, ToolCall, Usage
from agentbench_tui.model.clock import utc_now
from agentbench_tui.model.text.secrets import redactor_now
from agentbench_tui.model.text.untrusted import visible
from agentbench_tui.store.writes.observations import (
    AnswerRow,
    AttemptRow,
    FailureRow,
    MessageRow,
    add_answer,
    add_attempt,
    add_failure,
    add_iteration,
    add_message,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.model.answer import AgentFailure, FailureKind, Graded, Score
    from agentbench_tui.store.writes.observations import IterationRow
    from agentbench_tui.store.writes.rows import RowWriter

LONGEST_ANSWER = 4 << 20
"""Maximum characters of one answer's JSON; the metadata say if it was longer."""
LONGEST_DETAIL = 2000
LONGEST_NAME = 200

_NO_USAGE = Usage()


class Recorder:
    """Writes what happens in one execution."""

    def __init__(self, writer: RowWriter, run_key: int, execution_key: int | None) -> None:
        """Without an execution it records failures of the run itself only."""
        self._writer = writer
        self._run_key = run_key
        self._execution_key = execution_key
        self._redactor = redactor_now()

    @property
    def _execution(self) -> int:
        assert self._execution_key is not None, "only failures are of no execution"
        return self._execution_key

    def answer(
        self,
        key: tuple[int, int, int],
        attempt: int,
        failure: FailureKind | None,
        answer: Answer | None,
        graded: Graded,
        *,
        sent_ms: float,
        e2e_ms: float | None,
        waiting_ms: float,
        cost_usd: float | None,
    ) -> None:
        """One finished observation. `key` is (case_key, repeat, iteration)."""
        usage = (answer.usage if answer is not None else None) or _NO_USAGE
        if answer is not None and answer.messages:
            self._messages(key, answer)
            answer = msgspec.structs.replace(answer, messages=())
        add_answer(
            self._writer,
            AnswerRow(
                self._run_key,
                self._execution,
                *key,
                attempt,
                failure,
                sent_ms,
                e2e_ms,
                waiting_ms,
                None if answer is None else answer.ttft_ms,
                usage.input_tokens,
                usage.output_tokens,
                usage.cached_tokens,
                usage.reasoning_tokens,
                usage.estimated,
                0 if answer is None else answer.api_calls,
                cost_usd,
                graded.credit,
                graded.correct,
                None if answer is None else self.encode(answer),
                self.encode_scores(graded.scores) if graded.scores else None,
                encode_figures(graded.figures),
            ),
        )

    def _messages(self, key: tuple[int, int, int], answer: Answer) -> None:
        for position, message in enumerate(answer.messages):
            add_message(
                self._writer,
                MessageRow(
                    self._run_key,
                    self._execution,
                    *key,
                    position,
                    self._safe(message.role, LONGEST_NAME),
                    self._safe(message.content, LONGEST_ANSWER),
                    self._bounded(message.tool_calls) if message.tool_calls else None,
                    None
                    if message.tool_call_id is None
                    else self._safe(message.tool_call_id, LONGEST_NAME),
                ),
            )

    def attempt(
        self,
        key: tuple[int, int, int],
        attempt: int,
        failure: AgentFailure,
        *,
        sent_ms: float,
        e2e_ms: float,
    ) -> None:
        """One attempt that failed and is followed by another."""
        partial = None if failure.partial is None else self.encode(failure.partial)
        add_attempt(
            self._writer,
            AttemptRow(
                self._run_key,
                self._execution,
                *key,
                attempt,
                failure.kind,
                sent_ms,
                e2e_ms,
                failure.retry_after_s,
                partial,
            ),
        )

    def failure(
        self,
        stage: str,
        kind: FailureKind,
        detail: str,
        key: tuple[int | None, int, int] | None = None,
        attempt: int | None = None,
    ) -> None:
        """Something failed, at a stage: start, warmup, retry (an attempt that is followed
        by another), answer, score or close.

        `key` as that of an answer; requests of a load have no case.
        """
        case_key, repeat, iteration = key or (None, None, None)
        add_failure(
            self._writer,
            FailureRow(
                self._run_key,
                self._execution_key,
                case_key,
                repeat,
                iteration,
                attempt,
                stage,
                kind,
                self._safe(detail, LONGEST_DETAIL),
                utc_now(),
            ),
        )

    def iteration(self, row: IterationRow) -> None:
        """One iteration came to its end, or was stopped."""
        add_iteration(self._writer, self._run_key, self._execution, row)

    def encode(self, answer: Answer) -> str:
        """The answer as JSON without secrets, at most about LONGEST_ANSWER characters."""
        encoded = self._json(answer)
        if len(encoded) <= LONGEST_ANSWER:
            return encoded
        digest = hashlib.sha256(encoded.encode()).hexdigest()
        note = {"truncated": True, "original_length": len(encoded), "sha256": digest}
        return self._json(
            Answer(
                # Masked before it is cut: half a key is no longer known as one.
                text=self._redactor(answer.text)[: LONGEST_ANSWER // 2],
                usage=answer.usage,
                ttft_ms=answer.ttft_ms,
                model=answer.model,
                metadata=note,
            )
        )

    def encode_scores(self, scores: Sequence[Score]) -> str:
        """The scores as JSON without secrets; their reasons and metadata bounded."""
        encoded = self._json(scores)
        if len(encoded) <= LONGEST_ANSWER:
            return encoded
        short = [
            msgspec.structs.replace(
                score, reason=self._safe(score.reason, LONGEST_DETAIL), metadata={}
            )
            for score in scores
        ]
        return self._json(short)

    def _bounded(self, value: Any) -> str:
        """Return the value as JSON; a value that is too long is replaced by its length and hash."""
        encoded = self._json(value)
        if len(encoded) <= LONGEST_ANSWER:
            return encoded
        digest = hashlib.sha256(encoded.encode()).hexdigest()
        cut = {"truncated": True, "original_length": len(encoded), "sha256": digest}
        return self._json([ToolCall("…", cut)])

    def _json(self, value: Any) -> str:
        try:
            encoded = msgspec.json.encode(value).decode()
        except (TypeError, ValueError, OverflowError, RecursionError):
            # Lone surrogates, huge integers, endless nesting, foreign objects: kept as text.
            encoded = msgspec.json.encode(_plain(value)).decode()
        return self._redactor.of_json(encoded)

    def _safe(self, text: str, limit: int | None = None) -> str:
        try:
            text.encode()
        except UnicodeEncodeError:
            text = visible(text)
        # Masked before it is cut: half a key is no longer known as one.
        text = self._redactor(text)
        return text if limit is None or len(text) <= limit else text[:limit] + "…"


def encode_figures(figures: Mapping[str, float | tuple[float, float]]) -> str | None:
    """Return the figures of an answer as JSON; None without any."""
    return msgspec.json.encode(figures).decode() if figures else None


_MOST_BITS = 10_000
"""Maximum bits of a stored integer: Python neither reads nor writes over 4,300 digits."""


def _plain(value: Any, depth: int = 0) -> Any:
    """`value` with everything that JSON cannot hold turned into text."""
    if depth > 50:
        return "…"
    if isinstance(value, str):
        return visible(value)
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int):
        return (
            value if value.bit_length() <= _MOST_BITS else f"a number of {value.bit_length()} bits"
        )
    if isinstance(value, msgspec.Struct):
        return _plain(msgspec.structs.asdict(value), depth)
    if isinstance(value, dict):
        return {visible(str(key)): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(item, depth + 1) for item in value]
    return visible(repr(value), 1000)
