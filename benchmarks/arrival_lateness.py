"""How late arrivals are fired: the deadline timer beside a nanosleep loop and asyncio.sleep.

    python benchmarks/arrival_lateness.py [--realtime]

Poisson arrivals with empty work, each way in a process of its own and in short turns, so that
what disturbs the machine disturbs all alike. Lateness is fired minus due. Run it on a quiet
machine, or with --realtime, which puts all ways before every ordinary process (may need root);
the kernel then adds none of the 50 µs by which it lets ordinary sleepers oversleep.
"""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import time
from array import array
from collections.abc import Callable, Coroutine, Iterator
from statistics import quantiles

from agentbench_tui.instruments.timer import DeadlineTimer, now_ns
from agentbench_tui.load.schedule.arrivals import Arrivals, Constant, offsets_ns

RATES = (1_000, 10_000)
TURNS, TURN_S = 3, 0.8
LEAD_NS = 20_000_000
FLOOR = "nanosleep loop"
BAR = 2.0
"""Most that the timer's p99 may be of the nanosleep loop's, at 1,000/s."""

Pace = Callable[[Iterator[int], "array[int]"], None]
"""Waits for each due time and appends how late it then was, in ns."""


def nanosleep(dues: Iterator[int], late: array[int]) -> None:
    """The floor: no loop, no file descriptor; on Linux time.sleep is clock_nanosleep."""
    for due in dues:
        wait_ns = due - now_ns()
        if wait_ns > 0:
            time.sleep(wait_ns / 1e9)
        late.append(now_ns() - due)


async def sleeping(dues: Iterator[int], late: array[int]) -> None:
    for due in dues:
        wait_ns = due - now_ns()
        if wait_ns > 0:
            await asyncio.sleep(wait_ns / 1e9)
        # A sleep may end early by the loop's resolution; that counts as in time.
        late.append(max(now_ns() - due, 0))


async def timed(dues: Iterator[int], late: array[int]) -> None:
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    due = next(dues)

    def fire() -> None:
        nonlocal due
        while (late_ns := now_ns() - due) >= 0:
            late.append(late_ns)
            following = next(dues, None)
            if following is None:
                done.set_result(None)
                return
            due = following
        timer.arm(due)

    timer = DeadlineTimer(loop, fire)
    timer.arm(due)
    await done
    timer.close()


def on_asyncio(pace: Callable[[Iterator[int], array[int]], Coroutine[None, None, None]]) -> Pace:
    return lambda dues, late: asyncio.run(pace(dues, late))


def on_uvloop(pace: Callable[[Iterator[int], array[int]], Coroutine[None, None, None]]) -> Pace:
    import uvloop

    return lambda dues, late: uvloop.run(pace(dues, late))


WAYS: dict[str, Callable[[], Pace]] = {
    FLOOR: lambda: nanosleep,
    "timer, uvloop": lambda: on_uvloop(timed),
    "timer, asyncio": lambda: on_asyncio(timed),
    "asyncio.sleep, uvloop": lambda: on_uvloop(sleeping),
    "asyncio.sleep, asyncio": lambda: on_asyncio(sleeping),
}


def child(way: str, rate: int, seed: int, *, realtime: bool) -> None:
    """One turn; writes the CPU share in millionths, then each lateness in ns, to stdout."""
    if realtime:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    pace = WAYS[way]()
    schedule = Arrivals(process="poisson", profile=Constant(rate))
    late = array("q")
    gc.collect()
    gc.freeze()
    gc.disable()
    cpu, began = time.process_time(), time.perf_counter()
    start_ns = now_ns() + LEAD_NS
    offsets = offsets_ns(schedule, seed, duration_ns=int(TURN_S * 1e9))
    pace((start_ns + offset for offset in offsets), late)
    share = (time.process_time() - cpu) / (time.perf_counter() - began)
    array("q", [int(share * 1e6), *late]).tofile(sys.stdout.buffer)


def measure(rate: int, options: list[str]) -> dict[str, tuple[float, float, float, int]]:
    """Way → (p50 and p99 lateness in µs, CPU share, arrivals)."""
    late: dict[str, array[int]] = {way: array("q") for way in WAYS}
    shares: dict[str, list[float]] = {way: [] for way in WAYS}
    for turn in range(TURNS):
        for way in WAYS:
            command = [sys.executable, __file__, way, str(rate), str(turn), *options]
            output = array("q", subprocess.run(command, stdout=-1, check=True).stdout)
            shares[way].append(output[0] / 1e6)
            late[way].extend(output[1:])
    found = {}
    for way, values in late.items():
        cuts = quantiles(values, n=100, method="inclusive")
        found[way] = (cuts[49] / 1e3, cuts[98] / 1e3, sum(shares[way]) / TURNS, len(values))
    return found


def main(options: list[str]) -> None:
    print(f"Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f} {' '.join(options)}")
    for rate in RATES:
        found = measure(rate, options)
        floor = found[FLOOR][1]
        print(f"\n{rate:,} arrivals/s, Poisson, {TURNS} × {TURN_S} s")
        print(f"{'':<24}{'p50 µs':>9}{'p99 µs':>9}{'× floor':>9}{'CPU':>7}{'n':>8}")
        for way, (p50, p99, share, count) in found.items():
            row = f"{way:<24}{p50:>9.1f}{p99:>9.1f}{p99 / floor:>9.2f}{share:>7.2f}{count:>8,}"
            if rate == RATES[0] and way.startswith("timer"):
                row += f"  bar <= {BAR:g}  {'ok' if p99 <= BAR * floor else 'MISSED'}"
            print(row)


if __name__ == "__main__":
    options = [argument for argument in sys.argv[1:] if argument == "--realtime"]
    if len(sys.argv) > len(options) + 1:
        child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), realtime=bool(options))
    else:
        main(options)
