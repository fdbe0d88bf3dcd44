"""Checks whether the target's address accepts connections."""

from __future__ import annotations

import asyncio

from agentbench_tui.http.wire import Origin

_CONNECT_LIMIT_S = 1.0


async def is_reachable(url: str) -> bool:
    """Return whether the URL's port accepts a connection within a second."""
    origin = Origin.of(url)
    try:
        async with asyncio.timeout(_CONNECT_LIMIT_S):
            _, writer = await asyncio.open_connection(origin.host, origin.port)
    except (OSError, TimeoutError):
        return False
    writer.transport.abort()
    return True
