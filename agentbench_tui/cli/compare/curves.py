"""Training runs in `agentbench compare`: explicit pairs or two lists of runs, one value per run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import database_path

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.verdicts.training.curve_comparison import AskedOfRuns
    from agentbench_tui.verdicts.training.curve_question import Answer, NamedRuns
    from agentbench_tui.verdicts.training.run_summary import SummaryKind

ALPHA = 0.05
TARGET = 0.2
"""Default difference whose power is printed."""


def is_about_curves(given: Mapping[str, Any]) -> bool:
    """Return whether training runs are compared.

    Raises UsageError for their options without them.
    """
    from agentbench_tui.model.errors import UsageError

    if any(given[name] for name in ("pairs", "control", "candidate")):
        return True
    alone = [name for name, value in given.items() if value is not None and value != ()]
    if alone:
        parameters = click.get_current_context().command.params
        flags = {parameter.name: parameter.opts[0] for parameter in parameters}
        raise UsageError(
            f"{flags[alone[0]]} is for training runs: name them with --pairs, or with "
            "--control-run-ids and --candidate-run-ids"
        )
    return False


def compare_curves(
    given: Mapping[str, Any],
    selectors: Sequence[str],
    metrics: Sequence[str],
    better: Better | None,
    form: str,
    **others: Any,
) -> int:
    """Compare training runs, print the result and write the requested files.

    `given` are the values of `curve_options`; `others` are `paired`, `margin`, `seed`, `database`,
    `suite`, `benchmark` and `fail_on` of the command. Returns the exit status.
    """
    from agentbench_tui.cli.compare.curve_result import print_curves, write_csv
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.training.curve_question import Sources, answers
    from agentbench_tui.verdicts.training.run_reference import find_files

    if selectors:
        raise UsageError(
            f"'{selectors[0]}': name training runs only with --pairs, or with "
            "--control-run-ids and --candidate-run-ids"
        )
    wanted = tuple(dict.fromkeys(metrics)) or (None,)
    for name in ("csv_path", "plot_path"):
        if given[name] is not None and len(wanted) > 1:
            raise UsageError(
                "--output and --output.csv_path write a single metric; choose it with --metric"
            )
    named = _named(given, others["paired"])
    folder = given["series_dir"]
    if folder is not None and not folder.is_dir():
        raise UsageError(f"--series-dir {folder}: not a folder")
    files = find_files(named.names, folder)
    with _store(others["database"], needed=len(files) < len(named.names)) as connection:
        sources = Sources(files, connection, others["suite"], others["benchmark"])
        found = answers(wanted, better, named, sources, _kind(given), _asked(given, others))
    if given["csv_path"] is not None:
        write_csv(given["csv_path"], found[0])
    if given["plot_path"] is not None:
        _write_plot(given["plot_path"], found[0])
    if given["print_table"] is not False:
        print_curves(found, form)
    return _status(found, others["fail_on"])


def _named(given: Mapping[str, Any], paired: Any) -> NamedRuns:
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.training.curve_question import NamedRuns
    from agentbench_tui.verdicts.training.run_reference import check_lists, parse_pairs

    if given["pairs"]:
        if given["control"] or given["candidate"]:
            raise UsageError("--pairs and --control-run-ids exclude each other")
        return NamedRuns(tuple(parse_pairs(_texts(given["pairs"]))), paired=paired)
    control, candidate = (_names(given[side]) for side in ("control", "candidate"))
    check_lists(control, candidate)
    return NamedRuns(control=control, candidate=candidate, paired=paired)


def _texts(given: Sequence[str]) -> Iterator[str]:
    from agentbench_tui.model.text.small_file import read_small_text

    for text in given:
        yield read_small_text(Path(text[1:]), "--pairs:") if text.startswith("@") else text


def _names(given: Sequence[str]) -> tuple[str, ...]:
    return tuple(name for text in given for name in re.split(r"[,\s]+", text) if name)


@contextmanager
def _store(database: str | None, *, needed: bool) -> Iterator[sqlite3.Connection | None]:
    """Return the database, if a run has to be looked up in it and it exists."""
    path = database_path(database)
    if not needed or (database is None and not path.exists()):
        yield None
        return
    from agentbench_tui.store.database import reading

    with reading(path) as connection:
        yield connection


def _kind(given: Mapping[str, Any]) -> SummaryKind:
    from agentbench_tui.verdicts.training.run_summary import SummaryKind

    wanted = {
        "type": (given["summary_type"] or "auc").removeprefix("eval_"),
        "percent": given["summary_percent"],
        "window": given["summary_window"],
        "step_min": given["summary_step_min"],
        "step_max": given["summary_step_max"],
        "normalize": given["summary_normalize"],
        "n": given["summary_n"],
    }
    return SummaryKind(**{name: value for name, value in wanted.items() if value is not None})


def _asked(given: Mapping[str, Any], others: Mapping[str, Any]) -> AskedOfRuns:
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.training.curve_comparison import AskedOfRuns

    asks_power = given["power_enabled"] or given["power_target"] is not None
    alpha, power = given["bootstrap_alpha"] or ALPHA, given["power_beta"]
    if power is not None and power <= alpha:
        raise UsageError(
            f"--power.beta {power:g}: the power (despite the option's name) must be greater "
            f"than alpha, {alpha:g}"
        )
    wanted = {
        "alpha": alpha,
        "side": given["bootstrap_side"],
        "method": given["bootstrap_method"],
        "resamples": given["bootstrap_resamples"],
        "seed": others["seed"],
        "margin": others["margin"],
        "target": (given["power_target"] or TARGET) if asks_power else None,
        "power": power,
    }
    return AskedOfRuns(**{name: value for name, value in wanted.items() if value is not None})


def _write_plot(path: Path, answer: Answer) -> None:
    from agentbench_tui.cli.compare.curve_result import distribution_plot
    from agentbench_tui.model.errors import Unmeasured

    plot = distribution_plot(answer)
    if plot is None:
        raise Unmeasured(
            f"--output {path}: no bootstrap distribution to plot, because too few runs "
            "finished or all have the same value"
        )
    plot.write(path)


def _status(found: Sequence[Answer], fail_on: str | None) -> int:
    """Return 0, or by `--fail-on`: 1 if the candidate is worse, 3 if the result is undecided."""
    said = {answer.comparison.verdict for answer in found}
    if fail_on is None:
        return 0
    if "worse" in said:
        click.echo("gate: the candidate is worse", err=True)
        return 1
    if said == {"inconclusive"}:
        click.echo("gate: no verdict, every metric is inconclusive", err=True)
        return 3
    return 0
