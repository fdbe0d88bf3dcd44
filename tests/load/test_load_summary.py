"""What is kept beside the metrics, and the document made of both."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from samples import Execution, Sample, done, window

from agentbench_tui.load.results.aggregate import aggregate, read_requests
from agentbench_tui.load.results.summary import LoadSummary, summarize, write_summary
from agentbench_tui.load.results.window import Calibration, Window
from agentbench_tui.load.sending.protocol import Lateness
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.queries.runs import executions_of
from agentbench_tui.verdicts.load.load_document import load_document
from agentbench_tui.verdicts.runs.documents import execution_document

AGENT = AgentSpec("a", "1", "openai:http://127.0.0.1/v1#m")
NOW = "2026-01-31T12:00:00.000Z"
CALIBRATION = Calibration(
    at=NOW, rate_per_s=100.0, overhead_p50_ms=0.1, overhead_p99_ms=0.3, n=500,
    cpu_us_per_request=70.0, ceiling_per_s=9000.0, workers=1, streamed=True,
)  # fmt: skip


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A store with a run and one execution of it, key 1."""
    create_or_migrate(tmp_path / "a.db")
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        connection.execute(
            "INSERT INTO benchmark_suites VALUES ('s','s','s','performance','1','','{}','',?)",
            (NOW,),
        )
        connection.execute("INSERT INTO agents VALUES ('a','a',?)", (NOW,))
        connection.execute(
            "INSERT INTO runs (id, workspace_id, status, suite_ids, plan, seed, repeats, tags,"
            " notes, tool_version, started_at) VALUES ('r1','w','complete','[]','{}',1,1,'[]','',"
            "'0',?)",
            (NOW,),
        )
        connection.execute(
            "INSERT INTO benchmark_executions (id, run_key, ordinal, suite_hash, suite_id,"
            " benchmark_id, agent_id, agent_version, workspace_id, parameters, seed, simulated,"
            " status, created_at) VALUES ('e1',1,0,'s','s','b','a','1','w','{\"rate\":10}',1,1,"
            "'complete',?)",
            (NOW,),
        )
        yield connection


def worker(**known: Any) -> Any:
    quiet = {"window_s": 10.0, "lateness": Lateness(0.1, 0.5, 2.0, 900), "run_queue_wait_ms": 1.0}
    return done(**(quiet | {"cpu_s": 0.5} | known))


def samples(repeat: int = 0, count: int = 100) -> list[Sample]:
    return [
        Sample(n / 10, 0.3, 0.0002, ttft=0.1, gaps=[0.1, 0.1], tokens=3, repeat=repeat)
        for n in range(count)
    ]


def clean_window(*workers: Any, **known: Any) -> Window:
    defaults: dict[str, Any] = {"asked_per_s": 10.0, "asked": 100.0, "psi_cpu_percent": 0.1}
    return window(*workers, **(defaults | {"calibration": CALIBRATION} | known))


def measured(connection: sqlite3.Connection, execution: Execution) -> LoadSummary:
    execution.write(connection, 1, 1)
    found = read_requests(connection, 1)
    summary = summarize(found, aggregate(found, AGENT))
    write_summary(connection, 1, summary)
    return summary


def document_of(connection: sqlite3.Connection) -> dict[str, Any]:
    """With the metrics stored, as the end of an execution stores them."""
    found = aggregate(read_requests(connection, 1), AGENT)
    connection.executemany(
        "INSERT INTO metrics (execution_key, name, value, unit, low, high, n, reason)"
        " VALUES (1,?,?,?,?,?,?,?)",
        [
            (one.name, one.value, one.unit, one.low, one.high, one.n, one.reason)
            for one in found.metrics.values()
        ],
    )
    (row,) = executions_of(connection, 1)
    document = load_document(connection, row)
    assert document is not None
    assert execution_document(connection, row)["load"] == document
    return json.loads(msgspec.json.encode(document))


def test_what_goes_over_the_network_unseen_is_null_and_says_why(
    connection: sqlite3.Connection,
) -> None:
    told = {"connections": 2, "resent": None, "sent_bytes": None, "received_bytes": None}
    windows = {0: clean_window(worker(**told), worker(**told | {"connections": None}))}
    measured(connection, Execution(samples(count=99), windows))
    found = document_of(connection)
    names = ("connections", "resent", "sent_bytes", "received_bytes")
    assert [found["requests"][name] for name in names] == [None] * 4
    for name in ("connections", "retries", "received_bytes"):
        assert found["metrics"][name] is None
        assert "not seen" in found["unmeasured"][name]


