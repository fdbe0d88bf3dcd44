"""How results are shown in a notebook and at a prompt, and what pandas gets of them."""

import json
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import agentbench_tui as agentbench
from agentbench_tui.cli.main import _run
from agentbench_tui.python_api.background import close_loop_thread
from agentbench_tui.python_api.display import ResultPage, ResultTable, shown

HOSTILE = "<script>alert(1)</script>\x1b[31m\x1b]0;title\x07 & <b onclick=x>"
SUITE: dict[str, Any] = {
    "suite_id": "sums",
    "benchmarks": [
        {
            "benchmark_id": "add",
            "scorers": ["exact"],
            "iterations": {"warmup": 0, "measured": 1},
            "dataset": {
                "cases": [
                    {"id": f"c{n}", "input": f"{n}+1", "expected": str(n + 1)} for n in range(8)
                ]
            },
        }
    ],
}


def right_up_to_5(question: str) -> str:
    n = int(question.partition("+")[0])
    return str(n + 1) if n < 6 else HOSTILE


def fails(question: str) -> str:
    raise ValueError(HOSTILE)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[agentbench.Store]:
    """A store with a run of one agent that is right in 6 of 8 cases, and one that never answers."""
    path = tmp_path_factory.mktemp("store") / "runs.db"
    agentbench.run(
        SUITE, {"most@1": right_up_to_5, "none@1": fails}, db=path, gates=["accuracy>=0.5"]
    )
    agentbench.run(SUITE, {"all@1": lambda question: str(eval(question))}, db=path)
    yield agentbench.open_store(path)
    close_loop_thread()


