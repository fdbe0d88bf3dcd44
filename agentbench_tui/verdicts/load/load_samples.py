"""Every request of a load execution as a row, for spreadsheets and scripts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.queries.load import sample_chunks
from agentbench_tui.store.queries.runs import plan_of_run

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.contracts.document import Json
    from agentbench_tui.engine.run.plan import Group
    from agentbench_tui.load.results.requests import Requests
    from agentbench_tui.load.results.window import Window
    from agentbench_tui.store.queries.runs import Row

FIELDS = (
    "repeat",
    "worker",
    "request_type",
    "turn",
    "status",
    "due_s",
    "sent_s",
    "send_lag_ms",
    "first_byte_ms",
    "ttft_ms",
    "ttft_from_send_ms",
    "ttfo_ms",
    "e2e_ms",
    "e2e_from_send_ms",
    "tpot_ms",
    "chunks",
    "output_tokens",
    "tokens_counted",
    "input_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "cache_write_1h_tokens",
    "received_bytes",
    "streamed",
    "new_connection",
    "resent",
    "follow_up",
    "cut_off",
)
"""Of a row. `due_s` and `sent_s` count from the start of the repeat's window; the metrics are those
of `agentbench explain`, of one request, `first_byte_ms` counts from sending. `status` is `ok`, a
kind of failure, `cancelled` or `unfinished`; times of what failed go on until that was known.
`tokens_counted`: whether the server counted them. `resent`: sent twice, since the server closed
the used connection that it took. `follow_up`: not the first of its session.
`cut_off`: its repeat did not come to its end, and is no measurement."""


def samples_of(
    connection: sqlite3.Connection,
    execution: Row,
    names: Sequence[str] = (),
    cut_off: Window | None = None,
) -> Iterator[dict[str, Json]]:
    """Yield the requests of the finished repeats of an execution, repeat after repeat, in the order
    in which each worker's ended; None for unknown values. With `cut_off` (`cut_off_window`) also
    the stored requests of an unfinished repeat.

    `execution`: of `queries.executions_of`. `names` of its request types, by their number. Holds
    one stored chunk (a quarter of a second of one worker) at a time. AgentbenchError when one is
    damaged.
    """
    from agentbench_tui.load.results.aggregate import read_windows
    from agentbench_tui.load.results.columns import columns_of
    from agentbench_tui.load.results.requests import Requests

    windows = read_windows(connection, execution["key"])
    for chunk in sample_chunks(connection, execution["key"]):
        repeat = chunk.repeat
        window = windows.get(repeat, cut_off)
        if window is None:
            continue  # it was cut off, and is no measurement
        try:
            columns = columns_of([chunk[:4]])
        except ValueError as error:
            raise AgentbenchError(
                f"the stored requests of {execution['agent_id']} are damaged: {error}"
            ) from error
        for row in _rows(Requests(columns, {repeat: window}), names):
            yield row | {"cut_off": window is cut_off}


def cut_off_window(connection: sqlite3.Connection, execution: Row) -> Window | None:
    """Count the requests of a load's repeat that was cut off.

    None for an execution that is not a load, such as a stress scenario with its own windows.
    """
    from agentbench_tui.load.results.window import Window
    from agentbench_tui.load.spec import LoadSpec

    group = _group_of(connection, execution)
    assert group is not None, "an execution is in the plan of its run"
    if group.benchmark["kind"] != "load":
        return None
    spec = LoadSpec.model_validate(group.resolved().load)
    return Window(
        is_open=spec.is_open,
        asked_per_s=None,
        asked=None,
        started_at="",
        ramp_s=spec.ramp_s,
        slo=spec.slo.limits(),
        max_in_flight=spec.max_in_flight,
        on_this_machine=False,
        workers=(),
        stopped=True,
    )


def request_types(connection: sqlite3.Connection, execution: Row) -> list[str]:
    """Return the names of an execution's request types, in the order of its plan's workload."""
    group = _group_of(connection, execution)
    workload = group.benchmark["load"].get("workload") if group is not None else None
    return [one.get("name", "request") for one in workload or [{}]]


def _group_of(connection: sqlite3.Connection, execution: Row) -> Group | None:
    from agentbench_tui.engine.run.plan import decode_plan

    text = plan_of_run(connection, execution["run_key"])
    for group, planned in decode_plan(text).executions():
        if planned.id == execution["id"]:
            return group
    return None


def _rows(requests: Requests, names: Sequence[str]) -> Iterator[dict[str, Json]]:
    from agentbench_tui.load.sending.sample import NEW_CONNECTION, NONE, STATUSES, STREAMED

    columns, table = requests.columns, requests.columns.table
    from_due = columns.lag_ms if requests.is_open else 0.0
    flags = table["flags"]

    def count(name: str) -> list[int | None]:
        return [None if value == NONE else value for value in table[name].tolist()]

    values = {
        "repeat": columns.repeat.tolist(),
        "worker": columns.worker.tolist(),
        "request_type": [_name(number, names) for number in table["request_type"].tolist()],
        "turn": table["turn"].tolist(),
        "status": [STATUSES[code] for code in table["status"].tolist()],
        "due_s": columns.due_s.tolist(),
        "sent_s": _known(columns.sent_s),
        "send_lag_ms": _known(columns.lag_ms),
        "first_byte_ms": [None if us is None else us / 1e3 for us in count("first_byte_us")],
        "ttft_ms": _known(columns.ttft_from_send_ms + from_due),
        "ttft_from_send_ms": _known(columns.ttft_from_send_ms),
        "ttfo_ms": _known(columns.ttfo_from_send_ms + from_due),
        "e2e_ms": _known(columns.e2e_from_send_ms + from_due),
        "e2e_from_send_ms": _known(columns.e2e_from_send_ms),
        "tpot_ms": _known(requests.tpot_ms),
        "chunks": count("chunks"),
        "output_tokens": count("output_tokens"),
        "tokens_counted": columns.counted.tolist(),
        "input_tokens": count("input_tokens"),
        "cached_tokens": count("cached_tokens"),
        "cache_write_tokens": count("cache_write_tokens"),
        "cache_write_1h_tokens": count("cache_write_1h_tokens"),
        "received_bytes": count("received_bytes"),
        "streamed": ((flags & STREAMED) != 0).tolist(),
        "new_connection": ((flags & NEW_CONNECTION) != 0).tolist(),
        "resent": columns.resent.tolist(),
        "follow_up": columns.follow_up.tolist(),
    }
    for row in zip(*values.values(), strict=True):
        yield dict(zip(values, row, strict=True))


def _name(number: int, names: Sequence[str]) -> str:
    return names[number] if number < len(names) else str(number)


def _known(values: Floats) -> list[float | None]:
    """Return values rounded to the µs in which they are stored; None for NaN."""
    return [None if math.isnan(value) else round(value, 6) for value in values.tolist()]
