"""`agentbench load`: puts load on targets and reports their speed, and how reliable the
result is.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource

from agentbench_tui.cli.console.output import stdout_kept
from agentbench_tui.cli.console.suite_options import suite_options
from agentbench_tui.cli.run.options import (
    check_gates,
    how_of,
    plan_of,
    run_options,
)
from agentbench_tui.cli.run.session_options import view_of
from agentbench_tui.load.options import LOAD_OPTIONS

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan


@click.command(
    "load",
    short_help="Load-test targets: latency and throughput at a given load.",
    epilog="Without a schedule option: a closed loop with 1 user for 10 seconds. Open-loop "
    "latency counts from the time a request was due, which avoids coordinated "
    "omission; see docs/load.md.",
)
@click.argument("targets", nargs=-1, required=True, metavar="[ID[@VERSION]=]TARGET...")
@suite_options(LOAD_OPTIONS)
@run_options
def load_command(targets: tuple[str, ...], **given: Any) -> int:
    """Load-test TARGET; print latency, throughput and how reliable the measurement is.

    Several TARGETs get the same load, repeat by repeat in changing order, and are compared. Each
    then has five repeats unless --runs sets another number.

    \b
    agentbench load openai:http://127.0.0.1:8000/v1#MODEL
    agentbench load openai:URL#MODEL --rate 20 --arrivals poisson --duration 1m --slo ttft_ms=200
    agentbench load openai:URL#MODEL --concurrency 1,4,16,64 --input-tokens 512 --output-tokens 128
    agentbench load a=openai:URL#MODEL b=openai:URL#OTHER --rate 20
    agentbench load openai:URL#MODEL --slo ttft_ms.p95=200 --find-rate
    agentbench load python:my_agent:answer --prompt 'What is the capital of Japan?'
    """
    from agentbench_tui.load.limits import raise_open_files
    from agentbench_tui.load.sending.worker_process import end_ahead, start_ahead

    if given["find_rate"]:
        from agentbench_tui.cli.load.find_rate import check_options

        check_options(targets, given)
    _repeat_enough(targets, given)
    # A run that is watched, or left alone, has a process of its own.
    here = view_of(given) == "none" and not given["detach"]
    if here and not given["print_suite"] and not given["dry_run"]:
        raise_open_files()  # which it inherits
        start_ahead()
    try:
        return _load(targets, given)
    finally:
        end_ahead()


def _repeat_enough(targets: tuple[str, ...], given: dict[str, Any]) -> None:
    """Give several targets enough repeats to compare them, unless their number is chosen."""
    if len(targets) < 2:
        return
    from agentbench_tui.cli.load.comparison import FEWEST_RUNS, RUNS

    if click.get_current_context().get_parameter_source("runs") is ParameterSource.DEFAULT:
        given["runs"] = RUNS
    elif given["runs"] < FEWEST_RUNS:
        click.echo(
            f"note: --runs {given['runs']} compares nothing surely; {FEWEST_RUNS} is the least, "
            f"{RUNS} the default for several targets",
            err=True,
        )


def _load(targets: tuple[str, ...], given: dict[str, Any]) -> int:
    from agentbench_tui.cli.run import running

    if given["find_rate"] and not given["print_suite"] and not given["dry_run"]:
        from agentbench_tui.cli.load.find_rate import find_rate

        check_gates(given)
        return find_rate(targets[0], given)
    with stdout_kept():
        suite, plan = _plan(targets, given)
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
    how = msgspec.structs.replace(how_of(given), show=print_load_run)
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


def _plan(targets: tuple[str, ...], given: dict[str, Any]) -> tuple[dict[str, Any], Plan]:
    """Return the suite and the plan of the request."""
    from agentbench_tui.cli.load.suite import suite_of_options

    check_gates(given)
    folder = Path.cwd()
    suite = suite_of_options(targets, given, folder)
    return suite, plan_of(suite, given, folder)
