"""`agentbench stress`: find where a target breaks, why, and how it recovers."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.numbers import ABOVE_ZERO, Number
from agentbench_tui.cli.console.output import stdout_kept
from agentbench_tui.cli.load.options import Length, Time, dataset_options
from agentbench_tui.cli.run.options import (
    check_gates,
    how_of,
    plan_of,
    run_options,
)
from agentbench_tui.cli.run.session_options import view_of
from agentbench_tui.cli.stress.options import Scenarios

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan

_MOST = 1_000_000_000


@click.command(
    "stress",
    short_help="Stress a target: where does it break, why, and how does it recover?",
    epilog="What is normal is measured first. Without --scenario all eight are run; at their full "
    "length they take hours: --dry-run says how long at most, docs/stress.md what each does.",
)
@click.argument("targets", nargs=-1, metavar="[[ID[@VERSION]=]TARGET]...")
@click.option(
    "--agent", "agents", multiple=True, metavar="TARGET", help="A target, as the argument."
)
@click.option(
    "--scenario",
    "scenarios",
    type=Scenarios(),
    multiple=True,
    metavar="NAME[,NAME…]",
    help="Only these; may be given several times.",
)
@click.option(
    "--time-scale",
    type=Number(0.001, 100),
    metavar="X",
    help="Multiplies every duration, no limit; 0.02 makes a soak of an hour one of 72 s.",
)
@click.option("--duration", type=Time(), metavar="TIME", help="Of the stress, before the scale.")
@click.option("--recovery", type=Time(), metavar="TIME", help="Watched after it; 30s at most.")
@click.option("--normal-rate", type=ABOVE_ZERO, metavar="R", help="What is normal, not measured.")
@click.option(
    "--normal-concurrency", type=click.IntRange(1, _MOST), metavar="N", help="The same in users."
)
@click.option("--most-rate", type=ABOVE_ZERO, metavar="R", help="Never more a second; 1000.")
@click.option(
    "--most-concurrency",
    type=click.IntRange(1, _MOST),
    metavar="N",
    help="Never more users, or requests in flight; 100.",
)
@click.option("--most-input-tokens", type=click.IntRange(1, _MOST), help="Longest prompt; 131072.")
@click.option("--multiple", type=Number(1, 1000), metavar="X", help="Of normal, as stress; 10.")
@click.option("--error-share", type=ABOVE_ZERO, metavar="SHARE", help="A level keeps this; 0.01.")
@click.option(
    "--p95-ms", type=ABOVE_ZERO, metavar="MS", help="And this; 3 × that at normal load by default."
)
@click.option(
    "--fault", "faults", multiple=True, metavar="NAME[,NAME…]", help="Of failure_recovery; all."
)
@click.option("--spikes", type=click.IntRange(1, 100), metavar="N", help="Of spike_load; 3.")
@click.option(
    "--serve", metavar="COMMAND", help="Starts the target's server, which can then be killed."
)
@click.option("--upstream", metavar="URL", help="What the agent depends on: faults go before it.")
@click.option(
    "--upstream-env", metavar="NAME", help="Variable by which it finds that; OPENAI_BASE_URL."
)
@click.option(
    "--retry-after",
    type=click.IntRange(1, 3600),
    metavar="SECONDS",
    help="Said by the 429 put before an upstream; 2.",
)
@click.option("--memory-limit-mb", type=ABOVE_ZERO, metavar="MB", help="Of the target's processes.")
@click.option(
    "--ballast-mb", type=ABOVE_ZERO, metavar="MB", help="Taken from this machine's memory."
)
@click.option("--prompt", "prompts", multiple=True, metavar="TEXT", help="What to ask; in turn.")
@dataset_options
@click.option(
    "--input-tokens", type=Length(), metavar="N[±S]", help="Made-up prompts of so many tokens."
)
@click.option("--output-tokens", type=Length(), metavar="N[±S]", help="Tokens to ask for.")
@click.option("--stream/--no-stream", default=None, help="Overrides the agent's own setting.")
@click.option(
    "--timeout",
    type=Time(),
    metavar="TIME",
    help="Longest that one request may take; by default the agent's own limits.",
)
@click.option("--max-requests", type=click.IntRange(1, _MOST), help="Of each scenario.")
@click.option("--max-bytes", type=click.IntRange(1), help="Of each scenario.")
@click.option("--max-time", type=Time(), metavar="TIME", help="Of each scenario; not scaled.")
@click.option(
    "--i-own-this-target",
    "own_target",
    is_flag=True,
    help="The target is not on this machine, and yours to be put under stress.",
)
@click.option("--print-suite", is_flag=True, help="Print the same as a suite; run nothing.")
@run_options
def stress_command(targets: tuple[str, ...], agents: tuple[str, ...], **given: Any) -> int:
    """Put TARGET under stress and print where it breaks, why, and how it recovers.

    \b
    agentbench stress 'mock?slots=8&service-time=50ms' --scenario high_load --time-scale 0.02
    agentbench stress openai:http://127.0.0.1:8000/v1#MODEL --p95-ms 2000 --dry-run
    agentbench stress --agent http://127.0.0.1:9000/ask --scenario failure_recovery
    agentbench stress openai:https://my.host/v1#MODEL --i-own-this-target --max-cost 5
    """
    from agentbench_tui.cli.load.limits import raise_open_files
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
    running.check_stress(plan)
    if given["dry_run"]:
        from agentbench_tui.cli.stress.plan import print_stress_plan

        print_stress_plan(plan, given["form"])
        return 0
    from agentbench_tui.cli.stress.result import print_stress_run

    how = dataclasses.replace(how_of(given), show=print_stress_run)
    return running.run_plan(plan, given["database"], given["persist"], how)


def _plan(given: dict[str, Any]) -> tuple[dict[str, Any], Plan]:
    """What is asked, as a suite and as a plan."""
    from agentbench_tui.cli.stress.suite import suite_of_options

    check_gates(given)
    folder = Path.cwd()
    suite = suite_of_options(given, folder)
    return suite, plan_of(suite, given, folder)
