"""`agentbench load`: options become a suite and a plan; a slip is told in one line."""

import csv
import io
import json
import os
import socket
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from processes import make_place, until

from agentbench_tui.cli.main import _run
from agentbench_tui.cli.run import running
from agentbench_tui.engine.run.plan import Plan
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.source import read_source
from agentbench_tui.load.schedule.schedule_words import schedule_words
from agentbench_tui.verdicts.explanation import explain

TARGET = "openai:http://127.0.0.1:8000/v1#some/model?temperature=0"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def printed_suite(capfd: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """The suite that `agentbench load TARGET …` prints, read back."""
    assert _run(["load", TARGET, *options, "--print-suite"]) == 0
    path = Path("printed.yaml")
    path.write_text(capfd.readouterr().out, encoding="utf-8")
    return read_source(path).data


def block(capfd: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    found: dict[str, Any] = printed_suite(capfd, *options)["benchmarks"][0]["load"]
    return found


def without_ids(plan: Plan) -> list[Any]:
    """What a plan would do, its ids and what its suite is called in the store aside."""
    return [
        (group.benchmark, group.parameters, group.values, group.seed, group.base_dir, one.agent)
        for group, one in plan.executions()
    ]


@pytest.mark.parametrize(
    ("options", "schedule"),
    [
        ([], {"concurrency": 1, "duration_s": 10}),
        (["--rate", "50"], {"rate": 50, "duration_s": 10}),
        (["--rate", "0.5", "--duration", "2m"], {"rate": 0.5, "duration_s": 120}),
        (
            ["--rate", "9", "--arrivals", "gamma", "--burstiness", "0.25", "--requests", "90"],
            {"rate": 9, "arrivals": "gamma", "burstiness": 0.25, "requests": 90},
        ),
        (
            ["--ramp", "10..100/30s"],
            {"ramp": {"start": 10, "end": 100, "over_s": 30}, "duration_s": 30},
        ),
        (
            ["--steps", "10x30s,20x1m"],
            {
                "steps": [{"rate": 10, "for_s": 30}, {"rate": 20, "for_s": 60}],
                "duration_s": 90,
            },
        ),
        (
            ["--spike", "10..100@10s/500ms", "--arrivals", "poisson"],
            {
                "spike": {"rate": 10, "peak": 100, "at_s": 10, "for_s": 0.5},
                "arrivals": "poisson",
                "duration_s": 20.5,
            },
        ),
        (
            ["--sine", "20±10/60s"],
            {"sine": {"mean": 20, "amplitude": 10, "period_s": 60}, "duration_s": 60},
        ),
        (
            ["--sine", "20+-10/1m", "--duration", "5m"],
            {"sine": {"mean": 20, "amplitude": 10, "period_s": 60}, "duration_s": 300},
        ),
        (
            ["--concurrency", "8", "--think-time", "250ms"],
            {"concurrency": 8, "think_time_ms": 250, "duration_s": 10},
        ),
        (
            ["--arrivals", "max", "--max-in-flight", "64"],
            {"throughput": True, "max_in_flight": 64, "duration_s": 10},
        ),
    ],
)
def test_options_become_a_schedule(
    options: list[str], schedule: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    assert block(capfd, *options) == schedule


def test_a_trace_without_a_length_is_replayed_whole(capfd: pytest.CaptureFixture[str]) -> None:
    Path("trace.txt").write_text("0\n150\n900\n")

    found = block(capfd, "--trace", "trace.txt", "--trace-unit", "ms", "--trace-speed", "2")

    assert found == {"trace": {"file": "trace.txt", "speed": 2, "unit": "ms"}, "requests": 3}


@pytest.mark.parametrize(
    ("written", "limit"),
    [
        ("ttft_ms.p95=200", {"ttft_ms.p95": 200}),
        ("ttft_ms.p95<=200", {"ttft_ms.p95": 200}),
        ("ttft.p95 < 200ms", {"ttft_ms.p95": 200}),
        ("ttft=0.25s@95%", {"ttft_ms.p95": 250}),
        ("e2e<1.5s", {"e2e_ms": 1500}),
    ],
)
def test_an_slo_may_be_written_as_people_say_it(
    written: str, limit: dict[str, int], capfd: pytest.CaptureFixture[str]
) -> None:
    found = block(capfd, "--rate", "1", "--slo", written)
    assert found["slo"] == limit


def test_options_become_a_workload_and_limits(capfd: pytest.CaptureFixture[str]) -> None:
    suite = printed_suite(
        capfd,
        *("--input-tokens", "512±64", "--prefix-share", "0.5", "--output-tokens", "128"),
        *("--turns", "3", "--cancel-after", "20", "--slo", "ttft_ms=200", "--slo", "e2e_ms=2000"),
        *("--timeout", "30s", "--drain", "5s", "--warmup", "0", "--workers", "2", "--stream"),
        *("--fail-on", "e2e_ms.p95<=900", "--seed", "7"),
    )

    benchmark = suite["benchmarks"][0]
    assert benchmark["load"] == {
        "concurrency": 1,
        "duration_s": 10,
        "workers": 2,
        "warmup_requests": 0,
        "drain_s": 5,
        "stream": True,
        "slo": {"ttft_ms": 200, "e2e_ms": 2000},
        "workload": [
            {
                "synthetic": {"input_tokens": {"mean": 512, "spread": 64}, "prefix_share": 0.5},
                "output_tokens": 128,
                "turns": 3,
                "cancel_after_tokens": 20,
            }
        ],
    }
    assert benchmark["constraints"] == {"time_limit_ms": 30_000}
    assert (suite["gates"], suite["seed"]) == (["e2e_ms.p95<=900"], 7)


@pytest.mark.parametrize(
    ("option", "values", "name"),
    [("--rate", [10, 20.5, 50], "rate"), ("--concurrency", [1, 4, 16], "concurrency")],
)
def test_several_values_are_swept(
    option: str, values: list[float], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    suite = printed_suite(capfd, option, ",".join(map(str, values)))

    (benchmark,) = suite["benchmarks"]
    assert benchmark["load"][name] == f"${{{name}}}"
    assert benchmark["sweep"] == {"parameters": {name: values}}
    plan = make_plan(["printed.yaml"], RunOptions())
    assert [group.benchmark["load"][name] for group in plan.groups] == values


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--rate", "10,20", "--arrivals", "poisson", "--slo", "ttft_ms=200"],
        [
            "--spike",
            "1..9@2s/1s",
            "--input-tokens",
            "64",
            "--no-stream",
            "--fail-on",
            "e2e_ms.p50<9",
        ],
        ["--prompt", "no", "--prompt", "012: # 'yes'\n- two\tlines", "--seed", "3"],
    ],
)
def test_the_printed_suite_is_valid_and_means_the_same(
    options: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    plans: list[Plan] = []

    def keep(plan: Plan, *_: Any) -> int:
        plans.append(plan)
        return 0

    monkeypatch.setattr("agentbench_tui.cli.run.running.run_plan", keep)
    printed_suite(capfd, *options)

    assert _run(["suites", "validate", "printed.yaml"]) == 0
    assert _run(["load", TARGET, *options]) == 0
    assert _run(["run", "printed.yaml"]) == 0

    by_options, by_file = plans
    assert without_ids(by_options) == without_ids(by_file)
    assert by_options.suites[0].document == by_file.suites[0].document


@pytest.mark.parametrize(
    ("target", "threads"), [(TARGET, "1"), ("mock", "1"), ("command:cat", None)]
)
def test_only_where_no_code_of_an_agent_runs_is_numpy_kept_from_threads(
    target: str, threads: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "")
    del os.environ["OPENBLAS_NUM_THREADS"]
    seen: list[str | None] = []

    def run(*_: object) -> int:
        seen.append(os.environ.get("OPENBLAS_NUM_THREADS"))
        return 0

    monkeypatch.setattr(running, "run_plan", run)
    assert _run(["load", target]) == 0
    assert seen == [threads]


def test_an_agents_name_and_version_are_kept(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["load", f"mine@2={TARGET}", "--print-suite"]) == 0

    Path("printed.yaml").write_text(capfd.readouterr().out)
    (group,) = make_plan(["printed.yaml"], RunOptions()).groups
    agent = group.executions[0].agent
    assert (agent.id, agent.version) == ("mine", "2")
    assert (agent.target, agent.options) == (TARGET.partition("?")[0], {"temperature": "0"})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--rate", "1", "--concurrency", "2"], "--rate and --concurrency: give one schedule"),
        (
            ["--ramp", "1..2/3s", "--arrivals", "max"],
            "--ramp and --arrivals max: give one schedule",
        ),
        (["--slo", "tft_ms=200"], "no limit 'tft_ms' (did you mean \"ttft_ms\"?)"),
        (["--slo", "tft.p95<200"], "no limit 'tft' (did you mean \"ttft_ms\"?)"),
        (["--slo", "ttft_ms.p0=200"], "expected NAME[.pNN]=MILLISECONDS"),
        (["--slo", "ttft_ms"], "expected NAME[.pNN]=MILLISECONDS, such as ttft_ms=200"),
        (["--rate", "-3"], "expected requests a second, such as 50"),
        (["--rate", "10,0"], "expected requests a second, such as 50"),
        (["--concurrency", "1.5"], "expected a number of users"),
        (["--duration", "soon"], "expected a time, such as 30s, 2m or 500ms"),
        (["--duration", "0s"], "expected a time, such as 30s, 2m or 500ms"),
        (["--spike", "1-3"], "expected RATE..PEAK@START/TIME, such as 10..100@10s/5s"),
        (
            ["--spike", "1..3@5s/1s", "--duration", "5s"],
            "`spike` begins at 5 s, when the window of 5 s",
        ),
        (["--steps", "10x0s"], "--steps: expected a number above 0, got 0"),
        (["--sine", "20±30/1m"], "--sine: `amplitude` must not exceed `mean`"),
        (["--arrivals", "poisson"], "--arrivals works only with --rate, --ramp, --steps"),
        (["--rate", "1", "--burstiness", "2"], "--burstiness works only with --arrivals gamma"),
        (["--rate", "1", "--think-time", "1s"], "--think-time works only with --concurrency"),
        (["--prefix-share", "0.5"], "--prefix-share works only with --input-tokens"),
        (["--trace-speed", "2"], "--trace-speed works only with --trace"),
        (["--prompt", "a", "--input-tokens", "9"], "--prompt and --input-tokens: give one"),
        (
            ["--slo", "ttft_ms=200", "--slo", "ttft_ms=300"],
            "--slo ttft_ms=300: there is ttft_ms=200 already",
        ),
        (["--trace", ""], "cannot be read: it is not a regular file"),
        (["--trace", "none.csv"], "none.csv cannot be read: no such file"),
        (["--concurrency", "200000"], "--concurrency: expected a number of at most 100,000"),
        (["--duration", "800h"], "--duration: expected a number of at most 604,800"),
        (
            ["--fail-on", "e2e_ms.p59<3"],
            "unknown metric 'e2e_ms.p59' (did you mean \"e2e_ms.p99\"?)",
        ),
        (["--rat", "3"], "'--rate'"),
    ],
)
def test_a_slip_is_told_and_nothing_runs(
    options: list[str], told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(["load", TARGET, *options, "--print-suite"]) == 2

    said = capfd.readouterr()
    assert said.out == ""
    assert told in said.err.splitlines()[-1]


def test_a_dry_run_says_what_would_be_asked(capfd: pytest.CaptureFixture[str]) -> None:
    assert _run(["load", TARGET, "--rate", "5,10", "--arrivals", "poisson", "--dry-run"]) == 0

    said = capfd.readouterr()
    assert "open loop, 5/s poisson, 10 s" in said.out
    assert "open loop, 10/s poisson, 10 s" in said.out
    assert "2 loads; nothing was run" in said.err


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"concurrency": 1, "requests": 1}, "closed loop, 1 user, 1 request"),
        ({"concurrency": 2000, "think_time_ms": 500}, "closed loop, 2,000 users thinking 0.5 s"),
        ({"throughput": True, "duration_s": 5}, "closed loop, at maximum throughput, 5 s"),
        ({"rate": 50}, "open loop, 50/s constant"),
        (
            {"rate": 0.5, "arrivals": "gamma", "max_in_flight": 8},
            "open loop, 0.5/s gamma, at most 8 in flight",
        ),
        (
            {"ramp": {"start": 1, "end": 9, "over_s": 4}, "arrivals": "poisson"},
            "open loop, 1 to 9/s over 4 s, poisson",
        ),
        (
            {"steps": [{"rate": 1, "for_s": 2}, {"rate": 3, "for_s": 4}]},
            "open loop, 1/s for 2 s, 3/s for 4 s, constant",
        ),
        (
            {"spike": {"rate": 1, "peak": 9, "at_s": 3, "for_s": 2}},
            "open loop, 1/s, from 3 s on 9/s for 2 s, constant",
        ),
        (
            {"sine": {"mean": 20, "amplitude": 10, "period_s": 60}},
            "open loop, 20±10/s every 60 s, constant",
        ),
        ({"trace": {"file": "a.csv", "speed": 2.0}}, "open loop, trace a.csv ×2"),
        # As a plan holds a block: every key, those not given empty.
        (
            {"rate": 2, "ramp": None, "trace": None, "concurrency": None, "throughput": False},
            "open loop, 2/s constant",
        ),
    ],
)
def test_a_schedule_in_words(written: dict[str, Any], words: str) -> None:
    assert schedule_words(written) == words


