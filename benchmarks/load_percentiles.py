"""What the figures of a load of 50,000 requests cost once it is over: reading, percentiles, all.

    python benchmarks/load_percentiles.py

Made-up samples of 32 chunks each, in chunks of a quarter of a second at 1,000 requests/s. Best of
several turns, in ms; numpy.quantile on the same values beside it. Intervals included.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

import numpy as np

from agentbench_tui.analysis.intervals.quantiles import quantile_estimates
from agentbench_tui.load.results.aggregate import aggregate
from agentbench_tui.load.results.columns import SAMPLE, Columns, columns_of
from agentbench_tui.load.results.requests import Requests
from agentbench_tui.load.results.window import Window
from agentbench_tui.load.sending.protocol import Done
from agentbench_tui.load.sending.sample import NONE, STREAMED, TOKENS_COUNTED, pack_gaps, pack_rows
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.figures.metric import SHARES

REQUESTS, RATE, CHUNKS, ROWS_A_CHUNK, TURNS = 50_000, 1000, 32, 250, 5
BAR_MS = 5.0
"""Most that the percentiles of one distribution may take."""
LATENCIES = ("e2e_ms", "e2e_from_send_ms", "ttft_ms", "ttft_from_send_ms", "tpot_ms", "send_lag_ms")


def stored() -> list[tuple[int, int, bytes, bytes]]:
    """A repeat as it lies in the store."""
    draw = np.random.default_rng(1)
    gaps = draw.normal(10_000, 200, (REQUESTS, CHUNKS - 1)).astype(np.uint32)
    rows = np.zeros(REQUESTS, SAMPLE)
    rows["due_us"] = np.arange(REQUESTS) * (1_000_000 // RATE)
    rows["lag_us"] = draw.exponential(100, REQUESTS)
    rows["ttft_us"] = rows["ttfo_us"] = 50_000 + draw.exponential(300, REQUESTS)
    rows["first_byte_us"] = rows["ttft_us"] - 20
    rows["e2e_us"] = rows["ttft_us"] + gaps.sum(axis=1)
    rows["chunks"] = rows["output_tokens"] = CHUNKS
    rows["input_tokens"], rows["cached_tokens"] = 128, NONE
    rows["flags"] = STREAMED | TOKENS_COUNTED
    return [
        (
            0,
            0,
            pack_rows(rows[start : start + ROWS_A_CHUNK].tobytes()),
            pack_gaps(array("I", gaps[start : start + ROWS_A_CHUNK].tobytes())),
        )
        for start in range(0, REQUESTS, ROWS_A_CHUNK)
    ]


def window() -> Window:
    worker = Done(
        offered=REQUESTS, sent=REQUESTS, window_s=REQUESTS / RATE, drained_s=0.4, cpu_s=1.0,
        connections=1, resent=0, sent_bytes=0, received_bytes=0, most_in_flight=400, blocked=0,
        late=0, lateness=None, run_queue_wait_ms=None, gc_pause_ms=0, gc_pause_max_ms=0,
        peak_rss_mb=0, stopped=False,
    )  # fmt: skip
    return Window(
        is_open=True, asked_per_s=RATE, asked=REQUESTS, started_at="", ramp_s=None, slo={},
        max_in_flight=None, on_this_machine=True, workers=(worker,),
    )  # fmt: skip


def best_ms(work: Callable[[], object]) -> float:
    def turn() -> float:
        began = time.perf_counter()
        work()
        return 1e3 * (time.perf_counter() - began)

    return min(turn() for _ in range(TURNS))


def main() -> None:
    chunks, windows, shares = stored(), {0: window()}, list(SHARES.values())
    rows = [(repeat, worker, samples, b"") for repeat, worker, samples, _ in chunks]
    columns = columns_of(chunks)
    values = Requests(columns, windows).e2e_ms

    def fresh() -> Columns:
        """Without what was worked out before."""
        return Columns(columns.table, columns.repeat, columns.worker, columns.gaps_us)

    def latencies() -> None:
        requests = Requests(fresh(), windows)
        for name in LATENCIES:
            quantile_estimates(getattr(requests, name), shares)

    one_ms = best_ms(lambda: quantile_estimates(values, shares))
    figures = {
        "percentiles and intervals of one latency": one_ms,
        "numpy.quantile of the same": best_ms(lambda: np.quantile(values, shares)),
        f"the same of {len(LATENCIES)} latencies, from columns": best_ms(latencies),
        "reading the samples": best_ms(lambda: columns_of(rows)),
        f"reading them with {len(columns.gaps_us):,} gaps": best_ms(lambda: columns_of(chunks)),
        "every metric of the execution, gaps included": best_ms(
            lambda: aggregate(Requests(fresh(), windows), AgentSpec("agent", "1", "http:URL"))
        ),
    }
    for name, ms in figures.items():
        print(f"{ms:8.2f} ms  {name}")
    size = sum(len(samples) + len(gaps) for *_, samples, gaps in chunks) / REQUESTS
    print(f"{size:8.1f} bytes a request in the store")
    print(f"bar: {one_ms:.2f} ms of {BAR_MS:g} ms, {'held' if one_ms <= BAR_MS else 'MISSED'}")


if __name__ == "__main__":
    main()
