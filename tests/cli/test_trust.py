"""An imported run executes nothing unasked."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from agentbench_tui.agents.schemes import BUILT_IN
from agentbench_tui.agents.secret_names import named_variables
from agentbench_tui.cli.main import _run
from agentbench_tui.engine.run.plan import ExecutionPlan, Group, Plan, SuiteInPlan
from agentbench_tui.engine.run.trust import (
    ASKED,
    EXAMINED_FIELDS,
    HARMLESS_FIELDS,
    HARMLESS_SCHEMES,
    HARMLESS_SCORERS,
    PROGRAMS,
    RUNS_ANSWERS,
    executed_by_rescoring,
    executed_by_resuming,
)
from agentbench_tui.load.spec import LoadSpec, RequestSpec, TraceSpec
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Case
from agentbench_tui.model.suite import Benchmark, Dataset, Suite
from agentbench_tui.scoring.registry import scorer_names
from agentbench_tui.stress.spec import StressSpec

AGENT = """
import os
from pathlib import Path

def answer(question):
    with (Path(__file__).parent / "asked").open("a") as file:
        file.write(question)
    if question == "2" and not (Path(__file__).parent / "go").exists():
        os.kill(os.getpid(), 9)
    return question

def score(case, answer):
    with (Path(__file__).parent / "scored").open("a") as file:
        file.write("x")
    return 1.0