def test_a_load_is_measured_stored_and_printed_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    target = "mock?ttft=2ms&itl=1ms&tokens=4"
    options = ["--rate", "200", "--requests", "80", "--slo", "e2e_ms=5000", "--warmup", "0"]
    gates = ["--fail-on", "error_rate<=0", "--fail-on", "goodput_share>=1"]
    shown = ["--format", "json", "--no-ui", "--db", "own.db"]

    assert _run(["load", target, *options, *gates, *shown]) == 0

    document = json.loads(capfd.readouterr().out)
    requests, metrics = document["requests"], document["metrics"]
    assert document["schema"] == "agentbench.load/1"
    assert document["verdict"] in {"clean", "noisy", "generator-limited"}
    assert (requests["sent"], requests["ok"], requests["failed"]) == (80, 80, {})
    assert requests["asked_per_s"] == pytest.approx(200)
    assert metrics["e2e_ms"]["n"] == 80
    # Four tokens, the first after 2 ms, three more 1 ms apart: no answer can be quicker.
    assert metrics["e2e_ms"]["p50"] >= metrics["e2e_from_send_ms"]["p50"] >= 5
    assert metrics["e2e_ms"]["p99"] is None
    assert document["harness"]["cpu_us_per_request"] > 0

    for name in figures_of(document):
        assert explain(name)["formula"], name

    assert _run(["runs", "show", "latest", "--db", "own.db", "--format", "json"]) == 0
    (stored,) = json.loads(capfd.readouterr().out)["executions"]
    assert stored["load"] == document

    in_rows = ["runs", "samples", "latest", "--db", "own.db"]
    assert _run([*in_rows, "--format", "jsonl"]) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert {row["status"] for row in rows} == {"ok"}
    assert median(row["e2e_ms"] for row in rows) == pytest.approx(metrics["e2e_ms"]["p50"])
    assert max(row["ttft_ms"] for row in rows) == pytest.approx(metrics["ttft_ms"]["max"])
    assert {row["output_tokens"] for row in rows} == {4}
    assert _run(in_rows) == 0
    table = list(csv.DictReader(io.StringIO(capfd.readouterr().out)))
    assert [float(row["e2e_ms"]) for row in table] == [row["e2e_ms"] for row in rows]
    assert len(rows) == 80
    assert {(row["agent_id"], row["request_type"]) for row in table} == {("mock", "request")}


