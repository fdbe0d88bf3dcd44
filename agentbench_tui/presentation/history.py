"""Text of a history: a table of versions for each metric, its course, and where it changed."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.contracts.document import plain
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.presentation.numbers import (
    MISSING,
    measure_of,
    p_value,
    points,
    ratio,
    signed_amount,
    with_interval,
)
from agentbench_tui.presentation.report import Column, Report, Row, Section, Table, raw_columns
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.contracts.history import (
        HistoryDocument,
        MeasuredVersion,
        MetricVersions,
        VersionComparison,
    )
    from agentbench_tui.presentation.numbers import Show

_BLOCKS = "▁▂▃▄▅▆▇█"
_GAP = "·"
_COLUMNS = (
    Column("version", "version", names_row=True),
    Column("runs", "runs", right=True),
    Column("first_shown", "first run (UTC)"),
    Column("tags_shown", "tags"),
    Column("value_shown", "value [95%]", right=True),
    Column("change_shown", "change [95%]", right=True),
    Column("against_shown", "against"),
    Column("verdict_shown", "verdict"),
)
_FIELDS = raw_columns(
    (
        "agent", "suite_id", "benchmark_id", "parameters", "metric", "unit", "better", "version",
        "first_at", "last_at", "runs", "tags", "value", "low", "high", "against", "verdict",
        "change", "change_is", "change_low", "change_high", "p_value", "p_adjusted", "reason",
    )
)  # fmt: skip


def history_report(document: HistoryDocument) -> Report:
    """Return the answer, where the agent changed, then a section for each metric at each place."""
    records = [
        _record(document.agent, one, version)
        for one in document.histories
        for version in one.versions
    ]
    sections = [_answer(document), *map(_section, document.histories)]
    return Report(Table(_FIELDS, records), sections)


class _Change(NamedTuple):
    """A version with which a metric became better or worse."""

    metric: MetricVersions
    version: str
    against: VersionComparison


def _answer(document: HistoryDocument) -> Section:
    """Say with which versions the agent became worse or better, the worst news first."""
    changes = [
        _Change(one, version.version, version.against)
        for one in document.histories
        for version in one.versions
        if version.version in one.changes and version.against is not None
    ]
    places = len({(one.suite_id, one.benchmark_id) for one in document.histories})
    sure = [change for change in changes if not change.against.disturbed]
    worse = [change for change in sure if change.against.verdict == "worse"]
    better = [change for change in sure if change.against.verdict == "better"]
    parts = [
        f"{word} with {_named(found, places)}"
        for word, found in (("worse", worse), ("better", better))
        if found
    ]
    if parts:
        words = f"{document.agent} became {', and '.join(parts)}."
    else:
        count = max((len(one.versions) for one in document.histories), default=0)
        words = f"{document.agent}: no certain change in {counted(count, 'version')}."
    sentences = []
    if worse:
        first = worse[0]
        versions = first.against.version, first.version
        two = " ".join(shlex.quote(f"{document.agent}@{one}") for one in versions)
        sentences.append(f"See what became worse: agentbench compare {two}")
    doubtful = [change for change in changes if change.against.disturbed]
    if doubtful:
        sentences.append(
            f"In doubt: {_named(doubtful, places)}. The machine or the harness disturbed these "
            "times; measure both versions in one run, on a quiet machine (`agentbench doctor` "
            "checks it)."
        )
    return Section(words, sentences=sentences, is_answer=True)


def _named(changes: Sequence[_Change], places: int) -> str:
    """Name the versions, each with what changed, and where if there are several `places`."""
    by_version: dict[str, list[str]] = {}
    for change in changes:
        by_version.setdefault(change.version, []).append(
            f"{change.metric.metric}{f' on {change.metric.benchmark_id}' if places > 1 else ''} "
            f"{_change(change.metric, change.against)}"
        )
    return ", ".join(f"{name} ({', '.join(what)})" for name, what in by_version.items())


def sparkline(values: Sequence[float | None]) -> str:
    """Return a block for each value, from the lowest to the highest; a dot where there is none."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return "".join(_block(value, low, high) for value in values)


def _block(value: float | None, low: float, high: float) -> str:
    if value is None or not math.isfinite(value):
        return _GAP
    if high <= low:
        return _BLOCKS[len(_BLOCKS) // 2 - 1]
    return _BLOCKS[round((value - low) / (high - low) * (len(_BLOCKS) - 1))]


def _section(one: MetricVersions) -> Section:
    tagged = any(version.tags for version in one.versions)
    columns = [column for column in _COLUMNS if tagged or column.key != "tags_shown"]
    rows = [_row(one, version) for version in one.versions]
    point = point_words(one.parameters)
    place = f"{one.suite_id}/{one.benchmark_id}" + (f" at {point}" if point else "")
    course = sparkline([version.value for version in one.versions])
    return Section(f"{place} {one.metric} {course}", [Table(columns, rows)], _sentences(one))


def _row(one: MetricVersions, version: MeasuredVersion) -> Row:
    against = version.against
    return {
        "version": version.version,
        "runs": len(version.run_ids),
        "first_shown": version.first_at[:16].replace("T", " "),
        "tags_shown": ", ".join(version.tags),
        "value_shown": with_interval(
            version.value, version.low, version.high, measure_of(one.unit)
        ),
        "change_shown": MISSING if against is None else _change(one, against),
        "against_shown": MISSING if against is None else against.version,
        "verdict_shown": MISSING if against is None else _verdict(against),
    }


def _verdict(against: VersionComparison) -> str:
    if against.reason:
        return "not comparable"
    is_doubtful = against.disturbed and against.verdict in {"better", "worse"}
    return f"{against.verdict}, in doubt" if is_doubtful else against.verdict


def _change(one: MetricVersions, against: VersionComparison) -> str:
    show: Show = ratio
    if against.change_is == "difference":
        show = points if one.unit == "share" else signed_amount
    return with_interval(against.change, against.low, against.high, show)


def _sentences(one: MetricVersions) -> list[str]:
    """Say where the metric changed, or that nothing shows a change, and why some versions were not
    judged."""
    by_version = {version.version: version for version in one.versions}
    lines = [
        f"{one.metric} became {against.verdict} with {name}: {_change(one, against)} against "
        f"{against.version} (p {p_value(against.p_adjusted)})"
        f"{'; in doubt: these times were disturbed' if against.disturbed else ''}"
        for name in one.changes
        if (against := by_version[name].against) is not None
    ]
    judged = [version for version in one.versions if version.against is not None]
    if not lines and judged:
        lines.append(f"no change is shown in {counted(len(judged) + 1, 'version')}")
    if not judged:
        lines.append("there is one version with a value; run again after a change")
    reasons: dict[str, list[str]] = {}
    for version in judged:
        if version.against is not None and version.against.reason:
            reasons.setdefault(version.against.reason, []).append(version.version)
    lines += [f"{', '.join(names)}: not comparable: {reason}" for reason, names in reasons.items()]
    return lines


def _record(agent: str, one: MetricVersions, version: MeasuredVersion) -> Row:
    against = {} if version.against is None else plain(version.against)
    return {
        **{key: value for key, value in plain(one).items() if key not in {"versions", "changes"}},
        **plain(version),
        "agent": agent,
        "runs": len(version.run_ids),
        "tags": " ".join(version.tags),
        "against": against.get("version"),
        "change_low": against.get("low"),
        "change_high": against.get("high"),
        **{
            key: against.get(key)
            for key in ("verdict", "change", "change_is", "p_value", "p_adjusted", "reason")
        },
    }
