"""Prints a comparison: verdict and accuracy first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.presentation.comparison.report import comparison_report

if TYPE_CHECKING:
    from agentbench_tui.contracts.compare import CompareDocument, CompareMatrixDocument
    from agentbench_tui.verdicts.groups.compare_groups import ComparedByGroups


def print_comparison(
    compared: CompareDocument | CompareMatrixDocument,
    form: str,
    by: ComparedByGroups | None = None,
    by_limit: int = 0,
) -> None:
    """Print a comparison in the requested format, with its breakdown `by` groups of cases."""
    print_report(comparison_report(compared), form, compared)
    if form not in {"table", "md"} or all(pair.identical for pair in compared.matrix):
        return
    if by is not None:
        from agentbench_tui.cli.compare.groups import print_groups
        from agentbench_tui.presentation.comparison.wording import both_values

        print_groups(by, form, by_limit, both_values)
