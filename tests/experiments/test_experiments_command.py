"""`agentbench experiments`, and `run` in AgentFarm's spelling."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from measuring import Said, slug
from workloads import Rated


def run(*arguments: str) -> tuple[str, ...]:
    return ("experiments", "run", slug("Counting"), "--no-ui", "--iterations", "3", *arguments)


def test_variants_of_an_option_are_named_by_their_values(said: Said) -> None:
    code, out, err = said(*run("--variants", "mode=list,set", "--runs", "2", "--format", "json"))
    assert code == 0, err
    document = json.loads(out)
    assert [one["agent_id"] for one in document["executions"]] == ["list", "set"]
    assert "timer: " in err
    assert "calls in an iteration: list × " in err


def test_every_combination_of_several_options(said: Said) -> None:
    options = ("--variants", "mode=list,set", "--variants", "size=1,2", "--print-suite")
    code, out, _ = said(*run(*options))
    assert code == 0
    for name in ("mode-list-size-1", "mode-list-size-2", "mode-set-size-1", "mode-set-size-2"):
        assert f"id: {name}" in out


def test_a_failing_iteration_ends_with_3_and_is_told(said: Said) -> None:
    code, out, err = said(*run("--set", "fail_at=1"))
    assert code == 3
    assert "code fail_at=1 is incomplete: 1 of 3 iterations failed" in out
    assert "ValueError: planted" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "sise=3"), 'did you mean "size"'),
        (("--set", "size"), "expected KEY=VALUE"),
        (("--variants", "size=1,x"), "--variants: parameter `size`"),
        (("--sweep", "size=1", "--sweep", "size=2"), "--sweep size=…: given twice"),
        (("--sweep", "size=1", "--variants", "size=2"), "--variants and --sweep both set `size`"),
        (("--set", "size=1", "--variants", "size=2"), "--set and --variants both set `size`"),
        (("--variants", "size=1,1"), "two variants would have the name `size-1`"),
        (("--variants", "size=1", "--agent", "mock"), "--variants and --agent"),
        (("--agent", "a=variant?sise=1"), "variant a: there is no parameter"),
        (("--reporter", "charts", "--output", "out"), "no reporter is called `charts`"),
        (("--instrument", "stopwatch"), 'there is no instrument "stopwatch"'),
    ],
)
def test_what_cannot_be_is_told_before_anything_runs(
    said: Said, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    code, _, err = said(*run(*arguments))
    assert code == 2
    assert words in err
    assert not (tmp_path / "runs.db").exists()


def test_an_agent_is_refused_where_it_would_have_no_part(said: Said, tmp_path: Path) -> None:
    code, _, err = said("experiments", "run", "memory_db", "--agent", "mock", "--no-ui")
    assert code == 2
    assert "--agent mock: memory_db measures code and calls no agent" in err
    assert not (tmp_path / "runs.db").exists()
    command = ("experiments", "run", "memory_db", "--agent", "a=variant?num_steps=3", "--dry-run")
    assert said(*command)[0] == 0
    suite = "experiment: stateset_cpu\nparams: {numbers: 10}\n"
    (tmp_path / "spec.yaml").write_text(suite)
    for agent, is_idle in (("a-variant=mock", True), ("a=variant?numbers=20", False)):
        code, _, err = said("run", "--spec", "spec.yaml", "--agent", agent, "--no-ui")
        assert (code, "--agent has no effect" in err) == (0, is_idle)


def test_show_tells_parameters_and_variants(said: Said) -> None:
    code, out, _ = said("experiments", "show", slug("Pragma"))
    assert code == 0
    assert "Asks for a setting, of which only `on` takes effect." in out
    assert "wanted" in out
    assert "variant yes: wanted=yes" in out


def test_settings_that_tell_variants_apart_stand_with_the_comparison(said: Said) -> None:
    words = ("--iterations", "2", "--runs", "2", "--variants", "wanted=on,off", "--quiet")
    code, out, err = said("experiments", "run", slug("Pragma"), "--no-ui", *words)
    assert code == 0, err
    assert "in force: Pragma on: setting=True" in out
    assert "in force: Pragma off: setting=False" in out
    assert "Pragma: each B against A, on" in out
    assert "is against" not in out  # the matrix of all pairs


def test_agentfarms_spelling(said: Said, tmp_path: Path) -> None:
    spec = f"experiment: {slug('Counting')}\nparams: {{size: 5}}\niterations: {{measured: 3}}\n"
    spec += "instrumentation: [cprofile]\n"
    (tmp_path / "spec.yaml").write_text(spec + "output_dir: results\nseed: 7\n")
    for _ in range(2):
        code, _, err = said("run", "--spec", "spec.yaml", "--no-ui")
        assert code == 0, err
    first, second = sorted(path for path in (tmp_path / "results").glob("*/000-code.json"))
    content = json.loads(first.read_text())
    assert content["parameters"] == {"size": 5}
    assert [one["metrics"]["found"] for one in content["iteration_metrics"]] == [10, 10, 10]
    assert content["status"] == "success"
    assert content["metrics"]["duration_s"]["p95"] is None
    code, out, err = said("run", "--compare", str(first), str(second))
    assert code == 0
    assert "e2e_ms" in out
    assert "cprofile inside" not in err  # it had a pass of its own
    code, out, _ = said("run", "--list", "--format", "json")
    assert json.loads(out)["schema"] == "agentbench.experiments/1"


def test_regressions_judge_what_has_a_direction_and_name_what_has_none(said: Said) -> None:
    sweep = ("experiments", "run", slug("Killed"), "--no-ui", "--iterations", "2", "--quiet")
    for _ in range(2):
        assert said(*sweep)[0] == 0
    code, out, err = said("regressions", "code", "--format", "json", "--fail-on", "none")
    assert code == 0, err
    document = json.loads(out)
    found = {one["metric"]: one for one in document["findings"]}
    assert found["squared"]["better"] == "higher"
    assert found["squared"]["current_value"] == 1.0
    assert document["undeclared"] == ["pid"]
    code, _, err = said("regressions", "code", "--metric", "pid")
    assert (code, "declares no better direction" in err) == (2, True)


def test_a_planted_change_of_what_is_returned_is_found_by_regressions_and_gates(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(release: int, rate: float, *options: str) -> tuple[int, str, str]:
        monkeypatch.setenv(Rated.RATE, str(rate))
        agent = f"x=variant?release={release}"
        command = ("experiments", "run", slug("Rated"), "--agent", agent, "--iterations", "1")
        return said(*command, "--warmup", "0", "--quiet", "--no-ui", *options)

    for rate in (1000, 1010, 990, 1005, 995):
        assert measured(1, rate)[0] == 0
    for rate in (800, 804, 796, 808):
        assert measured(2, rate)[0] == 0
    gates = ("no-regression(items_per_s)", "items_per_s>=900", "items_per_s<900")
    code, _, err = measured(2, 792, *(word for gate in gates for word in ("--fail-on", gate)))
    assert code == 1
    assert "no-regression(items_per_s) FAILS" in err
    assert "items_per_s>=900 FAILS" in err
    assert "items_per_s<900 FAILS" not in err
    code, out, err = said("regressions", "x", "--metric", "items_per_s", "--format", "json")
    assert code == 1, err
    (found,) = json.loads(out)["findings"]
    assert (found["verdict"], found["better"]) == ("regression", "higher")
    assert found["change"] == pytest.approx(0.8)
    code, _, err = measured(2, 800, "--fail-on", "itms_per_s>=900")
    assert (code, 'did you mean "items_per_s"' in err) == (2, True)


def test_what_iterations_returned_is_compared(said: Said) -> None:
    assert said(*run("--variants", "size=10,1000", "--runs", "4"))[0] == 0
    code, out, err = said(
        "compare", "size-10", "size-1000", "--metric", "rates.items_per_s", "--better", "higher",
        "--format", "json",
    )  # fmt: skip
    assert code == 0, err
    (metric,) = json.loads(out)["metrics"]
    assert metric["metric"] == "rates.items_per_s"
    assert (metric["a"], metric["b"]) == (pytest.approx(20.0), pytest.approx(2000.0))
    assert metric["verdict"] == "better"
    code, out, err = said(
        "stats", "variance", "size-10", "--metric", "rates.items_per_s", "--format", "json"
    )
    assert code == 0, err
    assert "rates.items_per_s" in out


INSTRUMENT_AND_REPORTER = """
from contextlib import contextmanager


