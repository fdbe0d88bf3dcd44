"""`agentbench regressions`: checks whether an agent has become worse."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.numbers import ABOVE_ZERO
from agentbench_tui.cli.console.output import (
    benchmark_options,
    database_option,
    database_path,
    format_option,
)
from agentbench_tui.cli.run.trust import check_trust, trust_option

if TYPE_CHECKING:
    from pathlib import Path

    from agentbench_tui.contracts.regressions import RegressionsDocument
    from agentbench_tui.verdicts.regression.finding import Finding
    from agentbench_tui.verdicts.regression.regression import Judgment, RegressionAsked

_FAILS: dict[str, set[str]] = {
    "regression": {"minor", "major", "critical"},
    "major": {"major", "critical"},
    "critical": {"critical"},
    "none": set(),
}
"""Which severities `--fail-on` means."""


@click.command(short_help="Check whether an agent has become worse.")
@click.argument("agent", required=False, metavar="[AGENT[@VERSION]]")
@click.option(
    "--baseline",
    metavar="VERSION|run:ID|tag:NAME|NAME",
    help="Runs to compare with: a version, run:ID, tag:NAME, or the name of a baseline.",
    show_default="the one set by `agentbench baseline`, else the history",
)
@benchmark_options
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Check only this metric. May be given several times.",
)
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="[METRIC=]T",
    help="Smallest change that matters, such as 0.05 or 5%; in percentage points for a "
    "metric that is a share. An alarm is raised at half of it, so that a change of "
    "this size is rarely missed. May be given several times.",
    show_default="5%; 2 points for shares",
)
@click.option(
    "--fail-on",
    type=click.Choice([*_FAILS]),
    default="regression",
    show_default=True,
    help="Exit with 1 for any regression, only for major or critical ones, or never.",
)
@click.option(
    "--confirm",
    is_flag=True,
    help="Run the benchmarks of a suspected regression again, up to 4 times, until the runs "
    "together show whether it is one.",
)
@trust_option
@click.option(
    "--per-day",
    type=ABOVE_ZERO,
    metavar="N",
    help="Requests per day, to estimate what a regression costs in money, waiting time or "
    "correct answers.",
)
@database_option
@format_option()
def regressions(agent: str | None, database: str | None, form: str, **given: Any) -> int:
    """Check whether the newest runs of AGENT are worse than a baseline or than its history.

    Without AGENT, the agent of the newest run is checked. Exits with 1 for a regression, with 3 if
    there is too little data for a verdict, and with 0 otherwise.

    \b
    agentbench regressions my-agent
    agentbench regressions my-agent --baseline v1 --threshold 0.1 --threshold accuracy=0.01
    agentbench regressions my-agent --confirm --format json
    """
    from agentbench_tui.analysis.runs.history_replay import MOST_IN_A_ROW
    from agentbench_tui.cli.console.reports import print_report
    from agentbench_tui.presentation.regressions import regressions_report
    from agentbench_tui.store.database import reading
    from agentbench_tui.verdicts.regression.regression import judge_agent
    from agentbench_tui.verdicts.regression.regression_document import regressions_document

    path = database_path(database)
    with reading(path) as connection:
        wanted = _wanted(connection, agent, given)
        judgment = judge_agent(connection, wanted)
    if _is_to_confirm(judgment, asked=given["confirm"]):
        for _ in range(MOST_IN_A_ROW - 1):
            if code := _run_again(path, judgment, trust=given["trust"]):
                return code
            with reading(path) as connection:
                judgment = judge_agent(connection, wanted)
            if not _suspects(judgment):
                break
    with reading(path) as connection:
        document = regressions_document(connection, judgment, given["per_day"])
    print_report(regressions_report(document), form, document)
    return _exit_code(document, given["fail_on"])


def _wanted(connection: Any, agent: str | None, given: dict[str, Any]) -> RegressionAsked:
    from agentbench_tui.verdicts.regression.regression_request import regression_request

    bare, own = _thresholds(given["thresholds"])
    return regression_request(
        connection,
        agent,
        baseline=given["baseline"],
        suite=given["suite"],
        benchmark=given["benchmark"],
        metrics=given["metrics"],
        threshold=bare,
        thresholds=own,
    )


def _thresholds(texts: tuple[str, ...]) -> tuple[float | None, dict[str, float]]:
    """Return the common threshold, and those of single metrics."""
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.model.figures.metric import regressing_metrics

    bare, own = None, {}
    for text in texts:
        metric, _, number = text.rpartition("=")
        try:
            value = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
        except ValueError:
            value = -1.0
        if not 0 < value < 1:
            raise UsageError(
                f"--threshold {text}: expected [METRIC=]T between 0 and 1, such as 0.05 or 5%"
            )
        if metric:
            own[regressing_metrics([metric])[0]] = value
        else:
            bare = value
    return bare, own


def _suspects(judgment: Judgment) -> list[Finding]:
    return [one for one in judgment.findings if one.is_decided_by_another_run]


def _is_to_confirm(judgment: Judgment, *, asked: bool) -> bool:
    suspects = _suspects(judgment)
    if not suspects or asked:
        return bool(suspects)
    if not (sys.stdin.isatty() and sys.stderr.isatty()) or os.environ.get("CI"):
        return False
    names = ", ".join(f"{one.metric} of {one.place.words}" for one in suspects)
    return click.confirm(f"{names}: suspect. Run it again to be sure?", default=True, err=True)


def _run_again(path: Path, judgment: Judgment, *, trust: bool) -> int:
    """Repeat suspects; return 0 unless a signal ended the run. Raises UsageError for an imported
    run that is not trusted.
    """
    from agentbench_tui.cli.run.running import carry_out_quietly
    from agentbench_tui.engine.run.trust import executed_by_resuming
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import cases_of_run
    from agentbench_tui.verdicts.regression.confirmation import confirming_plans

    with reading(path) as connection:
        plans = confirming_plans(connection, judgment.findings)
        for run, plan in plans:
            if run["imported_at"] is not None:
                lines = executed_by_resuming(plan, cases_of_run(connection, run["key"]))
                check_trust(run, lines, trust=trust)
    for _, plan in plans:
        places = ", ".join(dict.fromkeys(str(g.benchmark["benchmark_id"]) for g in plan.groups))
        click.echo(f"running {places} again (run {plan.run_id})", err=True)
        if code := carry_out_quietly(plan, path, resume=False):
            return code
    return 0


def _exit_code(document: RegressionsDocument, fail_on: str) -> int:
    """Return 1 for a severity to fail on, 3 for an undecided result; `none` never fails."""
    if fail_on == "none":
        return 0
    verdict = document.verdict
    if verdict == "regression":
        severities = {one.severity for one in document.regressions}
        return 1 if severities & _FAILS[fail_on] else 0
    return 0 if verdict == "no regression" else 3
