"""`agentbench market`: worlds are made, played, verified and watched; equal runs agree."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.cli.market.watch import lines
from agentbench_tui.contracts.market import MarketDocument
from agentbench_tui.reports.market.report_folder import Reports, actions_csv
from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode

SMALL = ("--duration=10", "--interval", "60", "--markets=2", "--perpetuals", "1")
EPISODE_KEYS = {
    *("total_pnl", "pnl_percent", "prediction_accuracy", "perp_win_rate", "brier", "optimality"),
    *("optimality_fair", "max_drawdown", "social_value", "response_ms", "timeouts"),
    "invalid_calls",
}


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def market(*arguments: str) -> int:
    more = ("--db", "a.db", "--no-ui") if arguments[0] == "run" else ()
    return _run(["market", *arguments, *more])


def generate(capfd: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    assert market("generate", *SMALL, *options, "--format", "json") == 0
    return dict(json.loads(capfd.readouterr().out))


def test_a_world_is_written_where_its_id_says_with_its_truth_beside_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    world = generate(capfd, "--seed=0")
    path = Path(world["file"])
    assert path == Path("benchmarks") / f"benchmark-{world['id']}.json"
    assert path.with_suffix(".truth.json").is_file()
    assert world["seed"] == 0
    again = generate(capfd, "--seed", "0", "--output=other.json")
    assert again["sha256"] == world["sha256"]
    assert Path("other.json").read_bytes() == path.read_bytes()
    assert generate(capfd, "--seed", "1")["sha256"] != world["sha256"]


def test_a_file_that_holds_something_else_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    Path("mine.json").write_text("{}")
    assert market("generate", *SMALL, "--output", "mine.json") == 2
    assert Path("mine.json").read_text() == "{}"
    assert "--force" in capfd.readouterr().err
    assert market("generate", *SMALL, "--output", "mine.json", "--force") == 0
    Path("mine.json").unlink()
    assert market("generate", *SMALL, "--seed", "1", "--output", "mine.json") == 2
    assert "mine.truth.json exists with other content" in capfd.readouterr().err
    assert not Path("mine.json").exists()
    Path("folder").mkdir()
    for force in ((), ("--force",)):
        assert market("generate", *SMALL, "--output", "folder", *force) == 2
        assert "folder cannot be written: Is a directory" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("generate", "--seed", "-1"), "seed"),
        (("generate", "--conditions", "bul"), "conditions"),
        (("generate", "--markets", "0", "--perpetuals", "0"), "market"),
        (("generate", "--duration", "0.001"), "tick"),
        (("run",), "--baselines"),
        (("run", "--agent", "market:hodl"), "hold"),
        (("run", "nowhere.json", "--agent", "market:hold"), "nowhere.json"),
        (
            ("run", "--agent", "market:hold", "--real-time", "2", "--response-timeout", "1"),
            "--response-timeout and --real-time exclude each other",
        ),
        (("verify", "nowhere.json"), "nowhere.json"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(
    capfd: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    assert market(*options) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert said in err
    assert "Traceback" not in err


def test_worlds_of_one_seed_are_played_beside_each_other(
    capfd: pytest.CaptureFixture[str],
) -> None:
    calm = generate(capfd, "--seed=1", "--conditions=calm", "--output=calm.json")
    crash = generate(capfd, "--seed=1", "--conditions=crash", "--output=crash.json")
    play = ("run", "calm.json", "crash.json", "--agent", "market:hold", "--format=json")
    assert market(*play) == 0
    played = json.loads(capfd.readouterr().out)
    assert [one["world"] for one in played["episodes"]] == [
        f"seed-1-{calm['id']}",
        f"seed-1-{crash['id']}",
    ]
    assert market("run", "calm.json", "calm.json", "--agent", "market:hold") == 2
    assert "give it once" in capfd.readouterr().err


def test_an_option_that_makes_worlds_is_refused_beside_a_world(
    capfd: pytest.CaptureFixture[str],
) -> None:
    generate(capfd, "--output", "a.json")
    assert market("run", "a.json", "--agent", "market:hold", "--conditions", "mixed") == 2
    assert (
        "--conditions applies only to generated worlds, but a.json is a world file"
        in capfd.readouterr().err
    )


def test_a_run_gives_the_contract_for_scripts(capfd: pytest.CaptureFixture[str]) -> None:
    generate(capfd, "--output", "w.json")
    options = ("--benchmark", "w.json", "--agent", "market:hold", "--baselines", "--runs", "2")
    assert market("run", *options, "--format", "json") == 0
    document = json.loads(capfd.readouterr().out)
    assert document["schema"] == "agentbench.market/1"
    (world,) = document["worlds"]
    assert len(world["sha256"]) == 64
    assert len(document["episodes"]) == 8 * 2
    for one in document["episodes"]:
        assert set(one["metrics"]) >= EPISODE_KEYS
        assert one["world"] == "seed-12345"
    by_agent = {row["agent_id"]: row for row in document["summary"]}
    assert by_agent["oracle"]["metrics"]["optimality"]["mean"] == pytest.approx(1, abs=0.02)
    assert by_agent["hold"]["metrics"]["total_pnl"] == {"mean": 0.0, "sd": 0.0, "n": 2}
    assert by_agent["oracle"]["simulated"]
    assert not by_agent["bayes"]["simulated"]


def test_two_equal_runs_give_equal_comparisons(capfd: pytest.CaptureFixture[str]) -> None:
    for folder in ("one", "two"):
        options = (*SMALL, "--worlds", "2", "--baselines", "--save-trajectories")
        assert market("run", *options, "--output", folder) == 0
    capfd.readouterr()
    for name in ("comparison.json", "comparison.csv", "comparison.html", "trajectories.jsonl"):
        assert Path("one", name).read_bytes() == Path("two", name).read_bytes(), name
    files = {path.name for path in Path("one/random/seed-12346/run-1").iterdir()}
    assert files == {
        *("summary.html", "detailed.html", "timeline.html", "actions.csv"),
        *("metrics.csv", "result.json", "metrics.json", "trajectory.json"),
    }
    lines = [json.loads(line) for line in Path("one/trajectories.jsonl").read_text().splitlines()]
    assert len(lines) == 16
    assert len({line["group"] for line in lines}) == 2
    assert all(len(line["steps"]) == 10 for line in lines)
    check_links(Path("one"))
    comparison = Path("one/comparison.html").read_text()
    agents = comparison.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r'<td class="name">([^<]*)</td>', agents)
    assert rows[-1] == "oracle *"  # others by what they made of what was attainable
    assert set(rows[:-1]) == {
        *("hold", "random", "always_long", "momentum", "contrarian", "follower", "bayes")
    }


def test_a_single_episode_has_its_files_in_the_folder_itself(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert market("run", *SMALL, "--agent", "market:momentum", "--output=out") == 0
    rows = [*csv.reader(Path("out/metrics.csv").read_text().splitlines())]
    assert rows[0] == ["metric", "value"]
    assert {"total_pnl", "optimality_fair"} <= {row[0] for row in rows}
    assert json.loads(Path("out/result.json").read_text())["agent_id"] == "momentum"
    assert "summary.html" in Path("out/index.html").read_text()
    check_links(Path("out"))
    assert market("run", *SMALL, "--agent", "market:hold", "--output=out") == 2
    assert "out already contains a report" in capfd.readouterr().err
    assert json.loads(Path("out/result.json").read_text())["agent_id"] == "momentum"


def test_a_program_of_ones_own_plays_beside_a_baseline(capfd: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(
        "from agentbench_tui.market.client import play\n"
        "def turn(market):\n"
        "    if market.state['tick'] == 0:\n"
        "        market.call('a2a.buyShares', marketId='market-0', outcome='NO', amount=20)\n"
        "if __name__ == '__main__':\n"
        "    play(turn)\n"
    )
    agents = (
        "--agent",
        f"mine=worker:{sys.executable} mine.py",
        "--agent",
        "py=python:mine.py:turn",
    )
    assert market("run", *SMALL, *agents, "--format", "json") == 0
    document = json.loads(capfd.readouterr().out)
    mine, py = (one["metrics"] for one in document["episodes"])
    assert mine["total_pnl"] == py["total_pnl"] != 0
    assert mine["share_trades"] == 1


def test_a_sound_world_is_verified_and_a_changed_one_is_not(
    capfd: pytest.CaptureFixture[str],
) -> None:
    world = generate(capfd, "--output", "w.json")
    assert market("verify", "w.json", "--format", "json") == 0
    document = json.loads(capfd.readouterr().out)
    assert document["holds"]
    assert document["sha256"] == world["sha256"]
    text = Path("w.json").read_text()
    content = json.loads(text)
    content["flows"][0][3] += 1
    Path("w.json").write_text(json.dumps(content))
    assert market("verify", "w.json") == 1
    assert "same bytes" in capfd.readouterr().out
    assert market("run", "w.json", "--agent", "market:hold") == 2
    said = capfd.readouterr().err
    assert "w.json is not as it was generated: this version makes another world" in said
    assert "in flows; `agentbench market verify w.json` lists all problems" in said


def test_a_truth_that_was_changed_fails_as_a_check(capfd: pytest.CaptureFixture[str]) -> None:
    generate(capfd, "--output", "w.json")
    path = Path("w.truth.json")
    sound = path.read_bytes()
    content = json.loads(sound)
    for change in ({}, {"outcomes": dict.fromkeys(content["outcomes"], True)}):
        path.write_text(json.dumps(content | change, indent=1))
        assert market("verify", "w.json", "--format", "json") == 1
        document = json.loads(capfd.readouterr().out)
        hashes = next(row for row in document["checks"] if row["check"] == "hashes")
        assert hashes["problems"] == ["the truth is not the one whose sha256 the world holds"]
    path.write_bytes(sound)
    assert market("verify", "w.json") == 0


def test_an_episode_is_watched_again_in_lines(capfd: pytest.CaptureFixture[str]) -> None:
    assert market("run", *SMALL, "--agent", "market:always_long") == 0
    capfd.readouterr()
    assert _run(["market", "watch", "--db", "a.db"]) == 0
    out = capfd.readouterr().out
    assert "always_long in seed-12345, episode 1 of 1" in out
    assert "a2a.buyShares" in out
    assert "tick   10 " in out
    assert _run(["market", "watch", "--db", "a.db", "--episode", "1"]) == 2
    assert "has 1 episode, counted from 0" in capfd.readouterr().err


def test_of_a_long_game_the_ticks_are_those_of_the_world() -> None:
    document = {
        "ticks": 3,
        "tick_s": 240.0,
        "world": {"interval_ms": 60_000, "duration_s": 420},
        "equity": [100.0, 101.0, 102.0],
        "instruments": [{"id": "BTC\x1b", "kind": "perpetual", "prices": [1.0, 2.0, 3.0]}],
        "said": [{"tick": 1, "world_tick": 5, "where": "feed", "who": "Dana\x1b", "text": "hm"}],
        "acts": [],
    }
    first, middle, said, last = lines(document)
    assert [one.split()[1] for one in (first, middle, last)] == ["0", "4", "7"]
    assert first.endswith("BTC\\x1b 1")
    assert said == "  feed  Dana\\x1b: hm"


class Tags(HTMLParser):
    """Names of the elements of a page, and addresses that it loads from."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.sources: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.scripts = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.scripts += tag == "script"
        self.ids |= {value or "" for name, value in attrs if name == "id"}
        self.sources += [value or "" for name, value in attrs if name == "src"]
        self.links += [value or "" for name, value in attrs if name == "href"]


