"""Metrics of load against figures worked out by hand, by numpy, and by a simulated queue."""

import heapq
import math
import random
import statistics
from typing import Any

import msgspec
import numpy as np
import pytest
from samples import Sample, columns, done, window

from agentbench_tui.engine.task.aggregate import Aggregate
from agentbench_tui.load.results.aggregate import CHUNKS_COUNTED, aggregate
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.load.results.window import Window
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.answer import Usage
from agentbench_tui.model.figures.metric import METRICS, find_metric

AGENT = AgentSpec("a", "1", "openai:http://127.0.0.1/v1#m")


def requests(samples: list[Sample], *windows: Window) -> Requests:
    """Of an open loop with one worker, unless told otherwise."""
    given = windows or (window(done(offered=len(samples), sent=len(samples))),)
    return Requests(columns(samples), dict(enumerate(given)))


def measure(samples: list[Sample], *windows: Window, **options: Any) -> Aggregate:
    agent = options.pop("agent", AGENT)
    return aggregate(requests(samples, *windows), agent, **options)


def value(found: Aggregate, name: str) -> float | None:
    return found.metrics[name].value


def reason(found: Aggregate, name: str) -> str | None:
    assert found.metrics[name].value is None
    return found.metrics[name].reason


STREAMED = [
    # due, sent 10 ms later, first token 100 ms after that, two gaps
    Sample(0.0, 0.200, 0.010, ttft=0.100, gaps=[0.040, 0.060], tokens=3, input_tokens=5),
    Sample(0.1, 0.300, 0.020, ttft=0.150, ttfo=0.190, gaps=[0.150], tokens=4, input_tokens=7),
    Sample(0.2, 0.050, 0.030, ttft=0.050, tokens=1, input_tokens=9),
    Sample(0.3, 5.000, 0.500, status="timeout"),
]


def test_an_open_loop_counts_from_the_due_time_and_from_sending_beside() -> None:
    found = measure(STREAMED)
    # 210, 320 and 80 ms; 200, 300 and 50 ms; the one that failed has no latency
    assert value(found, "e2e_ms.mean") == pytest.approx((210 + 320 + 80) / 3)
    assert value(found, "e2e_ms.max") == pytest.approx(320)
    assert value(found, "e2e_from_send_ms.mean") == pytest.approx((200 + 300 + 50) / 3)
    assert value(found, "ttft_ms.mean") == pytest.approx((110 + 170 + 80) / 3)
    assert value(found, "ttft_from_send_ms.mean") == pytest.approx((100 + 150 + 50) / 3)
    assert value(found, "ttfo_ms.mean") == pytest.approx((110 + 210 + 80) / 3)
    assert found.metrics["e2e_ms.mean"].n == 3
    # of all that were sent
    assert value(found, "send_lag_ms.mean") == pytest.approx((10 + 20 + 30 + 500) / 4)


def test_a_closed_loop_counts_from_sending() -> None:
    found = measure(STREAMED, window(done(offered=4, sent=4), is_open=False))
    assert value(found, "e2e_ms.mean") == pytest.approx((200 + 300 + 50) / 3)
    assert value(found, "ttft_ms.max") == pytest.approx(150)
    assert reason(found, "send_lag_ms.p50") == "a closed loop sends when its users are ready"
    assert reason(found, "sent_share") == "a closed loop sends when its users are ready"


def test_times_between_tokens_by_their_formulas() -> None:
    found = measure(STREAMED)
    # gaps as they are: 40, 60, 150
    assert value(found, "icl_ms.mean") == pytest.approx(250 / 3)
    assert found.metrics["icl_ms.max"].n == 3
    # 3 tokens in 3 chunks: 40 and 60 at weight 1; 4 tokens in 2 chunks: 75 at weight 2
    assert value(found, "itl_ms.mean") == pytest.approx((40 + 60 + 2 * 75) / 4)
    assert value(found, "itl_ms.max") == pytest.approx(75)
    # (200 - 100) / 2 and (300 - 150) / 3; a single token has none
    assert value(found, "tpot_ms.mean") == pytest.approx((50 + 50) / 2)
    assert found.metrics["tpot_ms.mean"].n == 2
    # 2 tokens in 100 ms and 3 in 150 ms
    assert value(found, "output_tokens_per_s_per_user") == pytest.approx(20)


