"""Every command that reads, judges or moves runs: its output, its document, its exit code."""

import csv
import hashlib
import io
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import COMMAND, PATIENCE_S, Place, make_place

from agentbench_tui.cli.main import _run

AGENTS = ("--agent", "echo=python:agents.py:echo", "--agent", "other=python:agents.py:other")
ESCAPE = {"id": "c9", "input": "9", "expected": "\x1b[31m9\x1b]0;title\x07\x9b2J\u202e"}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place with one complete run of two agents over ten cases."""
    place = make_place(tmp_path_factory.mktemp("measured"))
    place.suite(9)
    document = json.loads((place.folder / "suite.json").read_text())
    document["benchmarks"][0]["dataset"]["cases"].append(ESCAPE)
    (place.folder / "suite.json").write_text(json.dumps(document))
    done = place.run("run", "suite.json", *AGENTS, "--no-ui", "--format", "json", "--tag", "t1")
    assert done.returncode == 0, done.stderr
    (place.folder / "first.json").write_text(done.stdout)
    return place


@pytest.fixture
def place(measured: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A copy of it, which a test may change."""
    for source in measured.folder.iterdir():
        if source.is_file():
            (tmp_path / source.name).write_bytes(source.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTBENCH_DB", str(tmp_path / "store.db"))
    return Place(tmp_path)


Said = Callable[..., str]


@pytest.fixture
def said(place: Place, capfd: pytest.CaptureFixture[str]) -> Said:
    """Runs a command in this process: its stdout, after its exit code was checked."""

    def run(*arguments: str, code: int = 0) -> str:
        capfd.readouterr()
        ended = _run(list(arguments))
        out, err = capfd.readouterr()
        assert ended == code, (out, err)
        assert "Traceback" not in err
        return out if code in {0, 1, 3} else err

    return run


def first(place: Place) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((place.folder / "first.json").read_text())
    return document


def test_a_run_prints_one_document_as_promised(place: Place) -> None:
    document = first(place)
    assert document["schema"] == "agentbench.run/1"
    assert (document["status"], document["stop_reason"]) == ("complete", None)
    assert [one["agent_id"] for one in document["executions"]] == ["echo", "other"]
    for execution in document["executions"]:
        assert execution["simulated"] is False
        assert execution["parameters"] == {}
        assert execution["failures"] == {}
        assert set(execution["scores"]) == {
            "accuracy", "speed", "efficiency", "cost", "reliability", "overall"
        }  # fmt: skip
        for metric in execution["metrics"].values():
            assert {"value", "unit", "low", "high", "n"} <= set(metric)
    echo, other = document["executions"]
    assert echo["cases"] == {"total": 10, "observed": 10, "answered": 10, "correct": 6}
    assert other["cases"]["correct"] == 4
    board = [(one["rank"], one["agent_id"], one["overall"]) for one in document["leaderboard"]]
    assert board == [(1, "echo", 0.6), (2, "other", 0.4)]


def test_runs_are_listed_in_every_format(said: Said, place: Place) -> None:
    document = json.loads(said("runs", "list", "--format", "json"))
    assert document["schema"] == "agentbench.runs/1"
    (run,) = document["runs"]
    assert (run["id"], run["status"], run["observed"], run["correct"]) == (
        first(place)["run_id"], "complete", 20, 10
    )  # fmt: skip
    assert json.loads(said("runs", "list", "--format", "jsonl"))["id"] == run["id"]
    (row,) = csv.DictReader(io.StringIO(said("runs", "list", "--format", "csv")))
    assert row["id"] == run["id"]
    assert run["id"] in said("runs", "list", "--format", "md")
    assert run["id"] in said("runs", "list")
    assert json.loads(said("runs", "list", "--tag", "t1", "--format", "json"))["runs"]
    assert not json.loads(said("runs", "list", "--tag", "t2", "--format", "json"))["runs"]


def test_a_run_is_shown_by_id_by_prefix_and_as_the_latest(said: Said, place: Place) -> None:
    run_id = first(place)["run_id"]
    for wanted in (run_id, run_id[:13], "latest"):
        document = json.loads(said("runs", "show", wanted, "--format", "json"))
        assert document["schema"] == "agentbench.run-details/1"
        assert document["run_id"] == run_id
        assert document["environment"] is not None
    assert "right/answered/asked" in said("runs", "show")


def test_wrong_answers_and_one_case_are_shown(said: Said) -> None:
    wrong = json.loads(said("runs", "show", "--wrong", "--agent", "echo", "--format", "json"))
    assert [one["case_id"] for one in wrong["answers"]] == ["c0", "c3", "c6", "c9"]
    assert [(one["expected"], one["answer"]) for one in wrong["answers"]][1] == ("3", "?")
    case = json.loads(said("runs", "show", "--case", "c4", "--format", "json"))
    assert case["schema"] == "agentbench.case/1"
    assert [one["answer"]["text"] for one in case["observations"]] == ["4", "?"]
    shown = said("runs", "show", "--case", "c4", "--agent", "other")
    assert "expected: 4\nanswer: ?\n" in shown
    assert "score: exact 0.000 wrong" in shown
    assert "· repeat 1, iteration 1 ·" in shown.splitlines()[0]
    assert (case["observations"][0]["repeat"], case["observations"][0]["iteration"]) == (0, 0)


def test_repeats_count_from_one_for_people_and_from_zero_for_scripts(
    said: Said, place: Place
) -> None:
    options = ("--case", "c0", "--runs", "2", "--no-ui", "--quiet")
    said("run", "suite.json", *AGENTS[:2], *options)
    head, _, *rows = (
        [cell.strip() for cell in line.split("|")]
        for line in said("runs", "show", "--answers", "--format", "md").splitlines()
        if line.startswith("|")
    )
    assert sorted(row[head.index("repeat")] for row in rows) == ["1", "2"]
    records = csv.DictReader(io.StringIO(said("runs", "show", "--answers", "--format", "csv")))
    assert sorted(one["repeat"] for one in records) == ["0", "1"]
    said("report", "--junit", "junit.xml")
    assert (place.folder / "junit.xml").read_text().count(' repeat 2 iteration 1"') == 1


def test_wrong_answers_say_what_was_asked_and_why_they_are_wrong(said: Said, place: Place) -> None:
    wrong = json.loads(said("runs", "show", "--wrong", "--agent", "echo", "--format", "json"))
    case = json.loads(said("runs", "show", "--case", "c3", "--agent", "echo", "--format", "json"))
    (observation,) = case["observations"]
    line = wrong["answers"][1]
    assert line["case_id"] == "c3"
    assert line["question"] == observation["case"]["input"]
    assert line["why"] == observation["scores"][0]["reason"] == "said '?', expected '3'"
    shown = said("runs", "show", "--wrong", "--agent", "echo").splitlines()
    assert shown[0].split() == ["case", "question", "expected", "answer", "why"]
    assert shown[2].split()[-2:] == ["expected", "'3'"]
    assert shown[-1] == (
        f"See one case in full: agentbench runs show {first(place)['run_id'][:13]} --case c0"
    )
    columns = said("runs", "show", "--wrong", "--format", "csv").splitlines()[0].split(",")
    assert {"benchmark_id", "agent_id", "repeat", "iteration", "correct", "why"} <= {*columns}


def test_a_list_of_answers_that_was_cut_says_how_many_there_are(said: Said) -> None:
    cut = said("runs", "show", "--answers", "--limit", "15")
    assert "… 5 more (--limit)" in cut.splitlines()
    document = json.loads(said("runs", "show", "--wrong", "--limit", "3", "--format", "json"))
    assert (len(document["answers"]), document["more"]) == (3, 7)
    assert "more (--limit)" not in said("runs", "show", "--answers", "--limit", "20")


@pytest.mark.parametrize("form", ["table", "json", "jsonl", "csv", "md"])
def test_nothing_of_a_case_can_steer_the_terminal(said: Said, form: str) -> None:
    shown = said("runs", "show", "--case", "c9", "--format", form)
    assert not set(shown) & set("\x1b\x07\x9b\u202e")
    assert "31m9" in shown


def test_leaderboards_of_all_runs_and_of_one(said: Said, place: Place) -> None:
    board = json.loads(said("leaderboard", "--format", "json"))
    assert board["schema"] == "agentbench.leaderboard/1"
    ranks = [(one["agent_id"], one["rank"]) for one in board["categories"]["accuracy"]]
    assert ranks == [("echo", 1), ("other", 2)]
    assert not json.loads(said("leaderboard", "--category", "cost", "--format", "json"))[
        "categories"
    ]
    one = json.loads(said("leaderboard", "--run", "latest", "--format", "json"))
    assert one["leaderboard"] == first(place)["leaderboard"]


def test_agents_are_listed_and_stale_ones_found(said: Said, place: Place) -> None:
    from agentbench_tui.store.transaction import write_once

    listed = json.loads(said("agents", "list", "--format", "json"))["agents"]
    assert {one["id"]: one["target"] for one in listed} == {
        "echo": "python:agents.py:echo", "other": "python:agents.py:other"
    }  # fmt: skip
    assert not json.loads(said("agents", "list", "--stale", "30d", "--format", "json"))["agents"]
    assert "no agent is stale: none is without a complete execution in the last 90d" in said(
        "agents", "list", "--stale", "90d"
    )
    old = "UPDATE benchmark_executions SET created_at='2020-01-01T00:00:00.000Z' WHERE agent_id=?"
    write_once(place.database, [lambda c: c.execute(old, ("other",))])
    stale = json.loads(said("agents", "list", "--stale", "30d", "--format", "json"))["agents"]
    assert [one["id"] for one in stale] == ["other"]
    assert "expected a number of days" in said("agents", "list", "--stale", "soon", code=2)


def test_an_agent_that_a_suite_names_lies_beside_the_suite(said: Said, place: Place) -> None:
    there = place.folder / "there"
    there.mkdir()
    (there / "near.py").write_text("def answer(prompt):\n    return 'near'\n")
    document = json.loads((place.folder / "suite.json").read_text())
    document["agents"] = [{"id": "near", "target": "python:near.py:answer"}]
    (there / "suite.json").write_text(json.dumps(document))
    told = said("agents", "check", "near", "--suite", "there/suite.json", "--ask")
    assert "python:near.py:answer: ok, answered in" in told
    assert "near.py" in said("agents", "check", "near=python:near.py:answer", code=2)


def test_rescoring_by_another_suite_asks_nothing_and_changes_the_numbers(
    said: Said, place: Place
) -> None:
    (place.folder / "asked").unlink()
    (place.folder / "mild.py").write_text("def mild(case, answer): return answer.text != '?'\n")
    lenient = json.loads((place.folder / "suite.json").read_text())
    (benchmark,) = lenient["benchmarks"]
    benchmark["scorers"] = ["python:mild.py:mild"]
    benchmark["scoring_rubric"] = {"accuracy": {"metric": "accuracy", "target": 0.8, "limit": 0.3}}
    (place.folder / "lenient.json").write_text(json.dumps(lenient))
    changed = json.loads(said("rescore", "latest", "--suite", "lenient.json", "--format", "json"))
    assert [one["cases"]["correct"] for one in changed["executions"]] == [6, 5]
    scores = [one["scores"]["accuracy"] for one in changed["executions"]]
    assert scores == pytest.approx([(0.6 - 0.3) / 0.5, (0.5 - 0.3) / 0.5])
    assert not (place.folder / "asked").exists()
    back = json.loads(said("rescore", "--format", "json"))
    assert back == first(place)


def test_failures_of_a_grader_end_with_3_and_get_another_chance(said: Said, place: Place) -> None:
    fault = "def judge(case, answer):\n    raise ValueError('out')\n"
    (place.folder / "faulty.py").write_text(fault)
    (place.folder / "sound.py").write_text(fault.replace("raise ValueError('out')", "return True"))
    base = json.loads((place.folder / "suite.json").read_text())
    for name in ("faulty", "sound"):
        base["benchmarks"][0]["scorers"] = [f"python:{name}.py:judge"]
        (place.folder / f"{name}.json").write_text(json.dumps(base))
    run = ("run", "faulty.json", *AGENTS[:2], "--no-ui", "--quiet", "--format", "json")
    document = json.loads(said(*run, code=3))
    (execution,) = document["executions"]
    assert (document["status"], execution["failures"]) == ("complete", {"grader": 10})
    assert execution["metrics"]["accuracy"]["value"] is None
    mended = json.loads(said("rescore", "--suite", "sound.json", "--format", "json"))
    assert mended["executions"][0]["failures"] == {}
    assert mended["executions"][0]["cases"]["correct"] == 10
    shown = json.loads(said("runs", "show", "--format", "json"))
    assert shown["failure_details"] == []


def test_an_exported_run_is_whole_verified_and_imported_once(said: Said, place: Place) -> None:
    printed = said("runs", "export", "latest", "out.db")
    digest = hashlib.sha256((place.folder / "out.db").read_bytes()).hexdigest()
    assert printed.split() == [digest, "out.db"]
    assert (place.folder / "out.db.sha256").read_text() == f"{digest}  out.db\n"
    assert "exists" in said("runs", "export", "latest", "out.db", code=2)
    run_id = first(place)["run_id"]
    assert said("runs", "import", "out.db", "--db", "fresh.db") == f"{run_id}\n"
    assert said("runs", "import", "out.db", "--db", "fresh.db") == ""
    assert said("runs", "import", "out.db") == ""
    fresh, own = (
        json.loads(said("runs", "show", "--format", "json", "--db", name))
        for name in ("fresh.db", "store.db")
    )
    assert fresh == own
    case = ("runs", "show", "--case", "c4", "--format", "json", "--db")
    observations = [
        json.loads(said(*case, name))["observations"] for name in ("fresh.db", "store.db")
    ]
    for observation in (*observations[0], *observations[1]):
        for key in ("seq", "run_key", "execution_key", "case_key"):
            del observation[key]
    assert observations[0] == observations[1]
    whole = bytearray((place.folder / "out.db").read_bytes())
    whole[-1] ^= 1
    (place.folder / "out.db").write_bytes(whole)
    assert "its sha256 is not the one" in said("runs", "import", "out.db", code=2)


def test_nothing_is_deleted_unasked_without_a_terminal(place: Place) -> None:
    run_id = first(place)["run_id"]
    for answer in ("", "y\n"):
        done = subprocess.run(
            [*COMMAND, "runs", "delete", "latest"],
            input=answer, capture_output=True, text=True, timeout=PATIENCE_S,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (2, "")
        assert (
            f"{run_id} not deleted: no terminal to ask for confirmation; allow it with --yes"
            in (done.stderr)
        )
    assert place.rows("SELECT COUNT(*) FROM runs") == [(1,)]


def test_a_deleted_run_leaves_nothing_and_others_stay(said: Said, place: Place) -> None:
    run_id = first(place)["run_id"]
    said("run", "suite.json", *AGENTS[:2], "--no-ui", "--quiet", "--case", "c1")
    said("runs", "delete", run_id, "--yes")
    (left,) = json.loads(said("runs", "list", "--format", "json"))["runs"]
    assert left["observed"] == 1
    said("runs", "delete", "latest", "--yes")
    for table in ("runs", "answers", "cases", "datasets", "metrics", "failures", "gauges"):
        assert place.rows(f"SELECT COUNT(*) FROM {table}") == [(0,)], table


def test_explanations_and_plans_run_nothing(said: Said, place: Place) -> None:
    assert json.loads(said("explain", "--format", "json"))["metrics"]
    assert json.loads(said("explain", "e2e_ms.p95", "--format", "json"))["direction"] == "lower"
    assert 'did you mean "accuracy"' in said("explain", "acuracy", code=2)
    dry = json.loads(said("run", "suite.json", *AGENTS, "--dry-run", "--format", "json"))
    assert [one["observations"] for one in dry["executions"]] == [10, 10]
    config = json.loads(said("run", "suite.json", *AGENTS, "--print-config", "--seed", "7"))
    assert [group["seed"] for group in config["groups"]] == [7]
    assert place.rows("SELECT COUNT(*) FROM runs") == [(1,)]


@pytest.mark.parametrize(("gate", "code"), [("accuracy>=0.4", 0), ("accuracy>=0.5", 1),
                                            ("cost_usd<=1", 3)])  # fmt: skip
def test_gates_decide_the_exit_code(said: Said, gate: str, code: int) -> None:
    run = ("run", "suite.json", *AGENTS, "--no-ui", "--quiet", "--format", "json")
    assert json.loads(said(*run, "--fail-on", gate, code=code))["status"] == "complete"


def test_the_gates_of_a_suite_hold_for_its_own_executions_only(said: Said, place: Place) -> None:
    document = json.loads((place.folder / "suite.json").read_text())
    for name, gate in (("easy", "accuracy>=0.1"), ("hard", "accuracy>=0.45")):
        written = {**document, "suite_id": name, "gates": [gate]}
        (place.folder / f"{name}.json").write_text(json.dumps(written))
    run = ("run", "easy.json", *AGENTS[:2], "--no-ui", "--quiet", "--format", "json")
    said(*run, "--fail-on", "accuracy>=0.2")
    said(*run, "--fail-on", "accuracy>=0.9", code=1)
    both = (*run[:2], "hard.json", *AGENTS, *run[4:])
    told = place.run(*both)
    assert told.returncode == 1
    assert [line for line in told.stderr.splitlines() if line.startswith("gate:")] == [
        "gate: accuracy>=0.45 FAILS for other on echo: 0.4"
    ]


def test_options_are_read_from_the_environment_by_their_flag(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTBENCH_RUNS_LIST_FORMAT", "json")
    monkeypatch.setenv("AGENTBENCH_RUN_FORMAT", "json")
    monkeypatch.setenv("AGENTBENCH_RUN_AGENT", " ".join(AGENTS[1::2]))
    monkeypatch.setenv("AGENTBENCH_RUN_DRY_RUN", "1")
    monkeypatch.setenv("AGENTBENCH_RUN_LIMIT", "3")
    assert json.loads(said("runs", "list"))["runs"]
    dry = json.loads(said("run", "suite.json"))
    assert [(one["agent_id"], one["cases"]) for one in dry["executions"]] == [
        ("echo", 3), ("other", 3)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("rnu",), 'did you mean "run"'),
        (("runs", "lst"), "Did you mean 'list'"),
        (("run", "--formt", "json"), "'--format'"),
        (("run", "suite.jsn"), "suite.jsn"),
        (("run", "suite.json", *AGENTS, "--benchmark", "ecko"), 'did you mean "echo"'),
        (("run", "suite.json", *AGENTS, "--case", "c44"), 'did you mean "c4"'),
        (("run", "suite.json", *AGENTS, "--fail-on", "acuracy>=1"), 'did you mean "accuracy"'),
        (("run", "suite.json", "--agent", "pyton:agents.py:echo"), 'did you mean "python"'),
        (("run", "suite.json", "--agent", "python:agents.py:ecko"), 'did you mean "echo"'),
        (("run", "suite.json", *AGENTS[:2], *AGENTS[:2]), "two agents have the id 'echo'"),
        (("run", "suite.json", "./suite.json", *AGENTS), "suite.json: given twice"),
        (("run", "suite.json"), "names no agents"),
        (("runs", "show", "nothing"), "no run 'nothing'"),
        (("runs", "show", "--case", "c44"), 'did you mean "c4"'),
        (("runs", "show", "--agent", "ecko", "--wrong"), 'did you mean "echo"'),
        (("resume", "nothing"), "no run 'nothing'"),
        (("leaderboard", "--category", "acuracy"), 'did you mean "accuracy"'),
        (("runs", "list", "--db", "missing.db"), "no database there yet"),
        (("runs", "import", "suite.json"), "not a readable SQLite database"),
        (("runs", "list", "--db", "suite.json"), "not a readable SQLite database"),
    ],
)
def test_mistakes_are_told_in_a_line_with_what_was_meant(
    said: Said, arguments: tuple[str, ...], hint: str
) -> None:
    assert hint in said(*arguments, code=2)


def test_stdout_holds_the_document_alone_and_no_output_holds_a_key(place: Place) -> None:
    (place.folder / "agents.py").write_text(
        "import os, subprocess\n"
        "print('noise of the module')\n"
        "key = os.environ['NOISY_TOKEN']\n"
        "def noisy(prompt):\n"
        "    print('noise of a call')\n"
        "    subprocess.run(['echo', 'noise of a program'])\n"
        "    if int(prompt) % 2: raise ValueError(key)\n"
        "    return f'{key} \\x1b[2J'\n"
    )
    key = "canary-0123456789"
    run = ("run", "suite.json", "--agent", "noisy=python:agents.py:noisy", "--no-ui")
    for form in ("json", "table"):
        done = place.run(*run, "--format", form, NOISY_TOKEN=key)
        assert done.returncode == 0, done.stderr
        assert "noise" not in done.stdout
        assert "noise of a program" in done.stderr
        assert key not in done.stdout + done.stderr
        if form == "json":
            json.loads(done.stdout)
    for shown in (
        ("runs", "show"),
        ("runs", "show", "--case", "c1"),
        ("runs", "show", "--case", "c2"),
    ):
        done = place.run(*shown, NOISY_TOKEN=key)
        assert key not in done.stdout + done.stderr
        assert "\x1b" not in done.stdout
    for path in place.folder.glob("store.db*"):
        assert key.encode() not in (path.read_bytes() if path.is_file() else b"")


def test_a_database_in_memory_is_written_out_whole(said: Said, place: Place) -> None:
    run = ("run", "suite.json", *AGENTS, "--no-ui", "--quiet", "--format", "json")
    document = json.loads(said(*run, "--db", ":memory:", "--persist", "kept.db"))
    shown = json.loads(said("runs", "show", "--format", "json", "--db", "kept.db"))
    assert shown["executions"][0]["scores"] == document["executions"][0]["scores"]


def test_a_database_in_memory_is_written_out_also_when_nobody_takes_the_report(
    place: Place,
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = ("run", "suite.json", *AGENTS, "--no-ui", "--quiet", "--format", "json")
    process = subprocess.Popen(
        [*COMMAND, *run, "--db", ":memory:", "--persist", "kept.db"],
        cwd=place.folder,
        env=place.environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 141, err
    kept = json.loads(place.run("runs", "show", "--format", "json", "--db", "kept.db").stdout)
    assert kept["status"] == "complete"
    assert [one["cases"]["observed"] for one in kept["executions"]] == [10, 10]
