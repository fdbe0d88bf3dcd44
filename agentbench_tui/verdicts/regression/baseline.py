"""Chooses what the newest runs of an agent are compared with: a version, a run, a tag, or earlier
runs.

    --baseline NAME       one that was set under that name
    --baseline VERSION    the runs of that version
    --baseline run:ID     that run
    --baseline tag:NAME   the runs with that tag

Without any, the one that was set as `default` is taken, and without that the runs before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agentbench_tui.model.clock import utc_now
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.store.queries.baselines import DEFAULT, Baseline, baselines_of
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.store.queries.selection import keys_of, versions_of
from agentbench_tui.store.queries.selection import tags as known_tags
from agentbench_tui.verdicts.selection.selector import executions_of_selector, parse_selector

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

    from agentbench_tui.store.queries.baselines import AcceptedChange
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.regression.history import Point

KINDS = ("run", "tag")


@dataclass(frozen=True, slots=True)
class Sides:
    """The runs that are compared."""

    old: tuple[Point, ...]
    new: tuple[Point, ...]
    named: Baseline | None
    """The requested baseline; None for the earlier runs."""

    def words(self) -> str:
        """Describe the old side."""
        if self.named is not None:
            return target_words(self.named)
        versions = {point.version for point in self.old}
        if len(versions) == 1 and versions != {point.version for point in self.new}:
            return f"version {versions.pop()}"
        return f"the {len(self.old)} runs before" if len(self.old) != 1 else "the run before"


def target_words(baseline: Baseline) -> str:
    """Format `version 1.2`, `run:ID` or `tag:NAME`."""
    what = "version " if baseline.kind == "version" else f"{baseline.kind}:"
    return f"{what}{baseline.target}"


class Baselines:
    """The baselines of one agent."""

    def __init__(self, connection: sqlite3.Connection, agent: str, wanted: str | None) -> None:
        """`wanted` as in `--baseline`. Raises UsageError for an unknown name."""
        self._connection = connection
        self._agent = agent
        self._wanted = wanted
        stored = baselines_of(connection, agent)
        names = {one.name for one in stored}
        if wanted is None or wanted in names:
            self._stored = [one for one in stored if one.name == (wanted or DEFAULT)]
        else:
            self._stored = [parse_baseline(connection, agent, wanted, names)]
        self._known: dict[tuple[str, str], set[int]] = {}
        """Keys of the executions that a kind and target mean."""

    def keys(self) -> set[int]:
        """Return the agent's executions that any of them selects."""
        found: set[int] = set()
        for one in self._stored:
            found |= self._keys_of(one)
        return found

    def _keys_of(self, baseline: Baseline) -> set[int]:
        of = (baseline.kind, baseline.target)
        if of not in self._known:
            self._known[of] = keys_of(self._connection, self._agent, **dict([of]))
        return self._known[of]

    def ignored_words(self, named: Baseline, accepted: AcceptedChange) -> str:
        """Note that an accepted change is ignored because this baseline is used."""
        what = f"the change accepted since {accepted.since[:10]} is not looked at: "
        if self._wanted is not None:
            return f"{what}leave --baseline out to judge from it on"
        return (
            f"{what}baseline '{named.name}' is set ({target_words(named)}); "
            f"`agentbench baseline remove {self._agent}` judges from it on"
        )

    def at(self, place: Place) -> Baseline | None:
        """Return the baseline of a place; one of a benchmark takes precedence over one of a suite,
        then of all.
        """
        fitting = [
            one
            for one in self._stored
            if one.suite_id in {"", place.suite_id} and one.benchmark_id in {"", place.benchmark_id}
        ]
        return max(
            fitting, key=lambda one: (bool(one.benchmark_id), bool(one.suite_id)), default=None
        )

    def sides(self, place: Place, points: Sequence[Point], version: str | None) -> Sides | None:
        """Return the newest runs at a place and those to compare with, which may be none.

        `version` is the one to judge; the default is that of the newest run. None if it has no run.
        """
        known = [point for point in points if version in {None, point.version}]
        if not known:
            return None
        named = self.at(place)
        newest = known[-1]
        if named is None:
            return without_baseline(points[: points.index(newest) + 1])
        old = [point for point in points if self._is_of(point, named)]
        if any(point.version == newest.version for point in old):
            others = tuple(point for point in old if point is not newest)
            return Sides(others, (newest,), named) if others else Sides(tuple(old), (), named)
        new = [point for point in known if point.version == newest.version]
        return Sides(tuple(old), tuple(new), named)

    def _is_of(self, point: Point, baseline: Baseline) -> bool:
        return point.keys[0] in self._keys_of(baseline)