def test_an_answer_in_one_packet_has_no_pace_of_its_own() -> None:
    slow = [Sample(n / 10, 0.3, ttft=0.1, gaps=[0.1, 0.1], tokens=3) for n in range(9)]
    at_once = Sample(1.0, 0.3, ttft=0.299999, gaps=[0.0, 0.0], tokens=3)
    found = measure([*slow, at_once])
    # 9 × 2 + 2 tokens in 9 × 200 ms and a microsecond
    assert value(found, "output_tokens_per_s_per_user") == pytest.approx(20 / 1.8, rel=1e-5)


@pytest.mark.parametrize(
    "at_once",
    [
        {"gaps": [], "e2e": 0.31},  # one chunk, and the end of the stream 10 ms later
        {"gaps": [0.0, 0.0], "e2e": 0.3},  # three chunks in the packet that ends the stream
    ],
)
def test_what_came_at_once_has_no_time_per_token(at_once: dict[str, Any]) -> None:
    samples = [Sample(n / 10, ttft=0.3, tokens=3, **at_once) for n in range(10)]
    found = measure(samples)
    why = "every answer of 2 tokens or more came at once, in one chunk or packet"
    assert reason(found, "tpot_ms.p50") == reason(found, "output_tokens_per_s_per_user") == why
    assert value(found, "tpot_ms.p50") is value(found, "output_tokens_per_s_per_user") is None
    assert requests(samples).good({"tpot_ms": 0.001}).all()
    several = [*samples, Sample(1.0, 0.5, ttft=0.1, gaps=[0.2, 0.2], tokens=3)]
    assert value(measure(several), "tpot_ms.mean") == pytest.approx(200)
    assert measure(several).metrics["tpot_ms.mean"].n == 1


def test_answers_of_one_token_say_so() -> None:
    found = measure([Sample(n / 10, 0.3, ttft=0.3, tokens=1) for n in range(10)])
    assert reason(found, "tpot_ms.p50") == "no answer has 2 tokens"


def test_tokens_written_to_a_cache_are_priced() -> None:
    samples = [
        Sample(n / 10, 0.3, input_tokens=1000, tokens=3, cache_write=500, cache_write_1h=200)
        for n in range(10)
    ]
    asked: list[Usage] = []
    found = aggregate(requests(samples), AGENT, lambda usage: asked.append(usage) or 2.0)
    assert asked == [Usage(1000, 3, cache_write_tokens=500, cache_write_1h_tokens=200)]
    assert value(found, "cost_usd") == pytest.approx(20)


def test_without_a_count_tokens_are_chunks_and_say_so() -> None:
    samples = [
        Sample(n / 10, 0.3, ttft=0.1, gaps=[0.1, 0.1], tokens=3, counted=False) for n in range(10)
    ]
    found = measure(samples)
    assert value(found, "tpot_ms.p50") == pytest.approx(100)
    assert found.metrics["tpot_ms.p50"].reason == CHUNKS_COUNTED
    assert found.metrics["output_tokens_per_s"].reason == CHUNKS_COUNTED
    assert found.metrics["e2e_ms.p50"].reason is None
    assert reason(found, "itl_ms.p50") == "no answer says how many tokens it has"
    assert reason(found, "input_tokens_per_s") == "no answer says how many tokens it has"
    assert value(found, "icl_ms.p50") == pytest.approx(100)


def test_answers_that_are_not_streamed_have_no_first_token() -> None:
    found = measure([Sample(n / 10, 0.3, tokens=3) for n in range(10)])
    for name in ("ttft_ms.p50", "tpot_ms.p50", "icl_ms.p50", "output_tokens_per_s_per_user"):
        assert reason(found, name) == "not streamed"
    assert value(found, "output_tokens.mean") == 3


def test_percentiles_are_those_of_the_plain_list() -> None:
    drawn = np.random.default_rng(5).lognormal(-3, 0.7, 3000).round(6)
    found = measure([Sample(n / 100, float(e2e)) for n, e2e in enumerate(drawn)])
    shares = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9}
    for part, share in shares.items():
        metric = found.metrics[f"e2e_ms.{part}"]
        assert metric.value == pytest.approx(np.percentile(drawn * 1e3, share)), part
        assert metric.value is not None
        assert metric.low is not None
        assert metric.high is not None
        assert metric.low < metric.value < metric.high
    assert value(found, "e2e_ms.max") == pytest.approx(drawn.max() * 1e3)


