"""`agentbench rerun`: part of a run is asked again, and one rule says what becomes of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from processes import Place, kill, make_place, until

# At first 1 and 2 cannot be reached, 3 raises, and 4 and 5 are answered wrongly; once the file
# `healed` is there, all but 3 and 5 go well.
AGENTS = """
import os
from pathlib import Path
from agentbench_tui.model.answer import AgentFailure, Answer, FailureKind
here = Path(__file__).parent
def flaky(prompt):
    with (here / "asked").open("a") as log:
        log.write(prompt + " ")
    if prompt in os.environ.get("DOOR", "").split():
        (here / "arrived").write_text(prompt)
        (here / "go").read_text()
    n, healed = int(prompt), (here / "healed").exists()
    if n in (1, 2) and not healed:
        raise AgentFailure(FailureKind.CONNECTION, "no route")
    if n == 3:
        raise ValueError("a bug of the agent")
    return Answer("?" if n == 5 or n == 4 and not healed else prompt, cost_usd=1.0)
def steady(prompt):
    return Answer(prompt if int(prompt) % 2 else "?", cost_usd=1.0)
"""
RUN = ("run", "suite.json", "--no-ui", "--format", "json")
FLAKY = ("--agent", "flaky=python:agents.py:flaky")
STEADY = ("--agent", "steady=python:agents.py:steady")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    made.suite(8, retries=0)
    (tmp_path / "agents.py").write_text(AGENTS)
    return made


def begun(place: Place, *agents: str) -> str:
    """A run in which two cases could not be asked; its id. From then on they can."""
    document = json.loads(place.run(*RUN, *agents).stdout)
    (place.folder / "healed").touch()
    (place.folder / "asked").unlink(missing_ok=True)
    return str(document["run_id"])


def rerun(place: Place, *arguments: str) -> dict[str, Any]:
    done = place.run("rerun", *arguments, "--no-ui", "--format", "json")
    assert done.returncode in {0, 3}, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def asked(place: Place) -> list[str]:
    return (place.folder / "asked").read_text().split()


def accuracy(place: Place, agent: str, *options: str) -> Any:
    """Accuracy of an agent on the leaderboard."""
    board = json.loads(place.run("leaderboard", *options, "--format", "json").stdout)
    return next(one["accuracy"] for one in board["agents"] if one["agent_id"] == agent)


def metric(execution: dict[str, Any], name: str) -> Any:
    return execution["metrics"][name]["value"]


def test_infrastructure_failures_are_replaced_and_all_else_is_kept(place: Place) -> None:
    earlier = begun(place, *FLAKY, *STEADY)
    document = rerun(place, earlier, "--infrastructure")
    assert asked(place) == ["1", "2"]
    assert (document["status"], document["rerun_of"]) == ("complete", earlier)
    flaky, steady = document["executions"]
    assert (flaky["agent_id"], flaky["status"]) == ("flaky", "complete")
    # 0, 6 and 7 were right, now 1 and 2 as well; 4 and 5 are wrong and 3 has no answer.
    assert flaky["cases"] == {"total": 8, "observed": 8, "answered": 7, "correct": 5}
    assert metric(flaky, "accuracy") == 5 / 8
    assert flaky["failures"] == {"agent": 1}
    assert metric(flaky, "cost_usd") == 7.0
    assert flaky["rerun"] | {"execution_id": ""} == {
        "execution_id": "", "attempt": 1, "asked": 2, "observed": 2, "answered": 2, "correct": 2,
    }  # fmt: skip
    assert steady["cases"] == {"total": 8, "observed": 8, "answered": 8, "correct": 4}
    assert [one["agent_id"] for one in document["leaderboard"]] == ["flaky", "steady"]
    printed = place.run("runs", "show").stdout
    assert "2 infrastructure failures of run" in printed
    assert "replaced: 2 answered now, 2 right; 6 other answers kept." in printed


def test_boards_and_histories_read_the_rerun_in_place_of_the_earlier_run(place: Place) -> None:
    earlier = begun(place, *FLAKY, *STEADY)
    child = rerun(place, earlier, "--infrastructure")["run_id"]
    assert accuracy(place, "flaky") == 5 / 8
    compared = json.loads(place.run("compare", "flaky", "steady", "--format", "json").stdout)
    (benchmark,) = compared["benchmarks"]
    assert benchmark["a"]["run_ids"] == benchmark["b"]["run_ids"] == [child]
    regressions = json.loads(place.run("regressions", "flaky", "--format", "json").stdout)
    reasons = {finding["reason"] for finding in regressions["findings"]}
    assert reasons == {"there is no earlier run; run again after a change"}


def test_a_wrong_answer_is_a_further_attempt_and_counts_for_pass_at_k_alone(place: Place) -> None:
    earlier = begun(place, *FLAKY)
    document = rerun(place, earlier, "--failed", "--wrong")
    assert sorted(asked(place)) == ["1", "2", "3", "4", "5"]
    whole, further = document["executions"]
    # The whole has the replaced answers only: 4 is right at its second attempt, not at its first.
    assert (whole["status"], metric(whole, "accuracy")) == ("complete", 5 / 8)
    assert (further["status"], further["stop_reason"]) == ("incomplete", "further attempts only")
    assert further["cases"] == {"total": 3, "observed": 3, "answered": 2, "correct": 1}
    assert further["rerun"]["attempt"] == 2
    assert document["status"] == "complete"
    # The earlier run still has 1 and 2 as failures, which no further attempt of theirs follows.
    pass_at_2 = further["metrics"]["pass@2"]
    assert pass_at_2["value"] is None
    assert pass_at_2["reason"].startswith("2 answers not right and not asked again (--failed and")


def test_pass_at_k_is_the_share_right_within_k_attempts(place: Place) -> None:
    begun(place, *FLAKY)
    merged = rerun(place, "latest", "--infrastructure")["run_id"]
    second = rerun(place, merged, "--failed", "--wrong")
    (further,) = second["executions"]
    # Right at first: 0, 1, 2, 6, 7; at the second attempt: 4; never: 3 and 5.
    found = further["metrics"]["pass@2"]
    assert (found["value"], found["n"]) == (6 / 8, 8)
    # Wilson's interval of 6 in 8, from Brown, Cai & DasGupta's formula by hand.
    assert (round(found["low"], 3), round(found["high"], 3)) == (0.409, 0.929)
    third = rerun(place, second["run_id"], "--failed", "--wrong")
    (more,) = third["executions"]
    assert more["cases"]["total"] == 2
    assert metric(more, "pass@3") == 6 / 8
    assert accuracy(place, "flaky") == 5 / 8
    again = place.run("rescore", second["run_id"], "--format", "json")
    assert metric(json.loads(again.stdout)["executions"][0], "pass@2") == 6 / 8
    printed = place.run("runs", "show", second["run_id"]).stdout
    assert "right within 2 attempts (pass@2): 75.0% [40.9, 92.9] of 8." in printed
    assert "Further attempts replace nothing" in printed


def test_each_attempt_has_a_seed_of_its_own(place: Place) -> None:
    (place.folder / "agents.py").write_text(
        "from pathlib import Path\n"
        "def seeded(request):\n"
        "    with (Path(__file__).parent / 'asked').open('a') as log:\n"
        "        log.write(f'{request.case.id}:{request.seed}:{request.iteration} ')\n"
        "    return '?'\n"
    )
    place.suite(2, retries=0)
    place.run(*RUN, "--agent", "seeded=python:agents.py:seeded")
    rerun(place, "--wrong")
    rerun(place, "--wrong")
    seen = [one.split(":") for one in asked(place)]
    assert [nth for _, _, nth in seen] == ["0", "0", "1", "1", "2", "2"]
    assert len({seed for _, seed, _ in seen}) == 6


def test_a_killed_rerun_is_resumed_and_loses_nothing(place: Place) -> None:
    place.doors()
    earlier = begun(place, *FLAKY)
    command = ("rerun", earlier, "--infrastructure", "--no-ui", "--format", "json")
    with place.started(*command, DOOR="2") as process:
        place.someone_at_the_door()
        stored = (
            "SELECT COUNT(*) FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
        )
        until(lambda: place.rows(f"{stored} WHERE e.replaces IS NOT NULL") == [(7,)])
        kill(process)
    resumed = place.run("resume", "--no-ui", "--format", "json")
    assert resumed.returncode == 0, resumed.stderr
    assert asked(place) == ["1", "2", "2"]
    (execution,) = json.loads(resumed.stdout)["executions"]
    assert execution["cases"] == {"total": 8, "observed": 8, "answered": 7, "correct": 5}
    counts = "SELECT observed, answered, correct FROM iterations WHERE NOT warmup ORDER BY seq"
    # The run; what was kept of it; the answer before the kill, and the one after it.
    assert place.rows(counts) == [(8, 5, 3), (6, 5, 3), (1, 1, 1), (1, 1, 1)]


def test_a_rerun_is_whole_without_the_run_it_continues(place: Place, tmp_path: Path) -> None:
    earlier = begun(place, *FLAKY)
    child = rerun(place, earlier, "--infrastructure")["run_id"]
    attempts = rerun(place, child, "--failed", "--wrong")["run_id"]
    file = tmp_path / "child.db"
    assert place.run("runs", "export", child, str(file)).returncode == 0
    assert place.run("runs", "delete", earlier, "--yes").returncode == 0
    shown = json.loads(place.run("runs", "show", child, "--format", "json").stdout)
    assert metric(shown["executions"][0], "accuracy") == 5 / 8
    elsewhere = place.run("runs", "import", str(file), "--db", str(tmp_path / "other.db"))
    assert elsewhere.returncode == 0, elsewhere.stderr
    assert accuracy(place, "flaky", "--db", str(tmp_path / "other.db")) == 5 / 8
    # pass@k was computed when the attempts were made, and stays until they are scored again.
    assert place.run("runs", "delete", child, "--yes").returncode == 0
    kept = json.loads(place.run("runs", "show", attempts, "--format", "json").stdout)
    assert metric(kept["executions"][0], "pass@2") == 6 / 8
    place.run("rescore", attempts, "--format", "json")
    scored = json.loads(place.run("runs", "show", attempts, "--format", "json").stdout)
    assert scored["executions"][0]["metrics"]["pass@k"]["reason"] == (
        "the run of the earlier attempts was deleted"
    )


def test_a_deleted_rerun_leaves_the_earlier_run_as_it_was(place: Place) -> None:
    earlier = begun(place, *FLAKY)
    child = rerun(place, earlier, "--infrastructure")["run_id"]
    place.run("runs", "delete", child, "--yes")
    assert accuracy(place, "flaky") == 3 / 8


def test_a_budget_counts_what_the_rerun_itself_spends(place: Place) -> None:
    # Three of eight answers come at once and cost 1 USD each; a limit of 6 lets all be asked.
    document = json.loads(place.run(*RUN, *FLAKY, "--max-cost", "6").stdout)
    (place.folder / "healed").touch()
    again = rerun(place, document["run_id"], "--infrastructure")
    assert metric(again["executions"][0], "cost_usd") == 7.0
    assert again["stop_reason"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "choose what to ask again: --failed, --wrong, --infrastructure or --case ID"),
        (("--case", "c_1"), '--case c_1: the run has no such case (did you mean "c1"?)'),
        (("absent", "--wrong"), "no run 'absent'"),
    ],
)
def test_mistakes_are_answered_with_what_to_do(
    place: Place, arguments: tuple[str, ...], words: str
) -> None:
    begun(place, *FLAKY)
    done = place.run("rerun", *arguments, "--no-ui")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_left_says_what_there_is(place: Place) -> None:
    begun(place, *STEADY)
    done = place.run("rerun", "--failed", "--no-ui")
    assert done.returncode == 2
    assert "has nothing of that to ask again: it has 4 wrong answers (--wrong)" in done.stderr


def test_an_attempt_without_answers_is_not_called_right(place: Place) -> None:
    whole = begun(place, *STEADY)
    (place.folder / "agents.py").unlink()
    attempt = rerun(place, whole, "--wrong")["run_id"]
    done = place.run("rerun", attempt, "--wrong", "--no-ui")
    assert done.returncode == 2
    assert f"it has no answers; it asked part of run {whole} again" in done.stderr


def test_gates_judge_the_whole_and_never_further_attempts(place: Place) -> None:
    place.suite(8, retries=0, suite={"gates": ["accuracy>=0.5"]})
    document = json.loads(place.run(*RUN, *FLAKY).stdout)
    (place.folder / "healed").touch()
    done = place.run("rerun", document["run_id"], "--failed", "--wrong", "--no-ui")
    assert done.returncode == 0, done.stderr
    only_attempts = place.run("rerun", "latest", "--case", "c5", "--no-ui")
    assert "gate" not in only_attempts.stderr


def test_further_attempts_have_no_pass_at_k_of_their_own_answers(place: Place) -> None:
    place.suite(8, retries=0, iterations={"warmup": 0, "measured": 2})
    (place.folder / "healed").touch()
    first = json.loads(place.run(*RUN, *FLAKY).stdout)["run_id"]
    (execution,) = rerun(place, first, "--failed", "--wrong")["executions"]
    found = {name for name in execution["metrics"] if name.startswith(("pass@", "pass^"))}
    assert found == {"pass@2"}
    # 3 and 5 fail in both passes, at both attempts: 12 of 16 observations are right.
    assert metric(execution, "pass@2") == 12 / 16
    assert {(one.split()[0]) for one in asked(place)[16:]} == {"3", "5"}


def dry_run(place: Place, *arguments: str) -> dict[str, Any]:
    done = place.run("rerun", *arguments, "--dry-run", "--format", "json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_dry_run_names_what_would_be_asked_and_why_and_changes_nothing(place: Place) -> None:
    earlier = begun(place, *FLAKY, *STEADY)
    before = place.rows("SELECT id, status FROM runs")
    document = dry_run(place, "--infrastructure", "--wrong")
    assert not (place.folder / "asked").exists()
    assert place.rows("SELECT id, status FROM runs") == before
    assert (document["schema"], document["run_id"]) == ("agentbench.rerun-plan/1", earlier)
    planned = {
        (one["agent_id"], one["attempt"]): (
            one["kept"],
            [(asked["case_id"], asked["outcome"]) for asked in one["asked"]],
        )
        for one in document["executions"]
    }
    # steady answers even numbers wrongly; flaky cannot reach 1 and 2, and gets 4 and 5 wrong.
    assert planned == {
        ("flaky", 1): (6, [("c1", "connection"), ("c2", "connection")]),
        ("steady", 1): (8, []),
        ("flaky", 2): (0, [("c4", "wrong"), ("c5", "wrong")]),
        ("steady", 2): (0, [(f"c{n}", "wrong") for n in (0, 2, 4, 6)]),
    }
    # Each answer cost 1 USD; what was never answered is expected to cost their mean.
    assert (document["requests"], document["cost_usd"]) == (8, 8.0)
    rerun(place, "--infrastructure", "--wrong")
    assert sorted(asked(place)) == ["1", "2", "4", "5"]


def test_a_dry_run_is_readable_in_a_pipe_and_as_csv(place: Place) -> None:
    begun(place, *FLAKY)
    printed = place.run("rerun", "--failed", "--dry-run").stdout
    assert printed.startswith("3 requests for about $3.00 would ask part of run ")
    assert "nothing was sent or changed." in printed
    assert "2 connection" in printed
    rows = place.run("rerun", "--failed", "--dry-run", "--format", "csv").stdout.splitlines()
    assert [row.split(",")[6] for row in rows] == ["case_id", "c1", "c2", "c3"]
    assert [row.split(",")[9] for row in rows] == ["outcome", "connection", "connection", "agent"]


def test_a_dry_run_expects_the_cost_of_the_same_question(place: Place) -> None:
    (place.folder / "agents.py").write_text(
        "from agentbench_tui.model.answer import Answer, AgentFailure, FailureKind\n"
        "def priced(prompt):\n"
        "    if prompt == '0':\n"
        "        raise AgentFailure(FailureKind.CONNECTION, 'no route')\n"
        "    return Answer('?' if prompt == '3' else prompt, cost_usd=float(prompt))\n"
        "def free(prompt):\n"
        "    return '?'\n"
    )
    place.suite(4, retries=0)
    place.run(*RUN, "--agent", "priced=python:agents.py:priced")
    # Case 3 cost 3 USD; 1, 2 and 3 cost 2 USD in the mean, which case 0 is expected to cost.
    document = dry_run(place, "--wrong", "--infrastructure")
    assert [one["cost_usd"] for one in document["executions"]] == [2.0, 3.0]
    assert document["cost_usd"] == 5.0
    place.run(*RUN, "--agent", "free=python:agents.py:free")
    document = dry_run(place, "--wrong")
    assert (document["requests"], document["cost_usd"]) == (4, None)
    printed = place.run("rerun", "--wrong", "--dry-run").stdout
    assert "4 requests would ask part of run" in printed
    assert "The cost is unknown" in printed


def test_a_dry_run_names_the_limit_that_the_expected_cost_exceeds(place: Place) -> None:
    place.run(*RUN, *FLAKY, "--max-cost", "2")
    document = dry_run(place, "--failed")
    assert (document["cost_usd"], document["cost_limit_usd"]) == (3.0, 2.0)
    printed = place.run("rerun", "--failed", "--dry-run").stdout
    assert "It is above the run's limit of $2.00, where the rerun would stop." in printed


def test_a_dry_run_counts_what_was_never_asked(place: Place) -> None:
    (place.folder / "agents.py").write_text(
        "from pathlib import Path\n"
        "class Late:\n"
        "    def start(self):\n"
        "        (Path(__file__).parent / 'healed').read_text()\n"
        "    def answer(self, prompt):\n"
        "        return prompt\n"
    )
    place.run(*RUN, "--agent", "late=python:agents.py:Late")
    (place.folder / "healed").touch()
    (execution,) = dry_run(place, "--failed")["executions"]
    planned = len(execution["asked"]) + execution["never_asked"]
    assert execution["requests"] == planned == 8
    assert execution["never_asked"] > 0
    printed = place.run("rerun", "--failed", "--dry-run").stdout
    assert f"{execution['never_asked']} never asked" in printed
    (again,) = rerun(place, "--failed")["executions"]
    assert again["cases"]["correct"] == 8


def test_a_dry_run_of_a_further_attempt_names_its_own_passes(place: Place) -> None:
    place.suite(8, retries=0, iterations={"warmup": 0, "measured": 2})
    (place.folder / "healed").touch()
    place.run(*RUN, *FLAKY)
    rerun(place, "--wrong")
    document = dry_run(place, "--wrong")
    (execution,) = document["executions"]
    assert execution["attempt"] == 3
    # Case 5 was wrong in both passes of attempt 2, which are iterations 2 and 3.
    assert [(one["case_id"], one["iteration"], one["outcome"]) for one in execution["asked"]] == [
        ("c5", 2, "wrong"), ("c5", 3, "wrong"),
    ]  # fmt: skip


def test_a_run_that_still_runs_is_watched_instead(place: Place) -> None:
    place.doors()
    with place.started(*RUN, *FLAKY, DOOR="7") as process:
        place.someone_at_the_door()
        ((run_id,),) = place.rows("SELECT id FROM runs")
        for more in ((), ("--dry-run",)):
            done = place.run("rerun", run_id, "--wrong", *more)
            assert done.returncode == 2
            assert f"run {run_id} is still running; `agentbench attach {run_id}`" in done.stderr
        kill(process)
    assert place.rows("SELECT COUNT(*) FROM runs") == [(1,)]


def test_a_gate_passes_no_run_of_further_attempts_by_nothing(place: Place) -> None:
    earlier = begun(place, *FLAKY)
    whole = rerun(place, earlier, "--infrastructure")["run_id"]
    attempts = rerun(place, whole, "--failed", "--wrong")["run_id"]
    done = place.run("gate", attempts, "accuracy>=0.1")
    assert done.returncode == 3
    assert f"only further attempts were asked; check run {whole}" in done.stderr
    # 5 of 8 were right at first, and one more at its second attempt.
    assert place.run("gate", attempts, "pass@2>=0.75").returncode == 0
    assert place.run("gate", attempts, "pass@2>0.75").returncode == 1
    assert place.run("gate", whole, "accuracy>=0.625").returncode == 0
