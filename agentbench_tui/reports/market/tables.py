"""Files on episodes of a market world: a folder for each, and how the agents compare.

Nothing in them is read off a clock but the times in `result.json` and `metrics.json`, so that the
comparisons of two equal runs are equal files.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from msgspec.structs import replace

from agentbench_tui.contracts.document import plain
from agentbench_tui.contracts.market import (
    ForesightFacts,
    MarketAgentSummary,
    MarketDocument,
    MetricMean,
)
from agentbench_tui.market.packing import unpack
from agentbench_tui.model.errors import write_error
from agentbench_tui.model.outcome_foresight import Foresight, foresight
from agentbench_tui.model.text.untrusted import visible
from agentbench_tui.reports.market.pages import (
    comparison_page,
    detailed_page,
    episode_index_page,
    index_page,
    links_of,
    summary_page,
    tick_of,
    timeline_page,
)

SCHEMA = "agentbench.market-comparison/1"
TRAJECTORIES = "trajectories.jsonl"
_FILES = ("comparison.json", "comparison.csv")
_OF_EPISODE = ("result.json", "metrics.json", "metrics.csv", "actions.csv")
_OF_BRIEF = ("title", "world", "metrics", "notices", "knows_outcomes")
_OF_CLOCKS = ("response_ms", "turn_ms")
_FORMULA = frozenset("=+-@\t")
"""Characters that begin a formula in spreadsheets; some ignore tabs before it."""
_MAKERS = {
    "summary.html": summary_page,
    "detailed.html": detailed_page,
    "timeline.html": timeline_page,
}


@dataclass(frozen=True, slots=True)
class Played:
    """One episode, as the store has it."""

    agent_id: str
    world: str
    """The case's id."""
    repeat: int
    """From 0; passes of one repeat are counted on."""
    simulated: bool
    record: Mapping[str, Any]
    """See `verdicts.runs.market_episode`, and its metrics."""

    @property
    def metrics(self) -> dict[str, Any]:
        """Flat: `response_ms.p50` for what lies in a table."""
        return flat(self.record["metrics"])

    @property
    def knows_outcomes(self) -> bool:
        """Whether the agent was given the truth, so that nothing should be trained on it."""
        return bool(self.record.get("knows_outcomes", self.simulated))

    @property
    def folder(self) -> str:
        """Name of its folder."""
        return f"{self.agent_id}/{self.world}/run-{self.repeat + 1}"

    @property
    def brief(self) -> Played:
        """It without what happened tick by tick: what pages and tables on all episodes need."""
        record = {name: self.record[name] for name in _OF_BRIEF if name in self.record}
        return dataclasses.replace(self, record=record)


