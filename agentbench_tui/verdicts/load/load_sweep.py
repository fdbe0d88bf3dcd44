"""`agentbench.load-sweep/1`: loads at several points, and the highest that meets the limits."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from agentbench_tui.contracts.load import LoadSweepDocument, SweepLimit, UnmeasuredLevel
from agentbench_tui.load.slo import is_joint, share_of
from agentbench_tui.model.figures.load_figures import SLO_SHARE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentbench_tui.contracts.load import LoadDocument
    from agentbench_tui.contracts.run import ExecutionResult, RunDocument


def sweep_document(run: RunDocument) -> LoadSweepDocument:
    """Return what `agentbench load --format json` prints for several points."""
    return LoadSweepDocument(
        run_id=run.run_id,
        status=run.status,
        within_slo=next(iter(within_slo(run.executions)), None),
        points=tuple(one.load_result for one in run.executions if one.load_result is not None),
        unmeasured=tuple(
            UnmeasuredLevel(
                agent_id=one.agent_id,
                parameters=one.parameters,
                status=one.status,
                stop_reason=one.stop_reason,
            )
            for one in run.executions
            if one.load_result is None
        ),
    )


def within_slo(executions: Iterable[ExecutionResult]) -> list[SweepLimit]:
    """Return, for each agent on each benchmark that sweeps one number and has limits, the values
    that meet them and the highest of these; None if none does or, with a `reason`, if no point can
    show it.

    A value is within the SLO when at least `SLO_SHARE` of what was due there kept every limit, with
    every seed; where a percentile is limited, when each limit was kept by its own share. A point
    that could not be measured is not.
    """
    sweeps: defaultdict[tuple[str, str, str], list[ExecutionResult]] = defaultdict(list)
    for one in executions:
        sweeps[one.suite_id, one.benchmark_id, one.agent_id].append(one)
    limits = (_limit_of(points) for points in sweeps.values())
    return [one for one in limits if one is not None]


def _limit_of(points: Sequence[ExecutionResult]) -> SweepLimit | None:
    """Return which values of a sweep meet its limits; None if it has none, or no one number."""
    loads = [one.load_result for one in points if one.load_result is not None]
    parameter = _swept(points)
    if not loads or not loads[0].slo or parameter is None:
        return None
    tried = sorted({one.parameters[parameter] for one in points})
    missed = {one.parameters[parameter] for one in points if not _keeps(one)}
    held = [value for value in tried if value not in missed]
    return SweepLimit(
        benchmark_id=points[0].benchmark_id,
        agent_id=points[0].agent_id,
        parameter=parameter,
        share=SLO_SHARE,
        highest=held[-1] if held else None,
        held=tuple(held),
        tried=tuple(tried),
        reason=_why_unknown(loads),
        slo=loads[0].slo,
    )


def _swept(points: Sequence[ExecutionResult]) -> str | None:
    """Return the one parameter that differs between the points, if it is a number."""
    names = {name for one in points for name in one.parameters}
    values = {name: [one.parameters.get(name) for one in points] for name in names}
    varying = [name for name, given in values.items() if any(one != given[0] for one in given)]
    if len(varying) != 1 or not all(_is_number(value) for value in values[varying[0]]):
        return None
    return varying[0]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _why_unknown(loads: Sequence[LoadDocument]) -> str | None:
    """Return why no point can show whether the limits were met; None if one can."""
    if any(load.number("goodput_share") is not None for load in loads):
        return None
    reasons = [load.unmeasured.get("goodput_share") for load in loads]
    return next(filter(None, reasons), "not measured")


def _keeps(execution: ExecutionResult) -> bool:
    load = execution.load_result
    return load is not None and keeps_slo(load)


def keeps_slo(load: LoadDocument) -> bool:
    """Return whether a measured load kept its SLO; False where it cannot be judged."""
    limits = load.slo or {}
    if not is_joint(limits):
        kept = load.slo_kept or {}
        return all(kept.get(name, 0.0) >= share_of(name) for name in limits)
    share = load.number("goodput_share")
    return share is not None and share >= SLO_SHARE
