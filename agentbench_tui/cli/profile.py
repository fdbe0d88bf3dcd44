"""`agentbench profile`: use of time, tokens and the machine, and possible savings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import (
    benchmark_options,
    database_option,
    database_path,
    format_option,
    print_prose,
    print_rows,
)
from agentbench_tui.model.errors import UsageError, write_error
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import amount, duration, percent
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    import sqlite3

Document = dict[str, Any]
SCHEMA = "agentbench.profiles/1"


_PHASES = (
    Column("name", "phase", names_row=True),
    Column("source", "told by"),
    Column("share", "share", percent, True),
    Column("n", "n", right=True),
    Column("mean_ms", "mean", duration, right=True),
    Column("p50_ms", "p50", duration, right=True),
    Column("p95_ms", "p95", duration, right=True),
    Column("usage", "uses"),
    Column("reason", "", lambda value: value or ""),
)
_FUNCTIONS = (
    Column("location", "function", names_row=True),
    Column("share", "share", percent, right=True),
    Column("own_ms", "own", duration, right=True),
    Column("cumulative_ms", "with what it calls", duration, right=True),
    Column("calls", "calls", right=True),
)
_FIGURES = (
    Column("name", "of", names_row=True),
    Column("value", "", amount, right=True),
    Column("n", "n", right=True),
    Column("reason", "", lambda value: value or ""),
)


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
        from agentbench_tui.report.flame import flame_of_cprofile

        root = flame_of_cprofile(Path(target))
        _write_flame(root, Path(target).stem, flame or "-")
        return 0
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.profile.profile_findings import read_findings

    path = database_path(database)
    with reading(path) as connection:
        executions = _executions(connection, target, suite, benchmark)
        documents = [
            _with_functions(
                {"run_id": one["run_id"], **read_findings(connection, one)},
                _file_of_cprofile(connection, one, path),
            )
            for one in executions
        ]
    if flame is not None:
        _write_flame(_flame_of(documents), _title(documents[0]), flame)
        return 0
    if form == "table":
        for document in documents:
            _print(document)
        return 0
    rows = [
        {"benchmark_id": document["benchmark_id"], **_phase_row(phase)}
        for document in documents
        for phase in document["phases"]
    ]
    columns = [Column("benchmark_id", "benchmark"), *_PHASES]
    print_rows(rows, columns, form, {"schema": SCHEMA, "profiles": documents})
    return 0


def _executions(
    connection: sqlite3.Connection, target: str, suite: str | None, benchmark: str | None
) -> list[Document]:
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
    connection: sqlite3.Connection, execution: Document, database: Path
) -> str | None:
    """Return the file of the cProfile pass in an experiment's first repeat, if it still exists."""
    from agentbench_tui.store.queries.suites import output_dir_of_suite

    output_dir = output_dir_of_suite(connection, execution["suite_hash"])
    root = database.parent / "experiments" if output_dir is None else Path(output_dir)
    folder = f"{execution['ordinal']:03}-{execution['agent_id']}-0"
    path = root.absolute() / execution["run_id"] / folder / "cprofile.prof"
    return str(path) if path.exists() else None


def _with_functions(document: Document, cprofile: str | None) -> Document:
    """Return the document with the cProfile data of an experiment, if there are any."""
    from agentbench_tui.verdicts.profile.profile_functions import (
        bottlenecks_of,
        opportunities_of,
        read_functions,
    )

    functions = [] if cprofile is None else read_functions(Path(cprofile))
    found = bottlenecks_of(functions)
    told = document["bottlenecks"]
    if found:  # the whole call is no place that anybody could mend
        told = [one for one in told if one["location"] != "answer, whole" or one["kind"] == "tail"]
    return {
        **document,
        "cprofile": cprofile,
        "functions": functions,
        "bottlenecks": [*told, *found],
        "optimization_opportunities": [
            *document["optimization_opportunities"],
            *opportunities_of(functions),
        ],
    }


