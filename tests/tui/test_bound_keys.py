"""No key of the session is without a test that presses it: keys are read from the classes."""

import ast
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from stores import settle
from textual.app import App
from textual.binding import Binding
from textual.command import CommandPalette
from textual.dom import DOMNode
from textual.widget import Widget

from agentbench_tui import tui
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.demo import DemoApp, demos
from agentbench_tui.tui.pages import PAGES
from agentbench_tui.tui.shared import Shared

TAKEN = {"q", "t"}
"""By the app in which a widget is looked at, where the widget has no use for them."""
ELSEWHERE = {"ctrl+z"}
"""Suspends the process: a terminal is needed, and a shell that it gives way to."""


def bindings_of(made: type[DOMNode]) -> list[Binding]:
    """Those that the class itself states, a key each."""
    return [*Binding.make_bindings(vars(made)["BINDINGS"])]


def bound() -> Iterator[type[DOMNode]]:
    """Every class of the session that states bindings."""
    for module in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
        for made in vars(import_module(module.name)).values():
            is_node = isinstance(made, type) and issubclass(made, DOMNode)
            if not is_node or made.__module__ != module.name or made is DemoApp:
                continue
            if "BINDINGS" in vars(made):
                yield made


def shown_alone() -> dict[str, type[Widget]]:
    """Widgets with bindings that can be looked at on their own, by the name of their example."""
    places = {f"{tui.__name__}.widgets.{name}": name for name in demos()}
    return {
        places[made.__module__]: made
        for made in bound()
        if made.__module__ in places and issubclass(made, Widget)
    }


def pressed_in_tests() -> set[str]:
    """Every key that is written in a call of `press` in these tests."""
    keys: set[str] = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "press":
                for part in (each for given in node.args for each in ast.walk(given)):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        keys |= {part.value, *part.value}
    return keys


@pytest.mark.parametrize("name", sorted(shown_alone()))
async def test_every_key_of_a_widget_reaches_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = shown_alone()[name]
    done: list[str] = []
    run_action = App.run_action

    async def noted(app: App[None], action: object, *where: object, **more: object) -> bool:
        done.append(str(action))
        return await run_action(app, action, *where, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(App, "run_action", noted)
    app = DemoApp(demos()[name])
    async with app.run_test(size=(80, 24)) as pilot:
        widget = app.screen.query(made).first()
        widget.focus()
        await settle(pilot, lambda: widget.has_focus)
        for binding in bindings_of(made):
            if binding.key not in TAKEN:
                await pilot.press(binding.key)
                assert done[-1:] == [binding.action], binding.key


def test_every_other_key_is_pressed_by_a_test() -> None:
    # Those of pages are pressed in `test_keys`, which reads them from the page.
    places = {page.place for page in PAGES}
    alone = set(shown_alone().values())
    pressed = pressed_in_tests() | {page.key for page in PAGES} | ELSEWHERE
    unpressed = {
        f"{made.__name__}: {binding.key}"
        for made in bound()
        if f"{made.__module__}:{made.__name__}" not in places and made not in alone
        for binding in bindings_of(made)
        if binding.key not in pressed
    }
    assert not unpressed


async def test_the_palette_opens_and_the_session_is_left(tmp_path: Path) -> None:
    app = AgentbenchApp(Shared(tmp_path / "none.db"), first="compare")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+p")
        await settle(pilot, lambda: CommandPalette.is_open(app))
        await pilot.press("escape")
        await settle(pilot, lambda: not CommandPalette.is_open(app))
        await pilot.press("ctrl+q")
        await settle(pilot, lambda: not app.is_running)
    assert app.return_code == 0