def flat(metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten tables to names with dots."""
    found: dict[str, Any] = {}
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            found |= {f"{name}.{part}": inner for part, inner in value.items()}
        else:
            found[name] = value
    return found


def agent_summaries(episodes: Sequence[Played]) -> list[MarketAgentSummary]:
    """Return mean, standard deviation and number of each metric's values, by agent."""
    by_agent: dict[tuple[str, bool], list[Played]] = {}
    for one in episodes:
        by_agent.setdefault((one.agent_id, one.simulated), []).append(one)
    return [
        MarketAgentSummary(
            agent_id=agent_id,
            simulated=simulated,
            episodes=len(those),
            foresight=_foresight_facts(foresight_of(those)),
            metrics=_means([one.metrics for one in those]),
        )
        for (agent_id, simulated), those in sorted(by_agent.items())
    ]


def _foresight_facts(found: Foresight) -> ForesightFacts:
    return ForesightFacts(
        forecast_markets=found.markets,
        log10_evidence=found.log10_evidence,
        is_beyond_chance=found.is_beyond_chance,
    )


def foresight_of(episodes: Sequence[Played]) -> Foresight:
    """What the forecasts of one agent say."""
    ordered = sorted(episodes, key=lambda one: one.repeat)
    return foresight((one.record["world"], one.record["metrics"]) for one in ordered)


def called_out(episodes: Sequence[Played]) -> list[str]:
    """A sentence for each agent whose forecasts are right beyond chance; for none that is marked
    as simulated, such as the oracle."""
    by_agent: dict[str, list[Played]] = {}
    for one in episodes:
        if not one.simulated:
            by_agent.setdefault(one.agent_id, []).append(one)
    verdicts = ((agent, foresight_of(those)) for agent, those in sorted(by_agent.items()))
    return [verdict.sentence(agent) for agent, verdict in verdicts if verdict.is_beyond_chance]


def _means(metrics: Sequence[Mapping[str, Any]]) -> dict[str, MetricMean]:
    names = dict.fromkeys(name for one in metrics for name in one)
    found: dict[str, MetricMean] = {}
    for name in names:
        values = [
            float(one[name])
            for one in metrics
            if isinstance(one.get(name), int | float) and not isinstance(one[name], bool)
        ]
        if values:
            spread = stdev(values) if len(values) > 1 else None
            found[name] = MetricMean(mean=fmean(values), sd=spread, n=len(values))
    return found


class Reports:
    """The files of one run in a folder: `add` every episode, then `finish`.

    Only one episode is looked at at a time; long ones are large. Raises UsageError where the folder
    cannot be written.
    """

    def __init__(self, folder: Path, *, is_alone: bool) -> None:
        self._folder = folder
        self._is_alone = is_alone
        self._files = [*_FILES, *(_OF_EPISODE if is_alone else ("result.json",))]

    def add(self, played: Played) -> None:
        """Write the pages and tables of one episode, in its folder; of a single one, in the top."""
        folder = self._folder if self._is_alone else self._folder / played.folder
        with _writing(folder):
            trajectory = _write_episode(folder, played, is_alone=self._is_alone)
            if trajectory is not None:
                self._add_trajectory(played, trajectory)

    def finish(self, document: MarketDocument, episodes: Sequence[Played]) -> None:
        """Write what compares the episodes; their briefs are enough."""
        episodes = sorted(episodes, key=lambda one: (one.agent_id, one.world, one.repeat))
        folder = self._folder
        with _writing(folder):
            rows = _without_clocks(agent_summaries(episodes))
            _write(folder / "comparison.json", _dump(_comparison(rows, episodes)))
            _write(folder / "comparison.csv", comparison_csv(episodes))
            notes = called_out(episodes)
            _write(folder / "comparison.html", comparison_page(rows, episodes, notes))
            if not self._is_alone:
                _write(folder / "result.json", _dump(plain(document)))
            _write(folder / "index.html", index_page(rows, episodes, self._files, notes))

    def _add_trajectory(self, played: Played, trajectory: Mapping[str, Any]) -> None:
        """A line of canonical JSON."""
        is_first = TRAJECTORIES not in self._files
        if is_first:
            self._files += [TRAJECTORIES, *(("trajectory.json",) if self._is_alone else ())]
        row = {"agent_id": played.agent_id, "repeat": played.repeat, **trajectory}
        with (self._folder / TRAJECTORIES).open("w" if is_first else "a", encoding="utf-8") as file:
            file.write(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n")


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise write_error(folder, error) from None


def _write_episode(folder: Path, played: Played, *, is_alone: bool) -> dict[str, Any] | None:
    """Write its files; the trajectory, where there is one."""
    links = links_of(played, is_alone=is_alone)
    for name, page in _MAKERS.items():
        _write(folder / name, page(played, links))
    packed = played.record.get("trajectory")
    trajectory: dict[str, Any] | None = None
    if packed is not None:
        from agentbench_tui.market.trajectory import exported

        trajectory = exported(
            unpack(packed),
            played.agent_id,
            played.folder,
            played.repeat,
            knows_outcomes=played.knows_outcomes,
        )
    result = {name: value for name, value in played.record.items() if name != "trajectory"}
    named = {"agent_id": played.agent_id, "world": played.world, "repeat": played.repeat}
    _write(folder / "result.json", _dump({**named, **result}))
    _write(folder / "metrics.json", _dump({**named, **played.record["metrics"]}))
    files = [*_OF_EPISODE]
    if trajectory is not None:
        _write(folder / "trajectory.json", _dump(trajectory))
        files.append("trajectory.json")
    if not is_alone:
        _write(folder / "index.html", episode_index_page(played, files))
    _write(folder / "actions.csv", actions_csv(played))
    _write(folder / "metrics.csv", _csv(("metric", "value"), played.metrics.items()))
    return trajectory


def actions_csv(played: Played) -> str:
    """tick, type, data, ok, result."""
    rows = (
        (tick_of(act), act["method"], _line(act["arguments"]), act["ok"], act["result"])
        for act in played.record["acts"]
    )
    return _csv(("tick", "type", "data", "ok", "result"), rows)


def comparison_csv(episodes: Sequence[Played]) -> str:
    """A line for each episode, a column for each metric that is not read off a clock."""
    names = [
        name
        for name in dict.fromkeys(name for one in episodes for name in one.metrics)
        if not name.startswith(_OF_CLOCKS)
    ]
    rows = (
        (one.agent_id, one.world, one.repeat + 1, *(one.metrics.get(name) for name in names))
        for one in episodes
    )
    return _csv(("agent_id", "world", "repeat", *names), rows)


def _comparison(rows: Sequence[MarketAgentSummary], episodes: Sequence[Played]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "worlds": {one.world: one.record["world"] for one in episodes},
        "summary": plain(rows),
        "notices": called_out(episodes),
        "episodes": [
            {
                "agent_id": one.agent_id,
                "world": one.world,
                "repeat": one.repeat,
                "metrics": _timeless(one.metrics),
            }
            for one in episodes
        ],
    }


def _without_clocks(rows: Sequence[MarketAgentSummary]) -> list[MarketAgentSummary]:
    return [replace(row, metrics=_timeless(row.metrics)) for row in rows]


def _timeless(metrics: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metrics.items() if not name.startswith(_OF_CLOCKS)}


def _csv(head: Sequence[str], rows: Any) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_safe(value) for value in row] for row in rows)
    return text.getvalue()


def _safe(value: Any) -> Any:
    """A text that no spreadsheet takes for a formula, its control characters written out."""
    if not isinstance(value, str):
        return value
    text = visible(value)
    return f"'{text}" if text[:1] in _FORMULA else text


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _dump(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