def check_links(folder: Path) -> None:
    """Every page leads to the index, and every link to a file or a heading of the page."""
    for page in folder.rglob("*.html"):
        tags = Tags()
        tags.feed(page.read_text())
        inside = [link[1:] for link in tags.links if link.startswith("#")]
        assert set(inside) <= tags.ids, page
        places = {(page.parent / link).resolve() for link in tags.links if link[0] != "#"}
        assert all(place.is_file() for place in places), page
        assert page.parent == folder or (folder / "index.html").resolve() in places, page


def test_what_an_agent_writes_is_text_in_every_page_and_no_formula_in_a_table(
    tmp_path: Path,
) -> None:
    hostile = '<script>alert(1)</script>"><img src=x onerror=y>'
    record = {
        "schema": "agentbench.episode/1",
        "title": hostile,
        "world": {"id": "w"},
        "ticks": 2,
        "tick_s": 60,
        "instruments": [
            {"id": "m", "name": hostile, "kind": "market", "prices": [0.5, 0.4]},
            {"id": "p", "name": hostile, "kind": "perpetual", "prices": [10, 11]},
        ],
        "equity": [100, 101],
        "holdings": [],
        "said": [{"tick": 0, "where": "feed", "who": hostile, "text": hostile}],
        "acts": [
            {"tick": 0, "method": method, "arguments": {hostile: hostile}, "ok": False,
             "changes": True, "result": hostile}
            for method in ("=1+1", "\t=1+1", "\r=1+1", "\u200b\ufeff=1+1", "＝1+1", "@x\u202e")
        ],
        "metrics": {"total_pnl": 1.0, "brier": None},
    }  # fmt: skip
    played = PlayedEpisode("agent", "seed-1", 0, False, record)
    reports = Reports(tmp_path / "out", is_alone=False)
    reports.add(played)
    document = MarketDocument(run_id="r", worlds=(), episodes=(), summary=(), notices=())
    reports.finish(document, [played.brief, played.brief])
    pages = [*(tmp_path / "out").rglob("*.html")]
    assert len(pages) == 4
    for page in pages:
        tags = Tags()
        tags.feed(page.read_text())
        assert not {"img", "link", "iframe"} & tags.names, page.name
        assert tags.scripts == 1  # its own, which the policy allows by its hash
        assert tags.sources == []
    table = csv.reader(io.StringIO(actions_csv(played), newline=""))
    methods = [row[1] for row in table][1:]
    assert methods[:3] == ["'=1+1"] * 3
    assert all(text[0] == "'" for text in methods)
    assert "\u202e" not in methods[5]