def test_a_quiet_repeat_is_clean_and_counted(connection: sqlite3.Connection) -> None:
    samples_and_one_failure = [*samples(count=99), Sample(9.9, 0.05, status="server")]
    one = worker(offered=100, sent=100, connections=3, resent=1, received_bytes=4000)
    found = measured(connection, Execution(samples_and_one_failure, {0: clean_window(one)}))
    assert (found.verdict, found.limit) == ("clean", "none")
    assert found.warnings == (
        "1 request was sent twice: the server closed a used connection without an answer",
    )
    assert found.requests.asked_per_s == 10
    assert found.requests.sent_per_s == pytest.approx(10)
    assert (found.requests.offered, found.requests.sent, found.requests.ok) == (100, 100, 99)
    assert found.requests.failed == {"server": 1}
    assert (found.requests.connections, found.requests.resent) == (3, 1)
    assert found.harness.overhead_p99_ms == 0.3
    assert found.harness.ceiling_per_s == 9000
    assert found.harness.cpu_us_per_request == pytest.approx(0.5e6 / 100)
    assert found.harness.cpu_share == pytest.approx(0.5 / 10.0)
    assert found.steady == ((0.0, 10.0),)


def test_the_worst_repeat_gives_the_verdict_and_is_named(connection: sqlite3.Connection) -> None:
    windows = {
        0: clean_window(worker(offered=100, sent=100)),
        1: clean_window(worker(offered=100, sent=100, cpu_s=9.5)),
        2: clean_window(worker(offered=100, sent=100, late=50)),
    }
    every = [sample for repeat in windows for sample in samples(repeat)]
    found = measured(connection, Execution(every, windows))
    assert found.verdict == "generator-limited"
    assert [reason.partition(":")[0] for reason in found.reasons] == ["repeat 2", "repeat 3"]
    assert found.repeats == 3
    assert found.requests.sent == 300
    assert found.harness.late == 50


def test_what_every_repeat_says_is_said_once(connection: sqlite3.Connection) -> None:
    windows = {
        repeat: clean_window(worker(offered=100, sent=100), psi_cpu_percent=None)
        for repeat in range(2)
    }
    every = [sample for repeat in windows for sample in samples(repeat)]
    found = measured(connection, Execution(every, windows))
    assert found.verdict == "clean"
    (reason,) = found.reasons
    assert reason.startswith("the pressure on the cores is not known here")


def test_a_rate_that_was_not_reached_warns_and_names_the_limit(
    connection: sqlite3.Connection,
) -> None:
    slow = samples()
    for sample in slow[60:]:
        sample.lag = 20.0
    one = worker(offered=100, sent=100, blocked=60, most_in_flight=3)
    found = measured(connection, Execution(slow, {0: clean_window(one, max_in_flight=3)}))
    assert found.limit == "server"
    assert found.requests.sent_per_s == pytest.approx(6)
    (warning,) = found.warnings
    assert warning.startswith("offered 10.0/s, sent 6.0/s (60%): the server was the limit")


def test_a_client_that_was_the_limit_once_is_told(connection: sqlite3.Connection) -> None:
    slow = [sample for repeat in range(2) for sample in samples(repeat)]
    for sample in slow[60:]:
        sample.lag = 20.0
    windows = {
        0: clean_window(worker(offered=100, sent=100, blocked=60, most_in_flight=3)),
        1: clean_window(worker(offered=100, sent=100, cpu_s=9.8)),
    }
    assert measured(connection, Execution(slow, windows)).limit == "client"


def test_latencies_that_leave_out_the_slowest_say_so(connection: sqlite3.Connection) -> None:
    late = [*samples(count=90), *(Sample(9 + n / 10, 5.0, status="unfinished") for n in range(4))]
    one = worker(offered=100, sent=94)
    found = measured(connection, Execution(late, {0: clean_window(one)}))
    assert (found.requests.unfinished, found.requests.unsent) == (4, 6)
    told = " ".join(found.warnings)
    assert "4 requests were still in flight when the drain ended" in told
    assert "6 requests became due and were never sent" in told


def test_a_summary_comes_back_from_the_store_and_can_be_made_again(
    connection: sqlite3.Connection,
) -> None:
    execution = Execution(samples(), {0: clean_window(worker(offered=100, sent=100))})
    summary = measured(connection, execution)
    write_summary(connection, 1, summary)
    rows = connection.execute("SELECT run_key, verdict, document FROM load_summaries").fetchall()
    assert [row[:2] for row in rows] == [(1, "clean")]
    assert msgspec.json.decode(rows[0][2], type=LoadSummary) == summary
    found = read_requests(connection, 1)
    assert summarize(found, aggregate(found, AGENT)) == summary


