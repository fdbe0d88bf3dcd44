"""Ways through the session on which each key is pressed where it does something, and looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from stores import screen_text, session, settle, told
from textual.app import App
from textual.binding import Binding
from textual.dom import DOMNode
from textual.pilot import Pilot

from agentbench_tui.engine.suite.catalog import suite_catalog

SCREENS = ("agentbench_tui.tui.pages.", "agentbench_tui.tui.dialogs.")
Holds = Callable[[Any], object]
"""Of the app."""
Seen = str | Holds
"""Words that come on the screen, or what comes to hold."""


@dataclass(frozen=True)
class Step:
    """A key of a class, and what it is for: that does not hold before and does after."""

    made: type[DOMNode]
    key: str
    seen: Seen
    action: str = ""
    """Where the class has several for the key."""

    @property
    def meant(self) -> tuple[type[DOMNode], str, str]:
        """Class, key and action."""
        actions = [action for key, action in bindings(self.made) if key == self.key]
        if self.action:
            assert self.action in actions, self
            return self.made, self.key, self.action
        (action,) = actions
        return self.made, self.key, action


class Do(NamedTuple):
    """What has to be done on the way to the next key."""

    act: Holds
    seen: Seen = lambda app: True


class Given(NamedTuple):
    """What a session is opened with."""

    store: Any
    """What the fixture gives; a place without a store where there is none."""
    folder: Path
    patch: pytest.MonkeyPatch


def around(patch: pytest.MonkeyPatch) -> None:
    """A shelf with one suite, and a machine that nobody examines: both take long."""
    suites = [suite for suite in suite_catalog() if suite.name == "quickstart"]
    for place in ("tui.pages.new_run.suite_shelf", "engine.suite.catalog"):
        patch.setattr(f"agentbench_tui.{place}.suite_catalog", lambda: suites)
    patch.setattr("agentbench_tui.instruments.doctor.diagnose", lambda database: [])


@dataclass(frozen=True)
class Walk:
    """A session, and the keys that are pressed in it one after the other."""

    page: str
    """That it begins with."""
    store: str
    """Name of a fixture; none for an empty one."""
    begins: Seen
    steps: Sequence[Step | Do]
    opened: Callable[[Given], App[Any]] | None = None
    """Where it is not opened as usual."""
    size: tuple[int, int] = (120, 40)

    def open(self, given: Given) -> App[Any]:
        return self.opened(given) if self.opened else session(given.store, self.page)


def bindings(made: type[DOMNode]) -> list[tuple[str, str]]:
    """Key and action of all that the class states, for a screen with what its bases do."""
    stating = [one for one in made.__mro__ if one.__module__.startswith(SCREENS)] or [made]
    return [
        (binding.key, binding.action)
        for one in stating
        for binding in Binding.make_bindings(vars(one).get("BINDINGS", ()))
    ]


def holds(app: App[Any], seen: Seen) -> bool:
    """Whether it is so now."""
    return bool(seen in screen_text(app) if isinstance(seen, str) else seen(app))


def every(*seen: Seen) -> Holds:
    """All of them hold."""
    return lambda app: all(holds(app, one) for one in seen)


def gone(words: str) -> Holds:
    """They are no longer on the screen."""
    return lambda app: words not in screen_text(app)


def tells(words: str) -> Holds:
    """A notice has them."""
    return lambda app: any(words in one for one in told(app))


def copies(words: str) -> Holds:
    """They are in the clipboard."""
    return lambda app: words in app.clipboard


def over(screen: type[DOMNode]) -> Holds:
    """Such a one is in front."""
    return lambda app: type(app.screen) is screen


def at(page: str) -> Holds:
    """This page is in front."""
    return lambda app: app.current_mode == page


def focus(name: str) -> Holds:
    """The widget with this id has the keys."""
    return lambda app: app.focused is not None and app.focused.id == name


def marked(*selectors: str) -> Holds:
    """These and no others are marked for a comparison."""
    return lambda app: app.shared.marked == [*selectors]


def goes(page: str) -> Do:
    """Back to this page, past whatever lies over it."""

    def act(app: Any) -> None:
        app.action_go(page)
        while len(app.screen_stack) > 1:
            app.pop_screen()

    return Do(act, at(page))


def types(text: str, seen: Seen) -> Do:
    """Into the line that has the keys."""

    def act(app: Any) -> None:
        app.focused.value = text

    return Do(act, seen)


def focuses(name: str) -> Do:
    """Give the keys to the widget with this id."""
    return Do(lambda app: app.screen.query_one(f"#{name}").focus(), focus(name))


async def walk(pilot: Pilot[Any], steps: Sequence[Step | Do], patch: pytest.MonkeyPatch) -> None:
    """Press them all."""
    app = pilot.app
    done: list[tuple[object, str]] = []
    run_action = App.run_action

    async def noted(self: App[Any], action: Any, where: Any = None, *more: Any) -> bool:
        carried_out = await run_action(self, action, where, *more)
        if carried_out:
            done.append((self if where is None else where, str(action)))
        return carried_out

    patch.setattr(App, "run_action", noted)
    for step in steps:
        if isinstance(step, Do):
            done_at_once = step.act(app)
            if isawaitable(done_at_once):
                await done_at_once
            await settle(pilot, lambda seen=step.seen: holds(app, seen))  # type: ignore[misc]
            continue
        made, key, action = step.meant
        app.clear_notifications()
        app.copy_to_clipboard("")
        assert not holds(app, step.seen), f"before {made.__name__}: {key}"
        done.clear()
        await pilot.press(key)
        assert [one for one in done if isinstance(one[0], made) and one[1] == action], (
            f"{made.__name__}: {key} did {done}"
        )
        said = told(app)
        try:
            await settle(pilot, lambda seen=step.seen: holds(app, seen))  # type: ignore[misc]
        except AssertionError as error:
            raise AssertionError(f"after {made.__name__}: {key} {said}") from error