def test_reports_are_utf_8_whatever_the_locale() -> None:
    call = [sys.executable, "-c", "from agentbench_tui.cli.main import run; run()"]
    play = ("market", "run", *SMALL, "--agent=market:hold", "--output=out", "--db=a.db", "--no-ui")
    ascii_only = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    subprocess.run([*call, *play], check=True, env={**os.environ, **ascii_only})
    assert " · " in Path("out/index.html").read_text("utf-8")


def test_agents_are_compared_world_by_world_in_what_only_markets_have(
    capfd: pytest.CaptureFixture[str],
) -> None:
    agents = ("--agent", "market:oracle", "--agent", "market:always_long")
    assert market("run", *SMALL, *agents, "--worlds", "6", "--format", "json") == 0
    episodes = json.loads(capfd.readouterr().out)["episodes"]
    pnl = {
        agent: [one["metrics"]["total_pnl"] for one in episodes if one["agent_id"] == agent]
        for agent in ("oracle", "always_long")
    }
    compare = ("compare", "always_long", "oracle", "--db", "a.db", "--metric", "total_pnl")
    assert _run([*compare, "--format", "json"]) == 0
    (one,) = json.loads(capfd.readouterr().out)["metrics"]
    assert one["verdict"] == "better"
    gained = sum(pnl["oracle"]) - sum(pnl["always_long"])
    assert one["difference"] == pytest.approx(gained / 6)


