"""`agentbench stress`: options become a suite and a plan; nobody else's host is touched."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.cli.main import _run
from agentbench_tui.engine.suite.source import read_source
from agentbench_tui.stress.catalog import SCENARIOS
from agentbench_tui.stress.planned_windows import planned_windows
from agentbench_tui.stress.spec import StressSpec

TARGET = "openai:http://127.0.0.1:8000/v1#some/model?temperature=0"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def printed_suite(capfd: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    """The suite that `agentbench stress … --print-suite` prints, read back."""
    assert _run(["stress", *options, "--print-suite"]) == 0
    path = Path("printed.yaml")
    path.write_text(capfd.readouterr().out, encoding="utf-8")
    return read_source(path).data


def blocks(capfd: pytest.CaptureFixture[str], *options: str) -> dict[str, dict[str, Any]]:
    """The `stress:` block of each benchmark."""
    suite = printed_suite(capfd, TARGET, *options)
    return {one["benchmark_id"]: one["stress"] for one in suite["benchmarks"]}


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is told of a command that is refused."""
    assert _run(["stress", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    return err


def test_without_a_scenario_all_are_run(capfd: pytest.CaptureFixture[str]) -> None:
    suite = printed_suite(capfd, TARGET)
    assert [one["benchmark_id"] for one in suite["benchmarks"]] == list(SCENARIOS)
    assert {one["kind"] for one in suite["benchmarks"]} == {"stress"}
    assert [one["stress"] for one in suite["benchmarks"]] == [
        {"scenario": name} for name in SCENARIOS
    ]


def test_the_target_may_be_an_argument_or_an_option(capfd: pytest.CaptureFixture[str]) -> None:
    options = ("--scenario", "high_load")
    by_argument = printed_suite(capfd, "a=mock?slots=8", *options)
    assert printed_suite(capfd, "--agent", "a=mock?slots=8", *options) == by_argument
    several = printed_suite(capfd, "a=mock", "--agent", "b=mock", *options)
    assert [one["id"] for one in several["agents"]] == ["a", "b"]


def test_options_become_the_block_of_each_scenario(capfd: pytest.CaptureFixture[str]) -> None:
    found = blocks(
        capfd,
        *("--scenario", "high-load,failure_recovery", "--scenario", "large_inputs"),
        *("--time-scale", "0.05", "--duration", "2m", "--recovery", "10s", "--normal-rate", "5"),
        *("--most-rate", "200", "--most-concurrency", "20", "--most-input-tokens", "4096"),
        *("--multiple", "4", "--error-share", "0.02", "--p95-ms", "1500", "--fault", "reset"),
        *("--fault", "stall", "--max-requests", "5000", "--max-bytes", "1000000"),
        *("--max-time", "10m", "--prompt", "Hello", "--output-tokens", "8", "--no-stream"),
    )
    common = {
        "time_scale": 0.05,
        "normal_rate": 5,
        "most_rate": 200,
        "most_concurrency": 20,
        "multiple": 4,
        "max_requests": 5000,
        "max_bytes": 1_000_000,
        "stream": False,
        "duration_s": 120,
        "recovery_s": 10,
        "max_s": 600,
        "limits": {"error_share": 0.02, "p95_ms": 1500},
        "workload": [{"prompts": ["Hello"], "output_tokens": 8}],
    }
    assert found == {
        "high_load": {"scenario": "high_load", **common},
        "failure_recovery": {
            "scenario": "failure_recovery",
            **common,
            "faults": ["reset", "stall"],
        },
        "large_inputs": {"scenario": "large_inputs", **common, "most_input_tokens": 4096},
    }


def test_what_runs_have_in_common_goes_into_the_suite(capfd: pytest.CaptureFixture[str]) -> None:
    suite = printed_suite(
        capfd,
        *(TARGET, "--scenario", "spike_load", "--seed", "7", "--max-cost", "2", "--timeout", "5s"),
        *("--fail-on", "resilience>=60", "--fail-on", "broke==false"),
    )
    assert suite["gates"] == ["resilience>=60", "broke==false"]
    assert (suite["seed"], suite["cost_limit_usd"]) == (7, 2)
    assert suite["benchmarks"][0]["constraints"] == {"time_limit_ms": 5000}


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "name a target"),
        (["mock", "--scenario", "high_laod"], "no scenario 'high_laod' (did you mean \"high_load"),
        (["mock", "--time-scale", "0"], "'--time-scale': 0.0 is not in the range"),
        (["mock", "--most-rate", "nan"], "nan"),
        (["mock", "--error-share", "1.5"], "--error-share: expected a number below 1"),
        (
            ["mock", "--fault", "reset", "--scenario", "high_load"],
            "works only with --scenario failure_",
        ),
        (
            ["mock", "--ballast-mb", "64", "--scenario", "high_load"],
            "--ballast-mb works only with --scenario memory_pressure",
        ),
        (["mock", "--upstream-env", "BASE"], "--upstream-env needs --upstream"),
        (
            ["mock", "--spikes", "2", "--scenario", "high_load"],
            "--spikes works only with --scen",
        ),
        (["mock", "--scenario", "failure_recovery", "--fault", "rest"], 'did you mean "reset"'),
        (["mock", "--prompt", "a", "--input-tokens", "8"], "--prompt and --input-tokens: give one"),
        (["mock", "--most-concurrency", "200000"], "--most-concurrency: expected a number of at"),
        (["mock", "--fail-on", "resilence>=60"], "unknown metric 'resilence'"),
        (
            ["mock", "--runs", "3"],
            "--runs: stress scenarios repeat decisive measurements automatically",
        ),
        (["mokc"], "mokc"),
    ],
)
def test_a_slip_is_told_in_a_line_and_nothing_runs(
    options: list[str], told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert told in said(capfd, *options)


def test_a_suite_of_stress_is_not_repeated_either(capfd: pytest.CaptureFixture[str]) -> None:
    suite = printed_suite(capfd, "mock", "--scenario", "spike_load")
    Path("mine.json").write_text(json.dumps(suite))
    assert _run(["run", "mine.json", "--runs", "3", "--no-ui"]) == 2
    assert "--runs: stress scenarios repeat decisive measurements" in capfd.readouterr().err


def test_each_scenario_has_its_own_options(capfd: pytest.CaptureFixture[str]) -> None:
    suite = printed_suite(
        capfd,
        *(TARGET, "--scenario", "spike_load,rate_limiting", "--upstream", "http://127.0.0.1:1/"),
        *("--spikes", "2", "--retry-after", "3"),
    )
    spikes, limits = (one["stress"] for one in suite["benchmarks"])
    common = {"upstream": "http://127.0.0.1:1/"}
    assert spikes == {"scenario": "spike_load", **common, "spikes": 2}
    assert limits == {"scenario": "rate_limiting", **common, "retry_after_s": 3}


REMOTE = "openai:https://models.example/v1#m"


@pytest.mark.parametrize("more", [[], ["--dry-run"], ["--detach"]])
def test_another_host_is_refused_before_anything_is_sent(
    more: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    # The guard around the tests fails this one if anything is sent.
    err = said(capfd, REMOTE, "--scenario", "spike_load", *more)
    assert err == (
        "agentbench: stress on m: models.example is not this machine; if the target is yours, say"
        " --i-own-this-target (agentbench stress), or allow it in the suite:"
        " allowed_hosts: [models.example]\n"
    )


def test_a_suite_is_refused_the_same_way(capfd: pytest.CaptureFixture[str]) -> None:
    suite = printed_suite(capfd, "mock", "--scenario", "spike_load")
    Path("mine.json").write_text(json.dumps(suite))
    assert _run(["run", "mine.json", "--agent", REMOTE, "--no-ui"]) == 2
    assert "models.example is not this machine" in capfd.readouterr().err


def test_who_owns_the_target_allows_it_by_name(capfd: pytest.CaptureFixture[str]) -> None:
    options = ("--scenario", "spike_load", "--i-own-this-target")
    suite = printed_suite(capfd, REMOTE, *options)
    assert suite["benchmarks"][0]["stress"]["allowed_hosts"] == ["models.example"]
    assert _run(["stress", REMOTE, *options, "--dry-run"]) == 0


def test_a_target_here_needs_no_leave(capfd: pytest.CaptureFixture[str]) -> None:
    (block,) = blocks(capfd, "--scenario", "spike_load", "--i-own-this-target").values()
    assert "allowed_hosts" not in block


def test_a_dry_run_tells_windows_time_and_scale(capfd: pytest.CaptureFixture[str]) -> None:
    options = ("--scenario", "high_load,sustained_load", "--time-scale", "0.02", "--dry-run")
    assert _run(["stress", TARGET, *options]) == 0
    out, err = capfd.readouterr()
    assert "search on rate" in out
    assert "72 s" in out  # an hour, by 0.02
    assert "2 scenarios, about" in err
    assert "every duration × 0.02 (time scale); nothing was run" in err
    assert "Not included: starting the load generators before each window" in err
    assert _run(["stress", TARGET, *options, "--format", "json"]) == 0
    rows = json.loads(capfd.readouterr().out)["executions"]
    assert [row["scenario"] for row in rows] == ["high_load", "sustained_load"]
    assert all(row["usual_s"] <= row["longest_s"] for row in rows)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_time_is_bounded_and_goes_with_the_scale(scenario: str) -> None:
    full = StressSpec.model_validate({"scenario": scenario})
    parts, usual_s, longest_s = planned_windows(full)
    assert len(parts) >= 2
    assert not any("e+" in part.words for part in parts), "an hour is 3,600 s"
    assert full.length_s <= longest_s
    assert 0 < usual_s <= longest_s
    small = StressSpec.model_validate({"scenario": scenario, "time_scale": 0.02})
    assert planned_windows(small)[1] < usual_s
    capped = StressSpec.model_validate({"scenario": scenario, "max_s": 5.0})
    assert planned_windows(capped)[2] == 5.0
