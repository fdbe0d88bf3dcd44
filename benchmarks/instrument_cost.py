"""How much longer a call takes with all instruments on than with none.

    python benchmarks/instrument_cost.py [--rounds 400]

The gauges are read by a thread beside the call, now and then: in turns of a second with and without
them, what else goes on hides what they take. So each round has three blocks of single calls in an
order drawn anew: with nothing; with what stands around each call; and with that and one reading of
the gauges, which begins at some moment of the block and ends in the store. A reading takes what the
third block is longer than the second, and of a second so many times that as there are readings.

Told by the wall, and without the time in which the thread was queued because others ran: what is
left is work and waiting for the interpreter, on a machine that is busy, too. For Linux.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from itertools import repeat
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import numpy as np
from pydantic import BaseModel

from agentbench_tui.experiments.experiment import Experiment, ExperimentContext
from agentbench_tui.experiments.instrument import find_around
from agentbench_tui.experiments.measuring.bench import Bench
from agentbench_tui.experiments.measuring.order import Instrument, Order
from agentbench_tui.instruments.gauges import reading
from agentbench_tui.instruments.host import HostProbe
from agentbench_tui.instruments.process_tree import TreeProbe
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.writer import Writer

CALL_MS = 5.0
BLOCK = 4
"""Calls in a block: a reading that waits for the interpreter still falls into its block."""
INTERVALS_S = (1.0, 0.2)
"""Between two readings of the gauges: by default, and AgentFarm's."""
PASSES = ("cprofile", "tracemalloc")
PASSES_EVERY = 50
"""Rounds after which profilers have their pass, as a run has them between measured calls."""
RESAMPLES = 5_000
QUANTILES = (0.025, 0.975)
STEPS = 100_000
_INSERT = "INSERT INTO measured (scope, at, reading) VALUES (?,?,?)"


class Adding(Experiment):
    """A fixed amount of work for the processor, and how long others ran in its stead.

    It makes no objects: with numbers that are made anew a call is some 3% faster or slower by
    where in memory the instruments' objects left room.
    """

    class Parameters(BaseModel):
        steps: int

    def setup(self, context: ExperimentContext) -> None:
        del context
        self.steps = self.params["steps"]
        self.queue = Path("/proc/thread-self/schedstat").open()  # noqa: SIM115  # of this thread

    def queued_ns(self) -> int:
        """For how long this thread could have run and did not (proc(5))."""
        self.queue.seek(0)
        return int(self.queue.read().split()[1])

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        del context
        began = self.queued_ns()
        total = 0
        for _ in repeat(None, self.steps):
            total = (total + 1) & 127
        return {"total": total, "queued_ms": (self.queued_ns() - began) / 1e6}

    def teardown(self, context: ExperimentContext) -> None:
        del context
        self.queue.close()


