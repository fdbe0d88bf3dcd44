"""Holds memory, so that the rest of the machine has less.

`python -m agentbench_tui.stress.faults.ballast_process FLOOR_BYTES` reads numbers of bytes to hold,
a line each, and answers with a `Held` when it holds so many, or as many as leave the floor; also
when it has let go of some because others took what was left. It ends, and all is free, when its
input ends, as it does when its parent is gone.
"""

from __future__ import annotations

import json
import mmap
import os
import select
import sys
from contextlib import suppress
from pathlib import Path

from agentbench_tui.stress.faults.host_memory import read_host_memory

STEP_BYTES = 32 << 20
_LOOK_EVERY_S = 0.1
_PAGE = mmap.PAGESIZE
_OUT_OF_MEMORY_SCORE = "1000"


class Ballast:
    """Blocks of memory whose pages are all resident."""

    def __init__(self, floor_bytes: int) -> None:
        self._floor_bytes = floor_bytes
        self._blocks: list[mmap.mmap] = []

    @property
    def held_bytes(self) -> int:
        return sum(len(block) for block in self._blocks)

    def grow(self, wanted_bytes: int) -> bool:
        """Grow one step toward this size; return whether another step is needed."""
        step = min(STEP_BYTES, wanted_bytes - self.held_bytes) // _PAGE * _PAGE
        if step <= 0 or read_host_memory().available_bytes - step < self._floor_bytes:
            return False
        try:
            block = mmap.mmap(-1, step, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        except OSError:  # a limit on our address space
            return False
        # Different bytes, which nothing that merges or compresses pages makes one of.
        block[::_PAGE] = os.urandom(step // _PAGE)
        self._blocks.append(block)
        return True

    def shrink(self, wanted_bytes: int) -> None:
        """Release whole blocks beyond this size."""
        while self.held_bytes > wanted_bytes:
            self._blocks.pop().close()

    def keep_floor(self) -> bool:
        """Release memory if other processes took what was left; return whether any was released."""
        let_go = False
        while self._blocks and read_host_memory().available_bytes < self._floor_bytes:
            self._blocks.pop().close()
            let_go = True
        return let_go


def serve(floor_bytes: int) -> None:
    """Hold memory as requested until standard input ends."""
    ballast = Ballast(floor_bytes)
    wanted = 0
    growing = False
    text = b""
    while True:
        ready, _, _ = select.select([0], [], [], 0 if growing else _LOOK_EVERY_S)
        if ready:
            data = os.read(0, 4096)
            if not data:
                return
            *lines, text = (text + data).split(b"\n")
            if lines:
                wanted = int(lines[-1])
                ballast.shrink(wanted)
                growing = True
        elif growing:
            growing = ballast.grow(wanted)
            if not growing:
                _say(ballast, wanted)
        elif ballast.keep_floor():
            _say(ballast, wanted)


def _say(ballast: Ballast, wanted_bytes: int) -> None:
    now = {
        "wanted_bytes": wanted_bytes,
        "held_bytes": ballast.held_bytes,
        "available_bytes": read_host_memory().available_bytes,
    }
    sys.stdout.write(json.dumps(now) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Entry point of `python -m`."""
    # If memory runs out all the same, this is to be ended first.
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_OUT_OF_MEMORY_SCORE)
    with suppress(BrokenPipeError, KeyboardInterrupt):
        serve(int(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
