"""A profile as tables, sentences, waterfalls and a flame graph, for the page Profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from agentbench_tui.presentation.numbers import MISSING, duration, percent, quantity
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow
from agentbench_tui.tui.pages.cases.rows import waterfall_of
from agentbench_tui.tui.widgets.flame import Flame, Frame
from agentbench_tui.tui.widgets.sentences import Sentence
from agentbench_tui.tui.widgets.waterfall import Waterfall

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentbench_tui.contracts.profile import FlameFrame, ProfilePhase, TokenFigure
    from agentbench_tui.contracts.run import GaugeSummary
    from agentbench_tui.verdicts.profile.phases import Timed
    from agentbench_tui.verdicts.profile.profile import ExecutionProfile

_PHASES = (
    Column("name", "phase", 16, flex=2),
    Column("source", "source", 7, priority=6),
    Column("share", "share of all time", 20, flex=1, priority=2),
    Column("n", "n", 6, align="right", priority=4),
    Column("mean", "mean", 8, align="right", priority=5),
    Column("p50", "p50", 8, align="right", priority=3),
    Column("p95", "p95", 8, align="right", priority=3),
    Column("tail", "p95/p50", 7, align="right", priority=4),
)
_TOKENS = (
    Column("name", "tokens", 10, flex=1),
    Column("value", "number", 6, align="right"),
    Column("n", "n", 5, align="right", priority=3),
    Column("reason", "", 12, flex=2, priority=2),
)
_RESOURCES = (
    Column("name", "of", 14, flex=1),
    Column("mean", "mean", 9, align="right"),
    Column("low", "least", 9, align="right", priority=3),
    Column("high", "most", 9, align="right", priority=2),
    Column("n", "readings", 8, align="right", priority=4),
)
_UNITS = (
    ("_bytes_per_s", "B", "/s"), ("_ms_per_s", "ms", "/s"), ("_mb", "MB", ""),
    ("_percent", "%", ""), ("_w", "W", ""), ("_c", "°C", ""), ("_mhz", "MHz", ""),
)  # fmt: skip
"""Suffix of a field's name → unit and label."""
_NAMES = {
    "cpu": "CPU", "rss": "memory", "fds": "open files", "load1": "load, 1 minute",
    "psi cpu": "waits for a core", "psi io": "waits for a disk", "psi memory": "waits for memory",
}  # fmt: skip
"""Labels of short gauge names."""


def phases_table(phases: Iterable[ProfilePhase]) -> GridData:
    """Return the phases; below them the unknown ones with reasons."""
    numbered = sorted(enumerate(phases), key=lambda one: one[1].share is None)
    rows = [_phase_row(place, one) for place, one in numbered]
    return GridData(_PHASES, rows, reason="no answer was timed yet")


def _phase_row(place: int, one: ProfilePhase) -> GridRow:
    if one.share is None:
        why = Cell(f"{MISSING} {one.reason}", role="dim")
        return GridRow(str(place), (one.name, one.source, why, "0", *[MISSING] * 4), "dim")
    tail = one.tail
    return GridRow(
        str(place),
        (
            one.name,
            Cell(one.source, role="dim"),
            Cell(percent(one.share), bar=min(1.0, one.share)),
            f"{one.n:,}",
            *map(duration, (one.mean_ms, one.p50_ms, one.p95_ms)),
            Cell(MISSING if tail is None else f"{tail:.1f}×",
                 role="warn" if tail is not None and tail >= 3 else None),
        ),
    )  # fmt: skip


