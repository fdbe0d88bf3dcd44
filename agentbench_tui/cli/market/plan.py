"""Plan and execution of `market run` and `market serve`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from click.core import ParameterSource

from agentbench_tui.cli.console.output import stdout_kept
from agentbench_tui.cli.market.options import WORLD_NAMES
from agentbench_tui.cli.run.options import check_gates, how_of, plan_of
from agentbench_tui.cli.run.report import make_folder
from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan


def carry_out(given: dict[str, Any], output: Path | None) -> int:
    """Let the agents play, print the result, and write reports to `output`; return the exit
    code.
    """
    from agentbench_tui.cli.market.result import shown
    from agentbench_tui.cli.run import running

    with stdout_kept():
        plan = _plan(given)
    if given["dry_run"]:
        from agentbench_tui.cli.run.plan import print_plan

        print_plan(plan, given["form"])
        return 0
    if output is not None:
        _make_folder(output)
    how = msgspec.structs.replace(how_of(given), show=shown(output))
    return running.run_plan(plan, given["database"], given["persist"], how)


def _plan(given: dict[str, Any]) -> Plan:
    from agentbench_tui.cli.market.suite import suite_of_options

    check_gates(given)
    _look_at_idle_options([*given["files"], *given["benchmarks"]], given["seed"])
    folder = Path.cwd()
    suite = suite_of_options(given, folder)
    return plan_of(suite, given, folder)


def _look_at_idle_options(files: list[Path], seed: int | None) -> None:
    """Raise UsageError for options of generated worlds if the worlds come from files."""
    context = click.get_current_context()
    for option in context.command.params if files else ():
        is_given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if is_given and option.name in WORLD_NAMES:
            raise click.UsageError(
                f"--{option.name} applies only to generated worlds, but {files[0]} is a world file"
            )
    if files and seed is not None:
        click.echo(
            f"note: --seed {seed} sets only what agents draw at random; {files[0]} keeps "
            "its own seed",
            err=True,
        )


def _make_folder(folder: Path) -> None:
    """Create the report folder before playing. Raises UsageError if it cannot be written, or holds
    the report of another run, whose pages would remain among the new ones.
    """
    make_folder(folder)
    if (folder / "comparison.json").exists():
        raise UsageError(
            f"{folder} already contains a report; name another folder or remove the report"
        )