def _flame_of(documents: list[Document]) -> Document:
    """Return the flame graph of the only execution.

    Raises UsageError if there are several, or none.
    """
    if len(documents) > 1:
        some = ", ".join(dict.fromkeys(one["benchmark_id"] for one in documents))
        raise UsageError(f"--flame takes one benchmark: add --benchmark ({some})")
    (document,) = documents
    if document["flame"] is not None:
        found: Document = document["flame"]
        return found
    if document["cprofile"] is None:
        raise UsageError(
            f"{_title(document)} has no flame graph: the agent reported no spans, and no "
            "cProfile data was recorded (an experiment records it with `instruments: "
            "[cprofile]`)"
        )
    from agentbench_tui.report.flame import flame_of_cprofile

    return flame_of_cprofile(Path(document["cprofile"]))


def _write_flame(root: Document, title: str, where: str) -> None:
    from agentbench_tui.report.flame import speedscope_flame, svg_flame, text_flame

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


def _title(document: Document) -> str:
    simulated = " (simulated)" if document["simulated"] else ""
    agent = f"{document['agent_id']}@{document['agent_version']}{simulated}"
    return one_line(f"{document['benchmark_id']} by {agent}")


def _print(document: Document) -> None:
    total = duration(document["total_ms"])
    thing = "request" if document["is_load"] else "answer"
    title = f"{_title(document)}: {total} in {counted(document['looked_at'], thing)}"
    print_rows([_phase_row(one) for one in document["phases"]], _PHASES, "table", title=title)
    click.echo()
    if document["functions"]:
        title = "the call under cProfile, slower than those that were timed: own time of functions"
        print_rows(document["functions"], _FUNCTIONS, "table", title=title)
        click.echo()
    print_rows(_figures(document), _FIGURES, "table", title="use and tokens")
    click.echo()
    for line in _sentences(document):
        print_prose(line)
    click.echo()


def _phase_row(phase: Document) -> Document:
    usage = phase["resource_usage"] or {}
    told = (f"{name} {value:.3g}" for name, value in usage.items() if value is not None)
    return {**phase, "name": one_line(phase["name"]), "usage": ", ".join(told)}


_OF_IMPACT = {
    "share": "an answer", "tail": "above the median", "function": "in the profiled call",
}  # fmt: skip
_OF_LOAD = {"cpu_percent": "processes: mean cpu %", "rss_mb": "processes: mean memory MB"}
"""Gauge → its name; those of single answers are shown with the phases."""


def _figures(document: Document) -> list[Document]:
    use, tokens = document["resource_utilization"], document["token_analysis"]
    reason = tokens["reason"]
    gauges: Document = next(
        (one for scope, one in document["resources"].items() if scope.startswith("agent:")), {}
    )
    return [
        *(
            {"name": words, "value": gauges[field]["mean"], "n": gauges[field]["n"], "reason": ""}
            for field, words in _OF_LOAD.items()
            if document["is_load"] and field in gauges
        ),
        *({"name": name.replace("_", " "), **one} for name, one in use.items() if one is not None),
        *(
            {
                "name": name.replace("_", " "),
                "value": tokens[name],
                "n": tokens["n"],
                "reason": None if tokens[name] is not None else reason or "not reported",
            }
            for name in ("input_tokens", "output_tokens", "cache_hits", "wasted_tokens",
                         "token_efficiency")
        ),
    ]  # fmt: skip


def _sentences(document: Document) -> list[str]:
    lines = [
        f"bottleneck {one_line(one['location'])}: {duration(one['impact_ms'])} "
        f"{_OF_IMPACT[one['kind']]}; "
        f"{one_line(one['cause'])}; "
        f"{one['optimization_suggestion']}"
        for one in document["bottlenecks"]
    ]
    lines += [
        f"to save {percent(one['estimated_impact'])} of the {one['of']} at most: "
        f"{one_line(one['potential_improvement'])} (effort: {one['implementation_effort']})"
        for one in document["optimization_opportunities"]
    ]
    return lines or ["no phase takes a tenth of the time, and nothing measured could be saved"]