def bottlenecks_of(profile: ExecutionProfile) -> list[Sentence]:
    """Return the slowest phases, and those that are occasionally slow."""
    told: list[Sentence] = []
    for one in profile.times.slow:
        name, n = one.phase.name, f"(n = {one.phase.n:,})"
        if one.kind == "share":
            words = f"{percent(one.value)} of all time {n}"
            told.append(Sentence(words, name, "warn" if not told else "text"))
        else:
            words = f"one in twenty takes {one.value:.1f} times the median or more"
            told.append(Sentence(f"{words} {n}", name))
    if not told:
        told.append(Sentence("no phase takes a tenth of the time, and none has a long tail", ""))
    told += [
        Sentence(f"{', '.join(names)}: {reason}", "not known", "dim")
        for reason, names in _unknown(profile.times.phases).items()
    ]
    looked_at = len(profile.observed)
    if looked_at < profile.answers:
        of = f"the first {looked_at:,} of {profile.answers:,}"
        told.append(Sentence(f"taken from {of}", "note", "dim"))
    return told


def _unknown(phases: Iterable[ProfilePhase]) -> dict[str, list[str]]:
    """Return the names of phases without figures, by reason."""
    found: dict[str, list[str]] = {}
    for one in phases:
        if one.share is None:
            found.setdefault(one.reason or "", []).append(one.name)
    return found


def tokens_table(tokens: Sequence[TokenFigure]) -> GridData:
    """Return tokens by kind and by use; if none are known, why."""
    if all(one.value is None for one in tokens):
        return GridData(_TOKENS, reason=f"{MISSING} {tokens[0].reason}")
    rows = [
        GridRow(
            one.name,
            (
                one.name,
                MISSING if one.value is None else quantity(one.value),
                f"{one.n:,}",
                Cell(one.reason or "", role="dim"),
            ),
            "text" if one.value is not None else "dim",
        )
        for one in tokens
    ]
    return GridData(_TOKENS, rows)


def resources_table(found: Mapping[str, Mapping[str, GaugeSummary]]) -> GridData:
    """Return the gauges of the execution, the agent's first, GPUs last."""
    rows = []
    for scope in sorted(found, key=_rank):
        for field, one in found[scope].items():
            name, unit, behind = _named(field)
            name = _NAMES.get(name, name)
            figures = (_reading(part, unit, behind) for part in (one.mean, one.low, one.high))
            whose = f"{_short(scope)} {name}"
            rows.append(GridRow(f"{scope}/{field}", (whose, *figures, f"{one.n:,}")))
    reason = f"{MISSING} nothing was read: the execution was shorter than a reading takes"
    return GridData(_RESOURCES, rows, reason=reason)


def _reading(value: float | None, unit: str, behind: str) -> str:
    return MISSING if value is None else quantity(value, unit) + behind


def _rank(scope: str) -> tuple[bool, bool, list[int], str]:
    kind, _, name = scope.partition(":")
    numbers = [int(part) for part in name.split(".")] if kind == "gpu" else []
    return kind != "agent", kind == "gpu", numbers, scope


def _short(scope: str) -> str:
    """Shorten the name: there is one host and one agent, but there may be several GPUs."""
    kind, _, number = scope.partition(":")
    return f"GPU {number}" if kind == "gpu" else kind


def _named(field: str) -> tuple[str, str, str]:
    """Return `rss_mb` in words, its unit, and its label."""
    for end, unit, behind in _UNITS:
        if field.endswith(end):
            return field.removesuffix(end).replace("_", " "), unit, behind
    return field.replace("_", " "), "", ""


def waterfall_at(phases: Sequence[Timed] | None, total_ms: float) -> Waterfall:
    """Return the waterfall of one answer; None if there is none."""
    if phases is None:
        return Waterfall((), reason="nothing was answered yet")
    return waterfall_of(phases, total_ms, "no timing was recorded")


def flame_of(profile: ExecutionProfile) -> Flame:
    """Return the mean time per answer in each span."""
    if profile.times.flame is None:
        kind = "a load has no spans" if profile.is_load else "the agent reports no spans"
        return Flame(None, reason=f"{MISSING} {kind}")
    return Flame(_frame(profile.times.flame))


def _frame(one: FlameFrame) -> Frame:
    return Frame(one.name, one.value, tuple(map(_frame, one.children)))
