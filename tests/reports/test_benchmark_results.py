"""`run --report`: StateSet's files, with the figures of the run and what the thresholds say."""

import json
import random
import sqlite3
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.reports.benchmark_results.results_files import as_markdown
from agentbench_tui.reports.benchmark_results.thresholds import Figures, judged, memory_growth
from agentbench_tui.store.database import reading
from agentbench_tui.verdicts.load.load_samples import samples_of

SUITE = {
    "suite_id": "small",
    "benchmarks": [
        {
            "benchmark_id": "cpu",
            "kind": "experiment",
            "experiment": "stateset_cpu",
            "parameters": {"numbers": 100},
            "iterations": {"warmup": 1, "measured": 60},
            "scoring_rubric": {
                "speed": {"metric": "sum", "target": 328_250, "limit": 328_450},
                "efficiency": {"metric": "gpu_usage_percent", "target": 80, "limit": 50},
            },
        }
    ],
}


class Cells(HTMLParser):
    """The texts of a table's cells."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._in = tag in {"td", "th"}

    def handle_data(self, data: str) -> None:
        if self._in:
            self.found.append(data)
            self._in = False


def test_the_files_have_what_was_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "small.json").write_text(json.dumps(SUITE))
    database, folder = tmp_path / "store.db", tmp_path / "out"
    words = ["run", str(tmp_path / "small.json"), "--no-ui", "--quiet", "--db", str(database)]
    assert _run([*words, "--report", "html,md,json", "--output", str(folder)]) == 0
    document = json.loads((folder / "benchmark_results.json").read_text())
    assert capsys.readouterr().err.count("written: ") == 3
    (found,) = document["results"]
    with reading(database) as connection:
        times = [
            row[0]
            for row in connection.execute(
                "SELECT e2e_ms FROM answers a JOIN runs r ON r.key=a.run_key WHERE r.id=?",
                (document["run_id"],),
            )
        ]
    assert found["iterations"] == 60
    assert found["avg_time_ms"] == pytest.approx(fmean(times))
    assert found["std_dev_ms"] == pytest.approx(stdev(times))
    assert (found["min_time_ms"], found["max_time_ms"]) == (min(times), max(times))
    assert found["p99_ms"] is None, "60 are too few"
    assert "good p95" in found["judged"]
    speed, efficiency = found["rubrics"]
    assert (speed["value"], speed["score"]) == (328_350, 0.5)  # 0² + … + 99²
    assert (efficiency["metric"], efficiency["target"]) == ("gpu_usage_percent", 80)
    html = (folder / "benchmark_results.html").read_text()
    assert html.count("Content-Security-Policy") == 1  # the page of `agentbench report`
    assert '<h2 id="environment-title">' in html
    page = Cells()
    page.feed(html.partition('<section id="thresholds"')[2])
    assert page.found[:2] == ["benchmark", "agent"]
    assert page.found[15:18] == ["cpu", "code", "60"]
    text = (folder / "benchmark_results.md").read_text()
    assert "| cpu | code | 60 |" in text
    assert "speed 0.50 (sum: 1 at 328,250, 0 at 328,450), efficiency – (gpu_usage_percent" in text


def results(folder: Path, suite: dict[str, object], *words: str) -> dict[str, dict[str, Any]]:
    """Each result of a run by the name of its benchmark."""
    (folder / "suite.json").write_text(json.dumps(suite))
    command = ["run", str(folder / "suite.json"), "--no-ui", "--quiet", *words]
    command += ["--db", str(folder / "store.db"), "--report", "json", "--output", str(folder)]
    assert _run(command) == 0
    document = json.loads((folder / "benchmark_results.json").read_text())
    return {one["name"]: one for one in document["results"]}


TIMES = ("total_time_ms", "avg_time_ms", "min_time_ms", "max_time_ms", "std_dev_ms")


def test_times_of_questions_and_of_a_load_are_those_that_were_measured(tmp_path: Path) -> None:
    load = {"concurrency": 2, "requests": 6, "workload": [{"name": "short", "prompts": ["hi"]}]}
    once = {"warmup": 0, "measured": 1}
    suite = {
        "suite_id": "asked",
        "benchmarks": [
            {"benchmark_id": "load", "kind": "load", "load": load},
            {"benchmark_id": "task", "scorers": [], "iterations": once,
             "dataset": {"cases": [{"id": f"c{n}", "input": "hi"} for n in range(4)]}},
        ],
    }  # fmt: skip
    found = results(tmp_path, suite, "--agent", "stub=mock?ttft=1ms&itl=0.1ms&tokens=4")
    with reading(tmp_path / "store.db") as connection:
        keys = dict(connection.execute("SELECT benchmark_id, key FROM benchmark_executions"))
        rows = connection.execute(
            "SELECT e2e_ms FROM answers WHERE execution_key=?", (keys["task"],)
        ).fetchall()
        execution = {"key": keys["load"]}
        sent = [row["e2e_ms"] for row in samples_of(connection, execution)]
    for name, times in (("task", [row[0] for row in rows]), ("load", sent)):
        assert len(times) == found[name]["iterations"] == (4 if name == "task" else 6)
        assert [found[name][one] for one in TIMES] == pytest.approx(
            [sum(times), fmean(times), min(times), max(times), stdev(times)]
        )


def test_recorded_answers_take_no_time(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text('{"question": "hi", "answer": "hi"}\n')
    case = {"id": "c0", "input": "hi", "expected": "hi"}
    task = {"benchmark_id": "task", "scorers": ["exact"], "dataset": {"cases": [case]}}
    task["iterations"] = {"warmup": 0, "measured": 1}
    suite = {"suite_id": "recorded", "benchmarks": [task]}
    agent = f"old=replay:{tmp_path / 'answers.jsonl'}?answer=answer"
    found = results(tmp_path, suite, "--agent", agent)
    assert (found["task"]["iterations"], found["task"]["accuracy"]) == (1, 1.0)
    assert all(found["task"][one] is None for one in TIMES)


def test_a_folder_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "small.json").write_text(json.dumps(SUITE))
    (tmp_path / "file").touch()
    database = tmp_path / "store.db"
    words = ["run", str(tmp_path / "small.json"), "--no-ui", "--db", str(database)]
    assert _run([*words, "--report", "md", "--output", str(tmp_path / "file" / "out")]) == 2
    assert "out cannot be written: Not a directory" in capsys.readouterr().err
    assert not database.exists()


def test_points_and_answers_that_were_right_are_told_where_there_are_any() -> None:
    def row(rate: int, accuracy: float | None) -> dict[str, object]:
        about = {"agent_id": "bot", "simulated": False, "parameters": {"rate": rate}}
        numbers = ("avg_time_ms", "std_dev_ms", "min_time_ms", "p50_ms", "p95_ms", "p99_ms")
        numbers += ("max_time_ms", "total_time_ms", "memory_mb")
        return {
            "name": "load", "metadata": about, "iterations": 9, "accuracy": accuracy,
            "throughput": 12345.6, "judged": [], "rubrics": [], **dict.fromkeys(numbers),
        }  # fmt: skip

    def table(*rows: dict[str, object]) -> str:
        return as_markdown({"name": "x", "run_id": "r", "results": rows})

    assert "| load | rate=5 | bot | 9 | 0.25 |" in table(row(5, 0.25), row(8, None))
    assert "| load | bot | 9 | – | – | – | – | – | – | – | – | 12,346 |" in table(row(5, None))


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        (Figures(), []),
        (Figures(p95_ms=199.0), ["good p95"]),
        (Figures(p95_ms=200.0, p99_ms=1000.0, per_s=10.0, cv=0.15, gpu_percent=50.0), []),
        (Figures(p95_ms=900.0, p99_ms=1001.0, per_s=11.0), ["good throughput", "red flag: p99"]),
        (Figures(gpu_percent=81.0, memory_mb=29_000.0), ["good memory", "good GPU use"]),
        (Figures(gpu_percent=49.0, memory_mb=31_000.0), ["red flag: GPU waits"]),
        (Figures(cv=0.16), ["red flag: unstable times"]),
        (Figures(growth_mb_per_min=0.0), []),
        (Figures(growth_mb_per_min=12.0), ["red flag: memory grows by 12 MB a minute"]),
    ],
)
def test_thresholds(figures: Figures, told: list[str]) -> None:
    assert judged(figures) == told


@pytest.mark.parametrize(("per_reading", "growth"), [(0.5, 30.0), (0.0, 0.0)])
def test_memory_that_grows_is_seen_in_its_gauges(per_reading: float, growth: float) -> None:
    store = sqlite3.connect(":memory:")
    store.executescript(
        "CREATE TABLE benchmark_executions (id, run_key, agent_id, start_time, end_time);"
        "CREATE TABLE gauges (run_key, at, scope, reading);"
        "INSERT INTO benchmark_executions VALUES ('e', 1, 'bot', '2026-01-01T00:00:10Z',"
        " '2026-01-01T00:02:00Z');"
    )
    draw = random.Random(5)
    for n in range(90):  # a reading a second
        rss = 100 + per_reading * n + draw.gauss(0, 0.5)
        reading = json.dumps({"rss_mb": rss})
        store.execute("INSERT INTO gauges VALUES (1, ?, 'agent:bot', ?)", (1767225611 + n, reading))
    assert memory_growth(store, "e") == pytest.approx(growth, rel=0.1, abs=1e-9)
    assert memory_growth(store, "another") is None
    store.close()
