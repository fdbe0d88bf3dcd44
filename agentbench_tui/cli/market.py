"""`agentbench market`: make worlds, let agents play them, check them, watch an episode again."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from agentbench_tui.cli.output import (
    Column,
    database_option,
    format_option,
    print_rows,
    stdout_kept,
)
from agentbench_tui.cli.run_options import check_gates, command_line, how_of, run_options
from agentbench_tui.model.bounds import MOST_ROWS

if TYPE_CHECKING:
    from agentbench_tui.engine.plan import Plan

WORLD_SCHEMA = "agentbench.market-world/1"
_CONDITIONS = ("calm", "bull", "bear", "volatile", "crash", "mixed")
_WORLD_OPTIONS = (
    click.option(
        "--duration",
        type=click.FloatRange(min=0, min_open=True),
        metavar="MINUTES",
        default=30.0,
        show_default=True,
        help="Of the world's time.",
    ),
    click.option(
        "--interval",
        type=click.FloatRange(min=0, min_open=True),
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
        type=click.Choice(_CONDITIONS),
        default="mixed",
        show_default=True,
        help="Of the perpetuals and of those who know nothing.",
    ),
)
_WORLD_NAMES = frozenset({"duration", "interval", "markets", "perpetuals", "agents", "conditions"})
_COLUMNS = (
    Column("id", "id", names_row=True),
    Column("seed", "seed", right=True),
    Column("ticks", "ticks", right=True),
    Column("bytes", "bytes", right=True),
    Column("sha256", "sha256"),
    Column("file", "file"),
)


def _world_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_WORLD_OPTIONS):
        command = option(command)
    return command


@click.group(short_help="Make market worlds, play them, watch episodes.")
def market() -> None:
    """A deterministic world of prediction markets, perpetuals, a feed and chats for agents."""


@market.command(short_help="Make a world, and its truth beside it.")
@_world_options
@click.option("--seed", type=int, default=12345, show_default=True, help="0 or more.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="By default benchmarks/benchmark-ID.json.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that holds something else.")
@format_option()
def generate(output: Path | None, *, force: bool, form: str, **given: Any) -> int:
    """Make a world and write it; its truth lies beside it, in FILE.truth.json.

    \b
    agentbench market generate --seed 7 --output world.json
    agentbench market generate --duration 30 --interval 1 --conditions crash
    """
    from agentbench_tui.market.generator import generate as make
    from agentbench_tui.market.stage import config_of
    from agentbench_tui.market.world_file import encode_world, save_world, sha256, truth_path

    world, truth = make(config_of(**given))
    path = output or Path("benchmarks") / f"benchmark-{world.id}.json"
    content = encode_world(world)
    if path.exists() and not force and path.read_bytes() != content:
        raise click.UsageError(f"{path} holds something else; --force overwrites it")
    save_world(world, truth, path)
    row = {
        "id": world.id,
        "seed": world.config.seed,
        "ticks": world.ticks,
        "bytes": len(content),
        "sha256": sha256(content),
        "file": str(path),
        "truth": str(truth_path(path)),
    }
    print_rows([row], _COLUMNS, form, {"schema": WORLD_SCHEMA, **row})
    return 0


@market.command("run", short_help="Let agents play worlds, and compare how they did.")
@click.argument("files", nargs=-1, metavar="[FILE]...", type=click.Path(path_type=Path))
@click.option(
    "--benchmark",
    "benchmarks",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="World to play, as `market generate` wrote it; may be given several times.",
)
@click.option(
    "--agent", "agents_to_run", multiple=True, metavar="[ID[@VERSION]=]TARGET", help="Who plays."
)
@click.option("--baselines", is_flag=True, help="Let the eight baselines play too.")
@click.option(
    "--worlds",
    type=click.IntRange(1, MOST_ROWS),
    default=1,
    show_default=True,
    help="So many worlds, of its seed and the following.",
)
@click.option("--save-trajectories", is_flag=True, help="Keep every step, for training.")
@click.option(
    "--response-timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="An agent that has not ended its turn by then loses it.",
)
@click.option(
    "--real-time",
    type=click.FloatRange(min=0, min_open=True),
    metavar="X",
    help="The world's clock runs on, X times as fast as ours.",
)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="DIR", help="Write reports there."
)
@_world_options
@run_options
def run_command(output: Path | None, **given: Any) -> int:
    """Let agents play market worlds, and compare how they did.

    Without a FILE the worlds are made of --seed and the options of `market generate`.

    \b
    agentbench market run --benchmark world.json --agent market:hold --baselines --runs 5
    agentbench market run --worlds 20 --agent openai:URL#MODEL --baselines --output results
    agentbench market run world.json --agent python:my_agent.py:turn --response-timeout 2
    """
    from agentbench_tui.cli import running
    from agentbench_tui.cli.market_result import shown

    with stdout_kept():
        plan = _plan(given)
    if given["dry_run"]:
        from agentbench_tui.cli.run_plan import print_plan

        print_plan(plan, given["form"])
        return 0
    how = dataclasses.replace(how_of(given), show=shown(output))
    return running.run_plan(plan, given["database"], given["persist"], how)


def _plan(given: dict[str, Any]) -> Plan:
    from agentbench_tui.cli.market_suite import suite_of_options
    from agentbench_tui.engine.loading import suite_of_data
    from agentbench_tui.engine.planning import RunOptions, make_plan

    check_gates(given)
    _refuse_idle_options([*given["files"], *given["benchmarks"]])
    folder = Path.cwd()
    suite = suite_of_options(given, folder)
    options = RunOptions(
        repeats=given["runs"],
        tags=given["tags"],
        notes=given["notes"],
        command=command_line(),
        folder=folder,
    )
    return make_plan([suite_of_data(suite, folder)], options)


def _refuse_idle_options(files: list[Path]) -> None:
    """Options that make worlds say nothing of one that is written already."""
    context = click.get_current_context()
    for option in context.command.params if files else ():
        is_given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if is_given and option.name in _WORLD_NAMES:
            raise click.UsageError(f"--{option.name} makes worlds, and {files[0]} is one already")


@market.command(short_help="Is a world sound?")
@click.argument("file", type=click.Path(path_type=Path))
@format_option()
def verify(file: Path, form: str) -> int:
    """Is FILE a sound world: hashes, what must hold at every tick, nothing known too early?"""
    from agentbench_tui.cli.market_result import print_verification

    return print_verification(file, form)


@market.command(short_help="Look again at an episode.")
@click.argument("run", default="latest")
@click.option("--episode", type=click.IntRange(0), default=0, show_default=True, help="Which one.")
@click.option(
    "--ui",
    type=click.Choice(("none", "full")),
    default="none",
    show_default=True,
    help="`full` opens the page Market of the session.",
)
@database_option
def watch(run: str, episode: int, ui: str, database: str | None) -> int:
    """Look again at an episode of RUN: prices, calls and equity, tick by tick."""
    from agentbench_tui.cli.market_watch import watch_episode

    return watch_episode(run, episode, database, full=ui == "full")
