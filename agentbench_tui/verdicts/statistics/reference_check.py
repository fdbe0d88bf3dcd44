"""`stats check`: compares agentbench's statistics with results of other software, from a file.

The file has the shape of a dictionary of sections, each with its inputs, its answers and words on
how near they are to be met. Every answer is computed from the inputs in the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import agentbench_tui.verdicts.statistics.reference_check_columns as columns
import agentbench_tui.verdicts.statistics.reference_check_counts as counts
import agentbench_tui.verdicts.statistics.reference_check_power as power
from agentbench_tui.contracts.stats import CheckedEntry, SkippedEntry, StatsCheckDocument
from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.statistics.reference_sheet import Checked, Findings, Missing, Sheet

_SECTIONS: dict[str, Callable[[Sheet, Mapping[str, Any]], None]] = {
    "descriptive": columns.descriptive,
    "median_order_statistic_ci_95": columns.median_interval,
    "bootstrap": columns.bootstrap,
    "tests": columns.tests,
    "effect_sizes": columns.effect_sizes,
    "multiplicity": counts.multiplicity,
    "power": power.power,
    "rliable": counts.task_aggregates,
    "pass_k": counts.passes,
    "proportions": counts.proportions,
    "clustered_se": counts.clustered,
    "usl": power.scalability,
}
_INPUTS = "inputs"


@dataclass(frozen=True, slots=True)
class Check:
    """A checked file."""

    file: str
    findings: Findings

    @property
    def failed(self) -> list[Checked]:
        """Return entries that differ by more than the tolerance."""
        return [entry for entry in self.findings.checked if not entry.ok]


def check_file(path: Path) -> Check:
    """Check a file. Raises UsageError if it cannot be read, or has none of the sections."""
    content = _read(path)
    inputs = content.get(_INPUTS)
    given: Mapping[str, Any] = inputs if isinstance(inputs, Mapping) else {}
    findings = Findings()
    for name, check in _SECTIONS.items():
        part = content.get(name)
        if not isinstance(part, Mapping):
            findings.skipped.append((name, "not in the file"))
            continue
        sheet = Sheet(name, part, findings)
        try:
            check(sheet, given)
        except Missing as error:
            findings.skipped.append((name, str(error)))
        except (TypeError, ValueError, LookupError) as error:
            raise UsageError(f"{path}: section '{name}' is not as expected: {error}") from None
        sheet.close()
    findings.unknown += [
        name
        for name in content
        if name not in _SECTIONS and name != _INPUTS and not name.startswith("_")
    ]
    if not findings.checked:
        known = ", ".join(_SECTIONS)
        raise UsageError(f"{path}: nothing to check; none of the sections {known}")
    return Check(str(path), findings)


def check_document(check: Check) -> StatsCheckDocument:
    """Return the check as a document."""
    checked = check.findings.checked
    return StatsCheckDocument(
        file=check.file,
        ok=not check.failed,
        n_ok=len(checked) - len(check.failed),
        n_failed=len(check.failed),
        entries=tuple(map(_checked_entry, checked)),
        skipped=tuple(SkippedEntry(entry=name, reason=why) for name, why in check.findings.skipped),
        unknown=tuple(check.findings.unknown),
    )


def _checked_entry(entry: Checked) -> CheckedEntry:
    return CheckedEntry(
        entry=entry.entry,
        theirs=_number(entry.theirs),
        ours=_number(entry.ours),
        relative_difference=entry.relative_difference,
        rule=entry.rule.kind,
        tolerance=entry.rule.tolerance,
        tolerance_is="relative" if entry.rule.relative else "absolute",
        ok=entry.ok,
        note=entry.note,
    )


def _number(value: Any) -> float | None:
    number = None if value is None or isinstance(value, str) else float(value)
    return number if number is not None and math.isfinite(number) else None


def _read(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, Mapping):
        raise UsageError(f"{path}: a JSON object of sections is expected")
    return content
