"""The slowest requests of a load, and how failed requests ended, from the raw samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.queries.load import count_requests, sample_chunks
from agentbench_tui.verdicts.load.load_samples import request_types
from agentbench_tui.verdicts.profile.phases import Observed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.load.results.columns import Columns
    from agentbench_tui.store.queries.runs import Row

MOST_SAMPLES = 2_000_000
"""That are read: the first ones of a load that sent more."""
SHOWN = 500


@dataclass(frozen=True, slots=True)
class SlowSample:
    """One request; None where it was not measured."""

    number: int
    """In the order of storage, from 0."""
    status: str
    """`ok`, a failure kind, `cancelled` or `unfinished`."""
    request_type: str
    repeat: int
    worker: int
    due_s: float
    """Since the window's start."""
    send_lag_ms: float | None
    ttft_ms: float | None
    """Since it was sent, as is `e2e_ms`."""
    e2e_ms: float | None
    input_tokens: int | None
    output_tokens: int | None


@dataclass(frozen=True, slots=True)
class SlowSamples:
    """The slowest requests of a load, the slowest first."""

    read: int
    """Requests that were read, of all."""
    of: int
    failures: Mapping[str, int]
    """Status other than `ok` → requests, the most frequent first."""
    rows: tuple[SlowSample, ...]


def slow_samples(
    connection: sqlite3.Connection, execution: Row, status: str | None = None
) -> SlowSamples:
    """Return the slowest of all requests, or of those with this status.

    `execution`: of `queries.executions_of`. AgentbenchError when what is stored is damaged.
    """
    import numpy as np

    from agentbench_tui.load.sending.sample import NONE, STATUSES

    columns, of = _columns(connection, execution, MOST_SAMPLES)
    took = np.nan_to_num(columns.e2e_from_send_ms, nan=-1.0)
    order = np.argsort(-took, kind="stable")
    if status is not None:
        order = order[columns.has_status(status)[order]]
    counts = np.bincount(columns.table["status"], minlength=len(STATUSES))
    names = request_types(connection, execution)

    def known(value: float) -> float | None:
        return None if np.isnan(value) else float(value)

    def row(at: int) -> SlowSample:
        one = columns.table[at]
        kind = int(one["request_type"])
        return SlowSample(
            number=at,
            status=STATUSES[one["status"]],
            request_type=names[kind] if kind < len(names) else str(kind),
            repeat=int(columns.repeat[at]),
            worker=int(columns.worker[at]),
            due_s=float(columns.due_s[at]),
            send_lag_ms=known(columns.lag_ms[at]),
            ttft_ms=known(columns.ttft_from_send_ms[at]),
            e2e_ms=known(columns.e2e_from_send_ms[at]),
            input_tokens=None if one["input_tokens"] == NONE else int(one["input_tokens"]),
            output_tokens=None if one["output_tokens"] == NONE else int(one["output_tokens"]),
        )

    failures = {
        name: int(n) for name, n in zip(STATUSES, counts, strict=True) if n and name != "ok"
    }
    return SlowSamples(
        read=len(columns),
        of=of,
        failures=dict(sorted(failures.items(), key=lambda one: -one[1])),
        rows=tuple(row(int(at)) for at in order[:SHOWN]),
    )


def read_observed(
    connection: sqlite3.Connection, execution: Row, most: int
) -> tuple[list[Observed], int]:
    """Return about the first `most` requests with time and tokens, and the total number stored;
    `seq` is a request's index among those returned.
    """
    from agentbench_tui.load.sending.sample import NONE, STATUSES

    columns, of = _columns(connection, execution, most)
    table = columns.table

    def known(values: Floats) -> list[float | None]:
        return [None if math.isnan(value) else value for value in values.tolist()]

    def counts(name: str) -> list[int | None]:
        return [None if value == NONE else value for value in table[name].tolist()]

    found = zip(
        known(columns.lag_ms),
        known(columns.e2e_from_send_ms),
        known(columns.ttft_from_send_ms),
        (STATUSES[code] != "ok" for code in table["status"].tolist()),
        counts("input_tokens"),
        counts("output_tokens"),
        counts("cached_tokens"),
        strict=True,
    )
    observed = [
        Observed(
            seq,
            f"request {seq + 1}",
            lag or 0.0,
            e2e,
            ttft,
            failed=failed,
            input_tokens=tokens_in,
            output_tokens=tokens_out,
            cached_tokens=cached,
        )
        for seq, (lag, e2e, ttft, failed, tokens_in, tokens_out, cached) in enumerate(found)
    ]
    return observed, of


def _columns(connection: sqlite3.Connection, execution: Row, most: int) -> tuple[Columns, int]:
    """Return the first chunks that contain `most` requests together, and the total number of
    chunks.
    """
    from agentbench_tui.load.results.columns import columns_of

    of = count_requests(connection, execution["key"])
    chunks, read = [], 0
    for chunk in sample_chunks(connection, execution["key"]):
        chunks.append(chunk[:4])
        read += chunk.rows
        if read >= most:
            break
    try:
        return columns_of(chunks), of
    except ValueError as error:
        raise AgentbenchError(
            f"the stored requests of {execution['agent_id']} are damaged: {error}"
        ) from error
