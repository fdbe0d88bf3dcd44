"""`agentbench.load-sweep/1`: loads at several points, and the highest that meets the limits."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from agentbench_tui.load.slo import is_joint, share_of
from agentbench_tui.model.figures.load_figures import SLO_SHARE

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = "agentbench.load-sweep/1"

Document = dict[str, Any]


def sweep_document(run: Document) -> Document:
    """Return what `agentbench load --format json` prints for several points.

    `run` is `agentbench.run/1`.
    """
    executions = run["executions"]
    unmeasured = ("agent_id", "parameters", "status", "stop_reason")
    return {
        "schema": SCHEMA,
        "run_id": run["run_id"],
        "status": run["status"],
        "within_slo": next(iter(within_slo(executions)), None),
        "points": [one["load"] for one in executions if one.get("load")],
        "unmeasured": [
            {key: one[key] for key in unmeasured} for one in executions if not one.get("load")
        ],
    }


def within_slo(executions: Iterable[Document]) -> list[Document]:
    """Return, for each agent on each benchmark that sweeps one number and has limits, the values
    that meet them and the highest of these; None if none does or, with a `reason`, if no point can
    show it.

    A value is within the SLO when at least `SLO_SHARE` of what was due there kept every limit, with
    every seed; where a percentile is limited, when each limit was kept by its own share. A point
    that could not be measured is not.
    """
    sweeps: defaultdict[tuple[str, str, str], list[Document]] = defaultdict(list)
    for one in executions:
        sweeps[one["suite_id"], one["benchmark_id"], one["agent_id"]].append(one)
    found = []
    for (_, benchmark_id, agent_id), points in sweeps.items():
        slo = next((one["load"]["slo"] for one in points if one.get("load")), None)
        parameter = _swept(points)
        if slo and parameter is not None:
            place = {"benchmark_id": benchmark_id, "agent_id": agent_id}
            found.append(place | _held(points, parameter) | {"slo": slo})
    return found


def _swept(points: list[Document]) -> str | None:
    """Return the one parameter that differs between the points, if it is a number."""
    names: set[str] = {name for one in points for name in one["parameters"]}
    values = {name: [one["parameters"].get(name) for one in points] for name in names}
    varying = [name for name, given in values.items() if any(one != given[0] for one in given)]
    if len(varying) != 1 or not all(_is_number(value) for value in values[varying[0]]):
        return None
    return varying[0]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _held(points: list[Document], parameter: str) -> Document:
    tried = sorted({one["parameters"][parameter] for one in points})
    missed = {one["parameters"][parameter] for one in points if not _keeps(one)}
    held = [value for value in tried if value not in missed]
    return {
        "parameter": parameter,
        "share": SLO_SHARE,
        "highest": held[-1] if held else None,
        "held": held,
        "tried": tried,
        "reason": _why_unknown(points),
    }


def _why_unknown(points: list[Document]) -> str | None:
    """Return why no point can show whether the limits were met; None if one can."""
    loads = [one["load"] for one in points if one.get("load")]
    if any(load["metrics"].get("goodput_share") is not None for load in loads):
        return None
    reasons = [load["unmeasured"].get("goodput_share") for load in loads]
    return next(filter(None, reasons), "not measured")


def _keeps(execution: Document) -> bool:
    load = execution.get("load")
    return load is not None and keeps_slo(load)


def keeps_slo(load: Document) -> bool:
    """Return whether a measured load kept its SLO; False where it cannot be judged."""
    if not is_joint(load["slo"]):
        kept = load.get("slo_kept") or {}
        return all(kept.get(name, 0.0) >= share_of(name) for name in load["slo"])
    share = load["metrics"].get("goodput_share")
    return share is not None and share >= SLO_SHARE