@pytest.mark.parametrize(("part", "needed"), [("p95", 59), ("p99", 299), ("p999", 2995)])
def test_a_percentile_that_the_samples_cannot_support_says_what_it_needs(
    part: str, needed: int
) -> None:
    enough = measure([Sample(n / 100, 0.1) for n in range(needed)])
    assert value(enough, f"e2e_ms.{part}") == pytest.approx(100)
    short = measure([Sample(n / 100, 0.1) for n in range(needed - 1)])
    assert reason(short, f"e2e_ms.{part}") == f"needs {needed:,} (have {needed - 1:,})"


# A FIFO queue of ten servers that all stop for 2 s, twice: the truth of the stall case.
PLACES, SERVICE_S, RATE, COUNT = 10, 0.12, 50, 1000
STALLS = ((5.0, 7.0), (13.0, 15.0))


def stalled(start: float) -> float:
    """When work of SERVICE_S that begins at `start` is done, standing still in the stalls."""
    end = start + SERVICE_S
    for begin, until in STALLS:
        if start < until and end > begin:
            end += until - max(begin, start)
    return end


def test_behind_a_stall_the_latency_is_that_of_the_schedule() -> None:
    free = [0.0] * PLACES
    samples, truth, queued = [], [], []
    for number in range(COUNT):
        due = number / RATE
        sent = max(due, heapq.heappop(free))
        end = stalled(sent)
        heapq.heappush(free, end)
        truth.append((end - due) * 1e3)
        queued.append((sent - due) * 1e3)
        samples.append(Sample(due, end - sent, sent - due))
    # as they are recorded: by their end
    samples.sort(key=lambda one: one.due + (one.lag or 0) + (one.e2e or 0))
    worker = done(
        offered=COUNT, sent=COUNT, window_s=(COUNT - 1) / RATE, blocked=1, most_in_flight=PLACES
    )
    found = measure(samples, window(worker))
    assert value(found, "e2e_ms.p95") == pytest.approx(np.percentile(truth, 95), rel=1e-4)
    assert value(found, "e2e_ms.p50") == pytest.approx(np.percentile(truth, 50), rel=1e-4)
    assert value(found, "queue_ms.p95") == pytest.approx(np.percentile(queued, 95), rel=1e-4)
    # What a tool reports that begins to count when it sends: a p95 more than ten times too good.
    uncorrected = value(found, "e2e_from_send_ms.p95")
    assert uncorrected is not None
    assert np.percentile(truth, 95) / uncorrected > 10


def test_queueing_is_the_part_of_the_lag_in_which_no_place_was_free() -> None:
    samples = [
        Sample(0.0, 1.0),
        Sample(0.1, 0.4, 0.001),  # a place is free: its lag is the sender's own
        Sample(0.2, 1.0, 0.305),  # the second ended at 0.501; sent at 0.505
        Sample(0.3, 0.1, 0.700),  # the first ended at 1.0
    ]
    worker = done(offered=4, sent=4, blocked=2, most_in_flight=2)
    assert requests(samples, window(worker)).queue_ms.tolist() == pytest.approx([0, 0, 301, 700])
    never = done(offered=4, sent=4, blocked=0, most_in_flight=2)
    assert requests(samples, window(never)).queue_ms.tolist() == [0, 0, 0, 0]


def test_no_request_queued_longer_than_it_lagged() -> None:
    # The third left a moment before the end of the first was noted, so rounding says 901 ms.
    samples = [Sample(0.0, 1.001), Sample(0.0, 2.0), Sample(0.1, 0.5, 0.9)]
    worker = done(offered=3, sent=3, blocked=1, most_in_flight=2)
    assert requests(samples, window(worker)).queue_ms.tolist() == pytest.approx([0, 0, 900])


