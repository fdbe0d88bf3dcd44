"""`agentbench market serve`: serves a world to an agent that connects."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import click

from agentbench_tui.cli.market.options import play_options, world_options
from agentbench_tui.cli.run.options import run_options
from agentbench_tui.model.errors import UsageError

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@click.command(short_help="Serve worlds to an agent that connects and plays.")
@click.option(
    "--protocol",
    type=click.Choice(("jsonrpc", "a2a")),
    default="jsonrpc",
    show_default=True,
    help="Protocol that the agent speaks: JSON-RPC 2.0 over HTTP, or A2A.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    show_default=True,
    help="Port to listen on; 0 picks a free port and prints it.",
)
@click.option(
    "--agent-id",
    default="outsider",
    show_default=True,
    metavar="ID[@VERSION]",
    help="Id under which the results of the connecting agent are stored.",
)
@play_options
@world_options
@run_options
def serve(
    protocol: str, host: str, port: int, agent_id: str, output: Path | None, **given: Any
) -> int:
    """Serve market worlds, one after another, to an agent that connects by JSON-RPC or A2A.

    Each world waits for the agent's calls. The run ends when all games are over and prints the
    same result as `market run`. Without a FILE, worlds are generated from --seed and the options
    of `market generate`.

    \b
    agentbench market serve world.json --port 8000
    agentbench market serve world.json --protocol a2a --save-trajectories --output results
    """
    from agentbench_tui.cli.market.plan import carry_out

    if given["detach"] and not port:
        raise click.UsageError(
            "--detach: also give --port, because a detached run cannot print a free one"
        )
    _check_port(host, port)
    if host not in _LOOPBACK:
        click.echo(f"warning: anyone who can reach {host} can play; there is no password", err=True)
    options = urlencode({"protocol": protocol, "host": host, "port": port})
    target = f"{agent_id}=market:outsider?{options}"
    given |= {"agents_to_run": (target,), "baselines": False, "no_ui": True}
    return carry_out(given, output)


def _check_port(host: str, port: int) -> None:
    """Raise UsageError if the port cannot be used, before a run is created."""
    import socket

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    except UnicodeError:
        raise UsageError(f"{host[:80]!r} is not a host name") from None
