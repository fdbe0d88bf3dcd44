"""Every metric of `agentbench.load/1` against what the practice server knows it did.

A time may be off by a fifth and 5 ms: a machine that runs tests beside others wakes a process some
milliseconds late, at the server or here, and both clocks are right. The delays are so large that
the wrong formulas in use elsewhere miss by far more, which is asserted too. Counts are exact, but
for those of times between chunks.
"""

from pathlib import Path

import pytest
from loads import Loaded, Truth, leave_calibration_out, practice, three_tries

PARTS = ("mean", "p50", "p90")
DISTRIBUTIONS = ("ttft_ms", "ttfo_ms", "tpot_ms", "itl_ms", "icl_ms", "e2e_ms")
BETWEEN_CHUNKS = ("tpot_ms", "itl_ms", "icl_ms")
"""Chunks that a busy machine receives at once have no time between them."""
SLACK_MS = 5.0
SLACK_SHARE = 0.2


@pytest.fixture(autouse=True)
def _without_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_calibration_out(monkeypatch)


def close(reported: float, true: float) -> bool:
    return abs(reported - true) <= SLACK_SHARE * true + SLACK_MS


def check_times(found: Loaded, truth: Truth, *names: str) -> None:
    """The distributions of that name, and that there are as many values as the server has."""
    for name in names:
        reported, true = found.metric(name), truth.metrics[name]
        # Tokens of one chunk came together: the server lists each, we count what was seen.
        n = truth.metrics["icl_ms"]["n"] if name == "itl_ms" else true["n"]
        least = n if name not in BETWEEN_CHUNKS else 0.9 * n
        assert least <= reported["n"] <= n, name
        for part in PARTS:
            told = f"{name}.{part}: {reported[part]}, truly {true[part]}"
            assert close(reported[part], true[part]), told


def check_counts(found: Loaded, truth: Truth) -> None:
    requests, true = found.requests, truth.requests
    assert (requests["sent"], requests["ok"]) == (true["received"], true["ok"])
    assert requests["failed"] == true["failed"]
    assert (requests["cancelled"], requests["unfinished"]) == (0, 0)
    assert found.metric("error_rate") == pytest.approx(1 - true["ok"] / true["received"])
    assert requests["connections"] == found.metric("connections") == true["connections"]
    assert found.outcome.status == "complete"


def check_tokens(found: Loaded, truth: Truth) -> None:
    tokens = found.metric("output_tokens")
    assert tokens["n"] == len(truth.answered)
    assert tokens["mean"] * tokens["n"] == pytest.approx(
        sum(row["tokens"] for row in truth.answered)
    )


def check_rates(found: Loaded, truth: Truth) -> None:
    """Of what became due in the window, all of which was answered."""
    ((from_s, to_s),) = found.load["steady"]
    answered, tokens = len(truth.answered), sum(row["tokens"] for row in truth.answered)
    for name, amount in (
        ("request_throughput_per_s", answered),
        ("output_tokens_per_s", tokens),
    ):
        assert found.metric(name) == pytest.approx(amount / (to_s - from_s), rel=0.01)
    # Of the whole run, from the first request to the last answer.
    assert found.metric("throughput_per_s") == pytest.approx(
        truth.metrics["requests_per_s"], rel=0.1
    )


@three_tries
async def test_an_open_loop_of_streams(tmp_path: Path) -> None:
    found, truth = await practice(
        tmp_path, {"rate": 80, "requests": 40}, ttft="120ms", itl="50ms", tokens=3
    )

    check_counts(found, truth)
    check_tokens(found, truth)
    check_times(found, truth, *DISTRIBUTIONS)
    # Nothing had to wait for a place, so it is the same from sending.
    for name in ("ttft", "e2e"):
        from_send = found.metric(f"{name}_from_send_ms")
        assert close(from_send["p50"], truth.metrics[f"{name}_ms"]["p50"])
    after_first = sum(row["tokens"] - 1 for row in truth.answered)
    seconds = sum(row["end_ns"] - row["first_token_ns"] for row in truth.answered) / 1e9
    assert found.metric("output_tokens_per_s_per_user") == pytest.approx(
        after_first / seconds, rel=SLACK_SHARE
    )
    requests = found.requests
    assert requests["sent_per_s"] == pytest.approx(80, rel=0.05)
    assert requests["connections"] <= 1.1 * found.load["harness"]["most_in_flight"]
    check_rates(found, truth)
    assert found.metric("request_throughput_per_s") == pytest.approx(80, rel=0.01)
    # Filling and emptying the server, 220 ms each, make the whole run look slower.
    assert found.metric("throughput_per_s") < 0.9 * found.metric("request_throughput_per_s")

    true = truth.metrics
    assert not close(0.0, true["ttft_ms"]["p50"])  # The role, sent at once, taken for a token.
    assert not close(true["e2e_ms"]["p50"] / 3, true["tpot_ms"]["p50"])  # E2E ÷ n.
    streaming = true["e2e_ms"]["p50"] - true["ttft_ms"]["p50"]
    assert not close(streaming / 3, true["tpot_ms"]["p50"])  # (E2E - TTFT) ÷ n.


