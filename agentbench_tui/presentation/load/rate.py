"""The highest rate that keeps an SLO, as found by a search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.load.sentences import slo_words
from agentbench_tui.presentation.numbers import amount
from agentbench_tui.presentation.report import Report, Table, raw_columns

if TYPE_CHECKING:
    from agentbench_tui.contracts.load import LoadRateDocument

TAG = "find-rate"
"""Tag of the runs that a search measures."""
_WINDOWS = ("rate", "verdict", "reason", "run_id")


def load_rate_report(document: LoadRateDocument) -> Report:
    """Return the rate with its interval, the limit that broke first, and how it was measured; as
    records the windows."""
    rows = [msgspec.structs.asdict(one) for one in document.probes]
    return Report(Table(raw_columns(_WINDOWS), rows), sentences=_words(document))


def _words(document: LoadRateDocument) -> list[str]:
    who = document.agent_id + (" (simulated)" if document.simulated else "")
    passes, fails = document.low, document.high
    asks = slo_words(document.slo)
    if passes is not None and fails is not None:
        lines = [
            f"{who}: {amount(passes)}/s keeps the SLO [{amount(passes)}, {amount(fails)}] ({asks})"
        ]
    elif passes is not None:
        lines = [f"{who}: keeps the SLO up to {amount(passes)}/s, the most that was tried ({asks})"]
    elif fails is not None:
        lines = [
            f"{who}: misses the SLO already at {amount(fails)}/s, the least that was tried ({asks})"
        ]
    else:
        lines = [f"{who}: no rate kept or missed the SLO clearly ({asks})"]
    if document.broke:
        lines.append(f"broke first, at {amount(fails)}/s: {document.reason}")
    if document.stopped:
        lines.append(f"the search was stopped: {document.stopped}")
    elif not document.confirmed:
        lines.append("the ends of the interval did not repeat: measure again on a quiet machine")
    windows = counted(len(document.probes), "window")
    lines.append(
        f"[highest rate that keeps it, lowest that does not] from {windows}, each stored as a run "
        f"(`agentbench runs list --tag {TAG}`)"
    )
    return lines
