"""`agentbench time`: measures which of several commands is faster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.run.options import check_gates, how_of, plan_of, run_options
from agentbench_tui.model.bounds import MOST_ROUNDS
from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentbench_tui.cli.run.running import How

_RUNS = 10


@click.command("time", context_settings={"default_map": {"runs": _RUNS}})
@click.argument("commands", nargs=-1, required=True, metavar="COMMAND...")
@click.option(
    "--name",
    "-n",
    "names",
    multiple=True,
    metavar="NAME",
    help="Name for a command, in the order of the commands. May be given several times.",
)
@click.option(
    "--warmup", "-w", type=click.IntRange(0, MOST_ROUNDS), default=0, show_default=True,
    help="Number of unmeasured runs of each command at the start.",
)  # fmt: skip
@click.option(
    "--prepare", "-p", metavar="COMMAND", default="",
    help="Command to run before each measurement, such as one that empties a cache.",
)  # fmt: skip
@click.option("--ignore-failure", "-i", is_flag=True, help="Accept exit codes other than 0.")
@click.option(
    "--all-pairs",
    is_flag=True,
    help="Compare every pair of commands. Without it, compare each command with the first.",
)
@click.option(
    "--export-json",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the times of every run to FILE, in the format of hyperfine.",
)
@click.option(
    "--print-suite",
    is_flag=True,
    help="Print the equivalent suite file and exit without running it.",
)
@run_options
def time_command(commands: tuple[str, ...], **given: Any) -> int:
    """Measure how long COMMANDs take, and whether one is faster.

    Each run of a command is a process of its own; the commands take turns. A shell is started only
    for what needs one, such as pipes and variables.

    \b
    agentbench time 'rg TODO' 'grep -r TODO .'
    agentbench time --warmup 3 --runs 20 --prepare 'rm -rf build' 'make -j2'
    """
    from agentbench_tui.cli.experiments.result import experiments_shown
    from agentbench_tui.cli.run.running import run_plan
    from agentbench_tui.cli.time.suite import suite_of_commands

    check_gates(given)
    suite = suite_of_commands(commands, given)
    plan = plan_of(suite, given, Path.cwd())
    if given["print_suite"]:
        from agentbench_tui.cli.suite_parts import as_yaml

        click.echo(as_yaml(suite), nl=False)
        return 0
    if given["dry_run"]:
        from agentbench_tui.cli.run.plan import print_plan

        print_plan(plan, given["form"])
        return 0
    how = experiments_shown(plan, how_of(given), all_pairs=given["all_pairs"])
    if given["export_json"] is not None:
        folder = given["export_json"].parent
        if not folder.is_dir():  # better now than after all measurements
            raise UsageError(f"--export-json {given['export_json']}: there is no folder {folder}")
        commands_by_name = suite["benchmarks"][0]["parameters"]["commands"]
        how = _exporting(how, commands_by_name, given["export_json"])
    return run_plan(plan, given["database"], given["persist"], how)


def _exporting(how: How, commands: Mapping[str, str], path: Path) -> How:
    """Return `how` with the times of every run written to a file first."""
    from msgspec.structs import replace

    from agentbench_tui.cli.time.export import write_times

    show: Callable[..., None] | None = how.show

    def shown(connection: Any, run: Any, form: str) -> None:
        write_times(connection, run["run_id"], commands, path)
        click.echo(f"written: {path}", err=True)
        if show is not None:
            show(connection, run, form)

    return replace(how, show=shown)
