"""The chapter on the history of a run's agents: each metric over the runs, with its changes."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tui"))

from known_stores import history_store

from agentbench_tui.cli.main import _run


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of the newest run of `bot`, which became slower and less right in run 23."""
    folder = tmp_path_factory.mktemp("history")
    store = history_store(folder / "store.db")
    assert _run(["report", "--html", str(folder / "page.html"), "--db", str(store)]) == 0
    return (folder / "page.html").read_text(encoding="utf-8")


def test_a_regression_is_a_reason_of_the_verdict(page: str) -> None:
    reasons = page[page.index('id="verdict"') : page.index("<nav")]
    assert "bot has become worse than in its earlier runs: accuracy on sums" in reasons


def test_changes_are_marked_where_they_happened(page: str) -> None:
    history = page[page.index('id="history"') :]
    assert history.count(">worse from run 23<") > 0
    assert history.count(">better from run 23<") > 0  # it is cheaper since
    titles = re.findall(r"<figcaption>([^<]+)</figcaption>", history)
    assert titles[0] == "bot: accuracy, sums: regression"
    verdicts = [title.rpartition(": ")[2] for title in titles]
    assert verdicts == sorted(verdicts, key=lambda verdict: verdict != "regression")


def test_values_are_named_by_run_and_version(page: str) -> None:
    assert re.search(r"run 28, 2026-01-02, [0-9a-f-]{13}, version 2\.0", page)
