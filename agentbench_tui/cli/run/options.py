"""Common options of `agentbench run` and `agentbench load`, with their interpretation."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentbench_tui.cli.console.numbers import ABOVE_ZERO, Number
from agentbench_tui.cli.console.output import FORMATS, database_option
from agentbench_tui.cli.console.token_prices import TokenPrice, check_models
from agentbench_tui.cli.run.session_options import say_why_not, take_look, view_of, view_options
from agentbench_tui.model.bounds import LARGEST_INTEGER, LARGEST_SEED, MOST_REPEATS

if TYPE_CHECKING:
    from agentbench_tui.cli.run.running import How
    from agentbench_tui.engine.run.plan import Plan

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--runs",
        type=click.IntRange(1, MOST_REPEATS),
        default=1,
        show_default=True,
        help="Number of repeats, each with new sessions and connections.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(-LARGEST_SEED, LARGEST_SEED),
        help="Seed of all random choices, such as the order of cases and arrival times.",
        show_default="set by the suite, else 42",
    ),
    click.option(
        "--price",
        "token_prices",
        type=TokenPrice(),
        multiple=True,
        metavar="[MODEL=]IN/OUT[/CACHED]",
        help="Price in USD per million input and output tokens, such as 0.5/1.5, for every model "
        "or for MODEL; CACHED is the price of input read from a cache. May be given once per "
        "model.",
        show_default="known prices of the model",
    ),
    click.option(
        "--prices",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="File of token prices by model.",
    ),
    click.option(
        "--hourly-price",
        type=Number(),
        metavar="USD",
        help="Price in USD of one hour of the machine that serves the agents.",
    ),
    click.option(
        "--max-cost",
        type=ABOVE_ZERO,
        metavar="USD",
        help="Stop the run when it has cost this many US dollars.",
        show_default="no limit",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(1, LARGEST_INTEGER),
        help="Stop the run when it has used this many tokens.",
        show_default="no limit",
    ),
    click.option(
        "--fail-on",
        "gates",
        multiple=True,
        metavar="GATE",
        help="Exit with 1 if this gate fails, such as 'accuracy>=0.8', 'e2e_ms.p95<=1200', "
        "verdict==clean, no-regression, or 'no-regression(accuracy)' for chosen metrics. "
        "May be given several times.",
    ),
    click.option(
        "--tag", "tags", multiple=True, help="Tag to find the run by. May be given several times."
    ),
    click.option("--notes", default="", help="Note to store with the run."),
    database_option,
    click.option(
        "--persist",
        metavar="FILE",
        help="Write the in-memory database of --db :memory: to this file when the run ends.",
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="Output format.",
    ),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Validate the options, print the plan and exit without running it.",
    ),
    click.option(
        "--detach", is_flag=True, help="Start the run in the background, print its id and exit."
    ),
    click.option("--quiet", "-q", is_flag=True, help="Show no progress."),
)


def run_options(command: Command) -> Command:
    """Add the options: repeats, prices, gates, output and display."""
    command = view_options(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def how_of(given: dict[str, Any]) -> How:
    """Return how the run is shown."""
    from agentbench_tui.cli.run.running import How

    say_why_not(given)
    return How(
        form=given["form"],
        view=view_of(given),
        look=take_look(given),
        quiet=given["quiet"],
        detach=given["detach"],
    )


def check_gates(given: dict[str, Any], *, names: bool = True) -> None:
    """Raise UsageError for a meaningless gate; without `names` only for an invalid form, before the
    results of experiments are known.
    """
    from agentbench_tui.model.gate import check_form, parse_gate

    check_models(given["token_prices"])
    for gate in given["gates"]:
        if names:
            parse_gate(gate)
        else:
            check_form(gate)


def plan_of(suite: dict[str, Any], given: dict[str, Any], folder: Path) -> Plan:
    """Return the plan of a suite built from options. Raises the errors of a suite file."""
    from agentbench_tui.engine.run.planning import RunOptions, make_plan
    from agentbench_tui.engine.suite.loading import suite_of_data

    options = RunOptions(
        repeats=given["runs"],
        tags=given["tags"],
        notes=given["notes"],
        command=command_line(),
        folder=folder,
    )
    return make_plan([suite_of_data(suite, folder)], options)


def command_line() -> str:
    """Return the command line with keys masked, as it is stored with the run."""
    from agentbench_tui.model.text.secrets import redact

    return redact("agentbench " + shlex.join(sys.argv[1:]))