def test_an_interrupted_run_ends_beside_an_agent_that_hangs_and_keeps_what_was_played(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("flags").mkdir()
    Path("mine.py").write_text(
        "import os, pathlib, signal, subprocess, threading\n"
        "def turn(market):\n"
        "    if market.state['tick'] == 9:\n"
        "        flag = pathlib.Path('flags/played')\n"
        "        if flag.exists():\n"
        "            child = subprocess.Popen(['sleep', '1000'])\n"
        "            pathlib.Path('flags/pids').write_text(f'{os.getpid()} {child.pid}')\n"
        "            os.kill(os.getppid(), signal.SIGINT)\n"
        "            threading.Event().wait()\n"
        "        flag.touch()\n"
    )
    agent = ("--agent", "python:mine.py:turn", "--worlds=2")
    assert market("run", *SMALL, *agent, "--format", "json") == 130
    (played,) = json.loads(capfd.readouterr().out)["episodes"]
    assert played["world"] == "seed-12345"
    for pid in Path("flags/pids").read_text().split():
        assert not Path("/proc", pid).exists()
    Path("flags/played").unlink()
    assert _run(["resume", "latest", "--db", "a.db", "--no-ui", "--quiet"]) == 0
    capfd.readouterr()
    assert _run(["market", "watch", "--db", "a.db", "--episode", "1"]) == 0
    assert "turn in seed-12346, episode 2 of 2" in capfd.readouterr().out
