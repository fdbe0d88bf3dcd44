"""Replays an episode tick by tick, as terminal lines or on the page Market."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import database_path, print_prose
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TEXT = 100
"""Maximum characters of a post or action."""


def watch_episode(run: str, number: int, database: str | None, *, full: bool) -> int:
    """Show episode `number` of a run. Raises UsageError if it does not exist."""
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run
    from agentbench_tui.verdicts.runs.market_episode import episode_of

    path = database_path(database)
    with reading(path) as connection:
        run_id = find_run(connection, run)["id"]
        found = episode_of(connection, run_id, number)
    if found.document is None:
        raise UsageError(found.reason)
    if found.number != number:
        episodes = counted(found.episodes, "episode")
        raise UsageError(f"--episode {number}: run {found.run_id} has {episodes}, counted from 0")
    if full:
        from agentbench_tui.cli.run.session_options import show_session
        from agentbench_tui.tui.look import Look
        from agentbench_tui.tui.shared import Shared

        shared = Shared(path, run_id, fixed_run=True, episode=number)
        return show_session(shared, Look(), first="market").code
    episode = f"episode {found.number + 1} of {found.episodes}: {found.document['title']}"
    print_prose(visible(f"{found.agent} in {found.case_id}, {episode}"))
    for line in lines(found.document):
        click.echo(line)
    return 0


def lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Return a line for every kept tick with the actions and posts until the next; lines without
    any are omitted, except the first and the last.
    """
    last = document["ticks"] - 1
    config = document["world"]
    step = round(document["tick_s"] * 1000 / config["interval_ms"])
    end = config["duration_s"] * 1000 // config["interval_ms"]
    events: dict[int, list[str]] = {}
    for said in document["said"]:
        text = one_line(str(said["text"]), _TEXT)
        where, who = (one_line(str(said[name]), _TEXT) for name in ("where", "who"))
        events.setdefault(said["tick"], []).append(f"  {where}  {who}: {text}")
    for act in document["acts"]:
        sign = "→" if act["ok"] else "✗"
        told = f"{act['method']} {_arguments(act['arguments'])}  {act['result']}"
        events.setdefault(act["tick"], []).append(f"  {sign} {one_line(told, _TEXT)}")
    for tick in range(last + 1):
        if tick in events or tick in {0, last}:
            equity = document["equity"][tick]
            in_world = min(tick * step, end)
            yield f"tick {in_world:>4}  equity {equity:>12,.2f}  {_prices(document, tick)}"
            yield from events.get(tick, ())


def _prices(document: Mapping[str, Any], tick: int) -> str:
    told = []
    for one in document["instruments"]:
        form = ".3g" if one["kind"] == "market" else ",.6g"
        told.append(f"{one_line(one['id'], _TEXT)} {one['prices'][tick]:{form}}")
    return "  ".join(told)


def _arguments(arguments: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in arguments.items())
