"""Games over HTTP: the body of each POST is a JSON-RPC 2.0 request or a batch."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.outside import rpc
from agentbench_tui.market.play.actions import GAME_OVER

if TYPE_CHECKING:
    from aiohttp import web

    from agentbench_tui.market.play.match import Match

MOST_BYTES = 1 << 20
"""Maximum size of an agent's request."""
_OPEN_PLACE = ""
"""Key of the game that is played at the base address."""


class RpcServer:
    """Serves games at secret addresses, and optionally one at the base address."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._host = host
        self._port = port
        self._matches: dict[str, Match] = {}
        self._runner: web.AppRunner | None = None
        self.url = ""
        """URL of the server, with a final slash, once it has started."""

    async def start(self) -> None:
        """Listen; on a free port if 0 was given. Raises OSError."""
        from aiohttp import web

        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_post("/market/{key}", self._respond)
        app.router.add_post("/", self._respond)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError:
            await self.close()
            raise
        self.url = url_of(self._host, self._runner.addresses[0][1])

    async def close(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    def open(self, match: Match) -> str:
        """Return a secret address for the match."""
        key = secrets.token_urlsafe(12)
        self._matches[key] = match
        return f"{self.url}market/{key}"

    def forget(self, url: str) -> None:
        """Remove the game at the address."""
        self._matches.pop(url.rpartition("/")[2], None)

    def serve(self, match: Match) -> None:
        """Play this match at the server's own address from now on."""
        self._matches[_OPEN_PLACE] = match

    async def _respond(self, request: web.Request) -> web.Response:
        from aiohttp import web

        match = self._matches.get(request.match_info.get("key", _OPEN_PLACE))
        if match is None and "key" in request.match_info:
            return web.Response(status=404, text="no game is played here")
        handle = _no_game if match is None else match.handle
        response = await rpc.respond(await request.read(), handle)
        if response is None:
            return web.Response(status=204)
        return web.Response(body=response, content_type="application/json")


async def _no_game(_method: str, _params: dict[str, Any], _more: bool) -> Any:
    raise rpc.RpcError(GAME_OVER, "no game is played here yet")


def url_of(host: str, port: int) -> str:
    """The address of a server that listens there."""
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
