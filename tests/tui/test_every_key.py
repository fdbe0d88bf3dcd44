"""Every key of every page, screen and widget is pressed where it does something, and does that."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import walks_of_pages
import walks_of_runs
import walks_of_widgets
from key_walk import Given, Step, Walk, bindings, holds, walk
from stores import settle
from textual.dom import DOMNode

from agentbench_tui import tui
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.pages.execution_page import ExecutionPage
from agentbench_tui.tui.pages.live.page import Live

WALKS = (*walks_of_pages.WALKS, *walks_of_runs.WALKS, *walks_of_widgets.WALKS)
ELSEWHERE = {
    (AgentbenchApp, "ctrl+z", "suspend_process"),  # needs a terminal: see test_terminals
    (AgentbenchApp, "exclamation_mark", "show_alarm"),  # needs an alarm: see test_alarms
    (Live, "G", "gpu_processes"),  # needs GPUs: see test_gpu_gauges
    (Live, "space", "say_no_pause"),  # needs a load that is being sent: see test_live_page
}


@pytest.fixture
def given(
    way: Walk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Given:
    store = request.getfixturevalue(way.store) if way.store else tmp_path / "none.db"
    return Given(store, tmp_path, monkeypatch)


@pytest.mark.parametrize("way", WALKS, ids=[f"{way.page}-{way.store}" for way in WALKS])
async def test_every_key_does_what_it_is_for(way: Walk, given: Given) -> None:
    app = way.open(given)
    async with app.run_test(size=way.size) as pilot:
        await settle(pilot, lambda: holds(app, way.begins))
        await walk(pilot, way.steps, given.patch)


def states_keys() -> Iterator[type[DOMNode]]:
    """Every class of the session that states bindings and is shown as it is."""
    for module in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
        for made in vars(import_module(module.name)).values():
            if (
                isinstance(made, type)
                and issubclass(made, DOMNode)
                and made.__module__ == module.name
                and made is not ExecutionPage  # only what is made of it is shown
                and bindings(made)
            ):
                yield made


def test_no_key_is_without_a_test() -> None:
    stated = {(made, *one) for made in states_keys() for one in bindings(made)}
    pressed = {step.meant for way in WALKS for step in way.steps if isinstance(step, Step)}
    left = stated - pressed - ELSEWHERE
    assert not {f"{made.__name__}: {key} ({action})" for made, key, action in left}
