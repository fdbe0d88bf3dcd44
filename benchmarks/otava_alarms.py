"""Alarms that apache-otava raises on histories, judged run by run as a gate would.

    PYTHON benchmarks/otava_alarms.py < asked.json > alarms.json

PYTHON is an interpreter that has apache-otava 0.8; nothing of agentbench is imported, whose numpy
may be another. Asked are {"histories": [[value, …], …], "p": [0.001, …], "magnitude": 0.02}; the
answer is, for each p, a list for each history of [run, is_higher].

Each run is judged with the values up to it. A change point is an alarm when it is first reported,
if it lies at most 12 runs back; one that is reported later counts as known. Two within 5 runs, in
the same direction, are one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from otava.analysis import compute_change_points

WINDOW = 50
"""Otava's default; its windows begin every 25 runs."""
HISTORY = 150
"""Runs before the judged one that it gets: more change nothing near the end of the history."""
FIRST_JUDGED, WITHIN, SAME = 20, 12, 5
Alarm = tuple[int, bool]


def change_points(values: Sequence[float], p: float, magnitude: float) -> list[Alarm]:
    """The first run of each new level, and whether it is higher."""
    found, _ = compute_change_points(values, WINDOW, p, magnitude)
    return [(int(one.index), bool(one.stats.mean_2 > one.stats.mean_1)) for one in found]


def alarms(values: Sequence[float], p: float, magnitude: float) -> list[Alarm]:
    known: list[Alarm] = []
    raised: list[Alarm] = []
    for runs in range(FIRST_JUDGED, len(values) + 1):
        start = max(0, runs - HISTORY) // (WINDOW // 2) * (WINDOW // 2)
        for place, is_higher in change_points(values[start:runs], p, magnitude):
            run = start + place
            is_late = run < runs - WITHIN - 1
            if any(
                abs(run - other) <= SAME and (is_late or is_higher == side) for other, side in known
            ):
                continue
            known.append((run, is_higher))
            if not is_late:
                raised.append((runs - 1, is_higher))
    return raised


def main() -> None:
    asked = json.load(sys.stdin)
    found = [
        [alarms(values, p, asked["magnitude"]) for values in asked["histories"]] for p in asked["p"]
    ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
