"""What a user writes to read stored runs; mypy --strict checks it."""

from typing import assert_type

import agentbench_tui as agentbench


def verdicts() -> None:
    comparison = agentbench.compare("old", "new", metrics=["accuracy"], margin=0.02)
    assert_type(comparison, agentbench.ComparisonResult)
    assert_type(comparison.winner, str | None)
    assert_type(comparison.metrics[0].p_adjusted, float | None)
    board = agentbench.leaderboard(suite="gsm8k", rank="version", days=7)
    assert_type(board, agentbench.LeaderboardResult)
    assert_type(board.boards[0].standings[0].score, float | None)
    found = agentbench.regressions("mine", thresholds={"accuracy": 0.01})
    assert_type(found, agentbench.RegressionsResult)
    assert_type(found.regressions[0].severity, str | None)


def store() -> None:
    store = agentbench.open_store("runs.db")
    assert_type(store, agentbench.Store)
    assert_type(store.runs(tag="nightly").runs[0].status, str)
    assert_type(store.run("latest"), agentbench.RunResult)
    assert_type(store.answers(wrong=True).answers[0].case_id, str)
    assert_type(store.compare("old", "new"), agentbench.ComparisonResult)
    assert_type(store.leaderboard(), agentbench.LeaderboardResult)
    assert_type(store.regressions(), agentbench.RegressionsResult)


def errors() -> None:
    try:
        agentbench.run("quickstrat")
    except agentbench.SuiteError as error:
        assert_type(error.problems, tuple[agentbench.Problem, ...])
    except agentbench.AgentbenchError as error:
        assert_type(error.exit_code, int)


def wrong() -> None:
    agentbench.compare("old", "new", paired="maybe")  # type: ignore[arg-type]
    agentbench.leaderboard("gsm8k")  # type: ignore[call-arg]
    agentbench.leaderboard(rank="suite")  # type: ignore[arg-type]
