"""`agentbench experiments`: what code can be measured here, and measuring it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import (
    Column,
    format_option,
    print_prose,
    print_rows,
    stdout_kept,
)
from agentbench_tui.cli.experiments.effects import effects
from agentbench_tui.cli.run.options import check_gates, how_of, plan_of, run_options
from agentbench_tui.model.bounds import MOST_ROUNDS

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


@click.group(short_help="List experiments, measure code.")
def experiments() -> None:
    """Experiments: benchmarks of code, variant against variant."""


@experiments.command("list")
@format_option()
def list_(form: str) -> int:
    """Every experiment that can be named here.

    \b
    agentbench experiments list
    agentbench experiments list --format json
    """
    print_list(form)
    return 0


def print_list(form: str) -> None:
    """The list; `run --list` prints it too."""
    from agentbench_tui.experiments.registry import list_experiments

    rows = [dataclasses.asdict(one) for one in list_experiments()]
    document = {"schema": "agentbench.experiments/1", "experiments": rows}
    print_rows(rows, _LIST, form, document)
    if form == "table" and not rows:
        click.echo("no experiment is registered here", err=True)


@experiments.command("show")
@click.argument("slug")
@format_option()
def show(slug: str, form: str) -> int:
    """Parameters and variants of an experiment: a name of the list, or python:module:Class.

    \b
    agentbench experiments show memory_db
    agentbench experiments show python:my_experiments.py:Parsing --format json
    """
    import inspect

    from agentbench_tui.experiments.parameters import describe
    from agentbench_tui.experiments.registry import find_experiment

    cls = find_experiment(slug, Path.cwd())
    rows = describe(cls)
    text = inspect.cleandoc(cls.__doc__ or "")
    document = {
        "schema": "agentbench.experiment/1",
        "slug": slug,
        "description": text,
        "tags": list(cls.tags),
        "parameters": rows,
        "variants": {name: dict(values) for name, values in cls.variants.items()},
    }
    if form == "table" and text:
        print_prose(text)
        click.echo()
    if rows or form != "table":
        print_rows(rows, _PARAMETERS, form, document)
    if form == "table":
        for name, values in cls.variants.items():
            changed = ", ".join(f"{key}={value}" for key, value in values.items())
            print_prose(f"variant {name}: {changed or 'as it is'}")
    return 0


experiments.add_command(effects)


@experiments.command("run")
@click.argument("slug")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter, of all variants."
)
@click.option(
    "--variants",
    multiple=True,
    metavar="KEY=A,B…",
    help="Measure these values interleaved; several options make every combination.",
)
@click.option(
    "--sweep", "sweeps", multiple=True, metavar="KEY=A,B…", help="One after another, as a sweep."
)
@click.option(
    "--iterations", type=click.IntRange(1, MOST_ROUNDS), default=10, show_default=True,
    help="Measured iterations in each repeat.",
)  # fmt: skip
@click.option(
    "--warmup", type=click.IntRange(0, MOST_ROUNDS), default=2, show_default=True,
    help="Unmeasured calls before them, in each repeat.",
)  # fmt: skip
@click.option(
    "--fresh-process", is_flag=True, help="Each repeat of each variant in a process of its own."
)
@click.option(
    "--instrument", "instruments", multiple=True, metavar="NAME",
    help="Instrument such as cprofile or tracemalloc, python:FILE:NAME, or the name of a plugin's.",
)  # fmt: skip
@click.option(
    "--agent", "agents", multiple=True, metavar="TARGET", help="For experiments that ask an agent."
)
@click.option(
    "--all-pairs", is_flag=True, help="Compare every two variants, not each with the first."
)
@click.option(
    "--parallel", type=click.IntRange(1, 256), default=1, show_default=True, metavar="N",
    help="So many points of a sweep at once, in processes of their own; times are no verdict then.",
)  # fmt: skip
@click.option("--output", metavar="DIR", help="Results as JSON and artifacts, in a folder a run.")
@click.option(
    "--reporter", "reporters", multiple=True, metavar="NAME",
    help="Reporter that writes into --output: python:FILE:NAME, or the name of a plugin's.",
)  # fmt: skip
@click.option("--print-suite", is_flag=True, help="Print the same as a suite; run nothing.")
@run_options
def run(slug: str, **given: Any) -> int:
    """Measure an experiment: a name of the list, or python:module:Class.

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
