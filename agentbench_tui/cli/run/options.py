"""Options that `agentbench run` and `agentbench load` have in common, and what they mean."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentbench_tui.cli.console.numbers import ABOVE_ZERO, Number
from agentbench_tui.cli.console.output import FORMATS, database_option
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
        help="Repeats, each with fresh sessions and connections.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(-LARGEST_SEED, LARGEST_SEED),
        help="Same seed, same order and same arrivals; 42 unless the suite says otherwise.",
    ),
    click.option(
        "--prices",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Prices of tokens, by model.",
    ),
    click.option(
        "--hourly-price",
        type=Number(),
        metavar="USD",
        help="Price of an hour of the machine that serves the agents.",
    ),
    click.option("--max-cost", type=ABOVE_ZERO, metavar="USD", help="Stop there."),
    click.option("--max-tokens", type=click.IntRange(1, LARGEST_INTEGER), help="Stop there."),
    click.option(
        "--fail-on",
        "gates",
        multiple=True,
        metavar="GATE",
        help="Exit with 1 unless this holds, such as 'e2e_ms.p95<=1200', 'accuracy>=0.8',"
        " verdict==clean, or no-regression, of chosen metrics 'no-regression(accuracy)'.",
    ),
    click.option("--tag", "tags", multiple=True, help="Tag of the run, to find it by."),
    click.option("--notes", default="", help="A note kept with the run."),
    database_option,
    click.option("--persist", metavar="FILE", help="With --db :memory:, write it here at the end."),
    click.option(
        "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True
    ),
    click.option("--dry-run", is_flag=True, help="Validate and show the plan; run nothing."),
    click.option(
        "--detach", is_flag=True, help="Start the run, print its id and leave it running."
    ),
    click.option("--quiet", "-q", is_flag=True, help="No progress."),
)


def run_options(command: Command) -> Command:
    """Add the options: how often, at what price, what must hold, where to and how it is told."""
    command = view_options(command)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def how_of(given: dict[str, Any]) -> How:
    """How the run is to be shown."""
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
    """Raise UsageError for a gate that says nothing; without `names` only for one that is none,
    before it is known what experiments return."""
    from agentbench_tui.model.gate import check_form, parse_gate

    for gate in given["gates"]:
        if names:
            parse_gate(gate)
        else:
            check_form(gate)


def plan_of(suite: dict[str, Any], given: dict[str, Any], folder: Path) -> Plan:
    """The plan of a suite that options describe. Raises what a suite in a file would."""
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
    """What was typed, keys masked, as it is kept with the run."""
    from agentbench_tui.model.text.untrusted import redact

    return redact("agentbench " + shlex.join(sys.argv[1:]))
