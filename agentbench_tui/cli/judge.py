"""`agentbench judge check`: does a judge agree with people?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from agentbench_tui.cli.console.numbers import ROWS
from agentbench_tui.cli.console.output import format_option


@click.group(short_help="Check a judge against answers that people labeled.")
def judge() -> None:
    """Check whether a model, or any scorer, judges answers as people do."""


@judge.command()
@click.argument("labeled", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--judge", "target", metavar="TARGET", help="Model that grades, as for `--agent`.")
@click.option("--rubric", metavar="TEXT", help="What a good answer is, in words; with --judge.")
@click.option("--suite", metavar="SUITE", help="Take the scorer from this suite instead.")
@click.option("--benchmark", metavar="ID", help="Benchmark of the suite, if it has several.")
@click.option("--scorer", metavar="NAME", help="Scorer of the benchmark, if it has several.")
@click.option("--label", metavar="FIELD", help="Field that holds the label of a person.")
@click.option(
    "--limit", type=ROWS, default=10, show_default=True, help="Maximum number of rows to show."
)
@format_option()
def check(labeled: Path, form: str, limit: int, **given: Any) -> int:
    """Compare a judge with the labels in the file LABELED: agreement, and Cohen's kappa.

    LABELED is a CSV, JSON Lines, JSON or Parquet file with the fields `answer` and `label` (right
    or wrong, true or false, 1 or 0), and `input`, `expected` and `id` if you have them. The judge
    is a model with a rubric, or the scorer of a suite. Exits with 3 if it judged no answer.

    \b
    agentbench judge check labels.csv --judge openai:http://127.0.0.1:8000/v1#judge \\
        --rubric "Says that a refund takes five days."
    agentbench judge check labels.jsonl --suite support.yaml --benchmark replies
    """
    import asyncio

    from agentbench_tui.cli.console.reports import print_report
    from agentbench_tui.contracts.document import plain
    from agentbench_tui.engine.task.grading import scorer_of, scorer_problems
    from agentbench_tui.engine.task.labeled_answers import judge_labeled, read_labeled
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.presentation.judge_check import judge_report
    from agentbench_tui.verdicts.judge_check import judge_check

    spec, folder = _scorer(given)
    if problems := scorer_problems(spec, folder):
        raise UsageError("\n".join(problems))
    scorer = scorer_of(spec, folder)
    answers = read_labeled(labeled, given["label"])
    judged = asyncio.run(judge_labeled(scorer, answers))
    document = judge_check(scorer.name, judged)
    print_report(judge_report(document, limit), form, plain(document))
    return 0 if document.judged else 3


def _scorer(given: dict[str, Any]) -> tuple[Any, Path]:
    """Return the scorer that the options name, and the folder of its paths."""
    if given["suite"] is None:
        if not (given["target"] and given["rubric"]):
            raise click.UsageError("name the judge: --judge and --rubric, or --suite")
        if given["benchmark"] or given["scorer"]:
            raise click.UsageError("--benchmark and --scorer choose from a suite: add --suite")
        options = {"judges": [given["target"]], "rubric": given["rubric"]}
        return {"model_graded": options}, Path()
    if given["target"] or given["rubric"]:
        raise click.UsageError("--judge and --rubric are for a judge without --suite")
    from agentbench_tui.engine.suite.loading import load_suite
    from agentbench_tui.model.errors import UsageError, did_you_mean
    from agentbench_tui.scoring.registry import label_of

    loaded = load_suite(given["suite"])
    found = {
        (one.benchmark_id, label_of(spec)): spec
        for one in loaded.suite.benchmarks
        for spec in one.scorers
        if given["benchmark"] in {None, one.benchmark_id}
        and given["scorer"] in {None, label_of(spec)}
    }
    if len(found) == 1:
        return next(iter(found.values())), loaded.folder
    every = [
        f"{one.benchmark_id}: {label_of(spec)}"
        for one in loaded.suite.benchmarks
        for spec in one.scorers
    ]
    asked = given["scorer"] or given["benchmark"] or ""
    names = [
        label_of(spec) if given["scorer"] else one.benchmark_id
        for one in loaded.suite.benchmarks
        for spec in one.scorers
    ]
    problem = "several scorers match" if found else f"no scorer matches{did_you_mean(asked, names)}"
    raise UsageError(f"{problem}; name one by --benchmark and --scorer: {', '.join(every)}")
