"""`--find-rate`: the search ends at the known limit of a target, and says which limit broke."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from samples import Sample, columns, done, window

from agentbench_tui.cli.load import find_rate
from agentbench_tui.cli.main import _run
from agentbench_tui.contracts.catalog import decode_document
from agentbench_tui.contracts.load import LoadRateDocument
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.model.errors import UsageError
from agentbench_tui.presentation.load.rate import load_rate_report
from agentbench_tui.stress.search import slo_rate
from agentbench_tui.stress.search.slo_rate import judge_slo, window_s

SLO = {"ttft_ms.p95": 200.0, "e2e_ms": 2000.0}
CAPACITY = 50.0
"""Requests a second up to which the target of these tests keeps its limits."""


def measured(rate: float, slow_share: float) -> Requests:
    """A window at a rate in which every n-th first token comes after 500 ms instead of 50 ms."""
    length_s = window_s(rate, SLO)
    count = round(rate * length_s)
    every = round(1 / slow_share) if slow_share else count + 1
    rows = [
        Sample(n / rate, 0.6, ttft=0.5 if n % every == every - 1 else 0.05, gaps=[], tokens=1)
        for n in range(count)
    ]
    return Requests(columns(rows), {0: window(done(offered=count, sent=count), slo=SLO)})


@pytest.fixture
def given() -> dict[str, Any]:
    nothing = ("concurrency", "ramp", "steps", "spike", "sine", "trace", "duration", "requests")
    return {
        **dict.fromkeys(nothing), "detach": False, "gates": (), "persist": None, "runs": 1,
        "database": None, "slo": tuple(SLO.items()), "rate": [10.0], "quiet": True, "tags": (),
    }  # fmt: skip


def test_a_level_is_judged_by_the_share_of_each_limit() -> None:
    assert judge_slo([measured(40, 0)], SLO).outcome == "pass"
    failed = judge_slo([measured(40, 0.2)], SLO)
    assert failed.outcome == "fail"
    assert [check.name for check in failed.broke] == ["share over ttft_ms 200 ms"]
    assert failed.broke[0].limit == pytest.approx(0.05)
    # 1 in 20 is the limit itself: neither kept nor missed beyond doubt, however long it takes.
    assert judge_slo([measured(40, 0.05)], SLO).outcome == "extend"
    assert judge_slo([measured(40, 0.05)] * 3, SLO, 3).outcome == "unclear"


def test_a_window_has_enough_requests_for_the_share_that_is_asked() -> None:
    # 0.95^59 < 5% <= 0.95^58, and 0.99^299 < 5%: fewer requests without any miss prove nothing.
    assert window_s(10, {"ttft_ms.p95": 10.0}) == pytest.approx(1.05 * 59 / 10)
    assert window_s(20, {"ttft_ms": 10.0}) == pytest.approx(1.05 * 299 / 20)
    assert window_s(1000, {"ttft_ms": 10.0}) == 4.0
    assert window_s(1, {"ttft_ms": 10.0}) == 30.0


def test_the_search_finds_a_known_capacity(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rates: list[float] = []

    class FakePlan:
        run_id = "01a22aa4-c02e-70b7-99f1-a7183c0b9056"

    def planned(_: str, __: Any, rate: float, found: Any) -> FakePlan:
        rates.append(rate)
        found.agent = "bot"
        return FakePlan()

    monkeypatch.setattr(find_rate, "_plan", planned)
    monkeypatch.setattr(
        find_rate, "_measure", lambda *_: measured(rates[-1], 0.2 if rates[-1] > CAPACITY else 0)
    )
    document = find_rate._document(find_rate._search("bot", given, tmp_path))
    assert (document.status, document.confirmed) == ("found", True)
    assert document.low is not None
    assert document.high is not None
    assert document.low <= CAPACITY < document.high <= 1.1 * document.low * 1.0001
    assert document.broke == ("share over ttft_ms 200 ms",)
    first, second, *_ = load_rate_report(document).sentences
    assert first.startswith("bot: ")
    assert "at least 95% of what was due kept ttft_ms 200" in first
    assert "at least 99% of what was due kept e2e_ms 2,000" in first
    assert second.startswith("broke first, at ")
    assert isinstance(decode_document(msgspec.json.encode(document)), LoadRateDocument)


def test_the_search_ends_at_the_second_rate_at_which_nothing_is_answered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(slo_rate, "window_s", lambda *_: 0.2)
    Path("broken.py").write_text("def answer(question):\n    raise ValueError('no model')\n")
    target = "python:broken.py:answer"
    code = _run(["load", target, "--slo", "e2e_ms=100", "--find-rate", "--db", "runs.db"])
    assert code == 3
    err = capsys.readouterr().err
    assert "no request was answered at two rates: agent: ValueError: no model" in err
    with closing(sqlite3.connect("runs.db")) as store:
        runs = [row[0] for row in store.execute("SELECT id FROM runs ORDER BY id")]
    assert len(runs) == 2
    assert err.splitlines()[-1].endswith(f"; `agentbench runs show {runs[1]}` shows more")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"slo": ()}, "--find-rate needs --slo"),
        ({"rate": [1.0, 2.0]}, "begins at one --rate"),
        ({"duration": 5.0}, "--duration cannot be combined with --find-rate"),
        ({"gates": ("failed==0",)}, "--fail-on cannot be combined"),
        ({"runs": 3}, "--runs cannot be combined"),
        ({"database": ":memory:"}, "needs a database file"),
    ],
)
def test_options_that_a_search_cannot_have_are_refused(
    given: dict[str, Any], change: dict[str, Any], words: str
) -> None:
    find_rate.check_options(("bot",), given)
    with pytest.raises(UsageError, match=words):
        find_rate.check_options(("bot",), {**given, **change})
    with pytest.raises(UsageError, match="one target at a time"):
        find_rate.check_options(("a", "b"), given)
