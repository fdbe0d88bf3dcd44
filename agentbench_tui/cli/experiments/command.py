"""`agentbench experiments`: lists and runs measurements of code."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import format_option, print_prose, print_rows, stdout_kept
from agentbench_tui.cli.experiments.effects import effects
from agentbench_tui.cli.run.options import check_gates, how_of, plan_of, run_options
from agentbench_tui.model.bounds import MOST_ROUNDS
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan

_LIST = (
    Column("slug", "experiment", names_row=True),
    Column("summary", "measures"),
    Column("tags", "tags", ", ".join),
    Column("source", "from"),
)
_PARAMETERS = (
    Column("name", "parameter", names_row=True),
    Column("type", "type"),
    Column("default", "default", lambda value: "" if value is None else str(value)),
    Column("required", "required", lambda value: "yes" if value else ""),
    Column("description", "what it is"),
)


@click.group(short_help="List experiments and measure code.")
def experiments() -> None:
    """List experiments (benchmarks that compare variants of code) and measure them."""


@experiments.command("list")
@format_option()
def list_(form: str) -> int:
    """List every available experiment.

    \b
    agentbench experiments list
    agentbench experiments list --format json
    """
    print_list(form)
    return 0


def print_list(form: str) -> None:
    """Print the list, also for `run --list`."""
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.experiments import ExperimentsDocument, ListedExperiment
    from agentbench_tui.experiments.registry import list_experiments

    rows = [dataclasses.asdict(one) for one in list_experiments()]
    found = ExperimentsDocument(experiments=tuple(ListedExperiment(**row) for row in rows))
    print_rows(rows, _LIST, form, plain(found))
    if form == "table" and not rows:
        click.echo("no experiment is available", err=True)


@experiments.command("show")
@click.argument("slug")
@format_option()
def show(slug: str, form: str) -> int:
    """Show the parameters and variants of an experiment: a listed name, or python:module:Class.

    \b
    agentbench experiments show memory_db
    agentbench experiments show python:my_experiments.py:Parsing --format json
    """
    import inspect

    from agentbench_tui.contracts.document import plain
    from agentbench_tui.contracts.experiments import ExperimentDocument, ExperimentParameter
    from agentbench_tui.experiments.parameters import describe
    from agentbench_tui.experiments.registry import find_experiment

    cls = find_experiment(slug, Path.cwd())
    rows = describe(cls)
    text = inspect.cleandoc(cls.__doc__ or "")
    document = plain(
        ExperimentDocument(
            slug=slug,
            description=text,
            tags=tuple(cls.tags),
            parameters=tuple(ExperimentParameter(**row) for row in rows),
            variants={name: dict(values) for name, values in cls.variants.items()},
        )
    )
    if form == "table" and text:
        print_prose(text)
        click.echo()
    if rows or form != "table":
        print_rows(rows, _PARAMETERS, form, document)
    if form == "table":
        for name, values in cls.variants.items():
            changed = ", ".join(f"{key}={value}" for key, value in values.items())
            print_prose(f"variant {name}: {changed or 'default parameters'}")
    return 0


experiments.add_command(effects)


@experiments.command("run")
@click.argument("slug")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a parameter for all variants. May be given several times.",
)
@click.option(
    "--variants",
    multiple=True,
    metavar="KEY=A,B…",
    help="Measure one variant for each value, interleaved. Given several times, measure "
    "every combination of values.",
)
@click.option(
    "--sweep",
    "sweeps",
    multiple=True,
    metavar="KEY=A,B…",
    help="Measure each value as one point of a sweep, one after another. May be given "
    "several times.",
)
@click.option(
    "--iterations", type=click.IntRange(1, MOST_ROUNDS), default=10, show_default=True,
    help="Number of measured iterations in each repeat.",
)  # fmt: skip
@click.option(
    "--warmup", type=click.IntRange(0, MOST_ROUNDS), default=2, show_default=True,
    help="Number of unmeasured warm-up iterations at the start of each repeat.",
)  # fmt: skip
@click.option(
    "--fresh-process", is_flag=True, help="Run each repeat of each variant in a new process."
)
@click.option(
    "--instrument", "instruments", multiple=True, metavar="NAME",
    help="Attach an instrument: a built-in such as cprofile or tracemalloc, "
"python:FILE:NAME, or one from a plug-in. May be given several times.",
)  # fmt: skip
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="TARGET",
    help="Agent for experiments that call one. May be given several times.",
)
@click.option(
    "--all-pairs",
    is_flag=True,
    help="Compare every pair of variants. Without it, compare each variant with the first.",
)
@click.option(
    "--parallel", type=click.IntRange(1, 256), default=1, show_default=True, metavar="N",
    help="Number of sweep points to measure at once, each in its own process. Above 1, "
"times give no verdict.",
)  # fmt: skip
@click.option(
    "--output",
    metavar="DIR",
    help="Write the results as JSON, and the artifacts, to DIR, in one subfolder per run.",
)
@click.option(
    "--reporter", "reporters", multiple=True, metavar="NAME",
    help="Reporter that writes results into --output: python:FILE:NAME, or one from a "
"plug-in. May be given several times.",
)  # fmt: skip
@click.option(
    "--print-suite",
    is_flag=True,
    help="Print the equivalent suite file and exit without running it.",
)
@run_options
def run(slug: str, **given: Any) -> int:
    """Measure an experiment: a name from `experiments list`, or python:module:Class.

    \b
    agentbench experiments run memory_db --runs 5
    agentbench experiments run pragma_profile --variants profile=balanced,performance
    agentbench experiments run python:my_experiments.py:Parsing --set size=1000 --fresh-process
    """
    from agentbench_tui.cli.experiments.result import experiments_shown
    from agentbench_tui.cli.run.running import run_plan
    from agentbench_tui.experiments.results import find_reporter

    for name in given["reporters"]:
        find_reporter(name, Path.cwd())
        if given["output"] is None:
            raise click.UsageError("--reporter needs --output, the folder that it writes into")
    with stdout_kept():
        suite, plan = _plan(slug, given)
    if given["print_suite"]:
        from agentbench_tui.cli.suite_parts import as_yaml

        click.echo(as_yaml(suite), nl=False)
        return 0
    if given["dry_run"]:
        from agentbench_tui.cli.run.plan import print_plan

        print_plan(plan, given["form"])
        return 0
    how = experiments_shown(plan, how_of(given), given["reporters"], all_pairs=given["all_pairs"])
    return run_plan(plan, given["database"], given["persist"], how)


def _plan(slug: str, given: dict[str, Any]) -> tuple[dict[str, Any], Plan]:
    from agentbench_tui.cli.experiments.suite import suite_of_options

    check_gates(given, names=False)
    folder = Path.cwd()
    suite = suite_of_options(slug, given, folder)
    check_gates(given)
    return suite, plan_of(suite, given, folder)