@pytest.mark.parametrize("seed", range(5))
def test_each_sender_and_repeat_has_its_own_places(seed: int) -> None:
    draw = random.Random(seed)
    samples, truth = [], {}
    for repeat in range(2):
        for worker in range(2):
            places, due = [0.0] * (worker + 1), 0.0
            for _ in range(50):
                due = round(due + draw.expovariate(20), 6)
                sent = max(due, heapq.heappop(places))
                e2e = round(draw.uniform(0.01, 0.15), 6)
                heapq.heappush(places, sent + e2e)
                samples.append(Sample(due, e2e, sent - due, worker=worker, repeat=repeat))
                truth[repeat, worker, round(due * 1e6)] = (sent - due) * 1e3
    workers = [done(blocked=1, most_in_flight=places) for places in (1, 2)]
    found = requests(samples, window(*workers), window(*workers))
    for number, waited in enumerate(found.queue_ms):
        place = (found.columns.repeat[number], found.columns.worker[number])
        due_us = found.columns.table["due_us"][number]
        assert waited == pytest.approx(truth[(*place, due_us)], abs=0.005)


def steady(count: int = 100, rate: float = 10, **known: Any) -> tuple[list[Sample], Window]:
    """One request every 1/rate s, each answered after 0.5 s."""
    samples = [Sample(n / rate, 0.5, tokens=20, input_tokens=30) for n in range(count)]
    worker = done(offered=count, sent=count, window_s=count / rate)
    known = {"asked_per_s": rate, "asked": count, "ramp_s": None} | known
    return samples, window(worker, **known)


def test_rates_are_of_what_became_due_in_the_window() -> None:
    samples, one = steady()
    found = measure(samples, one)
    assert value(found, "request_throughput_per_s") == pytest.approx(10)
    assert value(found, "output_tokens_per_s") == pytest.approx(10 * 20)
    assert value(found, "input_tokens_per_s") == pytest.approx(10 * 30)
    # all of them, from the first that was due to the last answer
    assert value(found, "throughput_per_s") == pytest.approx(100 / 10.4)
    assert value(found, "sent_per_s") == pytest.approx(10)
    assert value(found, "sent_share") == pytest.approx(1)


def test_the_ramp_of_the_plan_is_left_out() -> None:
    samples, one = steady(ramp_s=5.0)
    for sample in samples[:50]:
        sample.status = "server"
    assert value(measure(samples, one), "request_throughput_per_s") == pytest.approx(10)
    samples, one = steady(ramp_s=20.0)
    assert reason(measure(samples, one), "request_throughput_per_s") == (
        "the window ended within its ramp, or with one request"
    )


def test_what_is_sent_after_the_window_was_not_sent_at_the_asked_rate() -> None:
    samples, one = steady()
    for sample in samples[50:]:
        sample.lag = 10.0
    found = measure(samples, one)
    assert value(found, "sent_per_s") == pytest.approx(5)
    assert value(found, "sent_share") == pytest.approx(0.5)


def test_a_schedule_asks_for_sessions_and_their_later_requests_are_no_answer_to_it() -> None:
    samples, one = steady()
    later = [
        Sample(sample.due + turn, 0.5, follow_up=True) for sample in samples for turn in (0.1, 0.2)
    ]
    found = measure(samples + later, one)
    assert value(found, "sent_per_s") == pytest.approx(10)
    assert value(found, "sent_share") == pytest.approx(1)
    # Nothing asks for a rate in a closed loop: all requests are alike.
    closed = window(done(window_s=30.0), is_open=False)
    assert value(measure(samples + later, closed), "sent_per_s") == pytest.approx(10)


def test_a_window_that_was_cut_short_has_its_own_length_and_no_share() -> None:
    samples, _ = steady(50)
    worker = done(offered=50, sent=50, window_s=5.0)
    one = window(worker, asked_per_s=10.0, asked=100.0, stopped=True)
    found = measure(samples, one)
    assert value(found, "sent_per_s") == pytest.approx(10)
    assert reason(found, "sent_share") == "the window was cut short"


def test_only_what_was_answered_counts_for_its_rates() -> None:
    samples, one = steady(slo={"e2e_ms": 1000.0})
    for sample in samples[::2]:
        sample.status = "truncated"
    found = measure(samples, one)
    # 10 end a second, every other one of them answered
    assert value(found, "request_throughput_per_s") == pytest.approx(5)
    assert value(found, "output_tokens_per_s") == pytest.approx(5 * 20)
    assert value(found, "input_tokens_per_s") == pytest.approx(5 * 30)
    assert value(found, "goodput_per_s") == pytest.approx(5)


