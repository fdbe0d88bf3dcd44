"""Where nothing is stored yet every key of every page says why, or does something all the same."""

import time
from pathlib import Path
from typing import Any

import pytest
from key_walk import around
from stores import screen_text, session, settle, told
from textual.pilot import Pilot

from agentbench_tui.tui.page_list import PAGES
from agentbench_tui.tui.pages.page import Page

LEADING_ELSEWHERE = (
    "app.go(",
    "go(",
    "app.leave",
    "leave",
    "app.run_quickstart",
    "run_quickstart",
    "screen.",
)
"""They are tested for themselves, start a run, or are the toolkit's."""
LONGEST_S = 20.0
"""A key that has shown nothing by then does nothing."""


def keys_of(page: Page[Any]) -> dict[str, str]:
    """Key → action of the page's own bindings."""
    return {
        key: active.binding.action
        for key, active in page.active_bindings.items()
        if active.node is page
        and not active.binding.system
        and not active.binding.action.startswith(LEADING_ELSEWHERE)
    }


async def has_effect(pilot: Pilot[None], key: str) -> bool:
    """Press it; whether anything can be seen to have come of it."""
    app = pilot.app

    def now() -> tuple[object, ...]:
        stack = [str(screen) for screen in app.screen_stack]
        read_at = getattr(app.screen, "_read_at", None)
        return screen_text(app), stack, len(told(app)), app.clipboard, str(app.focused), read_at

    app.copy_to_clipboard("nothing yet")
    before = now()
    await pilot.press(key)
    deadline = time.monotonic() + LONGEST_S
    pause_s = 0.02
    while time.monotonic() < deadline:
        if now() != before:
            return True
        await pilot.pause(pause_s)
        pause_s = min(pause_s * 1.5, 0.2)
    return False


@pytest.mark.parametrize("name", [page.name for page in PAGES])
async def test_keys(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    around(monkeypatch)
    app = session(tmp_path / "none.db", name)
    silent = []
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot, lambda: app.screen_stack and isinstance(app.screen, Page))
        page = app.screen
        assert isinstance(page, Page)
        await settle(pilot, lambda: not page._reading)
        await pilot.pause()
        for key, action in keys_of(page).items():
            if key == "escape":
                continue  # on a page of the first level it has nowhere to go
            if not await has_effect(pilot, key):
                silent.append(f"{key}: {action}")
            while app.screen is not page and len(app.screen_stack) > 1:
                app.pop_screen()
                await pilot.pause()
            if app.current_mode != name:
                app.action_go(name)
                await settle(pilot, lambda: app.screen is page)
            if page.focused is None or not isinstance(app.screen, Page):
                page.focus_next()
    assert not silent
