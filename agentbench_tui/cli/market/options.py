"""Options of commands that generate market worlds, and of those that play them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from agentbench_tui.cli.console.numbers import ABOVE_ZERO
from agentbench_tui.market.world.conditions import CONDITIONS

Command = TypeVar("Command", bound=Callable[..., Any])
WORLD_NAMES = ("duration", "interval", "markets", "perpetuals", "agents", "conditions")
"""Parameters of a world, except its seed."""
_WORLD = (
    click.option(
        "--duration",
        type=ABOVE_ZERO,
        metavar="MINUTES",
        default=30.0,
        show_default=True,
        help="Length of the world in minutes of world time.",
    ),
    click.option(
        "--interval",
        type=ABOVE_ZERO,
        metavar="SECONDS",
        default=60.0,
        show_default=True,
        help="Seconds of world time between two ticks; each agent has one turn per tick.",
    ),
    click.option(
        "--markets", type=int, default=5, show_default=True, help="Number of prediction markets."
    ),
    click.option(
        "--perpetuals", type=int, default=3, show_default=True, help="Number of perpetual futures."
    ),
    click.option(
        "--agents",
        type=int,
        default=8,
        show_default=True,
        help="Number of other traders in the world.",
    ),
    click.option(
        "--conditions",
        type=click.Choice([*CONDITIONS]),
        default="mixed",
        show_default=True,
        help="Market conditions of the perpetual futures and of the uninformed traders.",
    ),
)
_PLAY = (
    click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path)),
    click.option(
        "--benchmark",
        "benchmarks",
        multiple=True,
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="World file to play, written by `agentbench market generate`. May be given several "
        "times.",
    ),
    click.option(
        "--worlds",
        type=click.IntRange(1, 10_000),
        default=1,
        show_default=True,
        help="Number of worlds to play, with consecutive seeds that start at the seed of the "
        "first world.",
    ),
    click.option(
        "--save-trajectories", is_flag=True, help="Store every step of each episode, for training."
    ),
    click.option(
        "--response-timeout",
        type=ABOVE_ZERO,
        metavar="SECONDS",
        help="Time limit for each turn of an agent; a turn that takes longer is lost.",
        show_default="no limit",
    ),
    click.option(
        "--real-time",
        type=ABOVE_ZERO,
        metavar="X",
        help="Advance the world's clock in real time, X times as fast. Without it, the world "
        "waits for the agents.",
    ),
    click.option(
        "--output",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Write reports to this folder.",
    ),
)


def world_options(command: Command) -> Command:
    """Add the options that define a world."""
    for option in reversed(_WORLD):
        command = option(command)
    return command


def play_options(command: Command) -> Command:
    """Add the options for the worlds to play, their clock, and what is kept."""
    for option in reversed(_PLAY):
        command = option(command)
    return command
