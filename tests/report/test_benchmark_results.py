"""`run --report`: StateSet's files, with the figures of the run and what the thresholds say."""

import json
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean, stdev

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.report.benchmark_results import judged
from agentbench_tui.store.database import reading

SUITE = {
    "suite_id": "small",
    "benchmarks": [
        {
            "benchmark_id": "cpu",
            "kind": "experiment",
            "experiment": "stateset_cpu",
            "parameters": {"numbers": 100},
            "iterations": {"warmup": 1, "measured": 60},
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
    for choice in ("both", "md"):
        assert _run([*words, "--report", choice, "--output", str(folder)]) == 0
        if choice == "both":
            document = json.loads((folder / "benchmark_results.json").read_text())
    assert "written: " in capsys.readouterr().err
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
    assert found["judged"] == ["good p95"]
    page = Cells()
    page.feed((folder / "benchmark_results.html").read_text())
    assert page.found[:2] == ["benchmark", "agent"]
    assert page.found[11:14] == ["cpu", "code", "60"]
    assert "| cpu | code | 60 |" in (folder / "benchmark_results.md").read_text()


@pytest.mark.parametrize(
    ("p95", "p99", "per_s", "told"),
    [
        (199.0, None, None, ["good p95"]),
        (200.0, 1000.0, 10.0, []),
        (900.0, 1001.0, 11.0, ["good throughput", "red flag: p99"]),
    ],
)
def test_thresholds(p95: float, p99: float | None, per_s: float | None, told: list[str]) -> None:
    assert judged(p95, p99, per_s) == told
