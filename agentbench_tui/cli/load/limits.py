"""Warnings before a load starts: limits of this machine and of its load workers that it comes close
to.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentbench_tui.agents.schemes import OF_MODELS
from agentbench_tui.load.limits import prepare_limits

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.load.results.window import Calibration


def warn_of_limits(plan: Plan, *, watched: bool = False) -> None:
    """Raise the limits if possible, and warn on stderr if the plan's loads come close to them;
    `watched` says that a view is drawn at the same time. Raises UsageError for a load that its
    agent does not support.
    """
    for line in prepare_limits(plan, watched=watched):
        click.echo(f"warning: {line}", err=True)


def warn_of_plan(plan: Plan, database: str | None) -> None:
    """Warn for a plan that is not executed, and about rates close to the senders' ceiling, which
    a run checks by itself.
    """
    warn_of_limits(plan)
    for line in ceiling_warnings(plan, database):
        click.echo(f"warning: {line}", err=True)


def ceiling_warnings(plan: Plan, database: str | None) -> list[str]:
    """Return a warning for each open load with more than half of the senders' last measured
    ceiling on this machine; none if the database has no measurement.
    """
    from agentbench_tui.cli.console.output import database_path
    from agentbench_tui.load.calibration.verdict import plan_warning

    asked = _asked_of_senders(plan)
    path = None if database == ":memory:" else database_path(database)
    if not asked or path is None or not path.exists():
        return []
    last = _last_calibration(path)
    return [
        f"{place}: {text}"
        for place, per_s in asked.items()
        if (text := plan_warning(per_s, last)) is not None
    ]


def _asked_of_senders(plan: Plan) -> dict[str, float]:
    """Return the mean requests per second of open loads whose workers have a ceiling, by agent and
    point.
    """
    from agentbench_tui.agents.target import parse_target
    from agentbench_tui.load.schedule.shape import asked_of, duration_of, schedule_of
    from agentbench_tui.load.spec import LoadSpec
    from agentbench_tui.verdicts.evidence.place import point_words

    found = {}
    for group, execution in plan.executions():
        if group.benchmark["kind"] != "load":
            continue
        spec = LoadSpec.model_validate(group.resolved().load)
        arrivals = schedule_of(spec, group.base_dir)
        if arrivals is None or parse_target(execution.agent.target).scheme not in OF_MODELS:
            continue
        count, seconds = asked_of(arrivals, duration_of(spec, arrivals), spec.requests)
        if seconds > 0:
            place = f"{execution.agent.id} {point_words(group.parameters)}".strip()
            found[place] = count / seconds
    return found


def _last_calibration(database: Path) -> Calibration | None:
    from agentbench_tui.instruments.environment import capture_environment, fingerprint
    from agentbench_tui.load.calibration.calibration import last_known
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.load import has_calibrations

    with reading(database) as connection:
        if not has_calibrations(connection):
            return None  # to look at the machine takes a moment
        return last_known(connection, fingerprint(capture_environment(Path.cwd())))
