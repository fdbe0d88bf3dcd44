"""Gates on a run: a table of each gate on each execution, and the verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import counted, plain
from agentbench_tui.presentation.numbers import MISSING
from agentbench_tui.presentation.report import Column, Report, Row, Section, Table, raw_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.run import GateOutcome, GatesDocument

GATE_WORDS = {True: "holds", False: "FAILS", None: "cannot be judged"}
"""Whether a gate holds → its word."""
_COLUMNS = (
    Column("gate", "gate", names_row=True),
    Column("agent_id", "agent", names_row=True),
    Column("benchmark_id", "benchmark"),
    Column("point", "parameters", lambda value: value or ""),
    Column("word", "verdict"),
    Column("shown", "value"),
)
_RECORDS = raw_columns(("gate", "agent_id", "benchmark_id", "point", "value", "holds", "reason"))


def gates_report(document: GatesDocument) -> Report:
    """Show every gate on every execution, the failed ones first."""
    table = gates_table(document.gates)
    return Report(Table(_RECORDS, table.rows), (Section(tables=(table,)),), (_verdict(document),))


def gates_table(gates: Sequence[GateOutcome]) -> Table:
    """Return one row for each gate on each execution, the failed ones first."""
    ordered = sorted(gates, key=lambda one: (one.holds is not False, bool(one.holds)))
    return Table(_COLUMNS, [_row(one) for one in ordered])


def _row(one: GateOutcome) -> Row:
    value = one.value
    if value is None:
        shown = one.reason or MISSING
    else:
        shown = value if isinstance(value, str) else plain(value, 6)
    return {
        "gate": one.gate, "agent_id": one.agent_id, "benchmark_id": one.benchmark_id,
        "point": one.point, "value": value, "holds": one.holds, "reason": one.reason,
        "shown": shown, "word": GATE_WORDS[one.holds],
    }  # fmt: skip


def _verdict(document: GatesDocument) -> str:
    """Say in one line what the exit code says."""
    checked = counted(len(document.gates), "check")
    failed = sum(one.holds is False for one in document.gates)
    open_ = sum(one.holds is None for one in document.gates)
    head = f"run {document.run_id}: "
    if failed:
        return f"{head}failed; {failed} of {checked} failed"
    if open_:
        return f"{head}undecided; {open_} of {checked} cannot be judged"
    if not document.is_whole:
        why = f"it is {document.status}" if document.status != "complete" else ""
        return f"{head}undecided; part of it could not be measured{f' ({why})' if why else ''}"
    return f"{head}passed; {checked} passed"
