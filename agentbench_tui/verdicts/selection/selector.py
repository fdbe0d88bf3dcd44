"""Parses what to compare or show: an agent, one of its versions, a run, a tag, a file.

    AGENT[@VERSION]            its latest complete executions
    run:ID[/AGENT[@VERSION]]   those of one run
    tag:NAME[/AGENT[@VERSION]] those of all runs with a tag, taken together
    file:PATH                  samples from a file

and behind each of the first three `?NAME=VALUE&…`, to keep only those points of a sweep, or loads
of that plan.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.store.queries.latest import latest_executions
from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.store.queries.selection import agent_ids, executions_where, tags
from agentbench_tui.verdicts.evidence.comparability import benchmark_of
from agentbench_tui.verdicts.evidence.place import latest_of_places

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.verdicts.evidence.place import Execution


@dataclass(frozen=True, slots=True)
class Selector:
    """One side of a comparison, as written."""

    text: str
    kind: Literal["agent", "run", "tag", "file"]
    name: str
    """Id of the agent or run, the tag, or the path."""
    agent: str | None = None
    """For a run or tag, the selected agent; for an agent, its id."""
    version: str | None = None
    point: dict[str, str] = field(default_factory=dict)
    """Parameters of a sweep or of a load's plan, as they were written."""

    def is_file_of(self, other: Selector) -> bool:
        """Return whether both are the same file, however its path is written."""
        return (
            self.kind == other.kind == "file"
            and Path(self.name).resolve() == Path(other.name).resolve()
        )


def parse_selector(text: str) -> Selector:
    """Parse a selector. Raises UsageError with the accepted forms."""
    scheme, colon, rest = text.partition(":")
    if colon and scheme == "file":
        if not rest:
            raise UsageError(f"'{text}': a path is expected behind file:")
        return Selector(text, "file", rest)
    written, _, query = text.partition("?")
    point = dict(parse_qsl(query, keep_blank_values=True))
    scheme, colon, rest = written.partition(":")
    if not colon:
        agent, _, version = written.partition("@")
        if not agent:
            raise UsageError(f"'{text}': {_FORMS}")
        return Selector(text, "agent", agent, agent, version or None, point)
    if scheme not in {"run", "tag"}:
        near = did_you_mean(scheme, ("run", "tag", "file"))
        raise UsageError(f"'{text}': no kind of selector '{scheme}'{near}; {_FORMS}")
    name, _, of = rest.partition("/")
    agent, _, version = of.partition("@")
    if not name:
        raise UsageError(f"'{text}': {_FORMS}")
    kind: Literal["run", "tag"] = "run" if scheme == "run" else "tag"
    return Selector(text, kind, name, agent or None, version or None, point)


_FORMS = "expected AGENT, AGENT@VERSION, run:ID, run:ID/AGENT, tag:NAME or file:PATH"


def executions_of_selector(
    connection: sqlite3.Connection,
    selector: Selector,
    *,
    suite: str | None = None,
    benchmark: str | None = None,
) -> list[Execution]:
    """Return the executions that the selector names, in order of measurement, for one agent and
    version.

    For an agent, the latest complete executions on each benchmark and point; for a run or tag, all
    complete ones. Raises UsageError if there are none, or several agents or versions.
    """
    run = find_run(connection, selector.name) if selector.kind == "run" else None
    if selector.kind == "agent" and not selector.point:
        # Earlier ones do not matter, and there may be thousands.
        found = latest_executions(
            connection,
            agent=selector.agent,
            version=selector.version,
            suite=suite,
            benchmark=benchmark,
        )
    else:
        found = executions_where(
            connection,
            agent=selector.agent,
            version=selector.version,
            run_key=None if run is None else run["key"],
            tag=selector.name if selector.kind == "tag" else None,
            suite=suite,
            benchmark=benchmark,
        )
    if not found:
        raise UsageError(_why_none(connection, selector, suite, benchmark))
    _check_one_agent(selector, found)
    if selector.point:
        found = _at_point(connection, selector, found)
    return latest_of_places(found) if selector.kind == "agent" else found


def _at_point(
    connection: sqlite3.Connection, selector: Selector, found: list[Execution]
) -> list[Execution]:
    """Return the executions at the point: by the parameters of a sweep, or by the plan of a load
    without one.
    """
    values = [(row, _plan(connection, row) | row["parameters"]) for row in found]
    kept = [
        row
        for row, has in values
        if all(name in has and _is(has[name], text) for name, text in selector.point.items())
    ]
    if kept:
        return kept
    wanted = ", ".join(f"{name}={value}" for name, value in selector.point.items())
    told = []
    for name in selector.point:
        measured = dict.fromkeys(_text(has[name]) for _, has in values if name in has)
        if measured:
            told.append(f"{name} was {', '.join([*measured][:8])}")
            continue
        names = sorted({name for _, has in values for name in has})
        some = ", ".join(names) or "none"
        told.append(f"it has no '{name}'{did_you_mean(name, names)}, its parameters: {some}")
    raise UsageError(f"'{selector.text}': nothing was measured at {wanted}; {'; '.join(told)}")


def _plan(connection: sqlite3.Connection, row: Execution) -> dict[str, Any]:
    """Return the values that a load's plan fixes by a single number, such as its rate."""
    load = benchmark_of(connection, row).get("load") or {}
    return {name: value for name, value in load.items() if isinstance(value, int | float)}


def _is(value: Any, text: str) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return _text(value) == text


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _check_one_agent(selector: Selector, found: list[Execution]) -> None:
    agents = sorted({row["agent_id"] for row in found})
    if len(agents) > 1:
        ways = ", ".join(f"{selector.kind}:{selector.name}/{agent}" for agent in agents[:6])
        raise UsageError(f"'{selector.text}' holds {len(agents)} agents: say which, as in {ways}")
    if selector.kind != "agent" and selector.version is None:
        versions = sorted({row["agent_version"] for row in found})
        if len(versions) > 1:
            ways = f"{selector.kind}:{selector.name}/{agents[0]}@{versions[0]}"
            raise UsageError(
                f"'{selector.text}' holds {len(versions)} versions of {agents[0]}: say which, "
                f"as in {ways}"
            )


def _why_none(
    connection: sqlite3.Connection,
    selector: Selector,
    suite: str | None,
    benchmark: str | None,
) -> str:
    """Return why nothing matches: an unknown name, or no complete execution."""
    if selector.kind == "agent" and selector.name not in (known := agent_ids(connection)):
        near = did_you_mean(selector.name, known)
        if Path(selector.name).exists():
            near = f' (did you mean "file:{selector.name}"?)'
        return f"no agent '{selector.name}'{near}; `agentbench agents list` shows them"
    if selector.kind == "tag" and selector.name not in (known := tags(connection)):
        return f"no run has the tag '{selector.name}'{did_you_mean(selector.name, known)}"
    of = f" of suite '{suite}'" if suite else ""
    of += f" on benchmark '{benchmark}'" if benchmark else ""
    return (
        f"'{selector.text}': there is no complete execution{of}; `agentbench runs list` shows "
        "what was measured"
    )
