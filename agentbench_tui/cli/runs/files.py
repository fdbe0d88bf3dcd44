"""`agentbench runs delete`, `export` and `import`: removes, exports and imports runs."""

from __future__ import annotations

from pathlib import Path

import click

from agentbench_tui.cli.console.confirmation import confirm
from agentbench_tui.cli.console.output import database_option, database_path


@click.command()
@click.argument("run_ids", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "--yes",
    is_flag=True,
    help="Delete without asking. Without it, a terminal asks for confirmation; elsewhere "
    "the command is refused.",
)
@database_option
def delete(run_ids: tuple[str, ...], yes: bool, database: str | None) -> int:
    """Delete runs and all data that no other run uses.

    \b
    agentbench runs delete 01a2203b --yes
    """
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.baselines import baselines_of
    from agentbench_tui.store.queries.runs import find_run
    from agentbench_tui.store.removal import delete_run

    path = database_path(database)
    with reading(path) as connection:
        found = [*dict.fromkeys(find_run(connection, wanted)["id"] for wanted in run_ids)]
        baselines = [one for one in baselines_of(connection) if one.is_of_run(found)]
    for one in baselines:
        click.echo(
            f"baseline {one.name} of {one.agent_id} refers to run {one.target} and is "
            "removed with it",
            err=True,
        )
    if not yes:
        confirm(
            f"Delete {', '.join(found)} from {path}?",
            f"{', '.join(found)} not deleted: no terminal to ask for confirmation; allow it "
            "with --yes",
        )
    for run_id in found:
        delete_run(path, run_id)
        click.echo(f"deleted {run_id}", err=True)
    return 0


@click.command()
@click.argument("run")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@database_option
def export(run: str, file: Path, force: bool, database: str | None) -> int:
    """Export RUN to a new SQLite FILE, with its checksum in FILE.sha256.

    \b
    agentbench runs export latest run.db
    """
    from agentbench_tui.cli.market.result import warn_of_salt
    from agentbench_tui.store.archive import export_run
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run

    path = database_path(database)
    with reading(path) as connection:
        run_id = find_run(connection, run)["id"]
        warn_of_salt(connection, run_id, file)
    digest = export_run(path, run_id, file, force=force)
    click.echo(f"{digest}  {file}")
    return 0


@click.command("import")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="FILE...",
)
@database_option
def import_(files: tuple[Path, ...], database: str | None) -> int:
    """Import the runs of exported FILEs. Runs that are already in the database do not change.

    Baselines and accepted changes that refer to one of these runs are imported too. Baselines that
    refer to a version or a tag are not.

    \b
    agentbench runs import run.db
    """
    from agentbench_tui.model.text.untrusted import visible
    from agentbench_tui.store.archive import import_runs
    from agentbench_tui.verdicts.evidence.stored_documents import stored_soundness

    soundness, all_sound = stored_soundness(), True
    for file in files:
        imported = import_runs(database_path(database), file, soundness)
        click.echo(f"{file}: {len(imported.new)} new", err=True)
        for line in imported.refused:
            click.echo(visible(f"{file}: not imported: {line}"), err=True)
        for run_id in imported.new:
            click.echo(run_id)
        all_sound &= not imported.refused
    return 0 if all_sound else 2
