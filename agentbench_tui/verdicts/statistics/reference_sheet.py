"""Reads a file of reference results part by part, recording what was checked and the outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Answer: TypeAlias = float | Sequence[Any] | None
"""A number, or nested numbers as in the file; None if agentbench gives none."""
_ROUNDING = 1e-12
"""Absolute tolerance of an exact answer of 0."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Tolerance of a comparison."""

    kind: str
    """`exact`, `solved` or `monte carlo`."""
    tolerance: float
    relative: bool = True
    """Whether the tolerance is relative to the reference, or in its unit."""


EXACT = Rule("exact", 1e-9)
SOLVED = Rule("solved", 5e-6)
"""Answers that other software finds by stepping towards them carry the error of the last step,
2.5e-6 in statsmodels."""
APPROXIMATED = Rule("solved", 1e-7)
"""Answers of polynomials fitted to a distribution: releases of one library differ by 8e-9 (the p of
Shapiro-Wilk in scipy 1.17 and 1.18)."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One entry of the file with agentbench's result."""

    entry: str
    theirs: float
    ours: float | None
    """Of several numbers, those with the largest difference."""
    relative_difference: float | None
    rule: Rule
    ok: bool
    note: str = ""


@dataclass(slots=True)
class Findings:
    """Results of checking a file, collected while reading it."""

    checked: list[Checked] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Entries or sections that are not judged, and why."""
    unknown: list[str] = field(default_factory=list)
    """Entries that agentbench does not know."""


class Missing(Exception):
    """Raised if the file lacks an input of a section."""


class Sheet:
    """A part of the file. Everything read from it counts as known."""

    def __init__(self, name: str, content: Mapping[str, Any], findings: Findings) -> None:
        self.name = name
        self._content = content
        self._findings = findings
        self._known: set[str] = set()
        self._parts: list[Sheet] = []

    def names(self) -> list[str]:
        """Return the names of the entries and parts, without remarks."""
        return [name for name in self._content if not name.startswith("_")]

    def given(self, name: str) -> Any:
        """Return an input. Raises Missing if it does not exist."""
        if name not in self._content:
            raise Missing(f"{self.name}.{name} is not in the file")
        self._known.add(name)
        return self._content[name]

    def words(self, name: str) -> str:
        """Return a remark of the file; empty if it does not exist."""
        self._known.add(name)
        return str(self._content.get(name, ""))

    def part(self, name: str) -> Sheet | None:
        """Return the part `name`; None if it does not exist or has no entries."""
        content = self._content.get(name)
        if not isinstance(content, Mapping):
            return None
        self._known.add(name)
        sheet = Sheet(f"{self.name}.{name}", content, self._findings)
        self._parts.append(sheet)
        return sheet

    def parts(self) -> list[tuple[str, Sheet]]:
        """Return all parts by name."""
        found = [(name, self.part(name)) for name in self.names()]
        return [(name, sheet) for name, sheet in found if sheet is not None]

    def skip(self, name: str, reason: str) -> None:
        """Skip an entry or part, with the reason."""
        if name in self._content:
            self._known.add(name)
            self._findings.skipped.append((f"{self.name}.{name}", reason))

    def check(
        self,
        name: str,
        ours: Callable[..., Answer],
        *arguments: Any,
        rule: Rule = EXACT,
        note: str = "",
    ) -> None:
        """Compare the result of a function with the entry, if the file has it."""
        if name not in self._content:
            return
        try:
            answer = ours(*arguments)
        except (ValueError, ArithmeticError) as error:
            answer, note = None, f"no answer: {error}"
        self.same(name, answer, rule=rule, note=note)

    def same(self, name: str, ours: Answer, *, rule: Rule = EXACT, note: str = "") -> None:
        """Compare a result with the entry, if the file has it."""
        if name not in self._content:
            return
        self._known.add(name)
        entry, theirs, answers = f"{self.name}.{name}", _flat(self._content[name]), _flat(ours)
        if len(answers) != len(theirs):
            note = note or f"{len(answers)} numbers for {len(theirs)}"
            answers = [None] * len(theirs)
        pairs = list(zip(theirs, answers, strict=True))
        if not pairs:
            self._findings.skipped.append((entry, "an empty list"))
            return
        worst = max(pairs, key=lambda pair: _relative(*pair))
        off = _relative(*worst)
        shown = off if math.isfinite(off) else None
        ok = all(_near(one, other, rule) for one, other in pairs)
        self._findings.checked.append(Checked(entry, *worst, shown, rule, ok, note))

    def close(self) -> None:
        """Count every number that was not read as unknown."""
        for sheet in self._parts:
            sheet.close()
        self._findings.unknown += [
            f"{self.name}.{name}"
            for name in self.names()
            if name not in self._known and _holds_numbers(self._content[name])
        ]


def _flat(value: Any) -> list[Any]:
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return [value]
    return [number for part in value for number in _flat(part)]


def _relative(theirs: Any, ours: Any) -> float:
    if not (_is_number(theirs) and _is_number(ours)):
        return math.inf
    if theirs == ours:
        return 0.0
    off = abs(ours - theirs) / abs(theirs) if theirs else abs(ours)
    return off if math.isfinite(off) else math.inf


def _near(theirs: Any, ours: Any, rule: Rule) -> bool:
    if rule.relative:
        return _relative(theirs, ours) <= (rule.tolerance if theirs else _ROUNDING)
    if not (_is_number(theirs) and _is_number(ours)):
        return False
    return bool(abs(ours - theirs) <= rule.tolerance)


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") and not isinstance(value, bool)


def _holds_numbers(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_holds_numbers(part) for part in value.values())
    if isinstance(value, list):
        return any(_holds_numbers(part) for part in value)
    return _is_number(value)