def without_baseline(points: Sequence[Point]) -> Sides:
    """Compare the newest version with the one before it; with one version the newest run with all
    earlier ones.

    `points` are the runs up to the newest one, the oldest first.
    """
    newest = points[-1]
    first = first_of_row(points, len(points) - 1)
    if first == 0:
        return Sides(tuple(points[:-1]), (newest,), None)
    start = first_of_row(points, first - 1)
    return Sides(tuple(points[start:first]), tuple(points[first:]), None)


def first_of_row(points: Sequence[Point], last: int) -> int:
    """Return the first of consecutive runs of one version."""
    first = last
    while first > 0 and points[first - 1].version == points[last].version:
        first -= 1
    return first


def baseline_of_selector(
    connection: sqlite3.Connection,
    text: str,
    name: str,
    suite: str | None = None,
    benchmark: str | None = None,
) -> Baseline:
    """Return the baseline for `AGENT[@VERSION]`, `run:ID[/AGENT]` or `tag:NAME[/AGENT]`.

    For an agent without a version, the newest one. Raises UsageError if nothing complete matches.
    """
    selector = parse_selector(text)
    if selector.kind == "file":
        raise UsageError(f"'{text}': a file cannot be a baseline; import its runs first")
    rows = executions_of_selector(connection, selector, suite=suite, benchmark=benchmark)
    newest = rows[-1]
    targets = {
        "agent": newest["agent_version"],
        "run": newest["run_id"],
        "tag": selector.name,
    }
    kind: Literal["version", "run", "tag"] = (
        "version" if selector.kind == "agent" else selector.kind
    )
    return Baseline(
        newest["agent_id"],
        name,
        suite or "",
        benchmark or "",
        kind,
        targets[selector.kind],
        utc_now(),
    )


def parse_baseline(
    connection: sqlite3.Connection,
    agent: str,
    text: str,
    names: Collection[str] = (),
) -> Baseline:
    """Return the baseline that `VERSION`, `run:ID` or `tag:NAME` means for an agent.

    Raises UsageError.
    """
    scheme, colon, rest = text.partition(":")
    kind: Literal["version", "run", "tag"]
    if not colon:
        kind, target = "version", text.removeprefix(f"{agent}@").removeprefix("@")
    elif scheme == "run" and rest:
        kind, target = "run", find_run(connection, rest)["id"]
    elif scheme == "tag" and rest:
        kind, target = "tag", rest
    else:
        near = did_you_mean(scheme, KINDS)
        raise UsageError(f"baseline '{text}': expected VERSION, run:ID or tag:NAME{near}")
    _check(connection, agent, kind, target, names)
    return Baseline(agent, "", "", "", kind, target, "")


def _check(
    connection: sqlite3.Connection, agent: str, kind: str, target: str, names: Collection[str]
) -> None:
    """Raise UsageError unless the agent has complete executions of it."""
    if kind == "version":
        versions = versions_of(connection, agent)
        if target not in versions:
            near = did_you_mean(target, [*versions, *names])
            raise UsageError(
                f"no version '{target}' of {agent}{near}; there are "
                f"{', '.join(versions) or 'none'}; baselines by name: "
                f"{', '.join(sorted(names)) or 'none'}"
            )
    elif kind == "run" and not keys_of(connection, agent, run=target):
        raise UsageError(f"run {target} has no complete execution of {agent}")
    elif kind == "tag" and not keys_of(connection, agent, tag=target):
        near = did_you_mean(target, known_tags(connection))
        raise UsageError(f"no run of {agent} has the tag '{target}'{near}")
