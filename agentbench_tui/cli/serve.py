"""`agentbench serve`: the HTTP service."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import database_option, database_path

if TYPE_CHECKING:
    from agentbench_tui.api.settings import ServiceSettings

_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?|https?://\[[0-9A-Fa-f:]+\](:[0-9]+)?")


@click.command(short_help="Serve results and runs over HTTP.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8321,
    show_default=True,
    help="Port to listen on; 0 for any free one.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File with the token that clients have to send; created if it does not exist.",
    show_default="$AGENTBENCH_TOKEN, else a new token that is printed",
)
@click.option(
    "--suites",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Folder of suites that clients may run, in addition to the shipped suites. May be given "
    "several times.",
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="ID[@VERSION]=TARGET",
    help="Agent that clients may run by its id. May be given several times.",
)
@click.option(
    "--allow-target",
    "schemes",
    multiple=True,
    metavar="SCHEME",
    help="Let clients name targets of this scheme, such as openai; with command or python they can "
    "run any code. May be given several times.",
)
@click.option(
    "--allow-host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="Further host name under which clients reach the service. May be given several times.",
)
@click.option(
    "--cors-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Origin of web pages that may use the service, such as https://bench.example. May be "
    "given several times.",
)
@click.option(
    "--max-runs",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Maximum number of runs at the same time; they disturb each other's times.",
)
@database_option
def serve(database: str | None, **given: Any) -> int:
    """Serve the database over HTTP: results, leaderboards, comparisons, live runs and imports.

    Clients send the token as `Authorization: Bearer TOKEN`. Runs are processes of their own, which
    continue when the service ends. Needs the extra `api`.

    \b
    agentbench serve
    agentbench serve --token-file token.txt --suites suites --agent chat=openai:URL#MODEL
    """
    from agentbench_tui.api.serving import serve as serve_until_signal
    from agentbench_tui.api.settings import is_loopback, token_of_service
    from agentbench_tui.store.database import create_or_migrate

    token = token_of_service(given["token_file"])
    path = database_path(database)
    settings = _settings(path, token.value, given)
    create_or_migrate(path)

    def ready(url: str) -> None:
        click.echo(f"serving {path} at {url} (documentation: {url}/openapi.json)", err=True)
        if token.is_new:
            click.echo(f"token: {token.value}", err=True)
            click.echo(
                "It is shown only now; to keep a token, give --token-file or set AGENTBENCH_TOKEN.",
                err=True,
            )
        if not is_loopback(settings.host):
            click.echo(
                "warning: other machines reach this address, and the token travels unencrypted;"
                " put a proxy with TLS before it, or use an SSH tunnel",
                err=True,
            )

    serve_until_signal(settings, ready)
    return 0


def _settings(path: Path, token: str, given: dict[str, Any]) -> ServiceSettings:
    from agentbench_tui.agents.schemes import known_schemes
    from agentbench_tui.agents.target import parse_agent
    from agentbench_tui.api.settings import Limits, ServiceSettings
    from agentbench_tui.model.errors import UsageError, did_you_mean

    schemes = known_schemes()
    for scheme in given["schemes"]:
        if scheme not in schemes:
            hint = did_you_mean(scheme, schemes)
            raise UsageError(
                f"--allow-target {scheme}: no such scheme{hint}; there are {', '.join(schemes)}"
            )
    for agent in given["agents"]:
        parse_agent(agent, base_dir=str(Path.cwd()))
    for origin in given["origins"]:
        if _ORIGIN.fullmatch(origin) is None:
            raise UsageError(
                f"--cors-origin {origin}: expected SCHEME://HOST[:PORT] without a path, such as"
                " https://bench.example"
            )
    return ServiceSettings(
        database=path,
        token=token,
        host=given["host"],
        port=given["port"],
        hosts=frozenset(given["hosts"]),
        origins=frozenset(given["origins"]),
        suite_folders=tuple(folder.resolve() for folder in given["folders"]),
        agents=given["agents"],
        schemes=frozenset(given["schemes"]),
        limits=Limits(runs=given["max_runs"]),
    )
