"""Rates of open loops against what a simulated server did, whatever the shape of the schedule."""

import heapq
import random

import pytest
from samples import Sample, columns, done, window

from agentbench_tui.load.results.aggregate import aggregate
from agentbench_tui.load.results.rates import rates_of
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.load.results.summary import DRAWN_APART, summarize
from agentbench_tui.load.schedule.arrivals import (
    Arrivals,
    Constant,
    Profile,
    Ramp,
    Sine,
    Spike,
    Steps,
    offsets_ns,
)
from agentbench_tui.model.agent import AgentSpec

AGENT = AgentSpec("a", "1", "openai:http://127.0.0.1/v1#m")
SLO_MS = 120.0
SHAPES: dict[str, tuple[Profile, float]] = {
    "constant": (Constant(40.0), 5.0),
    "steps": (Steps(((20.0, 1.0), (100.0, 1.0), (20.0, 1.0))), 3.0),
    "spike": (Spike(20.0, 100.0, 2.0, 1.0), 5.0),
    "ramp": (Ramp(10.0, 90.0, 4.0), 4.0),
    "sine": (Sine(40.0, 30.0, 4.0), 6.0),
}


def served(dues: list[float], service_s: list[float], places: int) -> list[Sample]:
    """First come, first served, in so many places."""
    free = [0.0] * places
    samples = []
    for due, takes_s in zip(dues, service_s, strict=True):
        end = max(due, heapq.heappop(free)) + takes_s
        heapq.heappush(free, end)
        samples.append(Sample(due, end - due, tokens=7))
    return samples


def rates(samples: list[Sample], window_s: float) -> dict[str, float]:
    worker = done(offered=len(samples), sent=len(samples), window_s=window_s)
    asked = {"asked": float(len(samples)), "asked_per_s": len(samples) / window_s}
    one = window(worker, ramp_s=None, slo={"e2e_ms": SLO_MS}, **asked)
    found = aggregate(Requests(columns(samples), {0: one}), AGENT).metrics
    names = ("request_throughput_per_s", "output_tokens_per_s", "goodput_per_s", "sent_per_s")
    values = {name: found[name].value for name in names}
    return {name: value for name, value in values.items() if value is not None}


@pytest.mark.parametrize("process", ["constant", "poisson", "gamma"])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_server_that_keeps_up_answers_what_it_is_asked(shape: str, process: str) -> None:
    profile, seconds = SHAPES[shape]
    for seed in range(10):
        arrivals = Arrivals(process=process, profile=profile, burstiness=0.5)  # type: ignore[arg-type]
        draw = random.Random(seed)
        dues = [ns / 1e9 for ns in offsets_ns(arrivals, seed, duration_ns=round(seconds * 1e9))]
        takes_s = [0.03 + draw.expovariate(1 / 0.08) for _ in dues]
        found = rates(served(dues, takes_s, 1000), seconds)

        asked_per_s = len(dues) / seconds
        assert found["request_throughput_per_s"] == pytest.approx(asked_per_s, rel=0.01)
        assert found["output_tokens_per_s"] == pytest.approx(7 * asked_per_s, rel=0.01)
        good = sum(one <= SLO_MS / 1e3 for one in takes_s)
        assert found["goodput_per_s"] == pytest.approx(good / seconds, rel=0.01)
        assert found["goodput_per_s"] <= found["request_throughput_per_s"]


@pytest.mark.parametrize("rate", [42.0, 60.0, 200.0])
@pytest.mark.parametrize("places", [1, 4])
def test_a_server_that_falls_behind_answers_what_it_can(rate: float, places: int) -> None:
    """40/s, whether the drain is long enough for all of its answers or not."""
    arrivals = Arrivals(process="constant", profile=Constant(rate))
    dues = [ns / 1e9 for ns in offsets_ns(arrivals, 1, duration_ns=10_000_000_000)]
    every = served(dues, [places / 40] * len(dues), places)
    in_time = [one for one in every if one.due + (one.e2e or 0) < 11]
    for samples in (every, in_time):
        found = rates(samples, 10.0)
        assert found["request_throughput_per_s"] == pytest.approx(40, rel=0.015)
        assert found["goodput_per_s"] < 20


def test_a_server_that_has_caught_up_by_the_end_was_not_slower_than_it_was_asked() -> None:
    profile, seconds = SHAPES["steps"]
    arrivals = Arrivals(process="constant", profile=profile)
    dues = [ns / 1e9 for ns in offsets_ns(arrivals, 1, duration_ns=round(seconds * 1e9))]
    found = rates(served(dues, [1 / 65] * len(dues), 1), seconds)
    assert found["request_throughput_per_s"] == pytest.approx(len(dues) / seconds, rel=0.01)


def test_one_slow_answer_at_the_end_does_not_stretch_the_window() -> None:
    """Not even where latencies grow a little."""
    samples = [Sample(n / 20, 0.02 + n / 10_000, tokens=7) for n in range(200)]
    samples[-1] = Sample(199 / 20, 9.0, tokens=7)
    found = rates(samples, 10.0)
    assert found["request_throughput_per_s"] == pytest.approx(20, rel=0.01)


def drawn_by_count(seed: int) -> tuple[list[float], float]:
    """200 arrivals at 100/s on average, and the length of the window that ends with them."""
    arrivals = Arrivals(process="poisson", profile=Constant(100.0))
    dues = [ns / 1e9 for ns in offsets_ns(arrivals, seed, duration_ns=None, count=200)]
    return dues, dues[-1] * 200 / 199


@pytest.mark.parametrize("seed", range(8))
def test_a_window_that_ends_with_its_requests_is_as_long_as_they_took_to_come(seed: int) -> None:
    """So that what left on time was all sent, also where they came slower than on average."""
    dues, window_s = drawn_by_count(seed)
    worker = done(offered=200, sent=200, window_s=window_s)
    one = window(worker, ramp_s=None, asked=200.0, asked_per_s=100.0)
    requests = Requests(columns([Sample(due, 0.02, 0.0001) for due in dues]), {0: one})
    found = rates_of(requests, 0, requests.answered)
    assert found.sent == found.due == pytest.approx(200 / window_s)
    assert found.sent == pytest.approx(100, rel=0.25)

    summary = summarize(requests, aggregate(requests, AGENT))
    apart = abs(window_s / 2 - 1) >= DRAWN_APART
    told = f"the arrivals are random: 200 came in {window_s:.3g} s where 2 s are the mean"
    assert list(summary.warnings) == ([told] if apart else [])
    assert summary.limit == "none"
