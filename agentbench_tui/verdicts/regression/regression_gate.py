"""The gate `no-regression`: judges an execution of a run that has just ended by the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.plain_number import plain

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.contracts.document import Json
    from agentbench_tui.verdicts.regression.finding import Finding
    from agentbench_tui.verdicts.regression.regression import Judgment


_SHOWN = 3
"""Metrics that are named of one execution."""


class NoRegression:
    """Judges executions of one run, each agent and version once for each choice of metrics; reads
    nothing in advance.
    """

    def __init__(self, connection: sqlite3.Connection, run_id: str) -> None:
        self._connection = connection
        self._run_id = run_id
        self._judged: dict[tuple[str, str, tuple[str, ...]], Judgment | str] = {}

    def __call__(
        self, execution: dict[str, Json], metrics: tuple[str, ...] = ()
    ) -> tuple[bool | None, str]:
        """Return whether there is no regression (None if undecided), and the findings behind it.

        Judges `metrics`, or the default ones if none are named.
        """
        if execution["status"] != "complete":
            return None, f"it is {execution['status']}"
        judgment = self._judgment(execution["agent_id"], execution["agent_version"], metrics)
        if isinstance(judgment, str):
            return None, judgment
        own = [one for one in judgment.findings if self._is_of(one, execution)]
        if not own:
            return None, (
                "it asked only some of the cases, it is not the newest of its kind, or nothing in"
                " it can be judged"
            )
        return _verdict(own)

    def _judgment(self, agent: str, version: str, metrics: tuple[str, ...]) -> Judgment | str:
        # numpy is only loaded for runs with this gate
        from agentbench_tui.verdicts.regression.regression import RegressionAsked, judge_agent

        found = self._judged.get((agent, version, metrics))
        if found is None:
            try:
                wanted = RegressionAsked(agent, version, metrics=metrics)
                found = judge_agent(self._connection, wanted)
            except UsageError as error:
                found = str(error)
            self._judged[agent, version, metrics] = found
        return found

    def _is_of(self, one: Finding, execution: dict[str, Json]) -> bool:
        place = one.place
        return (
            (place.suite_id, place.benchmark_id)
            == (execution["suite_id"], execution["benchmark_id"])
            and place.point == execution["parameters"]
            and bool(one.new)
            and one.new[-1].run_id == self._run_id
        )


def _verdict(findings: list[Finding]) -> tuple[bool | None, str]:
    from agentbench_tui.verdicts.regression.finding import UNDECIDED

    worse = [one for one in findings if one.verdict == "regression"]
    if worse:
        worst = sorted(worse, key=lambda one: -one.least_worsening)
        return False, _some([_words(one) for one in worst], "; ")
    suspects = [one for one in findings if one.verdict == "suspect"]
    if suspects:
        names = _some([_seems(one) for one in suspects], ", ")
        if any(one.is_decided_by_another_run for one in suspects):
            return None, f"{names}: suspect; run again, or `agentbench regressions --confirm`"
        return None, f"{names}: suspect: {suspects[0].reason}"
    undecided = [one for one in findings if one.verdict in UNDECIDED]
    if undecided:
        names = _some([one.metric for one in undecided], ", ")
        return None, f"{names}: {undecided[0].verdict}: {undecided[0].reason}"
    seen = [
        f"{_size(one, one.smallest)} of {one.metric}"
        for one in findings
        if one.smallest is not None
    ]
    if not seen:
        return True, "none seen; how small a one would have been is not known"
    return True, f"none seen; would have seen {_some(seen, ', ')}"


def _seems(one: Finding) -> str:
    if one.worsening is None:
        return one.metric
    return f"{one.metric} {_size(one, one.worsening)} worse than {one.against}"


def _some(texts: list[str], between: str) -> str:
    more = f" and {len(texts) - _SHOWN} more" if texts[_SHOWN:] else ""
    return f"{between.join(texts[:_SHOWN])}{more}"


def _size(one: Finding, size: float) -> str:
    return f"{100 * size:.1f} {'%' if one.scale.kind == 'ratio' else 'points'}"


def _words(one: Finding) -> str:
    if one.is_total and one.now is not None:
        return f"{one.metric} {plain(one.now, 4)}, unlike {one.against}"
    return f"{one.metric} at least {_size(one, one.least_worsening)} worse than {one.against}"