def test_nothing_is_kept_of_an_execution_without_a_finished_repeat(
    connection: sqlite3.Connection,
) -> None:
    measured(connection, Execution(samples(), {0: clean_window(worker(offered=100, sent=100))}))
    connection.execute("DELETE FROM load_windows")
    assert len(read_requests(connection, 1)) == 0
    write_summary(connection, 1, None)
    (row,) = executions_of(connection, 1)
    assert load_document(connection, row) is None
    assert "load" not in execution_document(connection, row)


def test_the_document_has_the_agreed_form(connection: sqlite3.Connection) -> None:
    one = worker(offered=100, sent=100, connections=3)
    measured(connection, Execution(samples(), {0: clean_window(one, slo={"e2e_ms": 400.0})}))
    found = document_of(connection)
    assert found["schema"] == "agentbench.load/1"
    assert (found["run_id"], found["verdict"], found["simulated"]) == ("r1", "clean", True)
    assert found["parameters"] == {"rate": 10}
    assert {"asked_per_s", "sent_per_s", "sent", "ok", "failed", "connections"} <= found[
        "requests"
    ].keys()
    parts = {"mean", "p50", "p90", "p95", "p99", "p999", "max", "n"}
    for name in (
        "ttft_ms", "e2e_ms", "e2e_from_send_ms", "tpot_ms", "itl_ms", "icl_ms", "send_lag_ms",
    ):  # fmt: skip
        assert parts <= found["metrics"][name].keys(), name
    e2e = found["metrics"]["e2e_ms"]
    assert e2e["p50"] == pytest.approx(300.2)
    assert (e2e["p95"] is None, e2e["p99"], e2e["p999"]) == (False, None, None)
    assert e2e["needs"] == {"p99": 299, "p999": 2995}
    assert e2e["n"] == 100
    assert found["metrics"]["output_tokens_per_s"] == pytest.approx(30, rel=0.05)
    assert found["metrics"]["goodput_share"] == 1.0
    assert {"overhead_p50_ms", "overhead_p99_ms", "cpu_us_per_request"} <= found["harness"].keys()
    assert json.loads(json.dumps(found)) == found


def test_what_was_not_measured_says_why(connection: sqlite3.Connection) -> None:
    plain = [Sample(n / 10, 0.3, tokens=3, counted=False) for n in range(100)]
    one = clean_window(worker(offered=100, sent=100), calibration=None)
    measured(connection, Execution(plain, {0: one}))
    found = document_of(connection)
    assert found["metrics"]["ttft_ms"]["p50"] is None
    assert found["metrics"]["ttft_ms"]["reason"] == "not streamed"
    assert found["metrics"]["goodput_per_s"] is None
    assert found["unmeasured"]["goodput_per_s"] == "no limits are given (`slo`)"
    assert found["metrics"]["output_tokens"]["estimated"] is True
    assert "estimated" not in found["metrics"]["e2e_ms"]
    assert found["tokens_estimated"] is True
    assert found["harness"]["overhead_p50_ms"] is None
    assert found["reasons"]


@pytest.mark.parametrize(
    ("empty", "told"),
    [
        (1, "1 answer had no content: it has no ttft_ms"),
        (3, "3 answers had no content: they have no ttft_ms"),
    ],
)
def test_answers_without_content_are_told(
    empty: int, told: str, connection: sqlite3.Connection
) -> None:
    asked = [
        *samples(count=100 - empty),
        *(Sample(9 + n / 10, 0.3, 0.0002, tokens=0, streamed=True) for n in range(empty)),
    ]
    found = measured(connection, Execution(asked, {0: clean_window(worker(offered=100, sent=100))}))
    assert found.warnings == (told,)
    assert document_of(connection)["metrics"]["ttft_ms"]["n"] == 100 - empty


def test_a_rate_of_answers_that_is_not_there_says_why(connection: sqlite3.Connection) -> None:
    one = clean_window(worker(offered=100, sent=100), ramp_s=20.0)
    found = measured(connection, Execution(samples(), {0: one}))
    assert found.warnings == (
        "completed/s is not known: the window ended within its ramp, or with one request",
    )


def test_answers_that_take_longer_than_the_window_have_a_rate(
    connection: sqlite3.Connection,
) -> None:
    asked = [Sample(n / 10, 15.0, 0.0002, ttft=0.1, gaps=[0.1], tokens=2) for n in range(100)]
    one = worker(offered=100, sent=100, window_s=10.0)
    found = measured(connection, Execution(asked, {0: clean_window(one)}))
    assert found.warnings == ()
    assert document_of(connection)["metrics"]["request_throughput_per_s"] == pytest.approx(10)
