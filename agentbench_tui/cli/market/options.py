"""Options of commands that make market worlds, and of those that play them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from agentbench_tui.cli.console.numbers import ABOVE_ZERO
from agentbench_tui.market.world.conditions import CONDITIONS

Command = TypeVar("Command", bound=Callable[..., Any])
WORLD_NAMES = ("duration", "interval", "markets", "perpetuals", "agents", "conditions")
"""Parameters that a world is made from, its seed aside."""
_WORLD = (
    click.option(
        "--duration",
        type=ABOVE_ZERO,
        metavar="MINUTES",
        default=30.0,
        show_default=True,
        help="Of the world's time.",
    ),
    click.option(
        "--interval",
        type=ABOVE_ZERO,
        metavar="SECONDS",
        default=60.0,
        show_default=True,
        help="Of the world's time between two ticks; an agent has a turn at each.",
    ),
    click.option("--markets", type=int, default=5, show_default=True, help="Prediction markets."),
    click.option("--perpetuals", type=int, default=3, show_default=True, help="Perpetuals."),
    click.option("--agents", type=int, default=8, show_default=True, help="Other agents."),
    click.option(
        "--conditions",
        type=click.Choice([*CONDITIONS]),
        default="mixed",
        show_default=True,
        help="Of the perpetuals and of those who know nothing.",
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
        help="World to play, as `market generate` wrote it; may be given several times.",
    ),
    click.option(
        "--worlds",
        type=click.IntRange(1, 10_000),
        default=1,
        show_default=True,
        help="So many worlds, of its seed and the following.",
    ),
    click.option("--save-trajectories", is_flag=True, help="Keep every step, for training."),
    click.option(
        "--response-timeout",
        type=ABOVE_ZERO,
        metavar="SECONDS",
        help="An agent that has not ended its turn by then loses it.",
    ),
    click.option(
        "--real-time",
        type=ABOVE_ZERO,
        metavar="X",
        help="The world's clock runs on, X times as fast as ours.",
    ),
    click.option(
        "--output", type=click.Path(path_type=Path), metavar="DIR", help="Write reports there."
    ),
)


def world_options(command: Command) -> Command:
    """Add what a world is made from."""
    for option in reversed(_WORLD):
        command = option(command)
    return command


def play_options(command: Command) -> Command:
    """Add which worlds are played, how time goes on, and what is kept."""
    for option in reversed(_PLAY):
        command = option(command)
    return command