@pytest.mark.parametrize("command", ["load", "stress"])
@pytest.mark.parametrize(
    ("record", "options", "reason"),
    [
        ({"q": "x"}, (), "q.jsonl:1:1: no `input`; map it with `--fields input=q` (the r"),
        ({"x": "x"}, (), "map it with `--fields input=…` (the record has x)"),
        ({"q": "x"}, ("--fields", "input=p"), 'q.jsonl:1:1: no "p" in the record'),
        ({"q": "x"}, ("--fields", "inptu=q"), '--fields: a case has no field "inptu" (did you m'),
    ],
)
def test_a_dataset_that_has_other_fields_is_answered_in_words_of_the_command_line(
    capfd: pytest.CaptureFixture[str],
    command: str,
    record: dict[str, str],
    options: tuple[str, ...],
    reason: str,
) -> None:
    Path("q.jsonl").write_text(json.dumps(record) + "\n")

    assert _run([command, "mock", "--dataset", "q.jsonl", *options, "--db", "own.db"]) == 2

    said = capfd.readouterr().err
    assert reason in said
    assert "fields: {" not in said
    assert said.count("\n") == 1


def test_samples_of_a_run_without_load_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    cases = {"cases": [{"input": "1", "expected": "1"}]}
    benchmark = {"benchmark_id": "b", "dataset": cases, "scorers": ["exact"]}
    weights = {"accuracy": 1, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 0}
    suite = {"suite_id": "s", "weights": weights, "benchmarks": [benchmark]}
    Path("suite.json").write_text(json.dumps(suite))
    Path("agents.py").write_text("def echo(prompt):\n    return prompt\n")
    run = ["run", "suite.json", "--agent", "python:agents.py:echo", "--no-ui", "--db", "own.db"]
    assert _run([*run, "--iterations", "1", "--warmup", "0"]) == 0

    assert _run(["runs", "samples", "--db", "own.db"]) == 2

    assert "holds no requests of a load" in capfd.readouterr().err


