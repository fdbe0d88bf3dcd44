"""Printed result of a run that has ended: leaderboard, executions, failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import click

from agentbench_tui.cli.console.output import print_json, print_prose, print_rows
from agentbench_tui.model.figures.market_metrics import FORESIGHT
from agentbench_tui.model.kinds import BUILT_IN, DEFAULT, Kind, kind_named
from agentbench_tui.model.outcome_foresight import LEAST_EVIDENCE
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import (
    MISSING,
    count,
    decimals,
    duration,
    money,
    money_each,
    percent,
    score,
    with_interval,
)
from agentbench_tui.presentation.report import Column
from agentbench_tui.presentation.reruns import rerun_lines
from agentbench_tui.presentation.runs import ending_words
from agentbench_tui.verdicts.evidence.place import point_words

LEADERBOARD = (
    Column("rank_shown", "#", right=True, names_row=True),
    Column("agent", "agent", names_row=True),
    Column("overall_shown", "overall [95%]", right=True),
    Column("accuracy", "accuracy", score, right=True),
    Column("speed", "speed", score, right=True),
    Column("efficiency", "efficiency", score, right=True),
    Column("cost", "cost", score, right=True),
    Column("reliability", "reliability", score, right=True),
    Column("cost_usd", "USD", money, right=True),
    Column("answered_shown", "right/answered/asked", right=True),
)
EXECUTIONS = (
    Column("benchmark_id", "benchmark", names_row=True),
    Column("agent_id", "agent", names_row=True),
    Column("parameters_shown", "parameters", names_row=True),
    Column("accuracy", "accuracy", score, right=True),
    Column("reliability", "reliable", score, right=True),
    Column("p50", "e2e p50", duration, right=True),
    Column("p95", "e2e p95", right=True),
    Column("tokens_shown", "tokens", right=True),
    Column("per_correct", "USD/right", money_each, right=True),
    Column("cases", "right/answered/asked", right=True),
    Column("failures", "failures"),
    Column("state", "status"),
)


def print_run(document: dict[str, Any], form: str, *, in_full: bool = False) -> None:
    """Print a run document in the requested format; `in_full` prints each load as `agentbench
    load` does, unless there are more than `load.result.MOST_IN_FULL`.
    """
    if form == "json":
        print_json(document)
        return
    if form in {"jsonl", "csv"}:
        _print_raw(document, form)
        return
    executions = document["executions"]
    tasks = [one for one in executions if not kind_of(one).result]
    lacking = [one for one in executions if _is_unmeasured(one) and not own_document(one)]
    if shown := [one for one in tasks if one not in lacking]:
        _print_executions([execution_row(one) for one in shown], form)
        _print_own_metrics(shown, form)
        click.echo()
    for kind in _printing_kinds(executions):
        of_kind = [one for one in executions if kind_of(one) is kind and one not in lacking]
        if of_kind:
            kind.part("result")(document, of_kind, form, in_full=in_full)
    tasks = shown
    if lacking:
        print_prose(f"not measured: {', '.join(place_of(one) for one in lacking)}")
    if not tasks and all(entry["overall"] is None for entry in document["leaderboard"]):
        # Loads that no rubric scores, and stress, rank nobody.
        print_prose(_ending(document))
        return
    judged = any(map(_is_judged, tasks))
    if not document["leaderboard"]:  # further attempts of a rerun rank nobody
        for line in notes(document)[1:]:
            print_prose(line)
        return
    print_rows(leaderboard_rows(document["leaderboard"], judged=judged), LEADERBOARD, form)
    for line in notes(document):
        print_prose(line)


def _print_own_metrics(executions: list[dict[str, Any]], form: str) -> None:
    """Print the metrics that only the kinds of these executions measure, if there are any."""
    rows = [
        {
            "benchmark_id": one["benchmark_id"],
            "agent_id": one["agent_id"],
            "parameters_shown": point_words(one["parameters"]),
            "metric": metric.name,
            "value": with_interval(*(found[key] for key in ("value", "low", "high"))),
        }
        for one in executions
        for metric in kind_of(one).part("metrics") or ()
        if (found := one["metrics"].get(metric.name)) is not None
    ]
    if rows:
        click.echo()
        columns = [*EXECUTIONS[:2], Column("metric", "metric"), Column("value", "value [95%]")]
        if any(row["parameters_shown"] for row in rows):
            columns.insert(2, EXECUTIONS[2])
        print_rows(rows, columns, form)


def _print_raw(document: dict[str, Any], form: str) -> None:
    """Print raw numbers: in the kind's own form if all executions are of one kind, else one row
    per execution.
    """
    from agentbench_tui.cli.load.rows import print_raw

    executions = document["executions"]
    kinds = _printing_kinds(executions)
    if len(kinds) == 1 and all(one.get(kinds[0].name) is not None for one in executions):
        kinds[0].part("result")(document, executions, form, in_full=False)
    else:
        print_raw(executions, form)


def kind_of(execution: dict[str, Any]) -> Kind:
    """Return the kind of an execution of a run document. If the document names none, the kind
    whose own document it has.
    """
    name = execution.get("kind") or next((one for one in BUILT_IN if execution.get(one)), DEFAULT)
    return kind_named(name)


def own_document(execution: dict[str, Any]) -> Any:
    """Return the part of a run document that the execution's kind adds; None if there is none."""
    return execution.get(kind_of(execution).name)


