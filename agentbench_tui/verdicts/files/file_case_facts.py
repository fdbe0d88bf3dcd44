"""Facts about cases in a sample file: inputs, and columns of unknown meaning, which may reveal
clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.verdicts.files.sample_cells import text_of
from agentbench_tui.verdicts.files.sample_columns import INPUTS

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.evidence.case_facts import CaseFacts
    from agentbench_tui.verdicts.files.sample_columns import Meaning
    from agentbench_tui.verdicts.files.table_file import Table


def add_case_facts(
    table: Table, columns: Meaning, rows: Integers, cases: Integers, facts: CaseFacts
) -> None:
    """Add to `facts` what these rows say about their cases, given by number."""
    used = {
        *columns.roles.values(),
        *columns.failures,
        *(one.name for one in (*columns.values, *columns.ignored)),
    }
    numbers, places = cases.tolist(), rows.tolist()
    for name, cells in (table.columns | dict(table.labels)).items():
        if name in used:
            continue
        texts = [text_of(cells[row]) for row in places]
        if name.lower() in INPUTS:
            facts.add_texts(numbers, texts)
        else:
            facts.add_column(name, str(table.path), numbers, texts)
