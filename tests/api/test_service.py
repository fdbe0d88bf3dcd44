"""Every endpoint of `agentbench serve`, through the client, against a live process."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from service_process import RunningService, place_with_runs, running_service

from agentbench_tui import __version__
from agentbench_tui.contracts.compare import CompareDocument
from agentbench_tui.contracts.leaderboard import AgentMatrixDocument
from agentbench_tui.contracts.service import RunConfiguration
from agentbench_tui.python_api.client import Client, ServiceFailed
from agentbench_tui.python_api.store import open_store


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    place = place_with_runs(tmp_path_factory.mktemp("service"))
    with running_service(
        place, "--suites", "suites", "--agent", "right@2=python:agents.py:right",
        "--agent", "told=python:agents.py:told", "--agent", "waits=python:agents.py:waits",
    ) as service:  # fmt: skip
        yield service


@pytest.fixture
def client(service: RunningService) -> Client:
    return service.client


def test_health_needs_no_token_and_versions_do(service: RunningService, client: Client) -> None:
    assert Client(service.url, "no-token-of-this-service").health().status == "ok"
    assert client.version().version == __version__
    with pytest.raises(ServiceFailed, match="Bearer TOKEN") as refused:
        Client(service.url, "no-token-of-this-service").version()
    assert refused.value.status == 401


def test_documents_are_those_of_the_command_line(service: RunningService, client: Client) -> None:
    store = open_store(service.place.database)
    run_id = store.run().document.run_id
    assert client.leaderboard() == store.leaderboard(overall=True).document
    assert client.show(run_id).executions == client.show("latest").executions
    assert client.show(run_id).leaderboard == store.run().document.leaderboard
    assert client.runs(tag="first") == store.runs(tag="first").document
    assert client.answers(run_id, agent="echo", wrong=True, limit=2) == (
        store.answers(run_id, agent="echo", wrong=True, limit=2).document
    )
    assert client.gates(run_id, ["accuracy>=0.7"]).gates == store.run(gates=["accuracy>=0.7"]).gates
    found = client.compare(["echo", "right"], "numbers")
    assert found == store.compare("echo", "right", suite="numbers").document
    assert client.regressions("echo") == store.regressions("echo", threshold=0.1).document


def test_a_leaderboard_has_a_category_a_metric_and_a_limit(client: Client) -> None:
    assert [one.agent_id for one in client.leaderboard(limit=1).agents] == ["right"]
    board = client.leaderboard(category="accuracy", metric="reliability")
    assert board.metric == "reliability"
    assert set(board.categories) == {"accuracy"}
    with pytest.raises(ServiceFailed) as refused:
        client.leaderboard(metric="acuracy")
    assert refused.value.status == 422
    assert 'did you mean "accuracy"' in str(refused.value)


def test_results_of_an_agent(client: Client) -> None:
    latest = client.results("echo")
    assert [one.execution.benchmark_id for one in latest.results] == ["echo"]
    assert latest.results[0].execution.value("accuracy") == pytest.approx(8 / 12)
    assert client.results("echo", timeframe="all", suite_id="numbers").results == latest.results
    assert client.results("echo", timeframe="7d").results == latest.results
    assert client.results("echo", suite_id="others").results == ()
    with pytest.raises(ServiceFailed, match='did you mean "echo"') as refused:
        client.results("ecco")
    assert refused.value.status == 404
    with pytest.raises(ServiceFailed) as refused:
        client.results("echo", timeframe="yesterday")
    assert refused.value.status == 422


def test_results_are_of_the_newest_run_at_each_place(client: Client) -> None:
    run_id = client.run("echo", "numbers", RunConfiguration(tags=("again",))).run_id
    found = client.results("echo")
    assert [one.run_id for one in found.results] == [run_id]
    every = client.results("echo", timeframe="all", limit=1)
    assert [one.run_id for one in every.results] == [run_id]
    assert every.more >= 1


def test_other_scores_are_seen_at_once(tmp_path: Path) -> None:
    """Though neither accuracy nor the number of right answers changes."""
    place = place_with_runs(tmp_path)
    with running_service(place) as service:
        before = service.client.results("right").results[0].execution
        suite = json.loads((tmp_path / "suites" / "numbers.json").read_text())
        (benchmark,) = suite["benchmarks"]
        benchmark["scorers"] = ["exact", {"contains": {"ignore_case": True}}]
        benchmark["combine"] = "any"
        (tmp_path / "other.json").write_text(json.dumps(suite))
        done = place.run("rescore", "latest", "--suite", "other.json")
        assert done.returncode == 0, done.stderr
        after = service.client.results("right").results[0].execution
    assert after.metrics["accuracy"].value == before.metrics["accuracy"].value
    assert after.cases.correct == before.cases.correct
    assert "contains" in {*after.metrics} - {*before.metrics}


def test_a_comparison_of_two_is_a_pair_and_a_matrix_ranks(client: Client) -> None:
    pair = client.compare(["echo", "right"], "numbers")
    assert isinstance(pair, CompareDocument)
    assert (pair.a, pair.b) == ("echo", "right")
    matrix = client.compare(["echo", "right"], "numbers", comparison_type="matrix")
    assert isinstance(matrix, AgentMatrixDocument)
    assert [(one.agent_id, one.accuracy_rank) for one in matrix.agents] == [
        ("right", 1), ("echo", 2),
    ]  # fmt: skip
    with pytest.raises(ServiceFailed):
        client.compare(["echo", "file:/etc/passwd"], "numbers")


def test_suites_and_agents_are_listed(client: Client) -> None:
    listed = {one.name: one for one in client.suites().suites}
    assert listed["numbers"].origin == "folder"
    assert listed["quickstart"].origin == "shipped"
    assert client.suite("numbers").suite["suite_id"] == "numbers"
    assert client.suite("numbers").path == "numbers.json"
    assert {one.id for one in client.agents().agents} >= {"echo", "right"}
    with pytest.raises(ServiceFailed, match='did you mean "numbers"'):
        client.suite("numberz")


def test_a_suite_is_found_by_its_id_and_read_again_when_it_changes(
    service: RunningService, client: Client
) -> None:
    suite = client.suite("numbers").suite | {"suite_id": "by-id", "description": "first"}
    file = service.place.folder / "suites" / "named-otherwise.json"
    file.write_text(json.dumps(suite))
    assert client.suite("by-id").suite["description"] == "first"

    def description() -> str | None:
        listed = {one.name: one for one in client.suites().suites}
        return listed["named-otherwise"].description

    assert description() == "first"
    file.write_text(json.dumps(suite | {"description": "changed"}))
    assert description() == "changed"
    file.write_text("{")
    assert "cannot be read" in (description() or "")
    assert str(service.place.folder) not in (description() or "")
    file.unlink()


def test_a_synchronous_run_answers_with_its_result_and_gates(client: Client) -> None:
    given = RunConfiguration(limit=6, runs=2, gates=("accuracy>=0.99",), tags=("by-api",))
    run = client.run("right", "numbers", given)
    assert run.status == "complete"
    assert run.executions[0].cases.observed == 12
    assert run.executions[0].agent_version == "2"
    assert [one.holds for one in run.gates or ()] == [True]
    assert client.show(run.run_id).tags == ("by-api",)


def test_a_run_does_not_know_the_token(service: RunningService, client: Client) -> None:
    client.run("told", "numbers", RunConfiguration(limit=1))
    assert "a-token-of-the-tests" not in (service.place.folder / "environment").read_text()


def test_a_run_is_followed_stopped_and_only_one_runs(
    service: RunningService, client: Client
) -> None:
    service.place.doors()
    started = client.start("waits", "numbers", RunConfiguration(concurrency=1))
    assert service.place.someone_at_the_door()
    with pytest.raises(ServiceFailed, match="1 run is running") as refused:
        client.start("echo", "numbers")
    assert refused.value.status == 429
    events = client.events(started.run_id)
    assert next(one for one in events if one.name == "state").data["status"] == "running"
    answer = client.stop(started.run_id)
    assert (answer.requested, answer.status) == (True, "running")
    while not service.place.rows("SELECT 1 FROM wishes WHERE answered_at IS NOT NULL"):
        pass  # until the run has received it
    service.place.open_the_door()
    *_, last = events
    assert (last.name, last.data["status"]) == ("end", "interrupted")
    assert client.show(started.run_id).status == "interrupted"
    assert client.stop(started.run_id).requested is False


def test_events_continue_after_the_last_one_that_was_seen(
    service: RunningService, client: Client
) -> None:
    run_id = client.run("right", "numbers", RunConfiguration(runs=3)).run_id
    events = [*client.events(run_id)]
    assert events[-1].name == "end"
    assert {one.name for one in events} >= {"iteration", "end"}
    for place in range(len(events)):
        rest = [one for one in client.events(run_id, after=events[place].id) if one.name != "end"]
        assert rest == [one for one in events[place + 1 :] if one.name != "end"]
    answer = service.request("GET", f"/runs/{run_id}/events", {"Last-Event-ID": events[-1].id})
    assert answer.status == 204


def test_a_run_survives_the_service(service: RunningService, tmp_path: Path) -> None:
    place = place_with_runs(tmp_path)
    place.doors()
    with running_service(
        place, "--suites", "suites", "--agent", "waits=python:agents.py:waits"
    ) as first:
        started = first.client.start("waits", "numbers", RunConfiguration(limit=1))
        assert place.someone_at_the_door()
        seen = next(first.client.events(started.run_id)).id
    with running_service(place) as second:
        assert second.client.show(started.run_id).status == "running"
        place.open_the_door()
        *_, last = second.client.events(started.run_id, after=seen)
        assert last.data["status"] == "complete"
        assert second.client.show(started.run_id).executions[0].cases.correct == 1


def test_metrics_are_those_of_prometheus(client: Client) -> None:
    text = client.metrics()
    sample = re.compile(r'agentbench_[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+')
    for line in text.splitlines():
        assert line.startswith("# ") or sample.fullmatch(line), line
    assert f'agentbench_build_info{{version="{__version__}"}} 1' in text
    assert 'agentbench_runs{status="complete"}' in text
    assert re.search(r'agentbench_score\{agent="right",.*dimension="accuracy"\} 1\.0', text)


def test_a_client_names_what_is_wrong_with_its_address() -> None:
    with pytest.raises(ServiceFailed, match="no answer from a service"):
        Client("http://127.0.0.1:1", "a-token-of-sixteen").health()


def test_an_unencrypted_token_is_noticed() -> None:
    for url, encrypted in (
        ("http://localhost:8321", True), ("http://[::1]:8321", True), ("http://10.0.0.1", False),
        ("https://bench.example", True),
    ):  # fmt: skip
        assert Client(url, "token").is_encrypted is encrypted


def test_configuration_names_unknown_fields(client: Client, service: RunningService) -> None:
    answer = service.request(
        "POST", "/benchmarks/run?agent_id=echo&suite_id=numbers", body=b'{"limt": 3}'
    )
    assert answer.status == 422
    assert "limt" in json.loads(answer.body)["detail"]
    with pytest.raises(ServiceFailed, match="no agent 'nobody'"):
        client.run("nobody", "numbers")
    with pytest.raises(ServiceFailed, match="no suite 'nothing'"):
        client.run("echo", "nothing")
    with pytest.raises(ServiceFailed, match="expected NAME OPERATOR NUMBER"):
        client.run("echo", "numbers", RunConfiguration(gates=("accuracy=1",)))