def _printing_kinds(executions: list[dict[str, Any]]) -> list[Kind]:
    """Return the kinds with their own printed form, in the order of all kinds."""
    kinds = {kind.name: kind for kind in map(kind_of, executions) if kind.result}
    return [kinds[name] for name in sorted(kinds, key=[*BUILT_IN, *sorted(kinds)].index)]


def _print_executions(rows: list[dict[str, Any]], form: str) -> None:
    with_parameters = any(row["parameters_shown"] for row in rows)
    columns = [
        column for column in EXECUTIONS if with_parameters or column.key != "parameters_shown"
    ]
    print_rows(rows, columns, form)


def _is_unmeasured(execution: dict[str, Any]) -> bool:
    """Return whether the run was interrupted before anything was stored."""
    return execution["status"] == "interrupted" and not (
        execution["metrics"] or execution["cases"]["observed"]
    )


def place_of(execution: dict[str, Any]) -> str:
    """Its benchmark, agent and point."""
    words = (execution["benchmark_id"], execution["agent_id"], point_words(execution["parameters"]))
    return " ".join(filter(None, words))


def execution_row(execution: dict[str, Any]) -> dict[str, Any]:
    """One line of the table of executions."""
    metrics = execution["metrics"]

    def value(name: str) -> Any:
        return metrics.get(name, {}).get("value")

    p95 = metrics.get("e2e_ms.p95", {})
    cases = execution["cases"]
    return {
        "benchmark_id": execution["benchmark_id"],
        "agent_id": execution["agent_id"] + (" (simulated)" if execution["simulated"] else ""),
        "parameters_shown": point_words(execution["parameters"]),
        "accuracy": value("accuracy"),
        "reliability": value("reliability"),
        "p50": value("e2e_ms.p50"),
        "p95": (p95.get("reason") or MISSING)
        if value("e2e_ms.p95") is None
        else duration(p95["value"]),
        "tokens_shown": _tokens_shown(metrics.get("tokens_used", {})),
        "per_correct": value("cost_usd_per_correct"),
        "cases": f"{_right(execution)}/{cases['answered']}/{cases['observed']}",
        "failures": " ".join(f"{kind}:{n}" for kind, n in execution["failures"].items()),
        "state": ending_words(execution),
    }


def _tokens_shown(metric: dict[str, Any]) -> str:
    """Format token counts; `~` marks an estimate."""
    value = metric.get("value")
    return count(value) if value is None or not metric.get("reason") else f"~{count(value)}"


def _is_judged(execution: dict[str, Any]) -> bool:
    """Return whether answers are scored as right or wrong; returned values of code are not."""
    return kind_of(execution).judges_answers


def _right(execution: dict[str, Any]) -> Any:
    return execution["cases"]["correct"] if _is_judged(execution) else MISSING


def leaderboard_rows(entries: list[dict[str, Any]], *, judged: bool = True) -> list[dict[str, Any]]:
    """Entries of a run's leaderboard with what is composed for the eye; `judged`: whether any
    answer was called right or wrong."""
    return [
        {
            **entry,
            "agent": entry["agent_id"] + (" (simulated)" if entry["simulated"] else ""),
            "overall_shown": _overall(entry),
            "answered_shown": f"{entry['correct'] if judged else MISSING}"
            f"/{entry['answered']}/{entry['observed']}",
        }
        for entry in entries
    ]


def _overall(entry: dict[str, Any]) -> str:
    """Format the score with its interval, or `[–]`, whose reason `unsure_lines` gives."""
    shown = with_interval(entry["overall"], entry["low"], entry["high"])
    return (
        f"{shown} [{MISSING}]" if entry["overall"] is not None and entry["low"] is None else shown
    )


def unsure_lines(entries: list[dict[str, Any]]) -> list[str]:
    """Why overall scores have no interval."""
    reasons: dict[str, list[str]] = {}
    for entry in entries:
        if entry["overall"] is not None and entry["low"] is None:
            reasons.setdefault(entry["reason"], []).append(entry["agent_id"])
    return [
        f"[{MISSING}] under overall of {', '.join(names)}: {reason}."
        for reason, names in reasons.items()
    ]