@contextmanager
def depth(context, offset=0):
    yield
    context["depth"] = {"metres": 3 + offset}


def report(results, output_dir):
    with open(output_dir + "/names.txt", "w") as file:
        file.write(" ".join(result.variant for result in results))
"""


def test_instruments_and_reporters_are_named_by_file_and_function(
    said: Said, tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(INSTRUMENT_AND_REPORTER)
    options = ("--output", "out", "--reporter", "python:tools.py:report", "--format", "json")
    code, out, err = said(*run("--instrument", "python:tools.py:depth", *options))
    assert code == 0, err
    assert json.loads(out)["executions"][0]["metrics"]["depth.metres"]["value"] == 3
    (written,) = (tmp_path / "out").glob("*/names.txt")
    assert written.read_text() == "code"


def test_options_of_an_instrument_in_a_file_are_passed_to_it(said: Said, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(INSTRUMENT_AND_REPORTER)
    spec = f"experiment: {slug('Counting')}\niterations: {{measured: 2}}\n"
    spec += 'instrumentation:\n  - {name: "python:tools.py:depth", offset: 4}\n'
    (tmp_path / "spec.yaml").write_text(spec)
    code, out, err = said("run", "--spec", "spec.yaml", "--no-ui", "--format", "json")
    assert code == 0, err
    assert json.loads(out)["executions"][0]["metrics"]["depth.metres"]["value"] == 7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--instrument", "python:tools.py:dept"), "depth"),
        (("--instrument", "python:nothing.py:depth"), "nothing.py"),
        (("--reporter", "python:tools.py:reprot", "--output", "out"), "report"),
    ],
)
def test_an_instrument_or_reporter_that_cannot_be_loaded_is_refused_before_the_run(
    said: Said, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "tools.py").write_text(INSTRUMENT_AND_REPORTER)
    code, _, err = said(*run(*arguments))
    assert code == 2
    assert words in err
    assert not (tmp_path / "runs.db").exists()


def test_an_instrument_in_a_file_is_refused_for_other_kinds(said: Said, tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(INSTRUMENT_AND_REPORTER)
    (tmp_path / "suite.yaml").write_text(
        "suite_id: s\nbenchmarks:\n"
        "  - benchmark_id: b\n    scorers: [exact_match]\n"
        "    dataset: {records: [{input: q, expected: a}]}\n"
        '    instruments: ["python:tools.py:depth"]\n'
    )
    code, _, err = said("suites", "validate", "suite.yaml")
    assert code == 2
    assert "belongs to a benchmark of kind experiment" in err
