"""`agentbench completion SHELL`: the script for completion of commands and values in a shell."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import redirect_stderr, suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from agentbench_tui.store.names import STORED, stored_names

_VARIABLES = {"agentbench": "_AGENTBENCH_COMPLETE", "agentbench-tui": "_AGENTBENCH_TUI_COMPLETE"}
"""Program → environment variable that the completion script sets to request candidates."""
_NAMES = {
    "suites": "suites", "suite": "suites", "run": "runs", "run_ids": "runs", "agent": "agents",
    "agents": "agents", "chosen": "agents", "selector": "agents", "selectors": "agents",
    "metric": "metrics", "metrics": "metrics", "gates": "gates", "benchmark": "benchmarks",
    "benchmarks": "benchmarks", "tag": "tags", "cases": "cases", "case_id": "cases",
    "name": "documents", "subjects": "runs", "words": "runs",
}  # fmt: skip
"""Parameter → what its values name."""
_OF_COMMAND = {
    ("attach", "run"): "running", ("resume", "run"): "resumable", ("explain", "metric"): "terms",
    ("check", "scorer"): "scorers",
}  # fmt: skip
"""Command and parameter → what its values name there."""
_PATHS = {"SUITE": "file", "FILE": "file", "DIR": "dir", "FOLDER": "dir"}
"""Word of a metavar → what the shell completes."""
_WORD = re.compile(r"[A-Z]+")


@click.command(short_help="Print a shell completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and values in SHELL.

    The script completes agentbench and agentbench-tui.

    \b
    For the current shell:
      bash   eval "$(agentbench completion bash)"
      zsh    autoload -Uz compinit && compinit; eval "$(agentbench completion zsh)"
      fish   agentbench completion fish | source

    \b
    For every new shell, add that line to ~/.bashrc, ~/.zshrc or ~/.config/fish/config.fish.
    """
    from click.shell_completion import get_completion_class

    from agentbench_tui.cli.bash_completion import use_script

    use_script()
    script = get_completion_class(shell)
    assert script is not None, "the choices above are those click knows"
    root = ctx.find_root().command
    for program, variable in _VARIABLES.items():
        click.echo(script(root, {}, program, variable).source())


def is_asked() -> bool:
    """Return whether a shell calls this program for completion candidates."""
    return any(variable in os.environ for variable in _VARIABLES.values())


def complete(root: click.Group) -> int:
    """Print the words that fit the command line of the shell; return the exit code, always 0.

    The output appears in the user's prompt, so errors print nothing and write no report.
    """
    from click.shell_completion import shell_complete

    with Path(os.devnull).open("w") as nothing, redirect_stderr(nothing), suppress(Exception):
        for program, variable in _VARIABLES.items():
            if (instruction := os.environ.get(variable)) is not None:
                shell_complete(_command_of(program, root), {}, program, variable, instruction)
    return 0


def _command_of(program: str, root: click.Group) -> click.Command:
    if program == "agentbench":
        return root
    session = root.get_command(click.Context(root), "session")
    assert session is not None, "agentbench-tui is the command `session`"
    return session


def offer_values(command: click.Command) -> None:
    """Make a command's parameters complete files and the names of suites, runs and agents.

    Those of the type `click.Path` complete files anyway; for text, the metavar says what it is.
    """
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            offer_values(subcommand)
    for parameter in command.params:
        words = set(_WORD.findall(parameter.metavar or ""))
        if not isinstance(parameter.type, click.types.StringParamType):
            continue
        if "TARGET" in words:
            parameter.type = _Target()
            continue
        name = parameter.name or ""
        kind = _OF_COMMAND.get((command.name or "", name), _NAMES.get(name))
        kind = "suites" if "SUITE" in words else kind
        path = next((_PATHS[word] for word in _PATHS if word in words), None)
        if kind or path:
            parameter.type = _Name(kind, path)


class _Name(click.types.StringParamType):
    """Text whose values the shell can complete, or a file or folder."""

    def __init__(self, kind: str | None, path: str | None) -> None:
        self._kind = kind
        self._path = path

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del param
        if self._kind == "scorers":
            names = _scorer_names(ctx.params.get("suite"))
        else:
            names = _names(self._kind, ctx.params.get("database")) if self._kind else []
        # A line break in a name would end the candidate, and could begin another.
        items = [
            CompletionItem(name)
            for name in names
            if name.startswith(incomplete) and name.isprintable()
        ]
        if not items and self._path is not None:
            # The shell looks for files itself, and offers either those or our words.
            items.append(CompletionItem(incomplete, type=self._path))
        return items


class _Target(click.types.StringParamType):
    """A target of an agent, of which the shell can complete Python files and functions."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        del ctx, param
        from agentbench_tui.cli.target_completion import completed_targets

        return [CompletionItem(target) for target in completed_targets(incomplete)]


def _names(kind: str, database: str | None) -> list[str]:
    """Return the names of a kind, those of the program before those in the database."""
    own = _OWN_NAMES.get(kind)
    names = [] if own is None else own()
    if kind in STORED:
        names += _stored_names(kind, database)
    return list(dict.fromkeys(names))


def _suite_names() -> list[str]:
    from agentbench_tui.engine.suite.catalog import suite_catalog

    return [entry.name for entry in suite_catalog()]


def _metric_names() -> list[str]:
    from agentbench_tui.model.figures.metric import SCORES, known_metrics

    scores = [name if name == "overall" else f"{name}_score" for name in SCORES]
    return [*known_metrics(), *scores]


def _gate_names() -> list[str]:
    from agentbench_tui.model.gate import NO_REGRESSION

    return [NO_REGRESSION, "verdict==clean", *_metric_names()]


def _terms() -> list[str]:
    from agentbench_tui.verdicts.explanation import explanations

    return [*_metric_names(), *(row["name"] for row in explanations())]


def _scorer_names(suite: str | None) -> list[str]:
    """Return the labels of a suite's scorers; none if it is not given or cannot be read."""
    from agentbench_tui.engine.suite.loading import load_suite
    from agentbench_tui.model.errors import AgentbenchError
    from agentbench_tui.scoring.registry import label_of

    if suite is None:
        return []
    with suppress(AgentbenchError, OSError):
        benchmarks = load_suite(suite).suite.benchmarks
        labels = [label_of(spec) for one in benchmarks for spec in one.scorers]
        return list(dict.fromkeys(labels))
    return []


def _document_names() -> list[str]:
    from agentbench_tui.contracts.catalog import schema_names

    short = [name.removeprefix("agentbench.").partition("/")[0] for name in schema_names()]
    return [*short, *schema_names()]


_OWN_NAMES: dict[str, Callable[[], list[str]]] = {
    "suites": _suite_names,
    "runs": lambda: ["latest"],
    "metrics": _metric_names,
    "gates": _gate_names,
    "terms": _terms,
    "documents": _document_names,
}
"""What is named → the names that the program itself knows."""


def _stored_names(kind: str, database: str | None) -> list[str]:
    """Return names in the database; none if it is missing, locked or damaged."""
    from agentbench_tui.cli.console.output import database_path
    from agentbench_tui.model.errors import AgentbenchError

    with suppress(AgentbenchError, OSError, sqlite3.Error):
        path = database_path(database)
        if path.is_file():  # opening a named pipe would wait for its other end
            return stored_names(path, kind)
    return []