class Tags(HTMLParser):
    """Every tag with its attributes, and the text between."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


def results(store: agentbench.Store) -> list[agentbench.Result]:
    first = store.runs().runs[-1].id
    return [
        store.run(first), store.runs(), store.answers(first), store.leaderboard(),
        store.compare("most", "all"), store.regressions("most"),
    ]  # fmt: skip


def test_a_run_is_shown_with_its_figures_and_why_cases_failed(store: agentbench.Store) -> None:
    text = str(store.run(store.runs().runs[-1].id))
    assert "6/8/8" in text
    assert "0.750 [0." in text
    assert "8 × none add answer: agent: ValueError: <script>" in text


@pytest.mark.parametrize("place", range(6))
def test_what_an_agent_says_is_text_in_html_and_on_a_terminal(
    store: agentbench.Store, place: int
) -> None:
    result = results(store)[place]
    page = Tags(result._repr_html_())
    allowed = {"div", "p", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert page.tags <= allowed | {"ul", "li"}
    assert page.attributes <= {"scope", "style"}
    for text in (page.text, str(result), repr(result)):
        assert "\x1b" not in text
        assert "\x07" not in text


def test_a_page_has_one_form_for_html_and_for_text() -> None:
    rows = [{"a": 0.123456, "b": None, "c": True}, {"a": 1234567.0, "b": None, "c": False}]
    page = ResultPage(
        "two", (ResultTable("Rows", {"a": "A", "b": "B", "c": "C"}, rows),), ("a note",)
    )
    assert page.text().splitlines() == [
        "two", "", "Rows", "A          C", "0.123      yes", "1,234,567  no", "a note",
    ]  # fmt: skip
    assert Tags(page.html()).text.split() == [
        "two", "Rows", "A", "C", "0.123", "yes", "1,234,567", "no", "a", "note",
    ]  # fmt: skip


def test_a_long_table_says_how_many_rows_are_left_out() -> None:
    page = ResultPage("", (ResultTable("", {"n": "N"}, [{"n": str(n)} for n in range(50)]),))
    assert "… 10 more rows; to_pandas() has all of them" in page.text()
    assert "49" not in page.text()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), ("", "–"), (True, "yes"), (0.5, "0.5"), (3, "3"), ({"rate": 2.0}, "rate 2"),
        (("a", "b"), "a, b"), ({}, "–"), (float("nan"), "–"),
    ],
)  # fmt: skip
def test_values_in_cells(value: object, text: str) -> None:
    assert shown(value) == text


def test_pandas_gets_a_row_for_each_execution(store: agentbench.Store) -> None:
    frame = store.run(store.runs().runs[-1].id).to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame.set_index("agent_id").loc["most", "accuracy"] == 0.75
    assert list(frame["answered"]) == [8, 0]
    assert list(frame["failures"]) == [0, 8]


def test_pandas_gets_every_answer(store: agentbench.Store) -> None:
    frame = store.answers(store.runs().runs[-1].id, agent="most").to_pandas()
    assert frame["credit"].sum() == 6
    assert list(frame.loc[frame["credit"] == 0, "case_id"]) == ["c6", "c7"]


def test_every_table_of_every_result_converts(store: agentbench.Store) -> None:
    for result in results(store):
        for name in result.tables:
            frame = result.to_pandas(name)
            assert len(frame) == len(result.rows(name))
            assert not [column for column in frame.columns if not isinstance(column, str)]


def test_an_unknown_table_is_refused_with_those_that_there_are(store: agentbench.Store) -> None:
    with pytest.raises(agentbench.UsageError, match="no table 'runs'; there are executions"):
        store.run().to_pandas("runs")


def test_without_pandas_the_extra_is_named(
    store: agentbench.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(agentbench.MissingExtra, match=r"agentbench-tui\[pandas\]"):
        store.run().to_pandas()


def test_documents_are_those_that_commands_print(
    store: agentbench.Store, capfd: pytest.CaptureFixture[str]
) -> None:
    from agentbench_tui.contracts.document import plain

    commands = {
        ("runs", "list"): store.runs(),
        ("compare", "most", "all"): store.compare("most", "all"),
        ("leaderboard", "--days", "9"): store.leaderboard(days=9),
        ("leaderboard", "--run", "latest"): store.leaderboard(run="latest"),
        ("compare", "most", "all", "--by", "expected"): store.compare("most", "all", by="expected"),
        ("regressions", "most", "--fail-on", "none"): store.regressions("most"),
    }
    for command, result in commands.items():
        assert _run([*command, "--db", str(store.path), "--format", "json"]) == 0
        printed = json.loads(capfd.readouterr().out)
        assert json.loads(json.dumps(plain(result.document))) == printed, command


def test_files_are_compared_without_a_database(tmp_path: Path) -> None:
    for name, shift in (("a.csv", 0), ("b.csv", 50)):
        rows = "".join(f"{100 + shift + n % 7}\n" for n in range(60))
        (tmp_path / name).write_text(f"e2e_ms\n{rows}")
    found = agentbench.compare(
        f"file:{tmp_path / 'a.csv'}", f"file:{tmp_path / 'b.csv'}", db=tmp_path / "none.db"
    )
    assert [(one.metric, one.verdict) for one in found.metrics] == [("e2e_ms", "worse")]
    with pytest.raises(agentbench.GateFailed, match="worse in e2e_ms"):
        found.raise_if_worse()


def test_a_store_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(agentbench.StoreError, match="no database there yet"):
        agentbench.open_store(tmp_path / "none.db")
    with pytest.raises(agentbench.StoreError, match="no database there yet"):
        agentbench.leaderboard(db=tmp_path / "none.db")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda store: store.compare("most"), "only 'most' is given"),
        (lambda store: store.compare("most", "alll"), 'did you mean "all"'),
        (lambda store: store.compare("most", "all", margin=2), "margin is 2"),
        (lambda store: store.run("zzz"), "zzz"),
        (lambda store: store.answers(agent="mots"), 'did you mean "all"|there are all'),
        (lambda store: store.leaderboard(category="acuracy"), 'did you mean "accuracy"'),
        (lambda store: store.leaderboard(metric="acuracy"), 'did you mean "accuracy"'),
        (lambda store: store.regressions("most", threshold=3), "threshold is 3"),
        (lambda store: store.runs(limit=0), "limit is 0"),
    ],
)
def test_a_wrong_name_is_an_error_that_helps(
    store: agentbench.Store, call: Any, message: str
) -> None:
    with pytest.raises(agentbench.UsageError, match=message):
        call(store)
