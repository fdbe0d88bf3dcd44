"""`agentbench load`: put load on one target, say how fast it is and how far that can be trusted."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.numbers import Number
from agentbench_tui.cli.console.output import stdout_kept
from agentbench_tui.cli.load.options import (
    Length,
    Ramp,
    Rates,
    Sine,
    Slo,
    Spike,
    Steps,
    Time,
    Users,
    dataset_options,
)
from agentbench_tui.cli.run.options import (
    check_gates,
    how_of,
    plan_of,
    run_options,
)
from agentbench_tui.cli.run.session_options import view_of

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan

_MOST = 100_000_000
"""Requests, tokens or users that anybody means."""


@click.command(
    "load",
    short_help="Put load on one target: how fast is it, and under how much?",
    epilog="Without a schedule: a closed loop with 1 user for 10 seconds. Latency in an open loop "
    "counts from the moment a request was due; docs/load.md says why.",
)
@click.argument("target", metavar="[ID[@VERSION]=]TARGET")
@click.option(
    "--rate",
    type=Rates(),
    metavar="R[,R…]",
    help="Open loop: requests a second; several are run one after another.",
)
@click.option(
    "--arrivals",
    type=click.Choice(("constant", "poisson", "gamma", "max")),
    help="How they are spaced; `max` is a closed loop that asks for as much as goes.",
)
@click.option(
    "--burstiness",
    type=Number(0.01, 10_000),
    metavar="K",
    help="Shape of the gaps of gamma: below 1 burstier than Poisson, above 1 more even.",
)
@click.option("--ramp", type=Ramp(), metavar="A..B/TIME", help="From A to B a second over TIME.")
@click.option("--steps", type=Steps(), metavar="RxTIME,…", help="One rate after another.")
@click.option(
    "--spike", type=Spike(), metavar="A..B@START/TIME", help="A a second, B from START on for TIME."
)
@click.option("--sine", type=Sine(), metavar="M±A/TIME", help="Swings by A around M every TIME.")
@click.option(
    "--trace",
    metavar="FILE",
    help="Replay a recorded trace: its arrivals, and the lengths of its requests and answers where "
    "it has them and nothing else says what to send.",
)
@click.option(
    "--trace-speed",
    type=Number(0.001, 1000),
    metavar="X",
    help="Replay the trace X times as fast as it was recorded.",
)
@click.option(
    "--trace-unit",
    type=click.Choice(("s", "ms", "us", "ns")),
    help="Unit of the trace's timestamps, where they are numbers. Without it: seconds, or "
    "milliseconds for a trace with hash_ids (Mooncake).",
)
@click.option(
    "--concurrency",
    type=Users(),
    metavar="N[,N…]",
    help="Closed loop: so many users, each sends when its last request has ended.",
)
@click.option(
    "--think-time", type=Time(zero=True), metavar="TIME", help="What users wait in between."
)
@click.option("--duration", type=Time(), metavar="TIME", help="Length of the window, such as 30s.")
@click.option("--requests", type=click.IntRange(1, _MOST), help="Or so many requests.")
@click.option(
    "--max-in-flight", type=click.IntRange(1, _MOST), metavar="N", help="At most so many at once."
)
@click.option(
    "--input-tokens",
    type=Length(),
    metavar="N[±S]",
    help="Made-up prompts of so many tokens (mean ± standard deviation).",
)
@click.option(
    "--prefix-share",
    type=Number(0, 1),
    metavar="SHARE",
    help="Share of each made-up prompt that all have in common.",
)
@click.option("--output-tokens", type=Length(), metavar="N[±S]", help="Tokens to ask for.")
@click.option("--prompt", "prompts", multiple=True, metavar="TEXT", help="What to ask; in turn.")
@dataset_options
@click.option("--turns", type=click.IntRange(1, 1000), help="Prompts of one conversation.")
@click.option(
    "--cancel-after",
    type=click.IntRange(1, _MOST),
    metavar="N",
    help="Break each answer off after so many tokens.",
)
@click.option("--stream/--no-stream", default=None, help="Overrides the agent's own setting.")
@click.option(
    "--slo",
    type=Slo(),
    multiple=True,
    metavar="NAME=MS",
    help="What a good request keeps, such as ttft_ms=200; goodput counts those that do.",
)
@click.option("--workers", type=click.IntRange(1, 256), help="Processes that send.")
@click.option(
    "--realtime/--no-realtime",
    default=None,
    help="Senders go before everything else on this machine; by default those of an open loop, "
    "where that is permitted.",
)
@click.option(
    "--warmup",
    type=click.IntRange(0, 100_000),
    help="Requests of each worker before the window; 3.",
)
@click.option(
    "--timeout",
    type=Time(),
    metavar="TIME",
    help="Longest that one request may take; by default the agent's own limits.",
)
@click.option(
    "--drain", type=Time(zero=True), metavar="TIME", help="What is in flight gets at the end; 30s."
)
@click.option("--print-suite", is_flag=True, help="Print the same load as a suite; run nothing.")
@run_options
def load_command(target: str, **given: Any) -> int:
    """Put load on TARGET and print latency, throughput and how far they can be trusted.

    \b
    agentbench load openai:http://127.0.0.1:8000/v1#MODEL
    agentbench load openai:URL#MODEL --rate 20 --arrivals poisson --duration 1m --slo ttft_ms=200
    agentbench load openai:URL#MODEL --concurrency 1,4,16,64 --input-tokens 512 --output-tokens 128
    agentbench load python:my_agent:answer --prompt 'What is the capital of Japan?'
    """
    from agentbench_tui.cli.load.limits import raise_open_files
    from agentbench_tui.load.sending.worker_process import end_ahead, start_ahead

    # A run that is watched, or left alone, has a process of its own.
    here = view_of(given) == "none" and not given["detach"]
    if here and not given["print_suite"] and not given["dry_run"]:
        raise_open_files()  # which it inherits
        start_ahead()
    try:
        return _load(target, given)
    finally:
        end_ahead()


def _load(target: str, given: dict[str, Any]) -> int:
    from agentbench_tui.cli.run import running

    with stdout_kept():
        suite, plan = _plan(target, given)
    if given["print_suite"]:
        from agentbench_tui.cli.suite_parts import as_yaml

        click.echo(as_yaml(suite), nl=False)
        return 0
    if given["dry_run"]:
        from agentbench_tui.cli.load.limits import warn_of_plan
        from agentbench_tui.cli.load.result import print_load_plan

        print_load_plan(plan, given["form"])
        warn_of_plan(plan, given["database"])
        return 0
    from agentbench_tui.cli.load.result import print_load_run

    _do_without_blas_threads(plan)
    how = dataclasses.replace(how_of(given), show=print_load_run)
    return running.run_plan(plan, given["database"], given["persist"], how)


def _do_without_blas_threads(plan: Plan) -> None:
    """Keep numpy from starting threads that wait by spinning, a tenth of a second of a core each.

    Ours multiplies no matrices. An agent's own code might: where it runs, nothing is changed.
    """
    from agentbench_tui.agents.schemes import OF_MODELS
    from agentbench_tui.agents.target import parse_target

    if all(parse_target(one.agent.target).scheme in OF_MODELS for _, one in plan.executions()):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _plan(target: str, given: dict[str, Any]) -> tuple[dict[str, Any], Plan]:
    """What is asked, as a suite and as a plan."""
    from agentbench_tui.cli.load.suite import suite_of_options

    check_gates(given)
    folder = Path.cwd()
    suite = suite_of_options(target, given, folder)
    return suite, plan_of(suite, given, folder)
