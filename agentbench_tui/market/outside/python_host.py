"""The process in which a `python:` agent plays a market, apart from everything that knows the
truth.

`python -m agentbench_tui.market.outside.python_host MODULE NAME FOLDER` imports the agent (a
function of one `client.Market`, called every turn, or a class with `turn`) and plays on standard
streams.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

from agentbench_tui.agents.python.python_source import Origin, TargetNotFound, load
from agentbench_tui.market.client import play, standard_streams


def main(module: str, name: str, folder: str) -> int:
    """Play until the game is over; return 2 if the agent cannot be imported."""
    send = standard_streams()  # before the agent's module can print
    try:
        found = load(Origin(module, name, folder))
    except TargetNotFound as error:
        sys.stderr.write(f"{error}\n")
        return 2
    agent: Any = found() if inspect.isclass(found) else found
    play(agent, send)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
