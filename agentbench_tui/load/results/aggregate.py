"""Computes the metrics of a load execution from its stored samples, by the formulas of
`model.figures.metric`.

The only way there, after a run as after an import: the same samples always give the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.intervals.estimate import Estimate, estimate
from agentbench_tui.analysis.intervals.interval import ratio_of_sums
from agentbench_tui.analysis.intervals.quantiles import quantile_estimates
from agentbench_tui.engine.task.aggregate import COSTS, Aggregate, MetricValue
from agentbench_tui.engine.task.cost_reasons import ESTIMATED
from agentbench_tui.load.results.columns import Floats, read_columns
from agentbench_tui.load.results.gaps import figures_of_gaps, figures_per_token
from agentbench_tui.load.results.rates import Rates, rates_of
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.load.results.window import Window
from agentbench_tui.load.sending.sample import CANCELLED, NONE, STATUSES, UNFINISHED
from agentbench_tui.model.answer import Usage
from agentbench_tui.model.figures.metric import LOAD_PARTS, METRICS, SHARES
from agentbench_tui.store.queries.load import window_documents

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.model.agent import AgentSpec

Price = Callable[[Usage], float | None]
"""Cost of one request in USD by its tokens; None when the price is not known."""

CHUNKS_COUNTED = f"{ESTIMATED}: tokens are counted here, not by the server"
NOTHING_ANSWERED = "nothing answered"
NOT_STREAMED = "not streamed"
NO_COUNT = "no answer says how many tokens it has"
NOT_SEEN = "the target's own adapter talks to it: what goes over the network is not seen"
AT_ONCE = "every answer of 2 tokens or more came at once, in one chunk or packet"
CHUNKS_UNTOLD = "this agent does not report when each chunk arrived"
CLOSED_LOOP = "a closed loop sends when its users are ready"
SHORT_WINDOW = "the window ended within its ramp, or with one request"
NOT_JUDGED = "load does not judge answers"
_OF_ANSWERS = frozenset({"output_tokens", "tpot_ms", "output_tokens_per_s_per_user"})
_OF_TOKENS = frozenset({"output_tokens_per_s", "tokens_used", *COSTS})
"""Metrics that are estimates if the tokens of answers, or of canceled requests too, are."""
_NOT_MEASURED = {
    **dict.fromkeys(("accuracy", "correct_share", "correctness", "completeness"), NOT_JUDGED),
    **dict.fromkeys(("relevance", "tokens_per_correct", "cost_usd_per_correct"), NOT_JUDGED),
    "memory_peak_mb": "no process of the target was started here, so that none could be read",
    **dict.fromkeys(
        ("cpu_usage_percent", "cpu_ms_per_correct"),
        "the target's processor time is in the gauges alone under load",
    ),
}


def read_windows(connection: sqlite3.Connection, execution_key: int) -> dict[int, Window]:
    """Return the finished repeats of an execution."""
    return {
        repeat: msgspec.json.decode(document, type=Window)
        for repeat, document in window_documents(connection, execution_key).items()
    }


def read_requests(connection: sqlite3.Connection, execution_key: int) -> Requests:
    """Return the measured requests of the finished repeats of an execution."""
    return Requests(
        read_columns(connection, execution_key), read_windows(connection, execution_key)
    )


def aggregate(requests: Requests, agent: AgentSpec, price: Price | None = None) -> Aggregate:
    """Return every metric of a load execution; samples of several repeats are pooled, rates are
    averaged.

    `requests` as `read_requests` gives them. Without `price` costs are unknown, except of agents
    with an hourly price.
    """
    result = Aggregate(observed=len(requests), answered=int(requests.answered.sum()))
    result.counted = int(requests.counted.sum())
    result.failures = Counter(statuses(requests))
    for name in ("ok", CANCELLED, UNFINISHED):
        del result.failures[name]
    _gaps(result, requests)  # first: they take the most memory, and the others keep some
    _reliability(result, requests)
    _latencies(result, requests)
    _streams(result, requests)
    _rates(result, requests)
    _tokens(result, requests)
    _costs(result, requests, agent, price)
    for name, reason in _NOT_MEASURED.items():
        result.total(name, None, result.counted, reason)
    result.total("api_calls", float(len(requests)), len(requests))
    for name in ("retries", "connections", "received_bytes"):
        field = "resent" if name == "retries" else name
        value = total_of_workers(requests, field)
        known = None if value is None else float(value)
        result.total(name, known, len(requests), NOT_SEEN)
    if requests.answers_estimated:
        _mark_estimated(result, _OF_ANSWERS)
    if requests.tokens_estimated:
        _mark_estimated(result, _OF_TOKENS)
    return result


def spending(requests: Requests, agent: AgentSpec, price: Price | None) -> Aggregate:
    """Return tokens and costs alone, computed as in `aggregate`."""
    result = Aggregate(observed=len(requests), answered=int(requests.answered.sum()))
    _tokens(result, requests)
    _costs(result, requests, agent, price)
    if requests.answers_estimated:
        _mark_estimated(result, _OF_ANSWERS)
    if requests.tokens_estimated:
        _mark_estimated(result, _OF_TOKENS)
    return result


def statuses(requests: Requests) -> dict[str, int]:
    """Return status → number of requests, for statuses that occur."""
    counts = np.bincount(requests.columns.table["status"], minlength=len(STATUSES))
    return {name: int(n) for name, n in zip(STATUSES, counts, strict=True) if n}


def total_of_workers(requests: Requests, field: str) -> int | None:
    """Sum a field of the final reports over all workers of all repeats; None if one is unknown."""
    windows = requests.windows.values()
    told = [getattr(worker, field) for window in windows for worker in window.workers]
    known = [value for value in told if value is not None]
    return sum(known) if len(known) == len(told) else None


def _reliability(result: Aggregate, requests: Requests) -> None:
    if not result.counted:
        for name in ("reliability", "error_rate"):
            result.add(name, None, "no request counts")
        return
    found = estimate(requests.answered[requests.counted].astype(np.float64), "share")
    result.add("reliability", found)
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    errors = replace(found, value=1 - found.value, low=1 - found.high, high=1 - found.low)
    result.add("error_rate", errors)


def _latencies(result: Aggregate, requests: Requests) -> None:
    answered = requests.answered.any()
    for name in ("e2e_ms", "e2e_from_send_ms"):
        _distribution(result, requests, name, NOTHING_ANSWERED)
    for name in ("ttft_ms", "ttft_from_send_ms", "ttfo_ms"):
        _distribution(result, requests, name, NOT_STREAMED if answered else NOTHING_ANSWERED)
    for name in ("send_lag_ms", "queue_ms"):
        if requests.is_open:
            _distribution(result, requests, name, "nothing was sent")
        else:
            _absent(result, name, CLOSED_LOOP)


def _streams(result: Aggregate, requests: Requests) -> None:
    """Add the time per token, and its inverse."""
    reason = _why_no_stream(requests)
    if reason is not None:
        _absent(result, "tpot_ms", reason)
        result.total("output_tokens_per_s_per_user", None, 0, reason)
        return
    reason = NO_COUNT
    if (requests.output_tokens > 1).any():
        reason = AT_ONCE
    elif not np.isnan(requests.output_tokens).all():
        reason = "no answer has 2 tokens"
    _distribution(result, requests, "tpot_ms", reason)
    _pace(result, requests, reason)


def _gaps(result: Aggregate, requests: Requests) -> None:
    """Add the gaps between chunks, as measured and per token."""
    columns = requests.columns
    told = requests.answered & columns.counted
    between = per_token = _why_no_stream(requests)
    if between is None:
        chunks = columns.table["chunks"][requests.begun]
        between = "no answer has 2 chunks" if (chunks > 0).any() else CHUNKS_UNTOLD
        per_token = between if told.any() else NO_COUNT
    _parts(result, "icl_ms", figures_of_gaps(columns, requests.begun), between)
    _parts(result, "itl_ms", figures_per_token(columns, told), per_token)


def _why_no_stream(requests: Requests) -> str | None:
    if (requests.columns.table["ttft_us"][requests.begun] != NONE).any():
        return None
    return NOT_STREAMED if requests.answered.any() else NOTHING_ANSWERED


def _pace(result: Aggregate, requests: Requests, reason: str) -> None:
    """Add tokens after the first ÷ time after the first, summed over the answers.

    A mean of the answers' own paces would follow those that came in one packet: theirs is endless.
    """
    name = "output_tokens_per_s_per_user"
    told = ~np.isnan(requests.tpot_ms)
    tokens = requests.output_tokens[told] - 1
    seconds = requests.tpot_ms[told] * tokens / 1e3
    whole_s = float(seconds.sum())
    if not whole_s:
        result.total(name, None, int(told.sum()), reason)
        return
    interval = ratio_of_sums(tokens, seconds)
    result.metrics[name] = MetricValue(
        name,
        float(tokens.sum()) / whole_s,
        METRICS[name].unit,
        None if interval is None else interval.low,
        None if interval is None or np.isinf(interval.high) else interval.high,
        int(told.sum()),
    )


def _rates(result: Aggregate, requests: Requests) -> None:
    slo = next((window.slo for window in requests.windows.values()), {})
    good = requests.good(slo)
    repeats = [rates_of(requests, repeat, good) for repeat in requests.windows]
    n = result.answered

    def mean(name: str, value: Callable[[Rates], float | None], reason: str) -> None:
        known = [found for found in map(value, repeats) if found is not None]
        if not known:
            result.total(name, None, n, reason)
            return
        found = estimate(known, "amount", runs=np.arange(len(known)))
        result.add(name, replace(found, n=n))

    mean("throughput_per_s", lambda one: one.throughput, NOTHING_ANSWERED)
    mean("request_throughput_per_s", lambda one: one.request_throughput, SHORT_WINDOW)
    mean("sent_per_s", lambda one: one.sent, "nothing was sent")
    reason = "the window was cut short" if requests.is_open else CLOSED_LOOP
    mean("sent_share", lambda one: one.sent_share, reason)
    if np.isnan(requests.received_tokens).all():
        result.total("output_tokens_per_s", None, n, NO_COUNT)
    else:
        mean("output_tokens_per_s", lambda one: one.output_tokens, SHORT_WINDOW)
    if np.isnan(requests.columns.input_tokens[requests.answered]).all():
        result.total("input_tokens_per_s", None, n, NO_COUNT)
    else:
        mean("input_tokens_per_s", lambda one: one.input_tokens, SHORT_WINDOW)
    no_slo = _why_no_goodput(requests, slo)
    if no_slo is not None:
        result.total("goodput_per_s", None, n, no_slo)
        result.total("goodput_share", None, n, no_slo)
        return
    mean("goodput_per_s", lambda one: one.goodput, SHORT_WINDOW)
    windows = requests.windows.values()
    offered = sum(worker.offered for window in windows for worker in window.workers)
    unjudged = int(np.count_nonzero(~requests.judged(slo)))
    kept = np.zeros(max(offered, len(requests)) - unjudged)
    kept[: int(good.sum())] = 1.0
    result.add("goodput_share", estimate(kept, "share") if len(kept) else None, "nothing was due")


def _why_no_goodput(requests: Requests, slo: Mapping[str, float]) -> str | None:
    if not slo:
        return "no limits are given (`slo`)"
    if not requests.answered.any() and not requests.judged(slo)[requests.begun].all():
        return f"every answer was canceled as planned: {', '.join(slo)} cannot be judged"
    lacking = requests.lacking(slo)
    return f"no answer has {', '.join(lacking)}" if lacking else None


def _tokens(result: Aggregate, requests: Requests) -> None:
    repeats = requests.columns.repeat
    inputs = np.where(requests.answered, requests.columns.input_tokens, np.nan)
    for name, values in (("input_tokens", inputs), ("output_tokens", requests.output_tokens)):
        known = ~np.isnan(values)
        _figures(result, name, values[known], repeats[known], NO_COUNT)
    columns = requests.columns
    known = ~(np.isnan(columns.input_tokens) & np.isnan(columns.output_tokens))
    total = float(np.nansum(columns.input_tokens) + np.nansum(columns.output_tokens))
    result.total("tokens_used", total if known.any() else None, int(known.sum()), NO_COUNT)


def _costs(result: Aggregate, requests: Requests, agent: AgentSpec, price: Price | None) -> None:
    n = len(requests)
    if agent.hourly_price_usd is not None and n:
        hours = (
            sum(
                window.window_s + max((worker.drained_s for worker in window.workers), default=0.0)
                for window in requests.windows.values()
            )
            / 3600
        )
        each = np.full(n, hours * agent.hourly_price_usd / n)
        if price is not None:
            each += np.nan_to_num(_priced(requests, price))
    elif price is None or not requests.answered.any():
        reason = "the prices of its tokens are not known" if price is None else NOTHING_ANSWERED
        for name in COSTS[:2]:
            result.total(name, None, n, reason)
        return
    else:
        each = _priced(requests, price)
        unknown = int((np.isnan(each) & requests.answered).sum())
        if unknown:
            reason = f"tokens or their price are not known ({unknown:,} answers)"
            for name in COSTS[:2]:
                result.total(name, None, n, reason)
            return
        each = np.nan_to_num(each)
    result.total("cost_usd", float(each.sum()), n)
    result.add("cost_usd_per_task", estimate(each, "amount"))


def _priced(requests: Requests, price: Price) -> Floats:
    """Return the USD of each request; each combination of token counts is computed once."""
    names = (
        *("input_tokens", "output_tokens", "cached_tokens"),
        *("cache_write_tokens", "cache_write_1h_tokens"),
    )
    table = np.stack([requests.columns.table[name] for name in names], axis=1)
    kinds, which = np.unique(table, axis=0, return_inverse=True)
    costs = [
        price(
            Usage(
                input_tokens=given,
                output_tokens=made,
                cached_tokens=cached,
                cache_write_tokens=written,
                cache_write_1h_tokens=written_1h,
            )
        )
        for given, made, cached, written, written_1h in (
            [None if count == NONE else count for count in kind] for kind in kinds.tolist()
        )
    ]
    found = np.array([np.nan if cost is None else cost for cost in costs], np.float64)
    each: Floats = found[which.reshape(-1)]
    return each


def _mark_estimated(result: Aggregate, names: Collection[str]) -> None:
    for name, metric in result.metrics.items():
        if name.partition(".")[0] in names and metric.value is not None:
            result.metrics[name] = msgspec.structs.replace(metric, reason=CHUNKS_COUNTED)


def _distribution(result: Aggregate, requests: Requests, name: str, reason: str) -> None:
    """Return statistics of the known values of an attribute."""
    values: Floats = getattr(requests, name)
    known = ~np.isnan(values)
    _figures(result, name, values[known], requests.columns.repeat[known], reason)


def _figures(
    result: Aggregate,
    name: str,
    values: Floats,
    repeats: np.ndarray[tuple[int], np.dtype[np.int32]],
    reason: str,
) -> None:
    """Add mean, percentiles and maximum; exact, from all values of all repeats."""
    if not len(values):
        _absent(result, name, reason)
        return
    several = len(values) > 1 and bool((repeats != repeats[0]).any())
    result.add(f"{name}.mean", estimate(values, "amount", runs=repeats))
    for part, found in zip(SHARES, quantile_estimates(values, [*SHARES.values()]), strict=True):
        by_repeat = several and part == "p50" and name.endswith("_ms") and values.min() > 0
        result.add(f"{name}.{part}", estimate(values, "time", runs=repeats) if by_repeat else found)
    most = float(values.max())
    result.metrics[f"{name}.max"] = MetricValue(
        f"{name}.max", most, METRICS[name].unit, n=len(values)
    )


def _parts(result: Aggregate, name: str, parts: Mapping[str, Estimate], reason: str | None) -> None:
    if not parts:
        _absent(result, name, reason)
    for part, found in parts.items():
        result.add(f"{name}.{part}", found)


def _absent(result: Aggregate, name: str, reason: str | None) -> None:
    for part in LOAD_PARTS:
        result.add(f"{name}.{part}", None, reason)
