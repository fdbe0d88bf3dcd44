"""Client for agents that play a market: by standard input and output, or over HTTP.

    from agentbench_tui.market.client import CallError, Market, play

    def turn(market: Market) -> None:
        for one in market.call("a2a.getPredictions")["predictions"]:
            if one["yesPrice"] < 0.2:
                try:
                    market.call("a2a.buyShares", marketId=one["id"], outcome="YES", amount=50)
                except CallError as refused:  # no money left, or as many shares as one may hold
                    print(refused)

    if __name__ == "__main__":
        play(turn)

Each call is one JSON-RPC 2.0 request (docs/market.md lists the methods). `observe` gives the state
of the current tick; `endTurn` ends the turn and gives the next state. Only the standard library is
imported, so that a program starts quickly; other languages can speak the same without this module.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from http.client import HTTPConnection
from typing import Any, Protocol
from urllib.parse import urlsplit

Send = Callable[[bytes], bytes]
"""Carries one request, and gives its response."""


_TURN_LOST = -32016
_GAME_OVER = -32017


class CallError(Exception):
    """The market refused a call; the game continues."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


class Market:
    """The market as seen by one agent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._calls = 0
        self.state: dict[str, Any] = {}
        """`tick`, `ticks`, `over` and `observation`, as the last turn began."""

    @property
    def observation(self) -> dict[str, Any]:
        """Observation at the start of the turn."""
        found: dict[str, Any] = self.state["observation"]
        return found

    def call(self, method: str, **params: Any) -> Any:
        """The result of a method. Raises CallError."""
        self._calls += 1
        request = {"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params}
        response = json.loads(self._send(json.dumps(request).encode()))
        if "error" in response:
            error = response["error"]
            raise CallError(error["code"], error["message"], error.get("data"))
        return response["result"]

    def begin(self) -> None:
        """Observe the current tick."""
        self.state = self.call("observe")

    def end_turn(self) -> None:
        """End the turn and observe the next tick."""
        self.state = self.call("endTurn", tick=self.state["tick"])


class Turns(Protocol):
    """Alternative to a function: an object with a method `turn`."""

    def turn(self, market: Market) -> None: ...


def play(agent: Callable[[Market], object] | Turns, send: Send | None = None) -> None:
    """Let the agent play all its turns: on standard input and output, or by `send`.

    While it plays, printed text goes to standard error, so that a stray `print` cannot break the
    protocol. An exception of the agent ends the program, except after a lost turn: then the next
    one begins.
    """
    market = Market(send or standard_streams())
    act = agent.turn if hasattr(agent, "turn") else agent
    market.begin()
    while not market.state["over"]:
        try:
            act(market)
        except CallError as refused:
            if refused.code not in {_TURN_LOST, _GAME_OVER}:
                raise
            market.begin()
        else:
            market.end_turn()


def standard_streams() -> Send:
    """Requests on standard output, responses from standard input, one a line."""
    requests = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout.flush()
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def send(request: bytes) -> bytes:
        requests.write(request + b"\n")
        requests.flush()
        response = sys.stdin.buffer.readline()
        if not response:
            raise SystemExit(0)  # the game is over
        return response

    return send


class Connection:
    """Requests to a URL over one connection that stays until it is closed."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._path = parts.path
        self._connection = HTTPConnection(parts.hostname, parts.port)

    def __call__(self, request: bytes) -> bytes:
        """The response to one request."""
        headers = {"content-type": "application/json"}
        self._connection.request("POST", self._path, request, headers)
        return self._connection.getresponse().read()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def http(url: str) -> Connection:
    """Send requests to a URL, for `Market` and `play`."""
    return Connection(url)
