"""`run --report`: results of a run as files, in addition to the printed output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from agentbench_tui.model.errors import did_you_mean, write_error

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.reports.benchmark_results.results_files import ByGroups

Document = dict[str, Any]
Show = Callable[["sqlite3.Connection", Document, str], None]
_KINDS = ("json", "html", "md")
_CHOICES = {**{kind: (kind,) for kind in _KINDS}, "both": ("json", "html")}
"""Value of `--report` → files to write."""


class ReportKinds(click.ParamType):  # type: ignore[type-arg]  # generic in click's newest only
    """Kinds of report, several separated by commas."""

    name = "kinds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the distinct kinds. Raises a usage error."""
        chosen: set[str] = set()
        for name in value.split(","):
            kinds = _CHOICES.get(name.strip().lower())
            if kinds is None:
                hint = did_you_mean(name.strip(), _CHOICES)
                self.fail(
                    f"no report '{name.strip()}'{hint}; there are {', '.join(_CHOICES)}", param, ctx
                )
            chosen.update(kinds)
        return tuple(kind for kind in _KINDS if kind in chosen)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the choices that continue the last item of the list."""
        del ctx, param
        before, comma, last = incomplete.rpartition(",")
        return [
            CompletionItem(f"{before}{comma}{name}") for name in _CHOICES if name.startswith(last)
        ]


def make_folder(folder: Path) -> None:
    """Create the folder before the first request, so that an unwritable one is an immediate
    UsageError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".agentbench-probe"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise write_error(folder, error) from None


def with_report(
    show: Show | None, kinds: Sequence[str], folder: Path, by: tuple[str, int] | None = None
) -> Show:
    """Print by `show` (by default as any run), and write files of these `kinds` into `folder`.

    `by`: the field of `--by`, and how many groups are shown.
    """

    def reported(connection: sqlite3.Connection, run: Document, form: str) -> None:
        from agentbench_tui.cli.run.running import show_run

        (show or show_run())(connection, run, form)
        from agentbench_tui.reports.benchmark_results.results_files import (
            NAME,
            benchmark_results,
            results_chapters,
            write_results,
        )
        from agentbench_tui.reports.html.run_page import write_page

        groups = None if by is None else _groups(connection, run, *by)
        results = benchmark_results(connection, run)
        others = [kind for kind in kinds if kind != "html"]
        try:
            written = write_results(results, others, folder, groups)
            if "html" in kinds:
                page = folder / f"{NAME}.html"
                write_page(connection, run["run_id"], page, results_chapters(results, groups))
                written.append(page)
        except OSError as error:
            where = error.filename or folder
            click.echo(f"{where}: cannot be written: {error.strerror}", err=True)
            return
        for path in written:
            click.echo(f"written: {path}", err=True)

    return reported


def _groups(connection: sqlite3.Connection, run: Document, field: str, limit: int) -> ByGroups:
    from agentbench_tui.cli.run.breakdown import breakdown_of_run
    from agentbench_tui.reports.benchmark_results.results_files import ByGroups

    return ByGroups(breakdown_of_run(connection, run, field), limit)
