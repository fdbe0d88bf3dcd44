"""Serves the application with uvicorn, until a signal."""

from __future__ import annotations

import asyncio
import socket
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import MissingExtra, UsageError
from agentbench_tui.process.blas_threads import load_numpy_with_one_thread
from agentbench_tui.process.freed_memory import share_one_arena

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from agentbench_tui.api.settings import ServiceSettings

_GRACE_S = 5
"""Seconds that open requests have to end after a signal."""
_CONNECTIONS = 1024
"""Open connections; further ones get 503."""
_BACKLOG = 256
_TICK_S = 1.0
"""Seconds between two looks at the clock for the header `Date`."""
_KEPT_OPEN_S = 15
"""Seconds that an idle connection stays open."""


def serve(settings: ServiceSettings, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `ready` is called with the URL once clients can connect.

    Runs that were started continue. Raises MissingExtra without the extra `api`, and UsageError for
    an address that cannot be used.
    """
    try:
        import uvicorn

        from agentbench_tui.api.application import ServiceApplication
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in {"fastapi", "uvicorn", "starlette"}:
            raise MissingExtra("agentbench serve", "api") from None
        raise

    class Server(uvicorn.Server):
        _wake: Callable[[], object] = staticmethod(bool)  # nothing to wake up yet

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready(_url(settings.host, listener.getsockname()[1]))

        async def main_loop(self) -> None:
            """Wake up once a second instead of ten times, and at once for a signal."""
            loop, ended = asyncio.get_running_loop(), asyncio.Event()
            self._wake = lambda: loop.call_soon_threadsafe(ended.set)
            while not await self.on_tick(0):  # counts tenths of a second; 0 renews the date
                with suppress(TimeoutError):
                    await asyncio.wait_for(ended.wait(), _TICK_S)
            await application.end_streams()  # which would wait for their runs

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            self._wake()

    share_one_arena()
    load_numpy_with_one_thread()
    application = ServiceApplication(settings)
    with closing(_bound(settings.host, settings.port)) as listener:
        config = uvicorn.Config(
            application,
            http="h11",  # bounds the size of headers
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=_KEPT_OPEN_S,
            timeout_graceful_shutdown=_GRACE_S,
        )
        Server(config).run([listener])


def _bound(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises UsageError."""
    name = host.strip("[]")
    try:
        family = socket.AF_INET6 if ":" in name else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise UsageError(f"--host {host}: {error.strerror or error}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((name, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}; give another --port"
        ) from None
    return listener


def _url(host: str, port: int) -> str:
    name = host if ":" not in host or host.startswith("[") else f"[{host}]"
    return f"http://{name}:{port}"
