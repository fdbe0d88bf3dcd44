"""The answers of a run inside a page: an index of all, their texts in compressed chunks.

The page unpacks a chunk when a reader opens an answer or searches, so that ten thousand answers
open as fast as ten. Failures come first. What exceeds the room for texts stays in the database.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.secrets import redactor_now
from agentbench_tui.model.text.untrusted import one_line, visible
from agentbench_tui.presentation.numbers import duration, from_one
from agentbench_tui.store.queries.answer_pages import (
    ReportedAnswer,
    TranscriptMessage,
    has_messages,
    reported_answers_of_run,
    transcript_of,
)
from agentbench_tui.store.queries.episodes import plays_market

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.model.text.secrets import Redactor
    from agentbench_tui.reports.sources import RunSource

LONGEST = 4000
"""Characters of a text."""
LONGEST_TIMELINE = 20_000
"""Characters of the events of an episode of a market world."""
CHUNK = 100
"""Answers whose texts are compressed together."""
ROOM = 1_300_000
"""Characters of all chunks together: a page of 1,000 cases stays below 2 MB."""
_FIRST = 20
"""Answers that are listed without a script, and on paper."""
_STATUS = ("failed", "wrong", "right", "answered")
_LEVEL = 6
"""Of compression; 9 takes three times as long for 2%."""

Texts = list[tuple[str, str]]
"""Names and texts of one answer: question, expected, answer and so on."""


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """One answer that is listed without a script."""

    status: str
    case_id: str
    agent: str
    benchmark: str
    texts: Texts


@dataclass(slots=True)
class PageAnswers:
    """The answers of a run, packed."""

    first: list[FirstAnswer] = field(default_factory=list)
    index: str = ""
    """All answers: ids, places and results; gzip of JSON in base 64, like the chunks."""
    chunks: list[str] = field(default_factory=list)
    summary: str = ""


def page_answers(connection: sqlite3.Connection, source: RunSource) -> PageAnswers | None:
    """Return the answers of a run, failures first; None of one without answers."""
    packed = PageAnswers()
    places = {source.keys[one.execution_id]: one for one in source.run.executions}
    agents = list(dict.fromkeys(one.agent_id for one in source.run.executions))
    benchmarks = list(dict.fromkeys(one.benchmark_id for one in source.run.executions))
    has_transcripts = has_messages(connection, source.run_key)
    has_episodes = plays_market(connection, source.run_key)
    rows: list[Sequence[object]] = []
    pending: list[Texts] = []
    counts = [0, 0, 0, 0]
    redact = redactor_now()
    used = texts_kept = 0
    for key, case_key, answer in reported_answers_of_run(connection, source.run_key, LONGEST):
        execution = places.get(key)
        if execution is None:
            continue
        status = _status(answer)
        counts[status] += 1
        place = -1
        if used < ROOM:
            messages = transcript_of(
                connection, (key, case_key, answer.repeat, answer.iteration), LONGEST
            ) if has_transcripts else []  # fmt: skip
            texts = _texts(answer, messages, redact)
            if has_episodes:
                place_of = (key, case_key, answer.repeat, answer.iteration)
                texts += _episode(connection, place_of, redact)
            pending.append(texts)
            place = texts_kept
            texts_kept += 1
            if len(packed.first) < _FIRST and status < 2:
                packed.first.append(
                    FirstAnswer(_STATUS[status], answer.case_id, execution.agent_id,
                                execution.benchmark_id, texts)
                )  # fmt: skip
            if len(pending) == CHUNK:
                packed.chunks.append(_packed(pending))
                used += len(packed.chunks[-1])
                pending = []
        rows.append(
            (one_line(answer.case_id), agents.index(execution.agent_id),
             benchmarks.index(execution.benchmark_id), _times(answer), status,
             "" if answer.e2e_ms is None else duration(answer.e2e_ms), place)
        )  # fmt: skip
    if not rows:
        return None
    if pending:
        packed.chunks.append(_packed(pending))
    packed.index = _packed(
        {"agents": [*map(one_line, agents)], "benchmarks": [*map(one_line, benchmarks)],
         "size": CHUNK, "rows": rows}
    )  # fmt: skip
    packed.summary = _summary(counts, len(rows) - texts_kept, source.run.run_id)
    return packed


def _status(answer: ReportedAnswer) -> int:
    if answer.failure_kind is not None:
        return 0
    return {0: 1, 1: 2}.get(-1 if answer.correct is None else answer.correct, 3)


def _times(answer: ReportedAnswer) -> str:
    words = []
    if answer.repeat:
        words.append(f"repeat {from_one(answer.repeat)}")
    if answer.iteration:
        words.append(f"iteration {from_one(answer.iteration)}")
    return ", ".join(words)


def _texts(
    answer: ReportedAnswer, messages: Sequence[TranscriptMessage], redact: Redactor
) -> Texts:
    found = [
        ("question", answer.asked),
        ("expected", answer.expected),
        ("answer", answer.said),
        (f"failure: {answer.failure_kind}", answer.detail) if answer.failure_kind else ("", None),
        ("credit", None if answer.credit is None else f"{answer.credit:g}"),
    ]
    found += [
        (f"message {number}, {one.role}", "\n".join(filter(None, (one.content, one.tool_calls))))
        for number, one in enumerate(messages, 1)
    ]
    return [(one_line(name), _safe(text, redact)) for name, text in found if text not in {None, ""}]


def _episode(
    connection: sqlite3.Connection, place: tuple[int, int, int, int], redact: Redactor
) -> Texts:
    """Return the timeline of an answer that is an episode of a market world."""
    from agentbench_tui.presentation.market.timeline import timeline_text
    from agentbench_tui.verdicts.runs.market_episode import episode_behind

    episode = episode_behind(connection, place)
    if episode is None:
        return []
    text = visible(redact(timeline_text(episode)), LONGEST_TIMELINE)
    more = "\n…" if len(text) >= LONGEST_TIMELINE else ""
    return [("timeline", text + more)] if text else []


def _safe(text: object, redact: Redactor) -> str:
    shown = str(text)
    return visible(redact(shown), LONGEST) + ("…" if len(shown) >= LONGEST else "")


def _packed(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    packed = gzip.compress(text.encode("utf-8", "backslashreplace"), _LEVEL, mtime=0)
    return b64encode(packed).decode("ascii")


def _summary(counts: Sequence[int], left_out: int, run_id: str) -> str:
    named = [f"{n:,} {name}" for n, name in zip(counts, _STATUS, strict=True) if n]
    words = f"{counted(sum(counts), 'answer')}, failures first: {', '.join(named)}."
    if left_out:
        words += (
            f" The texts of {left_out:,} are left out to keep this page small; "
            f"`agentbench runs show {run_id} --case ID` shows each."
        )
    return words
