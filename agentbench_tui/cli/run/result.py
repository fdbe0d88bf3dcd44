"""Prints the result of a run that has ended, or as far as it is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_json, print_prose, print_rows
from agentbench_tui.cli.console.reports import print_sections
from agentbench_tui.model.kinds import BUILT_IN, DEFAULT, Kind, kind_named
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.run import run_report
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from agentbench_tui.contracts.leaderboard import Board
    from agentbench_tui.contracts.run import RunDocument


def print_run(
    document: dict[str, Any],
    form: str,
    *,
    full: bool = False,
    in_full: bool = False,
    boards: Sequence[Board] = (),
) -> None:
    """Print a run document in the requested format.

    `full` adds every figure of every execution; `in_full` prints each load as `agentbench load`
    does, unless there are more than `load.report.MOST_IN_FULL`. `boards`: see `run_report`.
    """
    if form == "json":
        print_json(document)
        return
    if form in {"jsonl", "csv"}:
        _print_raw(document, form)
        return
    report = run_report(_typed(document), boards, full=full)
    executions = document["executions"]
    print_sections(report.answer, form)
    if report.answer:
        click.echo()
    lacking = [one for one in executions if _is_unmeasured(one) and not own_document(one)]
    for kind in _printing_kinds(executions):
        of_kind = [one for one in executions if kind_of(one) is kind and one not in lacking]
        if of_kind:
            kind.part("result")(document, of_kind, form, in_full=in_full)
    if lacking:
        print_prose(f"not measured: {', '.join(place_of(one) for one in lacking)}")
    print_sections(report.remarks, form)


def _typed(document: dict[str, Any]) -> RunDocument:
    """Return the document as its class, without what kinds print themselves."""
    # Here, since a load imports this module before its window, and numpy would come with it.
    from agentbench_tui.verdicts.runs.documents import typed_run

    own = {kind.name for kind in _printing_kinds(document["executions"])}
    executions = [
        {name: value for name, value in one.items() if name not in own}
        for one in document["executions"]
    ]
    return typed_run(document | {"executions": executions})


def _print_raw(document: dict[str, Any], form: str) -> None:
    """Print raw numbers: in the kind's own form if all executions are of one kind, else one row
    per execution.
    """
    from agentbench_tui.presentation.execution_records import execution_records
    from agentbench_tui.verdicts.runs.documents import typed_executions

    executions = document["executions"]
    kinds = _printing_kinds(executions)
    if len(kinds) == 1 and all(one.get(kinds[0].name) is not None for one in executions):
        kinds[0].part("result")(document, executions, form, in_full=False)
    else:
        records = execution_records(typed_executions(executions))
        print_rows(records.rows, records.columns, form)


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


def _is_unmeasured(execution: dict[str, Any]) -> bool:
    """Return whether the run was interrupted before anything was stored."""
    return execution["status"] == "interrupted" and not (
        execution["metrics"] or execution["cases"]["observed"]
    )


def place_of(execution: dict[str, Any]) -> str:
    """Return its benchmark, agent and point."""
    words = (execution["benchmark_id"], execution["agent_id"], point_words(execution["parameters"]))
    return " ".join(filter(None, words))


def pause_words(pauses: Iterable[Mapping[str, Any]]) -> str:
    """Say which agents wait because their server asked for it, as a continuation; see
    `progress.pauses_of_run`.
    """
    return "".join(
        one_line(f"; {one['agent_id']} waits {max(1, round(one['pause_s']))} s as its server asked")
        for one in pauses
    )
