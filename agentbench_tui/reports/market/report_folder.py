"""Files on episodes of a market world: a folder for each, and how the agents compare.

Nothing in them is read off a clock but the times in `result.json`, `metrics.json` and
`index.html`, so that the comparisons of two equal runs are equal files.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from agentbench_tui.contracts.document import plain
from agentbench_tui.contracts.market import MarketAgentSummary, MarketDocument
from agentbench_tui.market.packing import unpack
from agentbench_tui.model.errors import write_error
from agentbench_tui.model.text.cells import csv_cell
from agentbench_tui.presentation.full_report.parts import FullReport, PageLink
from agentbench_tui.presentation.market.episode_pages import (
    comparison_page,
    detailed_page,
    files_chapter,
    summary_page,
    timeline_page,
)
from agentbench_tui.presentation.market.run_chapter import ANCHOR, market_chapter
from agentbench_tui.presentation.market.tables import PAGES
from agentbench_tui.reports.html.document import html_page
from agentbench_tui.verdicts.runs.market_summary import agent_summaries, called_out

if TYPE_CHECKING:
    from agentbench_tui.reports.html.answers import PageAnswers
    from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode
    from agentbench_tui.verdicts.runs.market_summary import MarketResults

_Value = TypeVar("_Value")
SCHEMA = "agentbench.market-comparison/1"
TRAJECTORIES = "trajectories.jsonl"
INDEX = "index.html"
_FILES = ("comparison.html", "comparison.json", "comparison.csv")
_OF_EPISODE = ("result.json", "metrics.json", "metrics.csv", "actions.csv")
_OF_CLOCKS = ("response_ms", "turn_ms")
_LONGEST_CELL = 1 << 20
"""Characters of a cell: a request of an agent may have as many."""
_COMPARISON = PageLink("Comparison", "comparison.html")
_PAGE_LINKS = tuple(PageLink(words.capitalize(), file) for file, words in PAGES.items())
"""Links between the pages of one episode."""


class Reports:
    """The files of one run in a folder: `add` every episode, then `finish`, then `write_index`.

    Only one whole episode is in memory at a time, because long ones are large. Raises UsageError
    where the folder cannot be written.
    """

    def __init__(self, folder: Path, *, is_alone: bool) -> None:
        self._folder = folder
        self._is_alone = is_alone
        self._files = [*_FILES, *(_OF_EPISODE if is_alone else ("result.json",))]

    def add(self, episode: PlayedEpisode) -> None:
        """Write the pages and tables of one episode, in its folder; of a single one, in the top."""
        folder = self._folder / self.place_of(episode)
        with _writing(folder):
            trajectory = _write_episode(folder, episode, self._links(episode))
            if trajectory is not None:
                self._add_trajectory(episode, trajectory)

    def place_of(self, episode: PlayedEpisode) -> str:
        """Return where the files of an episode are, with a slash at the end; empty for the top."""
        return "" if self._is_alone else f"{folder_of(episode)}/"

    def _links(self, episode: PlayedEpisode) -> list[PageLink]:
        up = "../" * self.place_of(episode).count("/")
        return [PageLink("Report", f"{up}{INDEX}"), *_PAGE_LINKS]

    def finish(self, document: MarketDocument, episodes: Sequence[PlayedEpisode]) -> None:
        """Write what compares the episodes; their briefs are enough."""
        episodes = sorted(episodes, key=lambda one: (one.agent_id, one.world, one.repeat))
        folder = self._folder
        with _writing(folder):
            rows = [
                replace(row, metrics=_without_clocks(row.metrics))
                for row in agent_summaries(episodes)
            ]
            _write(folder / "comparison.json", _dump(_comparison(rows, episodes)))
            _write(folder / "comparison.csv", comparison_csv(episodes))
            links = [PageLink("Report", INDEX), _COMPARISON]
            page = comparison_page(rows, episodes, called_out(episodes), links, self.place_of)
            _write(folder / "comparison.html", html_page(page))
            if not self._is_alone:
                _write(folder / "result.json", _dump(plain(document)))

    def write_index(
        self, report: FullReport, answers: PageAnswers | None, market: MarketResults
    ) -> None:
        """Write the report of the run, whose episodes link to their pages."""
        linked = market_chapter(market, self.place_of)
        chapters = [linked if one.anchor == ANCHOR else one for one in report.chapters]
        links = [_COMPARISON]
        if self._is_alone:
            links += _PAGE_LINKS
        page = replace(report, chapters=[*chapters, files_chapter(self._files)], links=links)
        with _writing(self._folder):
            _write(self._folder / INDEX, html_page(page, answers))

    def _add_trajectory(self, episode: PlayedEpisode, trajectory: Mapping[str, object]) -> None:
        """Append a line of canonical JSON."""
        is_first = TRAJECTORIES not in self._files
        if is_first:
            self._files += [TRAJECTORIES, *(("trajectory.json",) if self._is_alone else ())]
        row = {"agent_id": episode.agent_id, "repeat": episode.repeat, **trajectory}
        with (self._folder / TRAJECTORIES).open("w" if is_first else "a", encoding="utf-8") as file:
            file.write(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n")


def folder_of(episode: PlayedEpisode) -> str:
    """Return the name of the folder of an episode."""
    return f"{episode.agent_id}/{episode.world}/run-{episode.repeat + 1}"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise write_error(folder, error) from None


def _write_episode(
    folder: Path, episode: PlayedEpisode, links: Sequence[PageLink]
) -> dict[str, object] | None:
    """Write the files of an episode; return its trajectory if it has one."""
    trajectory = _trajectory(episode)
    record = {name: value for name, value in episode.record.items() if name != "trajectory"}
    named = {"agent_id": episode.agent_id, "world": episode.world, "repeat": episode.repeat}
    _write(folder / "result.json", _dump({**named, **record}))
    _write(folder / "metrics.json", _dump({**named, **episode.record["metrics"]}))
    files = [*_OF_EPISODE]
    if trajectory is not None:
        _write(folder / "trajectory.json", _dump(trajectory))
        files.append("trajectory.json")
    _write(folder / "actions.csv", actions_csv(episode))
    _write(folder / "metrics.csv", _csv(("metric", "value"), episode.metrics.items()))
    pages = {
        "summary.html": summary_page(episode, links, files),
        "detailed.html": detailed_page(episode, links),
        "timeline.html": timeline_page(episode, links),
    }
    for name, page in pages.items():
        _write(folder / name, html_page(page))
    return trajectory


def _trajectory(episode: PlayedEpisode) -> dict[str, object] | None:
    packed = episode.record.get("trajectory")
    if packed is None:
        return None
    from agentbench_tui.market.trajectory import exported

    return exported(
        unpack(packed),
        episode.agent_id,
        folder_of(episode),
        episode.repeat,
        knows_outcomes=episode.knows_outcomes,
    )


def actions_csv(episode: PlayedEpisode) -> str:
    """Return one line per kept call: tick, type, data, ok, result."""
    rows = (
        (one.tick, one.method, _line(one.arguments), one.is_accepted, one.result)
        for one in episode.calls
    )
    return _csv(("tick", "type", "data", "ok", "result"), rows)


def comparison_csv(episodes: Sequence[PlayedEpisode]) -> str:
    """Return a line for each episode, a column for each metric that is not read off a clock."""
    names = dict.fromkeys(name for one in episodes for name in _without_clocks(one.metrics))
    rows = (
        (one.agent_id, one.world, one.repeat + 1, *(one.metrics.get(name) for name in names))
        for one in episodes
    )
    return _csv(("agent_id", "world", "repeat", *names), rows)


def _comparison(
    rows: Sequence[MarketAgentSummary], episodes: Sequence[PlayedEpisode]
) -> dict[str, object]:
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
                "metrics": _without_clocks(one.metrics),
            }
            for one in episodes
        ],
    }


def _without_clocks(metrics: Mapping[str, _Value]) -> dict[str, _Value]:
    """Return the metrics that are not read off a clock."""
    return {name: value for name, value in metrics.items() if not name.startswith(_OF_CLOCKS)}


def _csv(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([csv_cell(value, _LONGEST_CELL) for value in row] for row in rows)
    return text.getvalue()


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _dump(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
