"""Answers to cases, and requests of loads, as rows and sentences of the page Cases."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.presentation.numbers import MISSING, duration, money, quantity
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow
from agentbench_tui.tui.pages.cases.reading import Reading, Transcript, alone
from agentbench_tui.tui.widgets.facts import Fact
from agentbench_tui.tui.widgets.sentences import Sentence
from agentbench_tui.tui.widgets.waterfall import Phase, Waterfall
from agentbench_tui.verdicts.comparison.case_beside import conversation
from agentbench_tui.verdicts.load.slow_samples import SlowSample, SlowSamples
from agentbench_tui.verdicts.profile.phases import Timed, answer_phases

Row = dict[str, Any]
_ANSWERS = (
    Column("case", "case", 12, flex=4, has_names=True),
    Column("repeat", "repeat", 6, align="right", priority=5),
    Column("result", "result", 14),
    Column("credit", "credit", 6, align="right", priority=4),
    Column("time", "time", 8, align="right", priority=2),
    Column("tokens", "tokens", 7, align="right", priority=6),
    Column("cost", "USD", 9, align="right", priority=7),
    Column("said", "answer", 12, flex=3, priority=2),
    Column("expected", "expected", 10, flex=2, priority=3),
)
_SAMPLES = (
    Column("number", "request", 8, align="right"),
    Column("status", "ended", 13, flex=1),
    Column("type", "type", 10, flex=1, priority=5),
    Column("due", "due", 8, align="right", priority=2),
    Column("lag", "waited", 9, align="right", priority=3),
    Column("ttft", "first token", 11, align="right", priority=2),
    Column("e2e", "took", 9, align="right"),
    Column("output", "tokens out", 10, align="right", priority=4),
    Column("worker", "worker", 6, align="right", priority=6),
)
_SORT_COLUMNS = {"time": "time", "credit": "credit", "tokens": "tokens", "cost": "cost"}


def tokens_of(row: Mapping[str, Any]) -> str:
    """Format input and output tokens together; `~` marks agentbench's own count."""
    known = [row[name] for name in ("input_tokens", "output_tokens") if row[name] is not None]
    if not known:
        return MISSING
    return ("~" if row["tokens_estimated"] else "") + quantity(sum(known))


def answers_table(rows: Sequence[Row], sort: str, reason: str) -> GridData:
    """Return the table of a page of answers. A row's key is its `seq`."""
    by = _SORT_COLUMNS.get(sort)
    return GridData(
        _ANSWERS,
        [_answer(row) for row in rows],
        sort=None if by is None else (by, by != "credit"),
        reason=reason,
    )


def result_of(row: Mapping[str, Any]) -> Cell:
    """Return how an answer was scored, as a word and a color."""
    if row["failure_kind"] is not None:
        return Cell(f"! {row['failure_kind']}", role="bad")
    if row["correct"] is None:
        return Cell("not judged", role="dim")
    return Cell("right", role="good") if row["correct"] else Cell("wrong", role="warn")


def _time(value: float | None) -> str:
    return duration(value)


def _answer(row: Row) -> GridRow:
    asked = row["repeat"] + 1, row["iteration"] + 1
    return GridRow(
        str(row["seq"]),
        (
            row["case_id"],
            f"{asked[0]}.{asked[1]}",
            result_of(row),
            MISSING if row["credit"] is None else plain(row["credit"], 3),
            _time(row["e2e_ms"]),
            tokens_of(row),
            money(row["cost_usd"]),
            MISSING if row["said"] is None else str(row["said"]),
            Cell(MISSING if row["expected"] is None else str(row["expected"]), role="dim"),
        ),
    )


def samples_table(found: SlowSamples, reason: str) -> GridData:
    """Return the table of a load's slowest requests."""
    return GridData(_SAMPLES, [*map(_sample, found.rows)], sort=("e2e", True), reason=reason)


def _sample(row: SlowSample) -> GridRow:
    ok = row.status == "ok"
    return GridRow(
        str(row.number),
        (
            f"{row.number + 1:,}",
            Cell(row.status if ok else f"! {row.status}", role=None if ok else "bad"),
            row.request_type,
            f"{row.due_s:.2f} s",
            _time(row.send_lag_ms),
            _time(row.ttft_ms),
            Cell(_time(row.e2e_ms), role="title"),
            MISSING if row.output_tokens is None else f"{row.output_tokens:,}",
            str(row.worker),
        ),
    )


def sample_sentences(row: SlowSample, failures: Mapping[str, int]) -> list[Sentence]:
    """Return sentences on one request, and on how failed ones ended."""
    told = [
        Sentence(f"{row.number + 1:,} of repeat {row.repeat + 1}", "request", "title"),
        Sentence(row.status, "ended", "text" if row.status == "ok" else "bad"),
        Sentence(f"{row.due_s:.3f} s after the window began", "due"),
        Sentence(_time(row.send_lag_ms), "waited"),
        Sentence(_time(row.ttft_ms) if row.ttft_ms is not None
                 else f"{MISSING} no token came as a stream", "first token"),
        Sentence(_time(row.e2e_ms), "took"),
    ]  # fmt: skip
    return told + failure_sentences(failures)