def test_the_mean_of_repeats_knows_that_requests_of_one_go_together() -> None:
    samples = [
        Sample(n / 10, e2e + n % 2 / 1000, repeat=repeat)
        for repeat, e2e in enumerate((0.1, 0.2))
        for n in range(100)
    ]
    metric = measure(samples, *[window(done())] * 2).metrics["e2e_ms.mean"]
    assert metric.value == pytest.approx(150.5)
    # Two repeats 100 ms apart say next to nothing: t with 1 degree of freedom, 12.7 × 50 ms.
    assert metric.high == pytest.approx(150.5 + 12.706 * 50, rel=1e-3)


def test_rates_of_repeats_are_their_mean_with_t() -> None:
    samples, windows = [], []
    for repeat, rate in enumerate((10, 12, 14)):
        some, one = steady(rate * 10, rate, ramp_s=0.0)
        for sample in some:
            sample.repeat = repeat
        samples += some
        windows.append(one)
    metric = measure(samples, *windows).metrics["sent_per_s"]
    assert metric.value == pytest.approx(12)
    # t(0.975, 2) = 4.302653; the standard error of 10, 12, 14 is 2/√3
    assert metric.low == pytest.approx(12 - 4.302653 * 2 / math.sqrt(3))
    assert metric.high == pytest.approx(12 + 4.302653 * 2 / math.sqrt(3))
    assert metric.n == 360


def test_the_median_of_repeats_is_the_geometric_mean_of_their_medians() -> None:
    drawn = {0: [0.1, 0.2, 0.3], 1: [0.4, 0.8, 1.2], 2: [0.1, 0.1, 0.9]}
    samples = [Sample(0.1, e2e, repeat=repeat) for repeat in drawn for e2e in drawn[repeat]]
    metric = measure(samples, *[window(done())] * 3).metrics["e2e_ms.p50"]
    assert metric.value == pytest.approx(statistics.geometric_mean([200, 800, 100]))
    assert metric.n == 9


def test_goodput_counts_everything_that_is_not_good_against_it() -> None:
    samples = [
        *(Sample(n / 10, 0.2, ttft=0.1, gaps=[0.1], tokens=2) for n in range(10)),
        Sample(1.0, 0.2, 0.3, ttft=0.1, gaps=[0.1], tokens=2),  # 400 ms since it was due
        Sample(1.1, 0.2, ttft=0.15, gaps=[0.05], tokens=2),  # first token too late
        Sample(1.2, 0.05, status="server"),
        Sample(1.3, 0.05, status="cancelled"),
        Sample(1.4, 0.20, status="unfinished"),
    ]
    slo = {"e2e_ms": 300.0, "ttft_ms": 120.0}
    one = window(done(offered=20, sent=15, window_s=2.0), slo=slo)
    found = measure(samples, one)
    assert value(found, "goodput_share") == pytest.approx(10 / 20)
    assert value(found, "goodput_per_s") == pytest.approx(10 / 2.0)


def test_one_token_keeps_any_time_per_token() -> None:
    samples = [
        Sample(0.0, 0.1, ttft=0.1, tokens=1),
        Sample(0.1, 0.3, ttft=0.1, gaps=[0.2], tokens=2),
    ]
    assert requests(samples).good({"tpot_ms": 100.0}).tolist() == [True, False]


def test_goodput_without_limits_or_without_what_they_limit_is_not_known() -> None:
    samples = [Sample(n / 10, 0.2) for n in range(10)]
    assert reason(measure(samples), "goodput_share") == "no limits are given (`slo`)"
    found = measure(samples, window(done(offered=10), slo={"ttft_ms": 100.0}))
    assert reason(found, "goodput_per_s") == "no answer has ttft_ms"


def test_reliability_leaves_out_what_is_not_the_targets_fault() -> None:
    samples = [
        *(Sample(n / 10, 0.2) for n in range(6)),
        Sample(0.6, 0.1, status="server"),
        Sample(0.7, 0.1, status="unfinished"),
        Sample(0.8, 0.1, status="cancelled"),
        Sample(0.9, 0.1, status="harness"),
    ]
    found = measure(samples)
    assert value(found, "reliability") == pytest.approx(6 / 8)
    assert value(found, "error_rate") == pytest.approx(2 / 8)
    assert (found.observed, found.counted, found.answered) == (10, 8, 6)
    assert found.failures == {"server": 1, "harness": 1}
    stopped = measure(samples, window(done(offered=10), stopped=True))
    assert value(stopped, "reliability") == pytest.approx(6 / 7)