class Gauges:
    """Reads host and process tree when it is told to, after a moment, and stores them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "gauges.db"
        create_or_migrate(self._path)
        self._writer = Writer(self._path)
        self._writer.add("CREATE TABLE measured (scope TEXT, at REAL, reading TEXT)", ())
        self._asked, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._wait_s = 0.0
        self._ends = False
        self.cpu_s: list[float] = []
        """Of each reading, of the thread that reads."""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def ask(self, wait_s: float) -> None:
        """Have one reading begin so much later."""
        self._wait_s = wait_s
        self._asked.release()

    def wait(self) -> None:
        """Until it is done."""
        self._done.acquire()

    def close(self) -> None:
        self._ends = True
        self._asked.release()
        self._thread.join()
        self._writer.close()

    def _read(self) -> None:
        host, trees = HostProbe(self._folder), TreeProbe()
        while self._asked.acquire() and not self._ends:
            time.sleep(self._wait_s)
            began = time.thread_time()
            own = trees.read({"code": (os.getpid(),)})
            read = {"host": reading(host.read())} | {
                name: reading(one) for name, one in own.items()
            }
            for scope, fields in read.items():
                known = {name: value for name, value in fields.items() if value is not None}
                self._writer.add(_INSERT, (scope, time.time(), msgspec.json.encode(known).decode()))
            self.cpu_s.append(time.thread_time() - began)
            self._done.release()


class Switched(Bench):
    """What stands around its calls can be left out: one and the same object has the same place in
    memory with and without, which makes as much difference as what is measured."""

    def use(self, *, instruments: bool) -> None:
        self._around = [find_around(Instrument("perf"))] if instruments else []


def bench(folder: Path, steps: int) -> Switched:
    """One that is set up and warm."""
    made = Switched(
        Order(
            slug=f"python:{Path(__file__).resolve()}:Adding", folder=str(folder),
            values={"steps": steps}, variant="code", run_id="run", output_dir=str(folder),
            run_dir=str(folder / "code"), seed=42, repeat=0,
        )
    )  # fmt: skip
    opened = made.open()
    if opened.error is not None:
        raise SystemExit(opened.error)
    made.warm_up(3)
    return made


def block(one: Bench) -> tuple[float, float]:
    """Mean time of a call by the wall, and without what it was queued, ms."""
    found = [one.iterate(nth) for nth in range(BLOCK)]
    wall = float(np.mean([reading.ms for reading in found]))
    return wall, wall - float(np.mean([reading.metrics["queued_ms"] for reading in found]))


def measure(folder: Path, rounds: int) -> tuple[dict[str, np.ndarray[Any, Any]], list[float]]:
    """Block → its times in each round, as `block` has them; and the CPU seconds of each reading."""
    probe = bench(folder, STEPS)
    took = min(block(probe)[1] for _ in range(20))
    probe.close()
    one, gauges, draw = bench(folder, round(STEPS * CALL_MS / took)), Gauges(folder), Random(1)
    found: dict[str, list[tuple[float, float]]] = {"alone": [], "around": [], "read": []}
    for nth in range(rounds):
        for instrument in PASSES if nth % PASSES_EVERY == 0 else ():
            one.profile(Instrument(instrument))
        for name in draw.sample([*found], len(found)):
            if name == "read":
                gauges.ask(draw.uniform(0, CALL_MS / 1e3))
            one.use(instruments=name != "alone")
            found[name].append(block(one))
            if name == "read":
                gauges.wait()
    one.close()
    gauges.close()
    return {name: np.array(times) for name, times in found.items()}, gauges.cpu_s


def costs(found: dict[str, np.ndarray[Any, Any]], picked: np.ndarray[Any, Any]) -> Any:
    """Of these rounds, by the wall and without queueing: as a share, what a call takes longer by
    what stands around it; and ms that a reading of the gauges takes from calls."""
    alone, around, read = (found[name][picked] for name in ("alone", "around", "read"))
    shares = np.median(around / alone, axis=0) - 1
    return np.array([shares, BLOCK * np.median(read - around, axis=0)])


def report(found: dict[str, np.ndarray[Any, Any]], cpu_s: list[float]) -> None:
    """Prints each figure with its 95% interval, by resampling the rounds."""
    rounds = len(found["alone"])
    draw = np.random.default_rng(1)
    point = costs(found, np.arange(rounds))
    drawn = np.array([costs(found, draw.integers(0, rounds, rounds)) for _ in range(RESAMPLES)])
    ends = np.quantile(drawn, QUANTILES, axis=0)

    print(f"a call of {np.median(found['alone'][:, 1]):.2f} ms, {rounds} rounds [95%]")
    for at, how in enumerate(("by the wall", "without queueing")):
        (share, read), (low, high) = point[:, at], ends[:, :, at]
        print(f"{how}:")
        print(f"  what stands around it: {share:+.2%} [{low[0]:+.2%}, {high[0]:+.2%}]")
        print(f"  a reading of the gauges: {read:+.2f} ms [{low[1]:+.2f}, {high[1]:+.2f}]")
        for interval_s in INTERVALS_S:
            whole = share + read / 1e3 / interval_s
            between = np.quantile(drawn[:, 0, at] + drawn[:, 1, at] / 1e3 / interval_s, QUANTILES)
            print(
                f"  all instruments, gauges every {interval_s:g} s:"
                f" {whole:+.2%} [{between[0]:+.2%}, {between[1]:+.2%}]"
            )
    print(f"CPU time of a reading, in its own thread: {1e3 * np.median(cpu_s):.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="instrument-cost-") as folder:
        report(*measure(Path(folder), given.rounds))


if __name__ == "__main__":
    main()