def failure_sentences(failures: Mapping[str, int]) -> list[Sentence]:
    """Return the kinds of failures with their counts."""
    if not failures:
        return [Sentence("nothing failed", "all requests", "good")]
    return [
        Sentence(f"{count:,} request{'s' if count > 1 else ''}", kind, "bad")
        for kind, count in failures.items()
    ]


def preview_of(row: Row) -> list[Sentence]:
    """Return the preview of the answer at the cursor."""
    result = result_of(row)
    return [
        Sentence(row["case_id"], "case", "title"),
        Sentence(result.text, "result", result.role or "text"),
        Sentence(_text(row["asked"]), "asked"),
        Sentence(_text(row["expected"]), "expected", "dim"),
        Sentence(_text(row["said"]), "answer"),
        Sentence(_time(row["e2e_ms"]), "time"),
        _spent(row),
    ]


def _spent(row: Mapping[str, Any]) -> Sentence:
    """Format tokens and money, as far as known."""
    tokens, cost = tokens_of(row), money(row["cost_usd"])
    told = [*([f"{tokens} tokens"] if tokens != MISSING else []),
            *([cost] if cost != MISSING else [])]  # fmt: skip
    if told:
        return Sentence(", ".join(told), "spent")
    return Sentence(f"{MISSING} the agent reports neither tokens nor cost", "spent", "dim")


def _text(value: Any) -> str:
    if value is None:
        return MISSING
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def facts_of(row: Row) -> list[Fact]:
    """Return the figures of one observation of `answer_pages.observation_at`."""
    result = result_of(row)
    answer = row["answer"] or {}
    tokens = ", ".join(
        f"{name} {row[f'{name}_tokens']:,}"
        for name in ("input", "output", "cached", "reasoning")
        if row[f"{name}_tokens"] is not None
    )
    estimated = " (counted by us)" if row["tokens_estimated"] else ""
    return [
        Fact("result", result.text, result.role or "text"),
        Fact("credit", MISSING if row["credit"] is None else plain(row["credit"], 3)),
        Fact("time", _time(row["e2e_ms"])),
        Fact("first token", _time(row["ttft_ms"]) if row["ttft_ms"] is not None
             else f"{MISSING} not streamed"),
        Fact("tokens", tokens + estimated if tokens else f"{MISSING} not reported by the agent"),
        Fact("cost", money(row["cost_usd"]) if row["cost_usd"] is not None
             else f"{MISSING} no price is known"),
        Fact("calls", f"{row['api_calls']:,} of a model or server"),
        Fact("model", str(answer.get("model") or MISSING)),
    ]  # fmt: skip


def judged(row: Row) -> list[Sentence]:
    """Return scores with their reasons, then attempts and failures."""
    told = []
    for score in row["scores"]:
        right = bool(score["correct"])
        words = f"{plain(score['value'], 3)}, {'right' if right else 'wrong'}"
        reason = score.get("reason")
        told.append(
            Sentence(words + (f": {reason}" if reason else ""), score["scorer"],
                     "good" if right else "warn")
        )  # fmt: skip
        parts = [
            f"{name} {plain(score[name], 3)}"
            for name in ("correctness", "completeness", "relevance")
            if score.get(name) is not None
        ]
        if parts:
            told.append(Sentence(", ".join(parts), "", "dim"))
    if not told:
        told.append(Sentence("no scorer judged it", "scores", "dim"))
    told.append(Sentence(_text(row["case"].get("expected")), "expected", "dim"))
    for one in row["attempts"]:
        pause = one["retry_after_s"]
        asked = "" if pause is None else f"; the server asked to wait {pause:g} s"
        words = f"{one['failure_kind']} after {_time(one['e2e_ms'])}{asked}"
        told.append(Sentence(words, f"attempt {one['attempt'] + 1}", "warn"))
    return told + [
        Sentence(f"{one['kind']}: {one['detail']}", f"in {one['stage']}", "bad")
        for one in row["failures"]
    ]


def transcript_of(row: Row) -> Reading:
    """Return the conversation from the question to the answer."""
    return alone(Transcript(f"case {row['case_id']}", conversation(row)))


def waterfall_of(phases: Sequence[Timed], total_ms: float | None, reason: str) -> Waterfall:
    """Convert phases to the widget's data."""
    return Waterfall(tuple(map(_phase, phases)), total_ms, reason)


def _phase(one: Timed) -> Phase:
    return Phase(one.name, one.start_ms, one.end_ms, tuple(map(_phase, one.children)), one.reason)


def waterfall_of_answer(row: Row) -> Waterfall:
    """Return the waterfall of one observation."""
    took = row["e2e_ms"]
    total = None if took is None else row["waiting_ms"] + took
    return waterfall_of(answer_phases(row), total, "it was never sent: no timing was recorded")