def test_broken_off_answers_keep_their_first_token_but_have_no_end() -> None:
    found = measure([Sample(n / 10, 0.2, ttft=0.1, gaps=[0.05], status="cancelled")
                     for n in range(10)])  # fmt: skip
    assert value(found, "ttft_ms.p50") == pytest.approx(100)
    assert value(found, "icl_ms.p50") == pytest.approx(50)
    assert reason(found, "e2e_ms.p50") == "nothing answered"


def test_costs_are_of_the_tokens_of_each_request() -> None:
    samples = [
        Sample(0.0, 0.1, tokens=10, input_tokens=100),
        Sample(0.1, 0.1, tokens=10, input_tokens=100),
        Sample(0.2, 0.1, tokens=50, input_tokens=200),
        Sample(0.3, 0.1, status="server"),
    ]
    asked: list[Usage] = []

    def price(usage: Usage) -> float | None:
        asked.append(usage)
        if usage.output_tokens is None or usage.input_tokens is None:
            return None
        return usage.input_tokens + 2.0 * usage.output_tokens

    found = measure(samples, price=price)
    assert value(found, "cost_usd") == pytest.approx(120 + 120 + 300)
    assert value(found, "cost_usd_per_task") == pytest.approx(540 / 4)
    assert len(asked) == 3
    assert value(found, "tokens_used") == 110 + 110 + 250
    assert reason(measure(samples), "cost_usd") == "the prices of its tokens are not known"
    unknown = measure([*samples, Sample(0.4, 0.1)], price=price)
    assert reason(unknown, "cost_usd") == "tokens or their price are not known (1 answers)"


def test_a_machine_is_paid_by_the_hour_whatever_it_answers() -> None:
    agent = AgentSpec("a", "1", "openai:http://127.0.0.1/v1#m", hourly_price_usd=3.6)
    one = window(done(offered=2, window_s=90.0, drained_s=10.0))
    found = measure([Sample(0, 0.1), Sample(1, 0.1, status="server")], one, agent=agent)
    assert value(found, "cost_usd") == pytest.approx(0.1)


def test_nothing_at_all_has_reasons_instead_of_figures() -> None:
    found = measure([])
    assert reason(found, "e2e_ms.p50") == "nothing answered"
    assert reason(found, "reliability") == "no request counts"
    assert aggregate(Requests(columns([]), {}), AGENT).observed == 0


@pytest.mark.parametrize("samples", [STREAMED, []])
def test_every_metric_of_load_is_written_with_its_unit(samples: list[Sample]) -> None:
    found = measure(samples)
    names = {f"{one.name}.{part}" for one in METRICS.values() if one.load for part in one.parts}
    names |= {one.name for one in METRICS.values() if one.load and not one.distribution}
    assert names <= found.metrics.keys()
    for name, metric in found.metrics.items():
        known = find_metric(name)
        assert known is not None, name
        assert metric.unit == known.unit
        assert (metric.value is None) <= bool(metric.reason), name


def test_users_in_step_are_not_counted_by_waves() -> None:
    # 4 users on a server that takes 360 ms: whole answers in [0.36, 4) make 12.1/s.
    samples = [Sample(0.36 * wave, 0.36) for wave in range(12) for _ in range(4)]
    closed = window(done(offered=48, sent=48, window_s=4.0), is_open=False, asked=None)
    found = measure(samples, msgspec.structs.replace(closed, asked_per_s=None))
    assert value(found, "request_throughput_per_s") == pytest.approx(4 / 0.36, rel=0.01)


def test_goodput_is_the_good_share_of_the_same_window() -> None:
    samples = [Sample(n / 10, 0.1 if n % 5 else 0.9) for n in range(40)]
    given = window(done(offered=40, sent=40, window_s=4.0), slo={"e2e_ms": 200.0})
    found = measure(samples, given)
    assert value(found, "goodput_share") == pytest.approx(32 / 40)
    assert value(found, "goodput_per_s") == pytest.approx(32 / 4.0)
