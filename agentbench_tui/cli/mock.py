"""`agentbench mock`: a model server for practice, whose timing is known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from agentbench_tui.agents.mock.options import option_fields, read_options

Command = TypeVar("Command", bound=Callable[..., Any])


def _server_options(command: Command) -> Command:
    """Return an option for each field of the server's options, as text that the server parses."""
    for one in reversed(option_fields()):
        flag = f"--{one.name.replace('_', '-')}"
        if one.metadata["unit"]:
            add = click.option(
                flag,
                metavar=one.metadata["unit"],
                show_default=one.metadata["shown"],
                help=one.metadata["help"],
            )
        else:
            add = click.option(flag, is_flag=True, default=None, help=one.metadata["help"])
        command = add(command)
    return command


@click.command(short_help="Serve a simulated model with known timing, for practice.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8100, show_default=True,
    help="Port to listen on; 0 picks any free port.",
)  # fmt: skip
@_server_options
@click.option(
    "--truth", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write what the server really did to this file when it stops.",
)  # fmt: skip
@click.option(
    "--requests-log", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write a JSON line for each request to this file when the server stops.",
)  # fmt: skip
@click.option("--until-stdin-closes", is_flag=True, hidden=True)
def mock(
    host: str,
    port: int,
    truth: Path | None,
    requests_log: Path | None,
    *,
    until_stdin_closes: bool,
    **given: Any,
) -> None:
    """Serve a simulated model with known timing, for practice and to check measuring tools.

    The server offers the chat completions, completions, responses and messages APIs, streaming and
    not. It stops at Ctrl-C or SIGTERM.

    \b
    agentbench mock --ttft 50ms --itl 10ms --tokens 32 --truth truth.json
    agentbench load openai:http://127.0.0.1:8100/v1#mock --rate 20 --duration 10
    """
    from agentbench_tui.agents.mock.serving import serve

    options = read_options({name: value for name, value in given.items() if value is not None})
    serve(
        options, host, port, click.echo,
        truth_file=truth, requests_log=requests_log, until_stdin_closes=until_stdin_closes,
    )  # fmt: skip
