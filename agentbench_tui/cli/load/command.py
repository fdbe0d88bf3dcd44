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
    short_help="Load-test one target: latency and throughput at a given load.",
    epilog="Without a schedule option: a closed loop with 1 user for 10 seconds. Open-loop "
    "latency counts from the time a request was due, which avoids coordinated "
    "omission; see docs/load.md.",
)
@click.argument("target", metavar="[ID[@VERSION]=]TARGET")
@click.option(
    "--rate",
    type=Rates(),
    metavar="R[,R…]",
    help="Open loop: send R requests per second. Several rates run one after another.",
)
@click.option(
    "--arrivals",
    type=click.Choice(("constant", "poisson", "gamma", "max")),
    help="Distribution of the arrival times of an open loop. `max` is a closed loop at "
    "maximum throughput.",
    show_default="constant",
)
@click.option(
    "--burstiness",
    type=Number(0.01, 10_000),
    metavar="K",
    help="Shape parameter of --arrivals gamma: below 1 is burstier than Poisson, above 1 "
    "more regular.",
    show_default="1",
)
@click.option(
    "--ramp",
    type=Ramp(),
    metavar="A..B/TIME",
    help="Open loop: change the rate linearly from A to B requests per second over TIME.",
)
@click.option(
    "--steps",
    type=Steps(),
    metavar="RxTIME,…",
    help="Open loop: R requests per second for TIME, then the next step.",
)
@click.option(
    "--spike",
    type=Spike(),
    metavar="A..B@START/TIME",
    help="Open loop: A requests per second, with a spike to B at START that lasts TIME.",
)
@click.option(
    "--sine",
    type=Sine(),
    metavar="M±A/TIME",
    help="Open loop: requests per second follow a sine wave with mean M, amplitude A and "
    "period TIME.",
)
@click.option(
    "--trace",
    metavar="FILE",
    help="Open loop: replay the arrival times of a recorded trace. Its prompt and answer "
    "lengths are also used, unless another option sets what to send.",
)
@click.option(
    "--trace-speed",
    type=Number(0.001, 1000),
    metavar="X",
    help="Replay the trace X times as fast as it was recorded.",
    show_default="1",
)
@click.option(
    "--trace-unit",
    type=click.Choice(("s", "ms", "us", "ns")),
    help="Unit of numeric timestamps in the trace.",
    show_default="s; ms for a trace with hash_ids, as from Mooncake",
)
@click.option(
    "--concurrency",
    type=Users(),
    metavar="N[,N…]",
    help="Closed loop: N users, each of which sends its next request when the previous one "
    "ends. Several values run one after another.",
    show_default="1, without a schedule",
)
@click.option(
    "--think-time",
    type=Time(zero=True),
    metavar="TIME",
    help="Time that each user of a closed loop waits between requests.",
    show_default="0s",
)
@click.option(
    "--duration",
    type=Time(),
    metavar="TIME",
    help="Length of the measurement window, such as 30s. With --requests, the load stops at "
    "whichever comes first.",
    show_default="length of the schedule, else 10s",
)
@click.option(
    "--requests",
    type=click.IntRange(1, _MOST),
    help="Number of requests to send (with --turns above 1, number of conversations to start).",
)
@click.option(
    "--max-in-flight",
    type=click.IntRange(1, _MOST),
    metavar="N",
    help="Maximum number of in-flight requests; with --arrivals max, the number of users.",
    show_default="no limit; 256 with --arrivals max",
)
@click.option(
    "--input-tokens",
    type=Length(),
    metavar="N[±S]",
    help="Generate synthetic prompts of N tokens; ±S is the standard deviation.",
)
@click.option(
    "--prefix-share",
    type=Number(0, 1),
    metavar="SHARE",
    help="Share of each synthetic prompt that is identical in all of them, from 0 to 1.",
    show_default="0",
)
@click.option(
    "--output-tokens",
    type=Length(),
    metavar="N[±S]",
    help="Number of output tokens to request as max_tokens; ±S is the standard deviation.",
    show_default="left to the server",
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
    "--turns",
    type=click.IntRange(1, 1000),
    help="Number of prompts in each conversation; each request includes the earlier turns.",
    show_default="1",
)
@click.option(
    "--cancel-after",
    type=click.IntRange(1, _MOST),
    metavar="N",
    help="Cancel each request after it has received N tokens.",
)
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Request streamed or complete answers.",
    show_default="the agent's setting",
)
@click.option(
    "--slo",
    type=Slo(),
    multiple=True,
    metavar="NAME=MS",
    help="Service-level objective: latency limit in ms that a good request meets, such as "
    "ttft_ms=200. Goodput counts the requests that meet every limit. May be given once "
    "per metric.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    help="Number of processes that send requests.",
    show_default="as many as needed, at most one per core",
)
@click.option(
    "--realtime/--no-realtime",
    default=None,
    help="Run the sending processes with real-time priority, ahead of all other processes "
    "on this machine.",
    show_default="on for an open loop where permitted",
)
@click.option(
    "--warmup",
    type=click.IntRange(0, 100_000),
    help="Number of unmeasured requests that each worker sends before the window.",
    show_default="3",
)
@click.option(
    "--timeout",
    type=Time(),
    metavar="TIME",
    help="Maximum duration of one request.",
    show_default="the agent's own limits",
)
@click.option(
    "--drain",
    type=Time(zero=True),
    metavar="TIME",
    help="Grace period for in-flight requests at the end of the window.",
    show_default="30s",
)
@click.option(
    "--print-suite",
    is_flag=True,
    help="Print the equivalent suite file and exit without running it.",
)
@run_options
def load_command(target: str, **given: Any) -> int:
    """Load-test TARGET; print latency, throughput and how reliable the measurement is.

    \b
    agentbench load openai:http://127.0.0.1:8000/v1#MODEL
    agentbench load openai:URL#MODEL --rate 20 --arrivals poisson --duration 1m --slo ttft_ms=200
    agentbench load openai:URL#MODEL --concurrency 1,4,16,64 --input-tokens 512 --output-tokens 128
    agentbench load python:my_agent:answer --prompt 'What is the capital of Japan?'
    """
    from agentbench_tui.load.limits import raise_open_files
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
    """Keep numpy from starting threads that spin while waiting, a tenth of a second of CPU each.

    Agentbench multiplies no matrices. An agent's own code might: if it runs in this process,
    nothing is changed.
    """
    from agentbench_tui.agents.schemes import OF_MODELS
    from agentbench_tui.agents.target import parse_target

    if all(parse_target(one.agent.target).scheme in OF_MODELS for _, one in plan.executions()):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _plan(target: str, given: dict[str, Any]) -> tuple[dict[str, Any], Plan]:
    """Return the suite and the plan of the request."""
    from agentbench_tui.cli.load.suite import suite_of_options

    check_gates(given)
    folder = Path.cwd()
    suite = suite_of_options(target, given, folder)
    return suite, plan_of(suite, given, folder)