NO_FIGURES = {
    *("schema", "run_id", "execution_id", "agent_id", "agent_version", "suite_id"),
    *("benchmark_id", "parameters", "status", "stop_reason", "reasons", "warnings", "unmeasured"),
    *("requests", "metrics", "harness"),
}
"""Keys of a load document that say which it is, hold sentences, or hold the figures."""


def figures_of(document: dict[str, Any]) -> list[str]:
    """Every name in a load document behind which a figure stands, parts as `e2e_ms.p95`."""
    names = [name for name in document if name not in NO_FIGURES]
    names += [*document["requests"], *document["requests"]["failed"], *document["harness"]]
    for name, found in document["metrics"].items():
        beside = {"n", "needs", "reason", "estimated"}  # said of the figure
        parts = found.keys() - beside if isinstance(found, dict) else ()
        names += [f"{name}.{part}" for part in parts] or [name]
    return names


def test_a_gate_on_the_verdict_and_on_the_harness_decides_the_exit_code(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def not_calibrated(*_: Any) -> None:
        return None

    monkeypatch.setattr("agentbench_tui.load.calibration.calibration.calibrated", not_calibrated)
    target = "mock?ttft=2ms&itl=1ms&tokens=2"
    options = ["--requests", "20", "--no-ui", "--db", "own.db", "--format", "json"]
    gates = ["--fail-on", "verdict==clean", "--fail-on", "cpu_us_per_request>0"]

    code = _run(["load", target, *options, *gates])

    said = capfd.readouterr()
    verdict = json.loads(said.out)["verdict"]
    assert code == (0 if verdict == "clean" else 1)
    failed = f"gate: verdict==clean FAILS for mock on load: {verdict}"
    assert (failed in said.err) == (verdict != "clean")


@pytest.fixture
def _not_calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    async def not_calibrated(*_: Any) -> None:
        return None

    monkeypatch.setattr("agentbench_tui.load.calibration.calibration.calibrated", not_calibrated)


@pytest.mark.usefixtures("_not_calibrated")
def test_a_server_that_never_answers_fails_the_gate_on_unanswered(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        target = f"openai:http://127.0.0.1:{silent.getsockname()[1]}/v1#m"
        options = ["--rate", "100", "--requests", "5", "--warmup", "0", "--drain", "0"]
        gates = ["--fail-on", "failed==0", "--fail-on", "unanswered==0"]
        code = _run(["load", target, *options, *gates, "--no-ui", "--db", "own.db"])

    said = capfd.readouterr()
    assert code == 1
    assert "0 of 5 answered, 5 unfinished" in said.out.splitlines()[0]
    assert [line for line in said.err.splitlines() if line.startswith("gate:")] == [
        "gate: unanswered==0 FAILS for m on load: 5"
    ]


@pytest.mark.usefixtures("_not_calibrated")
def test_a_limit_that_no_answer_has_is_said_and_its_gate_not_judged(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("agents.py").write_text("def echo(prompt):\n    return prompt\n")
    load = ["load", "python:agents.py:echo", "--requests", "5", "--warmup", "0"]
    limit = ["--slo", "ttft_ms=200", "--fail-on", "goodput_share>=0.9"]

    assert _run([*load, *limit, "--no-ui", "--db", "new/own.db"]) == 3
    said = capfd.readouterr()
    assert " · goodput –/s (no answer has ttft_ms)\n" in said.out
    assert f"created the folder {Path.cwd() / 'new'} for the database\n" in said.err
    assert _run(["runs", "show", "--db", "new/own.db", "--format", "json"]) == 0
    (shown,) = json.loads(capfd.readouterr().out)["executions"]
    assert shown["load"]["unmeasured"]["goodput_share"] == "no answer has ttft_ms"


def test_what_a_load_may_cost_and_last_is_part_of_the_printed_suite(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Path("prices.yaml").write_text("- {model: some/model, input: 1, output: 2}\n")
    caps = ["--max-cost", "2.5", "--max-tokens", "9000", "--hourly-price", "3"]

    suite = printed_suite(capfd, *caps, "--prices", "prices.yaml")

    assert (suite["cost_limit_usd"], suite["token_limit"]) == (2.5, 9000)
    assert suite["prices"] == [{"model": "some/model", "input": 1, "output": 2}]
    assert suite["agents"][0]["hourly_price_usd"] == 3
    plan = make_plan(["printed.yaml"], RunOptions())
    assert (plan.cost_limit_usd, plan.token_limit) == (2.5, 9000)


def test_a_detached_load_prints_its_id_and_goes_on(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    target = "mock?ttft=2ms&itl=1ms&tokens=2"

    started = place.run("load", target, "--requests", "5", "--detach", "--warmup", "0")

    assert started.returncode == 0, started.stderr
    run_id = started.stdout.strip()
    status = "SELECT status FROM runs WHERE id=?"
    until(lambda: place.rows(status, run_id) == [("complete",)])
    assert place.rows("SELECT observed FROM benchmark_executions") == [(5,)]


def test_a_target_that_answers_nothing_ends_with_3(capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        target = f"openai:http://127.0.0.1:{port}/v1#m"

        code = _run(["load", target, "--requests", "1", "--no-ui", "--db", "own.db"])

    said = capfd.readouterr()
    assert code == 3
    assert "Connection refused" in said.err
    assert said.out.splitlines()[0].startswith("m: incomplete (")