@three_tries
async def test_times_that_are_spread_and_chunks_of_four_tokens_reasoning_first(
    tmp_path: Path,
) -> None:
    found, truth = await practice(
        tmp_path,
        {"rate": 100, "requests": 40, "workers": 2, "arrivals": "poisson"},
        ttft="80ms",
        ttft_dist="lognormal",
        itl="12ms",
        tokens=12,
        reasoning_tokens=4,
        chunk_tokens=4,
    )

    check_counts(found, truth)
    check_tokens(found, truth)
    check_times(found, truth, *DISTRIBUTIONS)

    true = truth.metrics
    assert true["ttft_ms"]["p90"] > 1.4 * true["ttft_ms"]["p50"]
    assert not close(true["ttft_ms"]["p50"], true["ttfo_ms"]["p50"])  # Reasoning mixed in.
    assert not close(true["icl_ms"]["p50"], true["itl_ms"]["p50"])  # A chunk for a token.
    assert not close(true["itl_ms"]["p50"], true["icl_ms"]["p50"])


@three_tries
async def test_users_of_a_closed_loop_see_fast_and_slow_answers(tmp_path: Path) -> None:
    limit_ms = 120.0
    found, truth = await practice(
        tmp_path,
        {"concurrency": 6, "requests": 48, "slo": {"ttft_ms": limit_ms}},
        ttft="40ms",
        ttft_dist="bimodal",
        slow_share=0.3,
        slow_factor=5,
        itl="10ms",
        tokens=2,
    )

    check_counts(found, truth)
    check_tokens(found, truth)
    check_times(found, truth, *DISTRIBUTIONS)
    assert found.requests["asked_per_s"] is None
    assert found.requests["connections"] <= 6

    fast = [row for row in truth.answered if row["first_token_ns"] - row["arrived_ns"] < 120e6]
    assert 20 < len(fast) < 45
    assert found.metric("goodput_share") == pytest.approx(len(fast) / 48)
    true = truth.metrics["ttft_ms"]
    assert not close(true["p50"], true["mean"])
    assert not close(true["p50"], true["p90"])


@three_tries
async def test_answers_in_one_piece_have_an_end_and_nothing_before_it(tmp_path: Path) -> None:
    found, truth = await practice(
        tmp_path, {"rate": 80, "requests": 40}, stream=False, ttft="80ms", itl="10ms", tokens=5
    )

    check_counts(found, truth)
    check_tokens(found, truth)
    check_times(found, truth, "e2e_ms")
    for name in ("ttft_ms", "ttfo_ms", "tpot_ms", "itl_ms", "icl_ms"):
        assert name not in truth.metrics
        assert found.metric(name)["n"] == 0
        assert found.metric(name)["mean"] is None


@three_tries
async def test_a_queue_at_the_server_is_part_of_what_a_request_takes(tmp_path: Path) -> None:
    # 4 places of 40 ms serve 100/s: asked for twice as much, each waits longer than the one before.
    found, truth = await practice(
        tmp_path,
        {"rate": 200, "requests": 60},
        ttft="20ms",
        itl="10ms",
        tokens=3,
        slots=4,
        service_time="40ms",
    )

    check_counts(found, truth)
    check_times(found, truth, *DISTRIBUTIONS)
    assert not close(40.0, truth.metrics["e2e_ms"]["p50"])  # Its service alone.


@three_tries
async def test_failures_are_counted_by_kind_and_times_are_of_the_answered(tmp_path: Path) -> None:
    found, truth = await practice(
        tmp_path,
        {"rate": 100, "requests": 60},
        ttft="60ms",
        itl="20ms",
        tokens=3,
        error_rate=0.15,
        cut_rate=0.15,
        rate_limit=25,
    )

    assert truth.requests["failed"].keys() == {"server", "truncated", "rate_limited"}
    assert truth.requests["ok"] > 10
    check_counts(found, truth)
    check_tokens(found, truth)
    check_times(found, truth, *DISTRIBUTIONS)
    # What is refused at once does not count as done.
    assert found.metric("throughput_per_s") == pytest.approx(
        truth.metrics["requests_per_s"], rel=0.1
    )
