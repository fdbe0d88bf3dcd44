"""Result of a run of market worlds, for people and for scripts; verification of a world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import print_json, print_prose, print_rows
from agentbench_tui.contracts.document import plain
from agentbench_tui.contracts.market import (
    MarketDocument,
    MarketEpisodeResult,
    MarketWorldFacts,
    VerifiedDocument,
    WorldCheck,
)
from agentbench_tui.model.errors import UsageError
from agentbench_tui.presentation.market.tables import SIMULATED, agents_table
from agentbench_tui.presentation.report import Column
from agentbench_tui.reports.market.report_folder import Reports
from agentbench_tui.verdicts.runs.market_episode import PlayedEpisode, episodes_of
from agentbench_tui.verdicts.runs.market_summary import agent_summaries, called_out

if TYPE_CHECKING:
    import sqlite3

_CHECKS = (
    Column("check", "check", names_row=True),
    Column("holds", "holds"),
    Column("problems", "problems", "; ".join),
)


def print_market_run(connection: sqlite3.Connection, document: dict[str, Any], form: str) -> None:
    """Print the result of `agentbench market run` without reports."""
    shown(None)(connection, document, form)


def shown(output: Path | None) -> Callable[[sqlite3.Connection, dict[str, Any], str], None]:
    """Print the result of a run, and write the reports if `output` names a folder."""

    def show(connection: sqlite3.Connection, document: dict[str, Any], form: str) -> None:
        from agentbench_tui.cli.run.result import print_run

        episodes, reports = _looked_at(connection, document["run_id"], output)
        market = market_document(document["run_id"], episodes)
        if output is not None and reports is not None:
            reports.finish(market, episodes)
            _write_index(connection, document["run_id"], reports)
            click.echo(f"written: {output / 'index.html'}", err=True)
        for notice in market.notices:
            click.echo(f"note: {notice}", err=True)
        if form == "json":
            print_json(plain(market))
            return
        if form != "table":
            print_run(document, form)
            return
        table = agents_table(market.summary)
        print_rows(table.rows, table.columns, form)
        if any(row.simulated for row in market.summary):
            print_prose(SIMULATED)
        print_prose(f"run {document['run_id']}; `agentbench market watch` replays an episode")

    return show


def _looked_at(
    connection: sqlite3.Connection, run_id: str, output: Path | None
) -> tuple[list[PlayedEpisode], Reports | None]:
    """Return briefs of all episodes, with one whole episode in memory at a time, and write their
    files to `output`.
    """
    episodes = episodes_of(connection, run_id)
    first = [*islice(episodes, 2)]
    reports = None if output is None else Reports(output, is_alone=len(first) == 1)
    briefs = []
    for one in chain(first, episodes):
        if reports is not None:
            reports.add(one)
        briefs.append(one.brief)
    return briefs, reports


def _write_index(connection: sqlite3.Connection, run_id: str, reports: Reports) -> None:
    from agentbench_tui.reports.html.answers import page_answers
    from agentbench_tui.reports.sources import read_run
    from agentbench_tui.store.queries.runs import file_of, find_run

    source = read_run(connection, file_of(connection), find_run(connection, run_id))
    answers = page_answers(connection, source)
    assert source.market is not None, "a run of market worlds has episodes of them"
    reports.write_index(source.report, answers, source.market)


def market_document(run_id: str, episodes: Sequence[PlayedEpisode]) -> MarketDocument:
    """Return the document for scripts: worlds, episodes, and a summary for each agent."""
    worlds = {one.world: one.record["world"] for one in episodes}
    return MarketDocument(
        run_id=run_id,
        worlds=tuple(MarketWorldFacts(world=name, **world) for name, world in worlds.items()),
        episodes=tuple(
            MarketEpisodeResult(
                agent_id=one.agent_id,
                world=one.world,
                repeat=one.repeat,
                simulated=one.simulated,
                metrics=one.record["metrics"],
            )
            for one in episodes
        ),
        summary=tuple(agent_summaries(episodes)),
        notices=(
            *called_out(episodes),
            *dict.fromkeys(n for one in episodes for n in one.record.get("notices", ())),
        ),
    )


def warn_of_salt(connection: sqlite3.Connection, run_id: str, place: Path | str) -> None:
    """Warn before a run is copied to a file or service with the secret salt of its worlds."""
    from agentbench_tui.store.queries.episodes import has_salt

    if has_salt(connection, run_id):
        click.echo(
            f"note: {place} contains the secret salt of this database's market worlds; do not give"
            " it to an agent",
            err=True,
        )


def print_verification(file: Path, form: str) -> int:
    """Print every check of a world; return 1 if one fails."""
    from agentbench_tui.market.world.verify import verify
    from agentbench_tui.market.world.world_file import load_world, read_truth, sha256, truth_path

    world = load_world(file)
    truth, truth_digest = read_truth(truth_path(file))
    checks = verify(world, truth, truth_sha256=truth_digest)
    found = tuple(
        WorldCheck(check=one.name, holds=not one.problems, problems=tuple(one.problems))
        for one in checks
    )
    holds = all(one.holds for one in found)
    try:
        digest = sha256(file.read_bytes())
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    document = VerifiedDocument(
        file=str(file), id=world.id, sha256=digest, holds=holds, checks=found
    )
    print_rows(plain(found), _CHECKS, form, plain(document))
    return 0 if holds else 1
