"""A server that freezes: latency counts from the moment a request was due, not from sending.

While it stands still, a sender with so many places in flight sends nothing, so a tool that counts
from sending has a handful of slow requests and a good p95, though everybody who came had to wait.
"""

import heapq
from pathlib import Path

import numpy as np
import pytest
from loads import leave_calibration_out, practice, three_tries

RATE = 100.0
REQUESTS = 150
PLACES = 5
STALL_S, PERIOD_S = 0.4, 2.0
STEPS_S = (0.020, 0.002, 0.002)
"""To the first of three tokens, and between them."""


def thawed(at: float) -> float:
    """The moment itself, or the end of the stall that it lies in."""
    into = (at - PERIOD_S / 2) % PERIOD_S
    return at + STALL_S - into if at >= PERIOD_S / 2 and into < STALL_S else at


def schedule() -> list[tuple[float, float, float]]:
    """When each request is due, sent, and answered, in seconds."""
    free = [0.0] * PLACES
    rows = []
    for nth in range(REQUESTS):
        due = nth / RATE
        sent = max(due, heapq.heappop(free))
        end = thawed(sent)
        for step in STEPS_S:
            end = thawed(end + step)
        heapq.heappush(free, end)
        rows.append((due, sent, end))
    return rows


@pytest.fixture(autouse=True)
def _without_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_calibration_out(monkeypatch)


@three_tries
async def test_the_wait_behind_a_stall_is_reported_and_who_was_the_limit(tmp_path: Path) -> None:
    # 1.5 s, frozen from 1.0 to 1.4 s.
    found, truth = await practice(
        tmp_path,
        {"rate": RATE, "requests": REQUESTS, "max_in_flight": PLACES},
        ttft="20ms",
        itl="2ms",
        tokens=3,
        stall=f"{STALL_S}s/{PERIOD_S}s",
    )
    assert truth.requests["ok"] == REQUESTS

    due, sent, end = np.array(schedule()).T
    true_p95 = 1e3 * float(np.percentile(end - due, 95))
    true_mean = 1e3 * float((end - due).mean())

    assert found.metric("e2e_ms")["p95"] == pytest.approx(true_p95, rel=0.15)
    assert found.metric("e2e_ms")["mean"] == pytest.approx(true_mean, rel=0.15)
    assert found.metric("ttft_ms")["p95"] == pytest.approx(true_p95, rel=0.15)
    # Waiting for a place is the server's doing, and told apart from a sender that is late.
    queued = 1e3 * float((sent - due).mean())
    assert found.metric("queue_ms")["mean"] == pytest.approx(queued, rel=0.3)
    assert found.metric("send_lag_ms")["mean"] == pytest.approx(queued, rel=0.3)

    # What an uncorrected tool would have reported.
    from_send = found.metric("e2e_from_send_ms")
    assert found.metric("e2e_ms")["p95"] >= 3 * from_send["p95"]
    assert found.metric("ttft_ms")["p95"] >= 3 * found.metric("ttft_from_send_ms")["p95"]
    # Its slowest shows that there was a stall, and no percentile does.
    assert from_send["max"] > 1e3 * STALL_S / 2

    in_time = float((sent <= REQUESTS / RATE).mean())
    assert in_time < 0.98
    assert found.requests["sent_per_s"] == pytest.approx(RATE * in_time, rel=0.1)
    assert found.load["limit"] == "server"
    assert "the server was the limit" in found.told
    assert f"in flight (at most {PLACES})" in found.told
