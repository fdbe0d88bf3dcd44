"""Options for training runs, spelled as in the pipeline that users know, including dots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from agentbench_tui.cli.console.numbers import ABOVE_ZERO, Number
from agentbench_tui.model.bounds import LARGEST_NUMBER

Command = TypeVar("Command", bound=Callable[..., Any])

_SEVERAL = ("--pairs", "--control-run-ids", "--candidate-run-ids")
"""Options that take every value up to the next option."""


def _yes_or_no(option: str, name: str, says: str) -> Callable[[Any], Any]:
    """Return a switch with an optional value: `--ttest.enabled`, `--ttest.enabled false`."""
    return click.option(
        option,
        name,
        type=bool,
        is_flag=False,
        flag_value="true",
        metavar="[true|false]",
        help=says,
    )


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--pairs",
        multiple=True,
        metavar="JSON…",
        help='Pairs of training runs, as {"control": RUN, "candidate": RUN, "seed": N}; give '
        "several, a JSON array, or @FILE.",
    ),
    click.option(
        "--control-run-ids",
        "control",
        multiple=True,
        metavar="RUN…",
        help="Training runs of the control group; an alternative to --pairs.",
    ),
    click.option(
        "--candidate-run-ids",
        "candidate",
        multiple=True,
        metavar="RUN…",
        help="Training runs of the candidate group; an alternative to --pairs.",
    ),
    click.option(
        "--series-dir",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Folder with the series of the training runs: RUN.csv or RUN.jsonl with columns "
        "for step and metrics.",
    ),
    click.option(
        "--summary.type",
        "summary_type",
        type=click.Choice(("auc", "last_n", "eval_last_n")),
        help="How to summarize a training run: `auc`, the mean over a window of steps; `last_n` "
        "or `eval_last_n`, the mean of the last values.",
        show_default="auc",
    ),
    click.option(
        "--summary.percent",
        "summary_percent",
        type=ABOVE_ZERO,
        metavar="SHARE",
        help="Size of the window as a share of the steps, up to 1.",
        show_default="0.25",
    ),
    click.option(
        "--summary.percent_window",
        "summary_window",
        type=click.Choice(("last", "first")),
        help="Summarize the last or the first part of each training run.",
        show_default="last",
    ),
    click.option(
        "--summary.step_min",
        "summary_step_min",
        type=Number(-LARGEST_NUMBER),
        metavar="STEP",
        help="First step of the window, with --summary.step_max; replaces --summary.percent.",
    ),
    click.option(
        "--summary.step_max",
        "summary_step_max",
        type=Number(-LARGEST_NUMBER),
        metavar="STEP",
        help="Last step of the window, with --summary.step_min; replaces --summary.percent.",
    ),
    _yes_or_no(
        "--summary.normalize_steps",
        "summary_normalize",
        "Divide the area under the curve by the length of the window. On unless `false` is given.",
    ),
    click.option(
        "--summary.n",
        "summary_n",
        type=click.IntRange(1, 1_000_000),
        help="Number of last values to average.",
        show_default="5",
    ),
    click.option(
        "--bootstrap.n_resamples",
        "bootstrap_resamples",
        type=click.IntRange(100, 1_000_000),
        help="Number of bootstrap resamples.",
        show_default="10,000 or more",
    ),
    click.option(
        "--bootstrap.alpha",
        "bootstrap_alpha",
        type=Number(0, 0.5, above=True, below=True),
        metavar="ALPHA",
        help="Significance level of every interval and verdict: 1 − the confidence level.",
        show_default="0.05",
    ),
    click.option(
        "--bootstrap.side",
        "bootstrap_side",
        type=click.Choice(("two-sided", "greater", "less")),
        help="Alternative hypothesis of every interval and test.",
        show_default="two-sided",
    ),
    click.option(
        "--bootstrap.method",
        "bootstrap_method",
        type=click.Choice(("bca", "percentile")),
        help="Type of bootstrap interval. A 95% BCa interval covers the mean in 91% of cases "
        "with 15 runs and in 92% with 30. The t interval, printed with it, has better "
        "coverage.",
        show_default="bca, for compatibility",
    ),
    _yes_or_no(
        "--ttest.enabled", "ttest", "Accepted for compatibility; the t test is always printed."
    ),
    _yes_or_no(
        "--power.enabled",
        "power_enabled",
        "Estimate the number of runs needed to detect a difference.",
    ),
    click.option(
        "--power.target_effect_size",
        "power_target",
        type=ABOVE_ZERO,
        metavar="SIZE",
        help="Difference to detect, in the metric's unit.",
        show_default="0.2",
    ),
    click.option(
        "--power.beta",
        "power_beta",
        type=Number(0, 1, above=True, below=True),
        metavar="POWER",
        help="Statistical power: the probability of detecting the difference. Despite the name, "
        "not the type II error rate.",
        show_default="0.8",
    ),
    click.option(
        "--output.csv_path",
        "csv_path",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write the value of each run, the effect and its interval to this CSV file.",
    ),
    _yes_or_no(
        "--output.print_table", "print_table", "Print the result. On unless `false` is given."
    ),
    click.option(
        "--output",
        "plot_path",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write a plot of the bootstrap distribution to this PNG or SVG file.",
    ),
)


class SpreadingCommand(click.Command):
    """A command with options that take several values in a row: `--pairs A B C --next`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Give each value its option before click sees them."""
        return super().parse_args(ctx, spread(args))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options for training runs under a separate heading."""
        for_runs = _names_of_options()
        parts: dict[str, list[tuple[str, str]]] = {"Options": [], "Training runs": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                parts["Training runs" if parameter.name in for_runs else "Options"].append(record)
        for title, records in parts.items():
            with formatter.section(title):
                formatter.write_dl(records)


def spread(arguments: Sequence[str]) -> list[str]:
    """Expand `--pairs A B` to `--pairs A --pairs B`; an argument that begins with `-` ends the
    values.
    """
    found: list[str] = []
    option, values = "", 0
    for argument in [*arguments, "--"]:
        if not argument.startswith("-"):
            found += [option, argument] if option else [argument]
            values += 1
            continue
        if option and not values:
            raise click.UsageError(f"option {option} needs a value")
        name, _, value = argument.partition("=")
        option, values = (name, len(value)) if name in _SEVERAL else ("", 0)
        if not option or value:
            found.append(argument)
    return found[:-1]


def _names_of_options() -> set[str | None]:
    return {parameter.name for parameter in curve_options(click.Command("")).params}


def curve_options(command: Command) -> Command:
    """Add the options for training runs."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
