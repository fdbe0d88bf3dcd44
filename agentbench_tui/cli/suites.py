"""`agentbench suites`: validates, shows, lists and creates suites; prints the schema for
editors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import format_option, print_json, print_prose, print_rows
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.report import Column

if TYPE_CHECKING:
    from agentbench_tui.engine.suite.loading import LoadedSuite
    from agentbench_tui.engine.suite.parameters import Settings
    from agentbench_tui.model.suite import Benchmark

_LIST_COLUMNS = (
    Column("name", "suite", names_row=True),
    Column("origin", "from"),
    Column("category", "category"),
    Column("version", "version"),
    Column("benchmarks", "benchmarks", right=True),
    Column("description", "description"),
)
_SHOW_COLUMNS = (
    Column("benchmark_id", "benchmark", names_row=True),
    Column("kind", "kind"),
    Column("cases", "cases"),
    Column("points", "points", right=True),
    Column("iterations", "iterations", right=True),
    Column("scorers", "scorers"),
    Column("description", "description"),
)


@click.group(short_help="Validate, show, list and create suites.")
def suites() -> None:
    """Validate, show, list and create suites: the files that define benchmarks."""


def _warnings(loaded: LoadedSuite, values: Settings) -> list[str]:
    """Warn about cases of a valid suite: copies, answers in the input, and empty texts."""
    from agentbench_tui.engine.cases.copied_cases import copied_cases
    from agentbench_tui.engine.cases.empty_texts import empty_texts
    from agentbench_tui.engine.cases.sent_answers import sent_answers

    return [
        f"{loaded.path}: warning: {benchmark}: {words}"
        for find in (copied_cases, sent_answers, empty_texts)
        for benchmark, words in find(loaded, values)
    ]


@suites.command()
@click.argument("files", nargs=-1, required=True, metavar="SUITE...")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a declared parameter of the suite. May be given several times.",
)
def validate(files: tuple[str, ...], settings: tuple[str, ...]) -> int:
    """Check SUITEs (files or names), including their datasets, without running anything.

    Every problem is printed with its file, line and column; the exit code is then 2.

    \b
    agentbench suites validate my-suite.yaml
    agentbench suites validate suites/*.yaml
    agentbench suites validate gsm8k --set dataset=answers.jsonl
    """
    wrong = 0
    for name in files:
        wrong += not _validate(name, settings)
    return 2 if wrong else 0


def _validate(name: str, settings: Sequence[str]) -> bool:
    from agentbench_tui.engine.suite.loading import load_suite
    from agentbench_tui.engine.suite.parameters import missing, parse_settings
    from agentbench_tui.engine.suite.validation import validate_suite
    from agentbench_tui.model.errors import SuiteError, UsageError
    from agentbench_tui.model.text.untrusted import visible

    try:
        loaded = load_suite(name)
        values = parse_settings(loaded.suite, settings)
        problems: Sequence[object] = validate_suite(loaded, None, values, datasets=True)
    except SuiteError as error:
        problems = error.problems
    except UsageError as error:
        problems = [error]
    if problems:
        for problem in problems:
            click.echo(visible(str(problem)), err=True)
        return False
    suite = loaded.suite
    parts = [counted(len(suite.benchmarks), "benchmark"), counted(len(suite.agents), "agent")]
    if lacking := missing(suite, values):
        parts.append(f"not checked: what needs --set {', '.join(lacking)}")
    for note in (*loaded.notes, *_warnings(loaded, values)):
        click.echo(visible(note), err=True)
    click.echo(f"{loaded.path}: suite ok: {suite.suite_id} {suite.version}: {', '.join(parts)}")
    return True


@suites.command()
@click.argument("name", metavar="SUITE")
@format_option()
def show(name: str, form: str) -> int:
    """Show the contents of a SUITE (file or name) with parameters at their defaults.

    \b
    agentbench suites show quickstart
    agentbench suites show my-suite.yaml --format json
    """
    from agentbench_tui.engine.suite.loading import load_suite
    from agentbench_tui.model.text.untrusted import visible

    loaded = load_suite(name)
    suite = loaded.suite
    if form == "table":
        head = f"{suite.suite_id} {suite.version}  {suite.name}  ({suite.category})"
        click.echo(visible(head))
        click.echo(f"{loaded.path}  sha256 {loaded.hash[:12]}")
        for paragraph in filter(None, (suite.description, *_parameter_lines(loaded))):
            print_prose(visible(paragraph))
    rows = [_benchmark_row(benchmark, suite.seed) for benchmark in suite.benchmarks]
    document = {
        "schema": "agentbench.suite/1",
        "path": str(loaded.path),
        "hash": loaded.hash,
        "suite": suite.model_dump(mode="json"),
    }
    print_rows(rows, _SHOW_COLUMNS, form, document)
    return 0


def _parameter_lines(loaded: LoadedSuite) -> list[str]:
    from agentbench_tui.engine.suite.parameters import type_of

    lines = []
    for name, parameter in loaded.suite.parameters.items():
        default = "required" if parameter.required else f"default {parameter.default}"
        lines.append(f"  --set {name}={(type_of(parameter) or 'JSON').upper()}  ({default})")
        if parameter.description:
            lines.append(f"        {parameter.description}")
    return lines


def _benchmark_row(benchmark: Benchmark, seed: int) -> dict[str, Any]:
    from agentbench_tui.engine.suite.sweep import points

    dataset = benchmark.dataset
    cases: str | None = None
    if dataset is not None:
        cases = str(len(dataset.cases)) if dataset.cases is not None else dataset.data_source
    own_seed = seed if benchmark.seed is None else benchmark.seed
    return {
        "benchmark_id": benchmark.benchmark_id,
        "kind": benchmark.kind,
        "cases": cases,
        "points": len(points(benchmark.sweep, own_seed)),
        "iterations": None
        if kind_named(benchmark.kind).runs_by_schedule
        else f"{benchmark.iterations.warmup} + {benchmark.iterations.measured}",
        "scorers": ", ".join(_scorer_name(spec) for spec in benchmark.scorers),
        "description": benchmark.description or benchmark.name,
    }


def _scorer_name(spec: str | Mapping[str, Any]) -> str:
    from agentbench_tui.scoring.registry import MODIFIERS

    if isinstance(spec, str):
        return spec
    return next((name for name in spec if name not in MODIFIERS), "")


@suites.command("list")
@format_option()
def list_(form: str) -> int:
    """List the suites that can be run by name: from ./suites, built-in, and from plug-ins.

    \b
    agentbench suites list
    agentbench suites list --format json
    """
    from agentbench_tui.engine.suite.catalog import suite_catalog

    rows = [_catalog_row(entry) for entry in suite_catalog()]
    print_rows(rows, _LIST_COLUMNS, form, {"schema": "agentbench.suites/1", "suites": rows})
    return 0


def _catalog_row(entry: Any) -> dict[str, Any]:
    from agentbench_tui.engine.suite.loading import load_suite
    from agentbench_tui.model.errors import AgentbenchError

    row: dict[str, Any] = {
        "name": entry.name,
        "origin": entry.origin,
        "path": None if entry.path is None else str(entry.path),
        "category": None,
        "version": None,
        "benchmarks": None,
        "description": entry.fault,
    }
    if entry.path is None:
        return row
    try:
        suite = load_suite(entry.path).suite
    except AgentbenchError as error:
        first = str(error).splitlines()[0]
        return row | {"description": f"cannot be read: {first}"}
    return row | {
        "category": suite.category,
        "version": suite.version,
        "benchmarks": len(suite.benchmarks),
        "description": suite.description or suite.name,
    }


@suites.command()
@click.argument("path", type=click.Path(path_type=Path), metavar="[FILE]", required=False)
@click.option(
    "--from",
    "data",
    type=click.Path(path_type=Path),
    metavar="DATA",
    help="Data file (CSV, JSON Lines, JSON, Parquet) or dataset folder to make the suite for.",
)
@click.option(
    "--template",
    default="cases",
    show_default=True,
    help="Template to start from: cases, file or speed.",
)
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@click.pass_context
def new(
    context: click.Context, path: Path | None, data: Path | None, template: str, force: bool
) -> int:
    """Write a small suite, with comments that explain each line, to FILE.

    With --from, agentbench looks at your data, chooses fields, a prompt and a scorer, and shows
    three cases as an agent gets them. Change what does not fit in FILE, whose name is that of the
    data with .yaml unless given.

    \b
    agentbench suites new my-suite.yaml
    agentbench suites new my-suite.yaml --from questions.csv
    agentbench suites new my-suite.yaml --from chat.jsonl
    """
    if data is not None:
        if context.get_parameter_source("template") is not click.core.ParameterSource.DEFAULT:
            raise click.UsageError("--template and --from exclude each other")
        return _new_from(path or Path(f"{data.resolve().stem}.yaml"), data, force=force)
    if path is None:
        raise click.UsageError("name the FILE to write, such as my-suite.yaml")
    from agentbench_tui.engine.suite.starter import write_starter

    for written in write_starter(path, template, force=force):
        click.echo(f"wrote {written}", err=True)
    click.echo(f"check it: agentbench suites validate {path}", err=True)
    return 0


def _new_from(path: Path, data: Path, *, force: bool) -> int:
    from agentbench_tui.engine.suite.data_files import data_file
    from agentbench_tui.engine.suite.loading import load_suite
    from agentbench_tui.engine.suite.proposal import propose
    from agentbench_tui.engine.suite.proposed_suite import first_cases, proposal_lines
    from agentbench_tui.engine.suite.starter import write_proposed
    from agentbench_tui.model.errors import SuiteError
    from agentbench_tui.model.text.untrusted import visible

    file, notes = data_file(data)
    proposal = propose(file)
    write_proposed(path, file, proposal, force=force)
    for note in notes:
        click.echo(visible(f"note: {note}"), err=True)
    for line in proposal_lines(file.name, proposal):
        click.echo(visible(line))
    try:
        for line in first_cases(load_suite(path)):
            click.echo(visible(line))
    except SuiteError as error:
        for problem in error.problems:
            click.echo(visible(str(problem)), err=True)
        click.echo(f"wrote {path}, which needs the corrections above", err=True)
        return 2
    click.echo(f"wrote {path}", err=True)
    click.echo(f"check it: agentbench suites validate {path}", err=True)
    groups = [
        field.removeprefix("metadata.")
        for field in proposal.fields
        if field.startswith("metadata.")
    ]
    by = f" --by {groups[0]}" if groups else ""
    agent = "mine=python:FILE.py:FUNCTION"
    click.echo(f"run it:   agentbench run {path} --agent {agent}{by}", err=True)
    click.echo("          (a model: --agent openai:URL#MODEL; others: docs/agents.md)", err=True)
    if proposal.prompt is not None:
        click.echo(
            "the prompt adds instructions to each question; delete `prompt` in"
            f" {path} if your agent is a function that expects the question alone",
            err=True,
        )
    return 0


@suites.command()
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File to write the schema to.",
    show_default="stdout",
)
def schema(output: Path | None) -> int:
    """Print the JSON Schema of suites, which editors use to complete and check them.

    \b
    agentbench suites schema --output suite.schema.json
    In a YAML suite:  # yaml-language-server: $schema=suite.schema.json
    In a JSON suite:  "$schema": "suite.schema.json"
    """
    import json

    from agentbench_tui.engine.suite.suite_schema import suite_schema

    if output is None:
        print_json(suite_schema())
    else:
        try:
            output.write_text(json.dumps(suite_schema(), indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            from agentbench_tui.model.errors import write_error

            raise write_error(output, error) from None
        click.echo(f"wrote {output}", err=True)
    return 0
