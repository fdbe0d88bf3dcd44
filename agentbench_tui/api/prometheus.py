"""Metrics in the text format of Prometheus, version 0.0.4."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from agentbench_tui import __version__
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.metrics import latest_scores
from agentbench_tui.store.queries.runs import newest_run_ids, run_statuses

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from agentbench_tui.api.service import Service

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_EXECUTIONS = 500
"""Latest executions that have their own lines, so that a scrape stays small."""
_LOOKED_AT = 200
Sample = tuple["Mapping[str, str]", float]


def metrics_text(connection: sqlite3.Connection, service: Service) -> bytes:
    """Return the metrics of the service and of the latest executions."""
    lines = [line for family in _families(connection, service) for line in family]
    return ("\n".join(lines) + "\n").encode()


def _families(connection: sqlite3.Connection, service: Service) -> Iterator[Iterator[str]]:
    counts = service.counts
    yield _family(
        "build_info", "gauge", "Version of agentbench; always 1.", [({"version": __version__}, 1)]
    )
    yield _family(
        "http_requests_total", "counter", "Answered requests.",
        [
            ({"method": method, "path": path, "status": str(status)}, number)
            for (method, path, status), number in sorted(counts.by_answer.items())
        ],
    )  # fmt: skip
    yield _family(
        "http_request_seconds_total", "counter", "Time until answers began, in seconds.",
        [
            ({"method": method, "path": path}, seconds)
            for (method, path), seconds in sorted(counts.seconds.items())
        ],
    )  # fmt: skip
    yield _family(
        "event_listeners", "gauge", "Open event streams.", [({}, service.events.listeners)]
    )
    statuses = _statuses(connection, service)
    yield _family(
        "runs", "gauge", "Runs in the database.",
        [({"status": status}, number) for status, number in sorted(statuses.items())],
    )  # fmt: skip
    yield from _scores(connection)


def _statuses(connection: sqlite3.Connection, service: Service) -> Counter[str]:
    """Count runs; one whose process is gone is interrupted."""
    statuses = Counter(run_statuses(connection))
    for run_id in newest_run_ids(connection, _LOOKED_AT, "running"):
        if not is_leased(service.settings.database, run_id):
            statuses["running"] -= 1
            statuses["interrupted"] += 1
    return statuses


def _scores(connection: sqlite3.Connection) -> Iterator[Iterator[str]]:
    rows = latest_scores(connection, MOST_EXECUTIONS)
    places = [
        {
            "agent": row["agent_id"], "version": row["agent_version"],
            "suite": row["suite_id"], "benchmark": row["benchmark_id"],
            "simulated": "true" if row["simulated"] else "false",
        }
        for row in rows
    ]  # fmt: skip
    names = ("accuracy", "speed", "efficiency", "cost", "reliability", "overall")
    yield _family(
        "score", "gauge", "Score of 0..1 of the latest complete execution.",
        [
            ({**place, "dimension": name}, row[f"{name}_score"])
            for place, row in zip(places, rows, strict=True)
            for name in names
            if row[f"{name}_score"] is not None
        ],
    )  # fmt: skip
    yield _family(
        "execution_cost_usd", "gauge", "Cost of the latest complete execution, in US dollars.",
        [
            (place, row["cost_usd"])
            for place, row in zip(places, rows, strict=True)
            if row["cost_usd"] is not None
        ],
    )  # fmt: skip


def _family(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP agentbench_{name} {help_text}"
    yield f"# TYPE agentbench_{name} {kind}"
    for labels, value in samples:
        listed = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
        yield f"agentbench_{name}{f'{{{listed}}}' if listed else ''} {value!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
