"""Market worlds in the report of a run, and the pages of their episodes."""

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.presentation.market.charts import equity_chart, price_charts
from agentbench_tui.presentation.market.run_chapter import market_chapter
from agentbench_tui.presentation.market.tables import episodes_table, unit_of
from agentbench_tui.presentation.market.timeline import timeline_text
from agentbench_tui.reports.html.document import _address
from agentbench_tui.store.database import reading
from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode, episodes_of
from agentbench_tui.verdicts.runs.market_summary import market_results


@pytest.fixture(scope="module")
def episodes(market_folder: Path) -> list[PlayedEpisode]:
    with reading(market_folder / "a.db") as connection:
        return [*episodes_of(connection, "latest")]


def test_the_report_of_a_run_has_a_chapter_on_its_worlds(market_folder: Path) -> None:
    page, comment = market_folder / "report.html", market_folder / "report.md"
    options = ["--html", str(page), "--md", str(comment), "--db", str(market_folder / "a.db")]
    assert _run(["report", "latest", *options]) == 0
    html, md = page.read_text(), comment.read_text()
    assert '<a href="#market">Market</a>' in html
    chapter = html.partition('<section id="market"')[2].partition("</section>")[0]
    titles = re.findall("<figcaption>([^<]*)</figcaption>", chapter)
    assert titles == [*("Equity", "Prices of prediction markets", "Prices of perpetuals")] * 2
    assert ".html" not in chapter  # a single file, without pages of episodes
    agents = [line for line in md.splitlines() if re.match(r"\| (hold|oracle \S+) \| 2 \|", line)]
    hold, oracle = ([cell.strip() for cell in line.split("|")[1:-1]] for line in agents)
    assert hold[2:5] == ["$0.00", "0.000", "0.000"]  # who does nothing makes nothing
    assert float(oracle[4]) == pytest.approx(1, abs=0.02)  # of what the oracle makes
    assert oracle[0].endswith("*")


def test_each_episode_has_its_timeline_among_the_cases(market_folder: Path) -> None:
    page = market_folder / "cases.html"
    assert _run(["report", "latest", "--html", str(page), "--db", str(market_folder / "a.db")]) == 0
    (packed,) = re.findall(r'id="answers-0">([^<]*)<', page.read_text())
    cases = [dict(one) for one in json.loads(gzip.decompress(b64decode(packed)))]
    timelines = [one["timeline"] for one in cases]
    assert len(timelines) == 6
    assert any("call  momentum: a2a." in text for text in timelines)
    assert all("  feed  " in text for text in timelines)


def test_the_index_is_the_report_and_leads_to_every_page(market_folder: Path) -> None:
    index = (market_folder / "out/index.html").read_text()
    assert 'class="verdict' in index
    links = set(re.findall(r'href="([^"#]+)"', index))
    for agent in ("hold", "momentum", "oracle"):
        for world in ("seed-12345", "seed-12346"):
            for page in ("summary", "detailed", "timeline"):
                assert f"{agent}/{world}/run-1/{page}.html" in links
    assert "comparison.html" in links
    assert all((market_folder / "out" / link).is_file() for link in links)


def test_equity_starts_with_the_money_and_ends_with_the_profit(
    episodes: list[PlayedEpisode],
) -> None:
    chart = equity_chart(episodes)
    assert chart is not None
    for line, episode in zip(chart.lines, episodes, strict=True):
        assert line.y[0] == pytest.approx(10_000, rel=0.05)
        assert line.y[-1] == pytest.approx(10_000 + (episode.metric("total_pnl") or 0.0))
        assert line.x[-1] == 10  # ten minutes of a tick a minute


def test_a_resolved_market_ends_at_0_or_1_and_perpetuals_begin_at_100(
    episodes: list[PlayedEpisode],
) -> None:
    markets, perpetuals = price_charts(episodes[0])
    assert {line.y[-1] for line in markets.lines} <= {0.0, 1.0}
    assert [line.y[0] for line in perpetuals.lines] == [100.0]


def test_only_the_first_worlds_are_drawn_and_the_rest_are_counted() -> None:
    def made(world: int, agent: str) -> PlayedEpisode:
        record = {"world": {"id": "w"}, "metrics": {"total_pnl": 1.0}, "equity": [1.0, 2.0]}
        return PlayedEpisode(agent, f"seed-{world}", 0, False, record)

    found = market_results(made(world, agent) for agent in "ab" for world in range(6))
    assert [*found.drawn] == ["seed-0", "seed-1", "seed-2", "seed-3"]
    sections = market_chapter(found).sections
    assert [len(one.charts) for one in sections if one.charts] == [1, 1, 1, 1]
    assert any(one.sentences == ["The first 4 of 6 worlds are drawn."] for one in sections)
    assert len(episodes_table(found.episodes).rows) == 12


def test_ticks_of_a_long_world_are_those_of_the_world() -> None:
    """A record of 3 marks of 4 minutes each, in a world of 7 minutes."""
    world = {"interval_ms": 60_000, "duration_s": 420}
    episode = PlayedEpisode("a", "w", 0, False, {"world": world, "tick_s": 240.0})
    assert episode.world_ticks(3) == [0, 4, 7]


def test_a_timeline_names_refused_calls_and_leaves_out_what_changes_nothing() -> None:
    act = {"tick": 1, "arguments": {"amount": 1.23456789}, "result": "no"}
    record = {
        "said": [{"tick": 0, "where": "feed", "who": "Ada", "text": "up"}],
        "acts": [
            {**act, "method": "a2a.buyShares", "ok": False},
            {**act, "method": "a2a.getFeed", "ok": True, "changes": False},
        ],
    }
    lines = timeline_text(PlayedEpisode("me", "w", 0, False, record)).splitlines()
    assert lines == [
        "tick 0  feed  Ada: up",
        'tick 1  refused call  me: a2a.buyShares {"amount": 1.23457}',
    ]


@pytest.mark.parametrize(
    ("name", "unit"),
    [("total_pnl", "USD"), ("response_ms.p95", "ms"), ("input_tokens", "tokens"), ("calls", "")],
)
def test_units_of_metrics_and_of_their_parts(name: str, unit: str) -> None:
    assert unit_of(name) == unit


def test_no_text_becomes_a_scheme_or_ends_an_address() -> None:
    assert _address("a/seed-1/run-1/summary.html") == "a/seed-1/run-1/summary.html"
    assert _address('javascript:alert(1)"') == "javascript%3Aalert%281%29%22"
