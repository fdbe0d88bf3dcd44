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
    short_help="Stress-test targets: breaking point, cause and recovery.",
    epilog="Normal load is measured first. Without --scenario, all eight scenarios run; at "
    "full length they take hours. --dry-run prints the maximum duration; "
    "docs/stress.md describes each scenario.",
)
@click.argument("targets", nargs=-1, metavar="[[ID[@VERSION]=]TARGET]...")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="TARGET",
    help="Target to stress, in addition to the arguments. May be given several times.",
)
@click.option(
    "--scenario",
    "scenarios",
    type=Scenarios(),
    multiple=True,
    metavar="NAME[,NAME…]",
    help="Scenario to run. May be given several times.",
    show_default="all eight",
)
@click.option(
    "--time-scale",
    type=Number(0.001, 100),
    metavar="X",
    help="Multiply every duration by X; limits do not change. 0.02 shortens a one-hour soak "
    "to 72 seconds.",
    show_default="1",
)
@click.option(
    "--duration",
    type=Time(),
    metavar="TIME",
    help="Duration of the stress, or of each spike or fault, before --time-scale.",
    show_default="set by each scenario",
)
@click.option(
    "--recovery",
    type=Time(),
    metavar="TIME",
    help="How long to watch the target after the stress, before --time-scale.",
    show_default="as long as the stress, at most 30s",
)
@click.option(
    "--normal-rate",
    type=ABOVE_ZERO,
    metavar="R",
    help="Normal load in requests per second.",
    show_default="measured",
)
@click.option(
    "--normal-concurrency",
    type=click.IntRange(1, _MOST),
    metavar="N",
    help="Normal load in concurrent users.",
    show_default="measured",
)
@click.option(
    "--most-rate",
    type=ABOVE_ZERO,
    metavar="R",
    help="Highest rate to use in any scenario, in requests per second.",
    show_default="1,000",
)
@click.option(
    "--most-concurrency",
    type=click.IntRange(1, _MOST),
    metavar="N",
    help="Highest number of users, or of in-flight requests, to use in any scenario.",
    show_default="100",
)
@click.option(
    "--most-input-tokens",
    type=click.IntRange(1, _MOST),
    help="Longest prompt to send in the large_inputs scenario, in tokens.",
    show_default="131,072",
)
@click.option(
    "--multiple",
    type=Number(1, 1000),
    metavar="X",
    help="Stress the target with X times its normal load.",
    show_default="10",
)
@click.option(
    "--error-share",
    type=ABOVE_ZERO,
    metavar="SHARE",
    help="Highest share of failed requests that a load level may have to pass.",
    show_default="0.01",
)
@click.option(
    "--p95-ms",
    type=ABOVE_ZERO,
    metavar="MS",
    help="p95 latency in ms above which a load level fails.",
    show_default="3 × the p95 at normal load",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    metavar="NAME[,NAME…]",
    help="Fault to inject in the failure_recovery scenario. May be given several times.",
    show_default="all that the target can have",
)
@click.option(
    "--spikes",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Number of spikes in the spike_load scenario.",
    show_default="3",
)
@click.option(
    "--serve",
    metavar="COMMAND",
    help="Command that starts the target's server, so that scenarios can kill and restart it.",
)
@click.option(
    "--upstream",
    metavar="URL",
    help="URL of the service that the agent depends on. Faults are injected in front of it "
    "instead of in front of the agent.",
)
@click.option(
    "--upstream-env",
    metavar="NAME",
    help="Environment variable from which the agent reads the URL of its --upstream.",
    show_default="OPENAI_BASE_URL",
)
@click.option(
    "--retry-after",
    type=click.IntRange(1, 3600),
    metavar="SECONDS",
    help="Retry-After value, in seconds, of the HTTP 429 responses injected in front of an "
    "upstream.",
    show_default="2",
)
@click.option(
    "--memory-limit-mb",
    type=ABOVE_ZERO,
    metavar="MB",
    help="Memory limit of the target's processes, in MB, in the memory_pressure and "
    "sustained_load scenarios.",
)
@click.option(
    "--ballast-mb",
    type=ABOVE_ZERO,
    metavar="MB",
    help="Memory to occupy on this machine, in MB, in the memory_pressure scenario.",
)
@click.option(
    "--prompt",
    "prompts",
    multiple=True,
    metavar="TEXT",
    help="Prompt to send. Several prompts are sent in turn.",
    show_default="a short built-in text",
)
@dataset_options
@click.option(
    "--input-tokens",
    type=Length(),
    metavar="N[±S]",
    help="Generate synthetic prompts of N tokens; ±S is the standard deviation.",
)
@click.option(
    "--output-tokens",
    type=Length(),
    metavar="N[±S]",
    help="Number of output tokens to request as max_tokens; ±S is the standard deviation.",
    show_default="left to the server",
)
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Request streamed or complete answers.",
    show_default="the agent's setting",
)
@click.option(
    "--timeout",
    type=Time(),
    metavar="TIME",
    help="Maximum duration of one request.",
    show_default="the agent's own limits",
)
@click.option(
    "--max-requests",
    type=click.IntRange(1, _MOST),
    help="Maximum number of requests in each scenario.",
    show_default="1,000,000",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(1),
    help="Maximum number of bytes sent and received in each scenario.",
    show_default="no limit",
)
@click.option(
    "--max-time",
    type=Time(),
    metavar="TIME",
    help="Maximum duration of each scenario; --time-scale does not apply.",
    show_default="no limit",
)
@click.option(
    "--i-own-this-target",
    "own_target",
    is_flag=True,
    help="Confirm that you may stress a target that is not on this machine.",
)
@click.option(
    "--print-suite",
    is_flag=True,
    help="Print the equivalent suite file and exit without running it.",
)
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

    how = dataclasses.replace(how_of(given), show=print_stress_run)
    return running.run_plan(plan, given["database"], given["persist"], how)


def _plan(given: dict[str, Any]) -> tuple[dict[str, Any], Plan]:
    """Return the suite and the plan of the request."""
    from agentbench_tui.cli.stress.suite import suite_of_options

    check_gates(given)
    folder = Path.cwd()
    suite = suite_of_options(given, folder)
    return suite, plan_of(suite, given, folder)