"""
SUITE = {
    "suite_id": "small",
    "benchmarks": [
        {
            "benchmark_id": "echo",
            "dataset": {"cases": [{"input": "1"}, {"input": "2"}]},
            "scorers": ["python:agent.py:score"],
            "iterations": {"warmup": 0, "measured": 1},
            "concurrency": 1,
        }
    ],
}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, bytes]:
    """The files of a folder in which a run was killed after its first answer and imported."""
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("imported")
    (folder / "agent.py").write_text(AGENT)
    (folder / "suite.json").write_text(json.dumps(SUITE))
    command = [sys.executable, "-m", "agentbench_tui", "run", "suite.json", "--no-ui", "-q"]
    options = ["--agent", "a=python:agent.py:answer", "--db", "made.db"]
    subprocess.run([*command, *options], cwd=folder, check=False, timeout=60)
    made = ["--db", str(folder / "made.db")]
    assert _run(["runs", "export", "latest", str(folder / "out.db"), *made]) == 0
    assert _run(["runs", "import", str(folder / "out.db"), "--db", str(folder / "runs.db")]) == 0
    (folder / "asked").unlink()
    (folder / "scored").unlink(missing_ok=True)
    (folder / "go").touch()
    return {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.fixture
def imported(pristine: dict[Path, bytes]) -> Path:
    """A database with an imported run that was killed after its first answer."""
    folder = next(iter(pristine)).parent
    for path in folder.iterdir():
        if path.is_file() and path not in pristine:
            path.unlink()
    for path, content in pristine.items():
        path.write_bytes(content)
    return folder / "runs.db"


def test_resume_names_what_an_imported_run_would_execute_and_refuses(
    imported: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(["resume", "--no-ui", "--db", str(imported)]) == 2
    told = capfd.readouterr().err
    assert "runs python:agent.py:answer" in told
    assert f"runs python:agent.py:score in {imported.parent} (scorers of echo)" in told
    assert "--trust" in told
    assert not (imported.parent / "asked").exists()

    assert _run(["resume", "--no-ui", "-q", "--trust", "--db", str(imported)]) == 0
    assert (imported.parent / "asked").read_text() in {"2", "12"}  # "1" may not have been committed


def test_rescore_asks_for_the_runs_own_scorers_only(
    imported: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(["resume", "--no-ui", "-q", "--trust", "--db", str(imported)]) == 0
    (imported.parent / "scored").unlink()
    capfd.readouterr()

    assert _run(["rescore", "--db", str(imported)]) == 2
    told = capfd.readouterr().err
    assert "runs python:agent.py:score" in told
    assert "python:agent.py:answer" not in told
    assert not (imported.parent / "scored").exists()

    own = {**SUITE, "benchmarks": [{**SUITE["benchmarks"][0], "scorers": ["exact"]}]}
    own["benchmarks"][0]["dataset"] = {"cases": [{"input": "1", "expected": "1"}]}
    (imported.parent / "own.json").write_text(json.dumps(own))
    suite = str(imported.parent / "own.json")
    assert _run(["rescore", "--suite", suite, "--db", str(imported)]) in (0, 3)
    assert _run(["rescore", "--trust", "--db", str(imported)]) == 0
    assert (imported.parent / "scored").exists()


def test_a_run_made_here_is_not_asked_about(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    database = ["--db", str(tmp_path / "runs.db")]
    agent = f"--agent=a=python:{tmp_path}/agent.py:answer"
    suite = str(tmp_path / "suite.json")
    assert _run(["run", suite, agent, "--no-ui", "-q", *database]) == 0
    assert _run(["rescore", *database]) == 0


def plan_of(target: str | AgentSpec = "reference:expected", **benchmark: object) -> Plan:
    agent = target if isinstance(target, AgentSpec) else AgentSpec("a", "1", target)
    group = Group(
        suite_id="s",
        suite_hash="h",
        benchmark={"benchmark_id": "b", **benchmark},
        parameters={},
        values={},
        seed=1,
        base_dir="/suite",
        executions=(ExecutionPlan("e", 0, agent),),
    )
    return Plan(run_id="r", suites=(), groups=(group,), repeats=1, seed=1)


@pytest.mark.parametrize(
    ("target", "access"),
    [
        ("command:sh x", "runs command:sh x"),
        (" command:sh x", "runs command:sh x"),
        ("\tpython:m.py:f", "runs python:m.py:f"),
        ("command?mode=task:sh x", "runs command?mode=task:sh x"),
        ("command?cwd=/tmp:sh x", "runs command?cwd=/tmp:sh x"),
        ("python?:m:f", "runs python?:m:f"),
        ("python?inline=true:m:f", "runs python?inline=true:m:f"),
        ("worker?cwd=.:sh x", "runs worker?cwd=.:sh x"),
        ("plugged:x", "runs plugged:x"),
        ("COMMAND:sh x", "runs COMMAND:sh x"),
        ("sh x", "uses the target 'sh x', which cannot be read"),
        ("j=command:sh x", "uses the target 'j=command:sh x', which cannot be read"),
        ("openai:#m", "sends questions to openai:#m"),
        (" openai:http://h/v1?key_env=K#m", "sends questions to openai:http://h/v1?key_env=K#m"),
        (
            "anthropic:http://127.0.0.1:1/v1#m",
            "sends questions to anthropic:http://127.0.0.1:1/v1#m",
        ),
        ("http://127.0.0.1:1/", "sends questions to http://127.0.0.1:1/"),
        ("https?method=GET://h", "sends questions to https?method=GET://h"),
        ("a2a:http://h", "sends questions to a2a:http://h"),
        ("replay:a.jsonl", "reads a.jsonl"),
        ("replay?answer=x:/etc/passwd", "reads /etc/passwd"),
        ("market:outsider", "listens on market:outsider at 127.0.0.1, port any"),
        ("market:outsider#x", "listens on market:outsider#x at 127.0.0.1, port any"),
    ],
)
def test_every_way_to_write_an_agent_that_reaches_outside(target: str, access: str) -> None:
    (line, *more) = executed_by_resuming(plan_of(target))
    assert line.removesuffix(" (agent a)").removesuffix(", with the values of K") == access
    assert not more


@pytest.mark.parametrize("target", ["reference:expected", "mock?ttft=1ms", "mock", "market:random"])
def test_agents_that_stay_inside_are_not_asked_about(target: str) -> None:
    assert executed_by_resuming(plan_of(target)) == []


def test_options_that_say_where_an_agent_runs_and_what_it_asks_through() -> None:
    agent = AgentSpec("a", "1", "command:sh x", {"cwd": "sub", "env": ["K"]}, base_dir="/suite")
    assert executed_by_resuming(plan_of(agent)) == [
        "runs command:sh x in /suite/sub, with the values of K (agent a)"
    ]
    agent = AgentSpec("a", "1", "http://h", {"proxy": "http://p"})
    assert executed_by_resuming(plan_of(agent)) == [
        "sends questions to http://h through http://p (agent a)"
    ]


def test_the_end_of_a_long_command_is_not_hidden() -> None:
    (line,) = executed_by_resuming(plan_of(f"command:sh {'x' * 1500} last"))
    assert line.endswith(" last (agent a)")
    (line,) = executed_by_resuming(plan_of(f"command:sh {'x' * 3000} last"))
    assert "characters)" in line


@pytest.mark.parametrize(
    ("benchmark", "lines"),
    [
        (
            {"load": {"rate": 1, "workload": [{"data_source": "python:m.py:f"}]}},
            ["runs python:m.py:f in /suite (load of b)"],
        ),
        (
            {"load": {"rate": 1, "workload": [{"data_source": "file:/etc/passwd"}]}},
            ["reads /etc/passwd (load of b)"],
        ),
        ({"load": {"trace": {"file": "t.csv"}}}, ["reads /suite/t.csv (load of b)"]),
        ({"load": {"rate": "x"}}, ["uses `load`, which this version cannot read (load of b)"]),
        (
            {"stress": {"scenario": "high_load", "serve": "sh x"}},
            ["runs sh x in /suite (stress of b)"],
        ),
        (
            {"stress": {"scenario": "high_load", "upstream": "http://h", "upstream_env": "E"}},
            ["sends requests to http://h, and sets E (stress of b)"],
        ),
        (
            {"stress": {"scenario": "high_load", "workload": [{"data_source": "c.jsonl"}]}},
            ["reads /suite/c.jsonl (stress of b)"],
        ),
        ({"stress": {"x": 1}}, ["uses `stress`, which this version cannot read (stress of b)"]),
        (
            {"dataset": {"data_source": "python:m:f"}},
            ["runs python:m:f in /suite (dataset of b)"],
        ),
        ({"dataset": {"data_source": "c.jsonl"}}, ["reads /suite/c.jsonl (dataset of b)"]),
        ({"dataset": {"data_source": "/private.jsonl"}}, ["reads /private.jsonl (dataset of b)"]),
        (
            {"dataset": {"data_source": "package:m/x.jsonl"}},
            ["runs the import of package:m/x.jsonl, to read it (dataset of b)"],
        ),
        (
            {"dataset": {"data_source": "ftp:x"}},
            ["uses the data source ftp:x, which this version cannot read (dataset of b)"],
        ),
        ({"dataset": {"cases": [{"input": "python:m:f"}]}}, []),
        (
            {"instruments": ["python:m.py:f", "psutil", {"plugged": {}}]},
            [
                "runs the instrument python:m.py:f in /suite (instruments of b)",
                "runs the instrument plugged in /suite (instruments of b)",
            ],
        ),
        ({"instruments": ["timing", {"perf": {}}, "cprofile"]}, []),
        ({"experiment": "python:m:C"}, ["runs python:m:C in /suite (experiment of b)"]),
        ({"experiment": "plugged"}, ["runs plugged in /suite (experiment of b)"]),
        ({"experiment": "run_db", "parameters": {"cases": 5}}, []),
        ({"game": "chess"}, ["uses the game chess, which this version does not have"]),
        ({"later": "x"}, ["uses `later`, which this version does not know (b)"]),
    ],
)
def test_what_a_benchmark_names_for_a_resumed_run(
    benchmark: dict[str, object], lines: list[str]
) -> None:
    assert executed_by_resuming(plan_of(**benchmark)) == lines
    assert executed_by_rescoring(plan_of(**benchmark)) == []


def test_the_worlds_of_a_games_cases_are_files() -> None:
    stored = [Case("one", {"file": "w.json", "sha256": ""}), Case("two", {"config": {}})]
    plan = plan_of(game="market", dataset={"data_source": "c.jsonl"}, benchmark_id="b")
    reads = "reads w.json and w.truth.json (case one)"
    assert executed_by_resuming(plan, stored) == ["reads /suite/c.jsonl (dataset of b)", reads]
    inline = {"cases": [{"id": "one", "input": {"file": "w.json"}}]}
    assert executed_by_resuming(plan_of(game="market", dataset=inline)) == [reads]
    assert executed_by_resuming(plan_of(dataset=inline), stored) == []


def test_the_folder_that_a_suite_writes_into() -> None:
    suite = SuiteInPlan("h", "s", {"suite_id": "s", "output_dir": "/out"}, "")
    plan = msgspec.structs.replace(plan_of(), suites=(suite,))
    assert executed_by_resuming(plan) == ["writes into /out (suite s)"]


@pytest.mark.parametrize(
    ("scorer", "access"),
    [
        ("python_tests", "runs the code in answers and cases by python_tests"),
        (
            {"weighted": {"parts": [{"scorer": {"python_tests": {"timeout_s": 5}}}]}},
            "runs the code in answers and cases by python_tests",
        ),
        ("python:m.py:f", "runs python:m.py:f in /suite"),
        ({"python:m.py:f": {"x": 1}, "as": "l"}, "runs python:m.py:f in /suite"),
        (" python:m.py:f", "runs python:m.py:f in /suite"),
        ("plugged", "runs plugged in /suite"),
        ({"json_schema": {"file": "/etc/passwd"}}, "reads /etc/passwd"),
        ({"weighted": {"parts": ["x", "exact"]}}, "runs x in /suite"),
        ({"exact": {}, "regex": {}}, "uses the scorer"),
        ({"exact": "python:m:f"}, "uses the scorer"),
        *(
            ({"model_graded": {"judges": [judge]}}, access)
            for judge, access in (
                ("command?mode=task:sh x", "runs command:sh x in /suite"),
                ("j=command:sh x", "runs command:sh x in /suite"),
                ("j@1=command:sh x", "runs command:sh x in /suite"),
                (" command:sh x", "runs command:sh x in /suite"),
                ("command?cwd=/tmp:sh x", "runs command:sh x in /tmp"),
                ("worker?cwd=/tmp:sh x", "runs worker:sh x in /tmp"),
                ("python?:m:f", "runs python:m:f in /suite"),
                ("openai:#m", "sends questions to openai:#m"),
                ("a2a:http://127.0.0.1:1", "sends questions to a2a:http://127.0.0.1:1"),
                ("replay?answer=x:/etc/passwd", "reads /etc/passwd"),
                ("plugged:x", "uses the judge 'plugged:x', which cannot be read"),
                ("COMMAND:sh x", "uses the judge 'COMMAND:sh x', which cannot be read"),
                (5, "uses the judge 5, which cannot be read"),
            )
        ),
        (
            {"weighted": {"parts": [{"scorer": {"model_graded": {"judges": ["x=command:sh"]}}}]}},
            "runs command:sh in /suite",
        ),
        ({"model_graded": {"judges": "command:sh x"}}, "runs command:sh x in /suite"),
    ],
)
def test_code_judges_and_files_that_scorers_name(scorer: object, access: str) -> None:
    (line,) = executed_by_rescoring(plan_of(scorers=[scorer]))
    assert line.startswith(access)
    assert line.endswith(" (scorers of b)")
    assert executed_by_resuming(plan_of(scorers=[scorer])) == [line]


def test_code_of_metrics_is_named() -> None:
    metrics = ["polite", {"python:m.py:words": {"unit": "words"}}, 5]
    found = executed_by_rescoring(plan_of(metrics=metrics))
    assert found == [
        "runs polite in /suite (metrics of b)",
        "runs python:m.py:words in /suite (metrics of b)",
        "uses the metric 5, which cannot be read (metrics of b)",
    ]


def test_ordinary_scorers_run_nothing_of_others() -> None:
    scorers = [
        "exact",
        {"regex": {"pattern": "python"}},
        {"numeric": {"marker": "answer: "}},
        {"json_schema": {"schema": {}}},
        {"model_graded": {"judges": ["reference:expected"], "rubric": "command:sh x"}},
        {"weighted": {"parts": [{"scorer": "exact"}, {"scorer": {"contains": {}}}]}},
    ]
    assert executed_by_rescoring(plan_of(scorers=scorers)) == []


def test_every_field_of_a_plan_was_thought_about() -> None:
    """A new field belongs into `engine.run.trust`, or here among those that name nothing
    outside."""
    assert set(Benchmark.model_fields) == HARMLESS_FIELDS | EXAMINED_FIELDS
    assert set(BUILT_IN) == HARMLESS_SCHEMES | ASKED | PROGRAMS | {"replay"}
    assert set(scorer_names()) == HARMLESS_SCORERS | {RUNS_ANSWERS}
    assert not HARMLESS_FIELDS & EXAMINED_FIELDS
    assert {"suites", "groups"} == set(Plan.__struct_fields__) - {
        "run_id", "repeats", "seed", "cost_limit_usd", "token_limit", "prices", "prices_file",
        "gates", "tags", "notes", "command", "remarks", "rerun_of",
    }  # fmt: skip
    assert {"output_dir"} == set(Suite.model_fields) - {
        "suite_id", "name", "description", "category", "version", "created_at", "benchmarks",
        "agents", "parameters", "weights", "baseline_scores", "baseline", "prices",
        "cost_limit_usd", "token_limit", "gates", "seed", "tags", "notes", "parallelism",
    }  # fmt: skip
    assert {"data_source", "cases"} == set(Dataset.model_fields) - {
        "size", "complexity", "fields", "filter", "limit", "shuffle", "tools"
    }  # fmt: skip
    texts = {
        name
        for model in (LoadSpec, RequestSpec, TraceSpec, StressSpec)
        for name, field in model.model_fields.items()
        if re.search(r"\bstr\b", str(field.annotation))
    }
    assert {"data_source", "file", "serve", "upstream", "upstream_env"} == texts - {
        "name", "prompts", "fields", "system_prompt", "tools", "tool_results", "allowed_hosts",
        "faults",
    }  # fmt: skip


@pytest.mark.parametrize(
    "edit",
    [
        {"scorers": [{"model_graded": {"judges": ["j=command:touch marker"], "rubric": "x"}}]},
        {"scorers": ["python_tests"]},
        {"scorers": [{"json_schema": {"file": "/etc/hostname"}}]},
        {"scorers": [{"model_graded": {"judges": ["openai:http://127.0.0.1:1/v1#m"],
                                       "rubric": "x"}}]},
    ],
)  # fmt: skip
def test_rescore_of_a_crafted_run_is_refused(
    imported: Path, edit: dict[str, object], capfd: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(imported)) as connection:
        (text,) = connection.execute("SELECT plan FROM runs").fetchone()
        plan = json.loads(text)
        plan["groups"][0]["benchmark"] |= edit
        connection.execute("UPDATE runs SET plan=?", (json.dumps(plan),))
        connection.commit()
    assert _run(["rescore", "--db", str(imported)]) == 2
    assert "(scorers of echo)" in capfd.readouterr().err
    assert not (imported.parent / "marker").exists()


def test_code_in_imported_answers_is_not_run_by_a_suite_of_ones_own_either(
    imported: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cases = {"cases": [{"input": "1", "expected": "assert True"}]}
    benchmark = {**SUITE["benchmarks"][0], "dataset": cases, "scorers": ["python_tests"]}
    own = {**SUITE, "benchmarks": [benchmark]}
    (imported.parent / "own.json").write_text(json.dumps(own))
    suite = str(imported.parent / "own.json")
    assert _run(["rescore", "--suite", suite, "--db", str(imported)]) == 2
    assert "runs the code in answers and cases" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("specification", "names"),
    [
        ({"options": {"env": ["A_KEY", "B"]}}, {"A_KEY", "B"}),
        ({"options": {"key_env": "TOKEN"}}, {"TOKEN"}),
        (
            {"options": {"headers": {"x-api-key": "$MINE", "y": "${YOURS}/$Z"}}},
            {"MINE", "YOURS", "Z"},
        ),
        ({"options": {"proxy": "http://$WHO:$PASS@proxy"}}, {"WHO", "PASS"}),
        ([{"judge": {"agent": "openai:http://x/v1#m?key_env=JUDGE"}}], {"JUDGE"}),
        ({"target": "command:run.sh?env=ONE,TWO"}, {"ONE", "TWO"}),
        ({"target": "command?env=ONE%2C+TWO&mode=task:run.sh"}, {"ONE", "TWO"}),
        ({"options": {"env": "ONE, TWO"}}, {"ONE", "TWO"}),
        ({"options": {"env": ["ONE ", "2"]}}, {"ONE"}),
        ({"options": {"body": {"price": "$5"}}, "name": "env"}, set()),
    ],
)
def test_the_variables_that_a_specification_hands_out(
    specification: object, names: set[str]
) -> None:
    assert named_variables(specification) == names
