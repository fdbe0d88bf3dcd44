"""The program of a fresh process: a bench controlled by JSON lines.

Started by `seat.ProcessSeat` and ended by closing its input. What an experiment prints goes to
standard error, since standard output carries the answers.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from agentbench_tui.experiments.measuring.bench import Bench
from agentbench_tui.experiments.measuring.order import Instrument, Order


def main() -> int:
    """Answer requests until the input ends."""
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    bench: Bench | None = None
    while line := sys.stdin.buffer.readline():
        call: dict[str, Any] = msgspec.json.decode(line)
        if call.get("type") == "hello":
            reply: Any = {"type": "hello", "protocol": call["protocol"]}
        else:
            method, argument = call["method"], call["argument"]
            if method == "open":
                bench = Bench(msgspec.convert(argument, Order))
                argument = None
            elif method == "profile":
                argument = msgspec.convert(argument, Instrument)
            answer = getattr(bench, method)(*([] if argument is None else [argument]))
            reply = {"id": call["id"], "answer": answer}
        answers.write(msgspec.json.encode(reply) + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
