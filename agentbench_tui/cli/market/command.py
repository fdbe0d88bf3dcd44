"""`agentbench market`: generates worlds, lets agents play them, verifies them, replays episodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agentbench_tui.cli.console.output import database_option, format_option, print_rows
from agentbench_tui.cli.market.options import play_options, world_options
from agentbench_tui.cli.market.serve import serve
from agentbench_tui.cli.run.options import run_options
from agentbench_tui.model.errors import UsageError, write_error
from agentbench_tui.presentation.report import Column

WORLD_SCHEMA = "agentbench.market-world/1"
_PUBLIC = (
    "note: this world is public: anyone who has agentbench can recompute it, with its outcomes,"
    " from what agents see; --private makes a world that cannot be recomputed"
)
_COLUMNS = (
    Column("id", "id", names_row=True),
    Column("seed", "seed", right=True),
    Column("ticks", "ticks", right=True),
    Column("bytes", "bytes", right=True),
    Column("sha256", "sha256"),
    Column("file", "file"),
)


@click.group(short_help="Generate market worlds, let agents play them, watch episodes.")
def market() -> None:
    """Play a deterministic world of prediction markets, perpetual futures, a feed and chats."""


@market.command(short_help="Generate a world and its ground truth.")
@world_options
@click.option(
    "--seed", type=int, default=12345, show_default=True, help="Seed of the world, 0 or greater."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write the world to.",
    show_default="benchmarks/benchmark-ID.json",
)
@click.option(
    "--private",
    is_flag=True,
    help="Add a secret salt, stored with the ground truth, so that nobody can recompute the "
    "world from its seed.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that has other content.")
@format_option()
def generate(output: Path | None, *, private: bool, force: bool, form: str, **given: Any) -> int:
    """Generate a world; write it to FILE and its ground truth to FILE.truth.json.

    \b
    agentbench market generate --seed 7 --output world.json
    agentbench market generate --duration 30 --interval 1 --conditions crash
    agentbench market generate --private --output world.json
    """
    import secrets

    from agentbench_tui.market.world.generator import generate as make
    from agentbench_tui.market.world.stage import config_of
    from agentbench_tui.market.world.world_file import (
        encode_truth,
        encode_world,
        save_world,
        sha256,
        truth_path,
    )

    world, truth = make(config_of(**given), salt=secrets.token_hex(16) if private else "")
    path = output or Path("benchmarks") / f"benchmark-{world.id}.json"
    content = encode_world(world)
    if not force:
        _check_free(path, content)
        _check_free(truth_path(path), encode_truth(truth))
    save_world(world, truth, path)
    row = {
        "id": world.id,
        "seed": world.config.seed,
        "private": private,
        "ticks": world.ticks,
        "bytes": len(content),
        "sha256": sha256(content),
        "file": str(path),
        "truth": str(truth_path(path)),
    }
    print_rows([row], _COLUMNS, form, {"schema": WORLD_SCHEMA, **row})
    if not private:
        click.echo(_PUBLIC, err=True)
    return 0


def _check_free(path: Path, content: bytes) -> None:
    """Raise UsageError if writing `content` would overwrite something else."""
    try:
        is_free = not path.exists() or path.read_bytes() == content
    except OSError as error:
        raise write_error(path, error) from None
    if not is_free:
        raise UsageError(f"{path} exists with other content; overwrite it with --force")


@market.command("run", short_help="Let agents play worlds and compare their results.")
@play_options
@click.option(
    "--agent",
    "agents_to_run",
    multiple=True,
    metavar="[ID[@VERSION]=]TARGET",
    help="Agent that plays. May be given several times.",
)
@click.option("--baselines", is_flag=True, help="Let the eight baseline agents play as well.")
@world_options
@run_options
def run_command(output: Path | None, **given: Any) -> int:
    """Let agents play market worlds and compare their results.

    Without a FILE, worlds are generated from --seed and the options of `market generate`.

    \b
    agentbench market run --benchmark world.json --agent market:hold --baselines --runs 5
    agentbench market run --worlds 20 --agent openai:URL#MODEL --baselines --output results
    agentbench market run world.json --agent python:my_agent.py:turn --response-timeout 2
    """
    from agentbench_tui.cli.market.plan import carry_out

    return carry_out(given, output)


market.add_command(serve)


@market.command(short_help="Verify that a world file is valid.")
@click.argument("file", type=click.Path(path_type=Path))
@format_option()
def verify(file: Path, form: str) -> int:
    """Verify a world FILE: hashes, invariants of every tick, nothing known too early."""
    from agentbench_tui.cli.market.result import print_verification

    return print_verification(file, form)


@market.command(short_help="Replay a recorded episode.")
@click.argument("run", default="latest")
@click.option(
    "--episode",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Index of the episode in the run, from 0.",
)
@click.option(
    "--ui",
    type=click.Choice(("none", "full")),
    default="none",
    show_default=True,
    help="`full` opens the Market page of the interactive session; `none` prints the episode.",
)
@database_option
def watch(run: str, episode: int, ui: str, database: str | None) -> int:
    """Replay an episode of RUN: prices, calls and equity, tick by tick."""
    from agentbench_tui.cli.market.watch import watch_episode

    return watch_episode(run, episode, database, full=ui == "full")
