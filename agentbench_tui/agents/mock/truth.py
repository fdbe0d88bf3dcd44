"""The practice server's own records, in the format of `agentbench.load/1`.

Stored in arrays of numbers, so that recording creates no work for the garbage collector; computed
once, on request.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    import numpy as np

SCHEMA = "agentbench.mock-truth/1"
STATUSES = ("ok", "rate_limited", "server", "truncated", "cancelled")
"""How a request ended; `cancelled`: its client disconnected."""
_PERCENTILES = {"p50": 50, "p90": 90, "p95": 95, "p99": 99, "p999": 99.9}


class Truth:
    """Times in nanoseconds of `time.perf_counter_ns`; a missing time is 0."""

    def __init__(self, *, kept: bool = True) -> None:
        """Unless `kept`, finished requests are not recorded, so that memory stays constant for
        any number.
        """
        self.kept = kept
        self.received = 0
        """Number of complete requests."""
        self.invalid = 0
        """Invalid requests; not part of the other counts."""
        self.connections = 0
        self._numbers = array("q")
        self._statuses = array("B")
        self._arrived = array("q")
        self._first = array("q")
        self._first_output = array("q")
        self._end = array("q")
        self._tokens = array("q")
        self._chunks = array("q")
        self._stamps = array("q")
        """Times of the chunks of answered requests, one request after the other."""
        self._sizes = array("q")

    def record(
        self,
        number: int,
        status: str,
        arrived_ns: int,
        end_ns: int,
        tokens: int = 0,
        first_output_ns: int = 0,
        stamps: array[int] | None = None,
        sizes: array[int] | None = None,
    ) -> None:
        """Record a request that has ended. `stamps` and `sizes` (tokens) describe the chunks of a
        stream.
        """
        if not self.kept:
            return
        streamed = stamps is not None and len(stamps) > 0
        self._numbers.append(number)
        self._statuses.append(STATUSES.index(status))
        self._arrived.append(arrived_ns)
        self._first.append(stamps[0] if stamps is not None and streamed else 0)
        self._first_output.append(first_output_ns)
        self._end.append(end_ns)
        self._tokens.append(tokens)
        if status == "ok" and stamps is not None and sizes is not None:
            self._chunks.append(len(stamps))
            self._stamps.extend(stamps)
            self._sizes.extend(sizes)
        else:
            self._chunks.append(0)

    def document(self) -> dict[str, Any]:
        """Return the records as JSON: counts, and each metric over the answered requests."""
        counts = {name: self._statuses.count(code) for code, name in enumerate(STATUSES)}
        ok, cancelled = counts.pop("ok"), counts.pop("cancelled")
        requests = {
            "received": self.received,
            "ok": ok,
            "failed": {kind: count for kind, count in counts.items() if count},
            "cancelled": cancelled,
            "unfinished": self.received - len(self._numbers),
            "invalid": self.invalid,
            "connections": self.connections,
        }
        return {
            "schema": SCHEMA,
            "requests": requests,
            "metrics": self._metrics() if ok else {},
            "simulated": True,
        }

    def lines(self) -> Iterator[bytes]:
        """Yield one JSON line per request, in order of their ends."""
        rows = zip(
            self._numbers, self._arrived, self._first, self._end, self._tokens, self._statuses,
            strict=True,
        )  # fmt: skip
        for number, arrived, first, end, tokens, status in rows:
            yield (
                msgspec.json.encode(
                    {
                        "number": number,
                        "arrived_ns": arrived,
                        "first_token_ns": first or None,
                        "end_ns": end,
                        "tokens": tokens,
                        "status": STATUSES[status],
                    }
                )
                + b"\n"
            )

    def _metrics(self) -> dict[str, Any]:
        import numpy as np

        ok = _numbers(self._statuses) == 0
        arrived, first = _numbers(self._arrived)[ok], _numbers(self._first)[ok]
        first_output, end = _numbers(self._first_output)[ok], _numbers(self._end)[ok]
        tokens, chunks = _numbers(self._tokens)[ok], _numbers(self._chunks)[ok]
        streamed, spoke = first > 0, first_output > 0
        several = streamed & (tokens > 1)
        chunk_gaps, chunk_sizes = self._gaps(chunks)
        found = {
            "ttft_ms": (first - arrived)[streamed],
            "ttfo_ms": (first_output - arrived)[spoke],
            "e2e_ms": end - arrived,
            "tpot_ms": (end - first)[several] / (tokens[several] - 1),
            "itl_ms": np.repeat(chunk_gaps / chunk_sizes, chunk_sizes),
            "icl_ms": chunk_gaps,
        }
        metrics: dict[str, Any] = {
            name: _summary(values / 1e6) for name, values in found.items() if values.size
        }
        span_s = float(end.max() - arrived.min()) / 1e9
        metrics["output_tokens_per_s"] = float(tokens.sum()) / span_s
        metrics["requests_per_s"] = float(ok.sum()) / span_s
        return metrics

    def _gaps(self, chunks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gaps between chunks of one answer, and the tokens of the later chunk
        of each.
        """
        import numpy as np

        stamps, sizes = _numbers(self._stamps), _numbers(self._sizes)
        is_first = np.zeros(len(stamps), dtype=bool)
        starts = np.cumsum(chunks) - chunks
        is_first[starts[chunks > 0]] = True
        inside = ~is_first[1:]
        return np.diff(stamps)[inside], sizes[1:][inside]


def _numbers(values: array[int]) -> np.ndarray:
    import numpy as np

    return np.array(values, dtype=np.int64)


def _summary(values: np.ndarray) -> dict[str, float | int]:
    """Return mean, percentiles (type 7: linear between the two nearest), maximum and count."""
    import numpy as np

    points = np.percentile(values, list(_PERCENTILES.values()))
    return {
        "mean": float(values.mean()),
        **dict(zip(_PERCENTILES, map(float, points), strict=True)),
        "max": float(values.max()),
        "n": int(values.size),
    }
