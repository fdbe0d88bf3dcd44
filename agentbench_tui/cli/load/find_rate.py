"""`agentbench load TARGET --slo … --find-rate`: the highest rate that keeps the SLO."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.console.output import database_path
from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.cli.run.options import plan_of
from agentbench_tui.contracts.load import LoadRateDocument, RateProbe
from agentbench_tui.model.errors import Unmeasured, UsageError
from agentbench_tui.presentation.load.rate import TAG, load_rate_report
from agentbench_tui.presentation.numbers import amount

if TYPE_CHECKING:
    from agentbench_tui.contracts.document import Json
    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.load.results.requests import Requests
    from agentbench_tui.stress.search.breaking_point import BreakingPoint

START = 8.0
"""Requests a second at which the search begins, unless --rate says otherwise."""
MOST = 10_000.0


@dataclass
class _Found:
    """What a search has measured so far."""

    slo: dict[str, float]
    agent: str
    simulated: bool
    probes: list[RateProbe] = field(default_factory=list)
    result: BreakingPoint | None = None
    code: int = 0
    """Exit code of a window that was interrupted."""
    is_silent: bool = True
    """Whether no request has been answered."""


def check_options(targets: tuple[str, ...], given: dict[str, Json]) -> None:
    """Raise UsageError for options that a search cannot have."""
    if not given["slo"]:
        raise UsageError("--find-rate needs --slo, such as --slo ttft_ms.p95=200")
    if len(targets) > 1:
        raise UsageError("--find-rate searches one target at a time")
    if len(given["rate"] or ()) > 1:
        raise UsageError("--find-rate begins at one --rate and searches from there")
    others = ("concurrency", "ramp", "steps", "spike", "sine", "trace", "duration", "requests")
    chosen = [name for name in others if given[name]] + [
        name for name in ("detach", "gates", "persist") if given[name]
    ]
    if chosen or given["runs"] > 1:
        names = ", ".join(f"--{name}" for name in [*chosen, *["runs"] * (given["runs"] > 1)])
        raise UsageError(f"{names} cannot be combined with --find-rate".replace("gates", "fail-on"))
    if given["database"] == ":memory:":
        raise UsageError("--find-rate needs a database file, in which each window is a run")


def find_rate(target: str, given: dict[str, Json]) -> int:
    """Search, print a line for each window on stderr and the answer on stdout; the exit code."""
    from agentbench_tui.store.database import create_or_migrate

    path = database_path(given["database"])
    create_or_migrate(path)
    found = _search(target, given, path)
    document = _document(found)
    print_report(load_rate_report(document), given["form"], document)
    if found.code:
        return found.code
    # A target that keeps the SLO at no rate is a result; one of which nothing is known is not.
    return 3 if document.low is None and document.high is None else 0


def _search(target: str, given: dict[str, Json], path: Path) -> _Found:
    from agentbench_tui.stress.search.axis import Axis
    from agentbench_tui.stress.search.breaking_point import Search
    from agentbench_tui.stress.search.slo_rate import judge_slo

    start = float((given["rate"] or [START])[0])
    search = Search(Axis(on="rate", start=start, most=max(MOST, start), unit="requests/s"))
    found = _Found(dict(given["slo"]), "", simulated=False)
    windows: list[Requests] = []
    while (step := search.probe) is not None:
        plan = _plan(target, given, step.level, found)
        requests = _measure(plan, path, found)
        if requests is None:
            search.stop("interrupted")
            break
        _check_answers(requests, plan, path, found)
        windows = [requests] if step.length == 1 else [*windows, requests]
        verdict = judge_slo(windows, found.slo, step.length)
        found.probes.append(
            RateProbe(
                rate=step.level,
                run_id=plan.run_id,
                verdict=verdict.outcome,
                reason=verdict.reason,
            )
        )
        if not given["quiet"]:
            click.echo(f"{amount(step.level)}/s: {verdict.outcome} ({verdict.reason})", err=True)
        search.take(verdict)
    found.result = search.report()
    return found


def _plan(target: str, given: dict[str, Json], rate: float, found: _Found) -> Plan:
    """Return the plan of one window at a rate."""
    from agentbench_tui.cli.load.suite import suite_of_options
    from agentbench_tui.stress.search.slo_rate import window_s

    seconds = round(window_s(rate, found.slo), 2)
    own = {**given, "rate": [rate], "duration": seconds, "tags": (*given["tags"], TAG)}
    plan = plan_of(suite_of_options([target], own, Path.cwd()), own, Path.cwd())
    ((_, execution),) = plan.executions()
    found.agent, found.simulated = execution.agent.id, execution.agent.simulated
    return plan


def _measure(plan: Plan, path: Path, found: _Found) -> Requests | None:
    """Measure one window; None if it was interrupted, or measured nothing."""
    from agentbench_tui.cli.run.running import carry_out_quietly
    from agentbench_tui.load.results.aggregate import read_requests
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import execution_key_of

    found.code = carry_out_quietly(plan, path, resume=False)
    if found.code:
        return None
    ((_, execution),) = plan.executions()
    with reading(path) as connection:
        requests = read_requests(connection, execution_key_of(connection, execution.id))
    if not requests.windows:
        raise _unmeasured("nothing was measured", plan, path)
    return requests


def _check_answers(requests: Requests, plan: Plan, path: Path, found: _Found) -> None:
    """Raise Unmeasured if neither of the first two windows has an answer.

    A target that answers nothing at the first rate and nothing at half of it is not overloaded, and
    the windows at still lower rates take minutes.
    """
    found.is_silent = found.is_silent and not requests.answered.any()
    if found.is_silent and found.probes:
        raise _unmeasured("no request was answered at two rates", plan, path)


def _unmeasured(what: str, plan: Plan, path: Path) -> Unmeasured:
    """Return the error with the most frequent failure of a window."""
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import failure_details, find_run

    with reading(path) as connection:
        failures = failure_details(connection, find_run(connection, plan.run_id)["key"], limit=1)
    why = "".join(f": {one['kind']}: {one['detail']}" for one in failures)
    return Unmeasured(f"{what}{why}; `agentbench runs show {plan.run_id}` shows more")


def _document(found: _Found) -> LoadRateDocument:
    result = found.result
    assert result is not None
    return LoadRateDocument(
        agent_id=found.agent,
        simulated=found.simulated,
        slo=found.slo,
        status=result.status,
        rate=result.passes,
        low=result.passes,
        high=result.fails,
        confirmed=result.confirmed,
        broke=tuple(result.broke),
        reason=result.reason,
        stopped=result.stopped,
        probes=tuple(found.probes),
    )
