"""Boards from runs that were carried out: who is ranked with whom, on what, and how sure."""

import asyncio
import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

from agentbench_tui.engine.run.coordinator import carry_out
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.transaction import write_once
from agentbench_tui.verdicts.comparison.compare import compare
from agentbench_tui.verdicts.comparison.comparison import Asked
from agentbench_tui.verdicts.cost.cost_board import CostAsked, cost_document
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.ranking.leaderboard import leaderboard_document
from agentbench_tui.verdicts.ranking.scoreboard import BoardAsked, boards
from agentbench_tui.verdicts.run_leaderboard import run_leaderboard
from agentbench_tui.verdicts.selection.contenders import Wanted
from agentbench_tui.verdicts.selection.side import load_sides

AGENTS = """
from agentbench_tui.model.answer import Answer
def said(prompt, right, usd):
    return Answer(prompt if right else "?", cost_usd=usd, model="m" + str(usd))
def good(prompt):
    return said(prompt, int(prompt) % 10 != 0, 0.002)
def twin(prompt):
    return said(prompt, int(prompt) % 10 != 1, 0.001)
def bad(prompt):
    return said(prompt, int(prompt) % 4 == 0, 0.004)
def never(prompt):
    return said(prompt, False, 0.004)
"""
NAMES = ("good", "twin", "bad", "never")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 cases: `good` and `twin` right on 36 that differ, `bad` on 10, `never` on none."""
    folder = tmp_path_factory.mktemp("board")
    document = suite(40, suite={"category": "accuracy"})
    return asyncio.run(run(folder, document, AGENTS, *NAMES, repeats=2)).database


@pytest.fixture
def database(measured: Path, tmp_path: Path) -> Path:
    """A copy, to which more may be added."""
    shutil.copyfile(measured, tmp_path / "store.db")
    return tmp_path / "store.db"


@contextmanager
def read(database: Path) -> Iterator[Any]:
    with closing(connect_to_read(database)) as connection:
        yield connection


def of(database: Path, **asked: Any) -> list[dict[str, Any]]:
    wanted = {
        name: asked.pop(name)
        for name in ("days", "suite", "category", "by", "benchmark", "run_key")
        if name in asked
    }
    with read(database) as connection:
        return boards(connection, BoardAsked(wanted=Wanted(**wanted), **asked))


def lines(board: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {line["name"]: line for line in board["standings"]}


def test_who_cannot_be_told_apart_shares_a_rank(measured: Path) -> None:
    (board,) = of(measured)
    assert [(line["name"], line["rank_shown"], line["rank"]) for line in board["standings"]] == [
        ("good", "1=", 1), ("twin", "1=", 1), ("bad", "3", 3), ("never", "4", 4)
    ]  # fmt: skip
    assert (board["shared"], board["left_out"], board["ranked_by"]) == (40, 0, "cases")
    good = lines(board)["good"]
    assert good["score"] == pytest.approx(0.9)
    assert (good["rank_low"], good["rank_high"]) == (1, 2)
    assert good["not_told_apart_from"] == ["twin"]
    assert good["ahead_of"] == ["bad", "never"]


def test_costs_of_a_success_count_what_failed_too(measured: Path) -> None:
    (board,) = of(measured)
    found = {name: line["cost_usd_per_success"] for name, line in lines(board).items()}
    assert found["good"]["value"] == pytest.approx(0.002 * 40 / 36)
    assert found["bad"]["value"] == pytest.approx(0.004 * 40 / 10)
    assert found["bad"]["low"] < 0.016 < found["bad"]["high"]
    assert lines(board)["good"]["successes_per_usd"]["value"] == pytest.approx(36 / 0.08)
    # without a success it is infinite; with 95% its chance is below 1 - 0.05^(1/40) = 0.0721
    assert found["never"]["value"] is None
    assert found["never"]["low"] == pytest.approx(0.004 / (1 - 0.05 ** (1 / 40)))
    assert "no success in 40" in found["never"]["reason"]


async def test_costs_that_are_unknown_for_some_answers_are_counted(
    database: Path, tmp_path: Path
) -> None:
    """Every fourth of 40 answers of `partly` has no price."""
    code = AGENTS + (
        "def partly(prompt): return Answer(prompt, cost_usd=0.001 if int(prompt) % 4 else None)\n"
    )
    await run(tmp_path, suite(40, suite={"category": "accuracy"}), code, "partly")
    (board,) = of(database, metric="cost_usd_per_task")
    assert {*lines(board)} == {*NAMES}
    assert board["unranked"] == [
        {"name": "partly", "reason": "cost_usd_per_task is unknown for 10 of 40 answers"}
    ]
    (board,) = of(database)
    told = lines(board)["partly"]["cost_usd_per_success"]
    assert (told["value"], told["reason"]) == (None, "the cost of 10 of 40 answers is not known")
    with read(database) as connection:
        (unknown,) = cost_document(connection, CostAsked()).unknown
        assert unknown.name == "partly"
        assert unknown.reason == (
            "the cost of 10 of 40 answers is not known: the agent did not say how many tokens it"
            " used (10 answers)"
        )
        numbers = CaseNumbers(connection)
        sides = load_sides(connection, ("good", "partly"), None, None, numbers)
        (pair,) = compare(connection, sides, numbers, Asked(), ["cost_usd_per_task"]).pairs
    (cost,) = pair.metrics
    assert (cost.comparable, cost.unknown) == (False, (0, 10))
    assert "unknown for 10 of 40 answers of B: no verdict" in cost.notes


def test_runs_of_benchmarks_have_an_interquartile_mean_and_a_chance_against_the_next(
    measured: Path,
) -> None:
    (board,) = of(measured)
    good, bad = lines(board)["good"], lines(board)["bad"]
    assert good["iqm"]["value"] == pytest.approx(0.9)
    few = "needs 10 more repeats than benchmarks (has 1 more)"
    assert good["improvement"] == {"over": "twin", "value": 0.5, "low": None, "high": None,
                                   "reason": few}  # fmt: skip
    assert (bad["improvement"]["over"], bad["improvement"]["value"]) == ("never", 1.0)
    assert lines(board)["never"]["improvement"] is None
    profile = bad["profile"]
    above = [
        share for tau, share in zip(profile["taus"], profile["share"], strict=True) if tau < 0.2
    ]
    assert above == [1.0] * len(above)
    assert profile["share"][-1] == 0.0


def test_ratings_follow_who_was_right_where(measured: Path) -> None:
    (board,) = of(measured, rating=True)
    rated = {name: line["rating"]["value"] for name, line in lines(board).items()}
    assert rated["good"] == pytest.approx(rated["twin"], abs=1.0)
    assert rated["good"] > rated["bad"] > rated["never"]
    assert sum(rated.values()) / 4 == pytest.approx(1000)
    assert lines(board)["good"]["rating"]["low"] < rated["good"]


async def test_cases_that_one_was_not_asked_are_left_out_for_all(
    database: Path, tmp_path: Path
) -> None:
    await run(tmp_path, suite(30, suite={"category": "accuracy"}),
              AGENTS + "def part(prompt): return said(prompt, True, 1)\n", "part")  # fmt: skip
    (board,) = of(database)
    assert (board["shared"], board["left_out"]) == (30, 10)
    assert lines(board)["bad"]["score"] == pytest.approx(8 / 30)  # 0, 4, … 28
    assert lines(board)["part"]["score"] == 1.0
    assert lines(board)["bad"]["cost_usd_per_success"]["value"] == pytest.approx(0.004 * 30 / 8)


async def test_who_was_asked_too_little_has_a_board_apart(database: Path, tmp_path: Path) -> None:
    await run(tmp_path, suite(5, suite={"category": "accuracy"}),
              AGENTS + "def part(prompt): return prompt\n", "part")  # fmt: skip
    first, second = of(database)
    assert [*lines(first)] == ["good", "twin", "bad", "never"]
    assert (first["shared"], first["apart"]) == (40, False)
    assert (second["shared"], second["apart"], [*lines(second)]) == (5, True, ["part"])


async def test_times_of_another_machine_have_a_board_apart(database: Path, tmp_path: Path) -> None:
    await run(tmp_path, suite(40, suite={"category": "accuracy"}),
              AGENTS + "def far(prompt): return prompt\n", "far", repeats=2)  # fmt: skip
    write_once(database, [
        lambda c: c.execute("INSERT INTO environments (hash, fingerprint, document)"
                            " SELECT 'other', 'another machine', document FROM environments"
                            " LIMIT 1"),
        lambda c: c.execute("UPDATE runs SET environment_hash='other' WHERE key=2"),
    ])  # fmt: skip
    first, second = of(database, metric="e2e_ms")
    assert {*lines(first)} == {*NAMES}
    assert ([*lines(second)], second["apart"]) == (["far"], True)
    (board,) = of(database)  # being right does not depend on the machine
    assert {*lines(board)} == {*NAMES, "far"}


async def test_answers_that_are_judged_in_another_way_are_noted(
    database: Path, tmp_path: Path
) -> None:
    other = suite(40, scorers=["numeric"], suite={"category": "accuracy"})
    await run(tmp_path, other, AGENTS + "def told(prompt): return prompt\n", "told")
    (board,) = of(database)
    assert lines(board)["told"]["score"] == 1.0
    (note,) = board["notes"]
    assert note.startswith("small/echo: the benchmark is not defined alike: scorers")
    assert note.endswith("(bad against told)")


async def test_simulated_agents_are_never_among_measured_ones(
    database: Path, tmp_path: Path
) -> None:
    (tmp_path / "suite.json").write_text(json.dumps(suite(40, suite={"category": "accuracy"})))
    both = RunOptions(agents=("ideal=reference:perfect",), folder=tmp_path)
    await carry_out(make_plan([str(tmp_path / "suite.json")], both), database)
    measured, simulated = of(database)
    assert "ideal" not in lines(measured)
    assert (simulated["simulated"], [*lines(simulated)]) == (True, ["ideal"])


def test_only_the_last_days_count(database: Path) -> None:
    write_once(database, [lambda c: c.execute(
        "UPDATE benchmark_executions SET created_at='2020-01-01T00:00:00.000Z'"
        " WHERE agent_id='good'")])  # fmt: skip
    (board,) = of(database)
    assert "good" not in lines(board)
    (board,) = of(database, days=36500)
    assert "good" in lines(board)


async def test_of_each_agent_the_latest_run_counts(database: Path, tmp_path: Path) -> None:
    code = AGENTS.replace("int(prompt) % 4 == 0", "True")
    await run(tmp_path, suite(40, suite={"category": "accuracy"}), code, "bad")
    (board,) = of(database)
    assert lines(board)["bad"]["score"] == 1.0
    versions = [name for name in lines(of(database, by="version")[0]) if name.startswith("bad@")]
    assert len(versions) == 1  # the same target is the same version


async def test_boards_of_different_runs_say_that_runs_differ(
    database: Path, tmp_path: Path
) -> None:
    told = "Speed was measured in different runs"
    assert told not in str(of(database, metric="e2e_ms"))
    await run(tmp_path, suite(40, suite={"category": "accuracy"}), AGENTS, "bad", repeats=2)
    (board,) = of(database, metric="e2e_ms")
    assert [note for note in board["notes"] if note.startswith(told)]
    assert "5% assumed between runs" in board["method"]
    (board,) = of(database, metric="accuracy")
    assert "different runs" not in str(board["notes"])


def test_models_are_ranked_as_the_server_named_them(measured: Path) -> None:
    (board,) = of(measured, by="model")
    assert {"m0.001", "m0.002", "m0.004"} == {*lines(board)}
    assert lines(board)["m0.004"]["score"] == pytest.approx(10 / 80)  # bad and never together


def test_times_stand_on_whole_repeats(database: Path) -> None:
    # good and never take 10 and 11 ms, twin 11 and 12, bad 20 and 21, the same on every case
    took = "CASE agent_id WHEN 'twin' THEN 11 WHEN 'bad' THEN 20 ELSE 10 END"
    execution = f"SELECT {took} FROM benchmark_executions WHERE key=execution_key"
    write_once(
        database, [lambda c: c.execute(f"UPDATE answers SET e2e_ms = ({execution}) + repeat")]
    )
    (board,) = of(database, metric="e2e_ms")
    assert (board["ranked_by"], board["better"]) == ("repeats", "lower")
    found = lines(board)
    for name, times in {"good": (10, 11), "twin": (11, 12), "bad": (20, 21)}.items():
        assert found[name]["score"] == pytest.approx((times[0] * times[1]) ** 0.5)
    assert (found["good"]["rank_shown"], found["never"]["rank_shown"]) == ("1=", "1=")
    assert found["bad"]["rank"] == 4


async def test_where_nothing_is_judged_right_time_ranks(tmp_path: Path) -> None:
    found = await run(tmp_path, suite(8, scorers=[]), AGENTS, "good", "bad", repeats=2)
    (board,) = of(found.database)
    assert (board["metric"], board["ranked_by"]) == ("e2e_ms", "repeats")
    assert len(board["standings"]) == 2


async def test_cases_that_go_together_count_as_one_draw(tmp_path: Path) -> None:
    document = suite(40)
    for number, case in enumerate(document["benchmarks"][0]["dataset"]["cases"]):
        case["cluster"] = f"page {number // 10}"
    # right on three of four pages: forty cases would show it, four pages cannot
    code = AGENTS + "def most(prompt): return prompt if int(prompt) < 30 else '?'\n"
    found = await run(tmp_path, document, code, "most", "never")
    (board,) = of(found.database, rating=True)
    assert board["shared"] == 40
    assert [line["rank_shown"] for line in board["standings"]] == ["1=", "1="]
    assert lines(board)["most"]["score"] == pytest.approx(0.75)
    assert lines(board)["most"]["reason"] == "needs 15 (have 4) independent cases"
    assert lines(board)["most"]["rating"]["low"] is None
    assert lines(board)["most"]["rating"]["reason"] == "needs 15 independent cases (have 4)"


async def test_a_rating_that_only_the_prior_decides_has_no_interval(tmp_path: Path) -> None:
    code = AGENTS + "def always(prompt): return prompt\n"
    found = await run(tmp_path, suite(20), code, "always", "never")
    (board,) = of(found.database, rating=True)
    always = lines(board)["always"]["rating"]
    assert always["value"] > 1000
    assert (always["low"], always["high"]) == (None, None)
    assert always["reason"] == "only by a weak prior: some agent never lost"


@pytest.mark.parametrize("names", [("good",), ("never", "mute"), ("good", "same")])
async def test_little_and_degenerate_data_break_nothing(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    code = AGENTS + "same = good\ndef mute(prompt): raise ValueError('no')\n"
    found = await run(tmp_path, suite(1), code, *names)
    for metric in (None, "overall", "e2e_ms", "cost_usd_per_task", "cost_usd_per_correct"):
        for board in of(found.database, metric=metric, rating=True):
            assert {line["rank_shown"] for line in board["standings"]} <= {"1", "1="}
            json.dumps(board, allow_nan=False)


async def test_one_repeat_tells_nobody_apart_by_time(tmp_path: Path) -> None:
    found = await run(tmp_path, suite(8), AGENTS, "good", "bad")
    (board,) = of(found.database, metric="e2e_ms")
    assert [line["rank_shown"] for line in board["standings"]] == ["1=", "1="]
    assert board["standings"][0]["reason"] == "needs 2 (have 1) repeats (--runs 5)"


def test_overall_that_is_accuracy_is_ranked_case_by_case(measured: Path) -> None:
    (board,) = of(measured, metric="overall")
    assert board["ranked_by"] == "cases"
    assert [line["rank_shown"] for line in board["standings"]] == ["1=", "1=", "3", "4"]


async def test_overall_of_several_scores_is_ranked_by_their_intervals(tmp_path: Path) -> None:
    weights = {"accuracy": 1, "reliability": 1, "speed": 0, "efficiency": 0, "cost": 0}
    found = await run(tmp_path, suite(40, suite={"weights": weights}), AGENTS, *NAMES[:3])
    (board,) = of(found.database, metric="overall")
    assert board["ranked_by"] == "scores"
    assert [(line["name"], line["rank_shown"]) for line in board["standings"]] == [
        ("good", "1="), ("twin", "1="), ("bad", "3")
    ]  # fmt: skip
    entries = found.document["leaderboard"]
    assert [(one["agent_id"], one["rank"], one["rank_shown"]) for one in entries] == [
        ("good", 1, "1="), ("twin", 1, "1="), ("bad", 3, "3")
    ]  # fmt: skip


def test_what_was_not_measured_ranks_nobody_and_says_so(measured: Path) -> None:
    (board,) = of(measured, metric="ttft_ms")
    assert board["standings"] == []
    assert board["unranked"][0] == {
        "name": "bad",
        "reason": "no ttft_ms: not streamed",
    }


def test_one_board_over_all_categories(measured: Path) -> None:
    (board,) = of(measured, overall=True)
    assert (board["category"], len(board["standings"])) == (None, 4)
    assert of(measured, category="speed") == []
    assert of(measured, category="speed", overall=True) == []


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"metric": "acuracy"}, 'unknown (did you mean "accuracy"?)'),
        ({"metric": "queue_len"}, "unknown"),
        ({"suite": "smal"}, 'did you mean "small"'),
    ],
)
def test_a_slip_is_told(measured: Path, asked: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as slip:
        of(measured, **asked)
    assert told in str(slip.value)


def test_the_document_keeps_the_views_beside_the_boards(measured: Path) -> None:
    with read(measured) as connection:
        document = leaderboard_document(connection, BoardAsked(), limit=2)
    assert document["schema"] == "agentbench.leaderboard/1"
    assert [one["rank"] for one in document["categories"]["accuracy"]] == [1, 1]
    (board,) = document["boards"]
    assert (len(board["standings"]), board["more"]) == (2, 2)


async def test_filters_apply_to_every_part_of_the_document(database: Path, tmp_path: Path) -> None:
    """`good` alone was measured on another suite, of another category and benchmark."""
    other = suite(8, suite={"category": "speed", "suite_id": "other"}, benchmark_id="count")
    await run(tmp_path, other, AGENTS, "good")
    everyone, alone = {*NAMES}, {"good"}
    for asked, names, categories in (
        ({}, everyone, ["accuracy", "speed"]),
        ({"suite": "small"}, everyone, ["accuracy"]),
        ({"suite": "other"}, alone, ["speed"]),
        ({"category": "speed"}, alone, ["speed"]),
        ({"benchmark": "count"}, alone, ["speed"]),
        ({"run_key": 1}, everyone, ["accuracy"]),
        ({"run_key": 2, "days": None}, alone, ["speed"]),
        ({"run_key": 1, "category": "speed"}, set(), []),
    ):
        with read(database) as connection:
            document = leaderboard_document(connection, BoardAsked(wanted=Wanted(**asked)))
            run_key = asked.get("run_key")
            of_run = run_leaderboard(connection, run_key or 1, Wanted(**asked))
        assert {one["agent_id"] for one in document["agents"]} == names
        assert [*document["categories"]] == categories
        assert {board["category"] for board in document["boards"]} == {*categories}
        in_boards = {line["name"] for board in document["boards"] for line in board["standings"]}
        assert in_boards == names
        if run_key is not None:
            assert {one["agent_id"] for one in of_run} == names
        benchmarks = {one["agent_id"]: one["benchmarks_completed"] for one in document["agents"]}
        assert benchmarks.get("good", 0) == len(categories)
        assert (document["reason"] is None) == bool(names)


def test_an_empty_board_says_why(database: Path) -> None:
    def reason(**wanted: Any) -> str:
        with read(database) as connection:
            document = leaderboard_document(connection, BoardAsked(wanted=Wanted(**wanted)))
        assert document["boards"] == []
        return str(document["reason"])

    assert reason(category="speed") == (
        "no complete execution of category speed in the last 30 days; there are some of category"
        " accuracy"
    )
    old = "UPDATE benchmark_executions SET created_at='2020-01-01T00:00:00.000Z'"
    write_once(database, [lambda c: c.execute(old)])
    assert reason(suite="small") == (
        "no complete execution of suite small in the last 30 days; there are older ones (--days)"
    )


def test_a_run_of_many_observations_is_ranked_by_intervals(
    measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with read(measured) as connection:
        quick = run_leaderboard(connection, 1)
        monkeypatch.setattr("agentbench_tui.verdicts.run_leaderboard.MOST_OBSERVED", 10)
        large = run_leaderboard(connection, 1)
    assert [one["rank_shown"] for one in quick] == ["1=", "1=", "3", "4"]
    assert {one["ranked_by"].partition(":")[0] for one in quick} == {"by case"}
    assert {one["ranked_by"].partition(":")[0] for one in large} == {"by intervals"}
    assert [one["rank_shown"] for one in large][:2] == ["1=", "1="]
