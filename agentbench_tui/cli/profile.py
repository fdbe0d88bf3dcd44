"""`agentbench profile`: use of time, tokens and the machine, and possible savings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentbench_tui.cli.console.output import (
    benchmark_options,
    database_option,
    database_path,
    format_option,
)
from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.model.errors import UsageError, write_error
from agentbench_tui.presentation.profile import profile_report, profile_title

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.contracts.profile import FlameFrame, ProfileDocument
    from agentbench_tui.verdicts.evidence.place import Execution


@click.command(short_help="Show where time and tokens went, and possible savings.")
@click.argument("target", default="latest", metavar="[RUN|SELECTOR|FILE.prof]")
@benchmark_options
@click.option(
    "--flame",
    metavar="FILE",
    help="Write a flame graph to FILE: .svg, .json (for speedscope) or .txt; `-` prints it.",
)
@database_option
@format_option()
def profile(
    target: str,
    suite: str | None,
    benchmark: str | None,
    flame: str | None,
    database: str | None,
    form: str,
) -> int:
    """Show phases, bottlenecks, machine use, tokens and possible savings.

    The profile is computed from stored spans and gauges of the harness and the agent; a missing
    value is shown as – with the reason. For a run with several agents, give RUN/AGENT. The flame
    graph shows the agent's spans, or cProfile data for an experiment or a FILE.prof.

    \b
    agentbench profile latest/bot --benchmark tool-calls
    agentbench profile bot@v2 --format json
    agentbench profile latest --benchmark store --flame store.svg
    """
    if target.endswith(".prof"):
        from agentbench_tui.reports.figures.flame import flame_of_cprofile

        root = flame_of_cprofile(Path(target))
        _write_flame(root, Path(target).stem, flame or "-")
        return 0
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.profile import ProfilesDocument
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.profile.profile_findings import read_findings
    from agentbench_tui.verdicts.profile.profile_functions import with_functions

    path = database_path(database)
    with reading(path) as connection:
        executions = _executions(connection, target, suite, benchmark)
        documents = []
        for one in executions:
            document = read_findings(connection, one)
            cprofile = _file_of_cprofile(connection, one, path)
            documents.append(document if cprofile is None else with_functions(document, cprofile))
    if flame is not None:
        _write_flame(_flame_of(documents), profile_title(documents[0]), flame)
        return 0
    print_report(
        profile_report(documents), form, plain(ProfilesDocument(profiles=tuple(documents)))
    )
    return 0


def _executions(
    connection: sqlite3.Connection, target: str, suite: str | None, benchmark: str | None
) -> list[Execution]:
    """Return the selected executions; a name that is not an agent's is a run's."""
    from agentbench_tui.store.queries.selection import agent_ids
    from agentbench_tui.verdicts.selection.selector import executions_of_selector, parse_selector

    name = target.partition("@")[0].partition("?")[0]
    is_run = ":" not in target and name not in agent_ids(connection)
    selector = parse_selector(f"run:{target}" if is_run else target)
    if selector.kind == "file":
        raise UsageError(f"'{target}': a file of samples has no phases; name a run or an agent")
    found = executions_of_selector(connection, selector, suite=suite, benchmark=benchmark)
    return list(found)


def _file_of_cprofile(
    connection: sqlite3.Connection, execution: Execution, database: Path
) -> Path | None:
    """Return the file of the cProfile pass in an experiment's first repeat, if it still exists."""
    from agentbench_tui.store.queries.suites import output_dir_of_suite

    output_dir = output_dir_of_suite(connection, execution["suite_hash"])
    root = database.parent / "experiments" if output_dir is None else Path(output_dir)
    folder = f"{execution['ordinal']:03}-{execution['agent_id']}-0"
    path = root.absolute() / execution["run_id"] / folder / "cprofile.prof"
    return path if path.exists() else None


def _flame_of(documents: list[ProfileDocument]) -> FlameFrame:
    """Return the flame graph of the only execution.

    Raises UsageError if there are several, or none.
    """
    if len(documents) > 1:
        some = ", ".join(dict.fromkeys(one.benchmark_id for one in documents))
        raise UsageError(f"--flame takes one benchmark: add --benchmark ({some})")
    (document,) = documents
    if document.flame is not None:
        return document.flame
    if document.cprofile is None:
        raise UsageError(
            f"{profile_title(document)} has no flame graph: the agent reported no spans, and no "
            "cProfile data was recorded (an experiment records it with `instruments: "
            "[cprofile]`)"
        )
    from agentbench_tui.reports.figures.flame import flame_of_cprofile

    return flame_of_cprofile(Path(document.cprofile))


def _write_flame(root: FlameFrame, title: str, where: str) -> None:
    from agentbench_tui.reports.figures.flame import speedscope_flame, svg_flame, text_flame

    if where == "-":
        for line in text_flame(root):
            click.echo(line)
        return
    path = Path(where)
    writers = {
        ".svg": lambda: svg_flame(root, title),
        ".json": lambda: speedscope_flame(root, title),
        ".txt": lambda: "\n".join(text_flame(root)) + "\n",
    }
    if path.suffix not in writers:
        raise UsageError(f"--flame {where}: expected FILE.svg, FILE.json, FILE.txt or -")
    try:
        path.write_text(writers[path.suffix](), encoding="utf-8")
    except OSError as error:
        raise write_error(path, error) from None
    click.echo(f"{path}: flame graph of {title}", err=True)