def _without_score(document: dict[str, Any]) -> list[str]:
    """Dimensions that count towards the overall score and keep an agent from having one."""
    judged = [entry for entry in document["leaderboard"] if entry["answered"]]
    weights = [one.get("weights", {}) for one in document["executions"]]
    return [
        name
        for name in ("accuracy", "speed", "efficiency", "cost", "reliability")
        if any(of_suite.get(name) for of_suite in weights)
        and any(entry["overall"] is None and entry[name] is None for entry in judged)
    ]


def notes(document: dict[str, Any]) -> list[str]:
    """Return the notes on the numbers."""
    lines = [""]
    timed = any(
        one["metrics"].get("e2e_ms.mean", {}).get("value") is not None
        for one in document["executions"]
    )
    if timed and document["harness"] not in {None, "clean"}:
        lines.append(
            f"Timings: {document['harness']}; the machine or the harness disturbed them "
            "(`agentbench runs show` tells how)."
        )
    lacking = _without_score(document)
    if lacking:
        lines.append(
            f"{MISSING} under overall: no score for {', '.join(lacking)}; in the suite, give a"
            " dimension a scoring rubric or the weight 0 (`agentbench explain overall`)."
        )
    lines += unsure_lines(document["leaderboard"])
    if any(entry.get("rank_shown", "").endswith("=") for entry in document["leaderboard"]):
        lines.append(
            "= under #: a shared rank; these answers do not distinguish the agents "
            "(`agentbench leaderboard`, `agentbench compare`)."
        )
    lines += [
        f"{one['judges']['judges']} judges of {one['agent_id']} on {one['benchmark_id']} agree on"
        f" {percent(one['judges']['agreement'])} of"
        f" {counted(one['judges']['answers'], 'answer')}"
        f" (kappa {decimals(2)(one['judges']['kappa'])})."
        for one in document["executions"]
        if (one.get("judges") or {}).get("agreement") is not None
    ]
    lines += rerun_lines(document)
    lines += _foresight_lines(document)
    lines += _unmeasured_lines(document)
    estimated = sorted(
        {
            one["agent_id"]
            for one in document["executions"]
            if (one["metrics"].get("cost_usd", {}).get("reason") or "").startswith("estimated")
        }
    )
    if estimated:
        lines.append(f"Costs are estimated, from tokens counted here: {', '.join(estimated)}.")
    lines += _unknown_cost_lines(document)
    return [*lines, _ending(document)]


def _foresight_lines(document: dict[str, Any]) -> list[str]:
    """Agents of a market whose forecasts are right beyond chance."""
    evidence = [
        (one, one["metrics"].get(FORESIGHT.name, {}).get("value"))
        for one in document["executions"]
        if not one["simulated"]
    ]
    return [
        f"{one['agent_id']} on {one['benchmark_id']}: its forecasts are right beyond chance"
        f" (p at most 10^-{int(value)}); check how the agent learned the outcomes"
        f" (`agentbench explain {FORESIGHT.name}`)."
        for one, value in evidence
        if value is not None and value >= LEAST_EVIDENCE
    ]


def _unknown_cost_lines(document: dict[str, Any]) -> list[str]:
    """Why the cost of agents that answered is not known; one line for each reason."""
    agents: dict[tuple[str, str], list[str]] = {}
    for execution in document["executions"]:
        cost = execution["metrics"].get("cost_usd", {})
        is_known = cost.get("value") is not None or not cost.get("reason")
        # What the suite promises has a line of its own, and code that is measured costs nothing.
        is_expected = _is_judged(execution)
        is_promised = "cost_usd" in execution.get("unmeasured", {})
        if not is_known and is_expected and not is_promised and execution["cases"]["answered"]:
            place = execution["benchmark_id"], cost["reason"]
            agents.setdefault(place, []).append(execution["agent_id"])
    return [
        f"{MISSING} {benchmark}: USD of {', '.join(dict.fromkeys(names))}: {reason}"
        for (benchmark, reason), names in agents.items()
    ]


def pause_words(pauses: Iterable[Mapping[str, Any]]) -> str:
    """Say which agents wait because their server asked for it, as a continuation; see
    `progress.pauses_of_run`.
    """
    return "".join(
        one_line(f"; {one['agent_id']} waits {max(1, round(one['pause_s']))} s as its server asked")
        for one in pauses
    )


def _ending(document: dict[str, Any]) -> str:
    return f"run {document['run_id']}: {ending_words(document)}"


def _unmeasured_lines(document: dict[str, Any]) -> list[str]:
    """Which of the metrics that the suite promises have no value, and why; one line a reason."""
    agents: dict[tuple[str, str], list[str]] = {}
    for one in document["executions"]:
        if not one["metrics"]:
            continue  # the run ended before it began, which its status says
        for name, reason in one.get("unmeasured", {}).items():
            named = agents.setdefault((f"{one['benchmark_id']}: {name}", reason or "?"), [])
            if one["agent_id"] not in named:
                named.append(one["agent_id"])
    return [
        f"{MISSING} {what} of {', '.join(names)}: {reason}"
        for (what, reason), names in agents.items()
    ]
