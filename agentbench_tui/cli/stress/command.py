"""`agentbench stress`: finds where a target breaks, why, and how it recovers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from agentbench_tui.cli.console.output import stdout_kept
from agentbench_tui.cli.console.suite_options import suite_options
from agentbench_tui.cli.run.options import (
    check_gates,
    how_of,
    plan_of,
    run_options,
)
from agentbench_tui.cli.run.session_options import view_of
from agentbench_tui.stress.options import STRESS_OPTIONS

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan


@click.command(
    "stress",
    short_help="Stress-test targets: breaking point, cause and recovery.",
    epilog="Normal load is measured first. Without --scenario, all eight scenarios run; at "
    "full length they take hours. --dry-run prints the maximum duration; "
    "docs/stress.md describes each scenario.",
)
@click.argument("targets", nargs=-1, metavar="[[ID[@VERSION]=]TARGET]...")
@suite_options(STRESS_OPTIONS)
@run_options
def stress_command(targets: tuple[str, ...], agents: tuple[str, ...], **given: Any) -> int:
    """Stress-test TARGETs; print the breaking point, its cause and the recovery.

    \b
    agentbench stress 'mock?slots=8&service-time=50ms' --scenario high_load --time-scale 0.02
    agentbench stress openai:http://127.0.0.1:8000/v1#MODEL --p95-ms 2000 --dry-run
    agentbench stress --agent http://127.0.0.1:9000/ask --scenario failure_recovery
    agentbench stress openai:https://my.host/v1#MODEL --i-own-this-target --max-cost 5
    """
    from agentbench_tui.load.limits import raise_open_files
    from agentbench_tui.load.sending.worker_process import end_ahead, start_ahead

    given["targets"] = (*targets, *agents)
    faults = [name for names in given["faults"] for name in names.split(",")]
    given["faults"] = tuple(name.strip().replace("-", "_") for name in faults)
    given["scenarios"] = [name for names in given["scenarios"] for name in names]
    if not given["targets"]:
        raise click.UsageError(
            "name a target, such as openai:http://127.0.0.1:8000/v1#MODEL, or mock for practice"
        )
    # A run that is left alone, or shown by a session, has a process of its own.
    elsewhere = given["detach"] or view_of(given) == "full"
    if not (elsewhere or given["print_suite"] or given["dry_run"]):
        raise_open_files()  # which it inherits
        start_ahead()
    try:
        return _stress(given)
    finally:
        end_ahead()


def _stress(given: dict[str, Any]) -> int:
    from agentbench_tui.cli.run import running

    with stdout_kept():
        suite, plan = _plan(given)
    if given["print_suite"]:
        from agentbench_tui.cli.suite_parts import as_yaml

        click.echo(as_yaml(suite), nl=False)
        return 0
    running.check_plan(plan)
    if given["dry_run"]:
        from agentbench_tui.cli.stress.plan import print_stress_plan

        print_stress_plan(plan, given["form"])
        return 0
    from agentbench_tui.cli.stress.result import print_stress_run

    how = msgspec.structs.replace(how_of(given), show=print_stress_run)
    return running.run_plan(plan, given["database"], given["persist"], how)


def _plan(given: dict[str, Any]) -> tuple[dict[str, Any], Plan]:
    """Return the suite and the plan of the request."""
    from agentbench_tui.cli.stress.suite import suite_of_options

    check_gates(given)
    folder = Path.cwd()
    suite = suite_of_options(given, folder)
    return suite, plan_of(suite, given, folder)
