"""`agentbench push`: sends runs to the service of another machine."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from agentbench_tui.cli.console.output import database_option, database_path
from agentbench_tui.model.text.untrusted import visible


@click.command(short_help="Send runs to a service.")
@click.argument("url")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File with the token of the service.",
    show_default="$AGENTBENCH_TOKEN",
)
@database_option
def push(url: str, runs: tuple[str, ...], token_file: Path | None, database: str | None) -> int:
    """Send RUNs to the service of `agentbench serve` at URL.

    RUN is an id, a unique prefix of one, or `latest`. The service checks a checksum and every row.
    A run that it has already does not change, so the same run can be sent again.

    \b
    agentbench push http://127.0.0.1:8321 latest
    agentbench push https://bench.example 01a2203b --token-file token.txt
    """
    from agentbench_tui.api.settings import token_of_client
    from agentbench_tui.cli.market.result import warn_of_salt
    from agentbench_tui.python_api.client import Client
    from agentbench_tui.store.archive import export_run
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run

    client = Client(url, token_of_client(token_file), timeout_s=600)
    if not client.is_encrypted:
        click.echo(f"warning: the token travels unencrypted to {url}; use https", err=True)
    path = database_path(database)
    with reading(path) as connection:
        ids = [*dict.fromkeys(find_run(connection, run)["id"] for run in runs)]
        for run_id in ids:
            warn_of_salt(connection, run_id, url)
    all_sent = True
    for run_id in ids:
        with tempfile.TemporaryDirectory(prefix="agentbench-push-") as folder:
            file = Path(folder) / f"{run_id}.db"
            export_run(path, run_id, file)
            found = client.import_file(file)
        all_sent &= not found.refused
        for line in found.refused:
            click.echo(visible(f"not imported: {line}"), err=True)
        for there in (*found.new, *found.known):
            click.echo(f"{there}  {'sent' if there in found.new else 'was there already'}")
    return 0 if all_sent else 2
