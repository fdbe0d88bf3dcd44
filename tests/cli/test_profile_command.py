"""`agentbench profile`: what it prints, what it writes, and what it refuses."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import Place, make_place

from agentbench_tui.cli.main import _run

AGENT = """
from agentbench_tui.model.answer import Answer, Span, Usage
def answer(prompt):
    spans = (Span("act", 0, 0.004, {"cpu_percent": 50.0}), Span("tool:a", 0, 0.002),
             Span("tool:b", 0.002, 0.002))
    return Answer(prompt, spans=spans, usage=Usage(10, 5, 2))
def plain(prompt):
    return prompt
"""
EXPERIMENT = """
from agentbench_tui.experiments.experiment import Experiment
class Sums(Experiment):
    def execute_once(self, context):
        return {"sum": sum(n * n for n in range(2000))}
"""
Said = Callable[..., str]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = make_place(tmp_path_factory.mktemp("profiles"))
    place.suite(24)
    (place.folder / "agents.py").write_text(AGENT)
    (place.folder / "sums.py").write_text(EXPERIMENT)
    suite = {
        "suite_id": "code",
        "benchmarks": [
            {
                "benchmark_id": "sums",
                "kind": "experiment",
                "experiment": "python:sums.py:Sums",
                "instruments": ["cprofile"],
                "iterations": {"warmup": 1, "measured": 3},
            }
        ],
    }
    (place.folder / "code.json").write_text(json.dumps(suite))
    agents = [f"--agent={name}=python:agents.py:{name}" for name in ("answer", "plain")]
    for words in (["suite.json", *agents], ["code.json"]):
        done = place.run("run", *words, "--no-ui")
        assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def said(
    measured: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Said:
    monkeypatch.setenv("AGENTBENCH_DB", str(measured.database))

    def called(*words: str, code: int = 0) -> str:
        assert _run(["profile", *words]) == code
        out, err = capsys.readouterr()
        return out if code == 0 else err

    return called


def test_the_document_has_phases_bottlenecks_tokens_and_what_would_save(said: Said) -> None:
    (found,) = json.loads(said("answer", "--format", "json"))["profiles"]
    phases = {one["name"]: one for one in found["phases"]}
    assert phases["act"]["resource_usage"] == {
        "cpu_percent": 50.0, "memory_mb": None, "io_operations": None,
    }  # fmt: skip
    assert phases["tool:a"]["resource_usage"] is None
    assert found["token_analysis"]["input_tokens"] == 240
    assert found["token_analysis"]["cache_hits"] == 48
    assert all(one["cause"] and one["optimization_suggestion"] for one in found["bottlenecks"])
    use = found["resource_utilization"]
    assert use["parallelization_score"]["reason"] == "2 agents or variants took turns"
    assert use["span_overlap"]["value"] == pytest.approx(1.0)


def test_the_table_tells_what_is_not_known(said: Said) -> None:
    told = said("plain")
    assert "no spans reported" in told
    assert "not reported by the agent" in told
    assert "bottleneck answer, whole" in told


def test_an_experiment_has_the_flame_of_its_profiler(said: Said, tmp_path: Path) -> None:
    assert "execute_once (sums.py:" in said("latest", "--flame", "-")
    for name in ("flame.svg", "flame.json", "flame.txt"):
        said("latest", "--flame", str(tmp_path / name))
        assert "execute_once (sums.py:" in (tmp_path / name).read_text()


def test_functions_of_an_experiment_are_told_with_their_share(said: Said) -> None:
    (found,) = json.loads(said("latest", "--benchmark", "sums", "--format", "json"))["profiles"]
    functions = {one["location"].partition(" (")[0]: one for one in found["functions"]}
    assert functions["<genexpr>"]["calls"] == 2001
    assert functions["<genexpr>"]["location"].startswith("<genexpr> (sums.py:")
    assert sum(one["share"] for one in found["functions"]) <= 1 + 1e-9
    # A machine that is busy may hold up any of them.
    large = [one["location"] for one in found["functions"] if one["share"] >= 0.1]
    assert [one["location"] for one in found["bottlenecks"] if one["kind"] == "function"] == large
    assert large
    assert "own time of functions" in said("latest", "--benchmark", "sums")


def test_spans_have_a_flame(said: Said) -> None:
    printed = said("answer", "--flame", "-")
    assert any(line.startswith("    tool:b ") for line in printed.splitlines()), "by depth"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("latest/nobody",), "there is no complete execution"),
        (("plain", "--flame", "-"), "has no flame"),
        (("answer", "--flame", "flame.png"), "expected FILE.svg"),
        (("answer", "--flame", "missing/flame.svg"), "written: No such file or directory"),
        (("missing.prof",), "no profile of cProfile"),
        (("file:samples.csv",), "a file of samples has no phases"),
    ],
)
def test_slips_are_one_line(said: Said, words: tuple[str, ...], reason: str) -> None:
    told = said(*words, code=2)
    assert reason in told
    assert len(told.splitlines()) == 1
