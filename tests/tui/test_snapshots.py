"""Every page of the recorded store looks as it did, at three sizes; pictures of pages are current.

What is kept is text with its colours, not SVG: 36 of these are 4 MB, a changed word changes them
from end to end, and pytest-textual-snapshot ties pytest to versions before 9. After a wanted
change:

    WRITE_SNAPSHOTS=1 python -m pytest tests/tui/test_snapshots.py
"""

import html
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from drawn_screen import drawn
from stores import settle, shows

from agentbench_tui.engine.catalogue import suite_catalogue
from agentbench_tui.instruments.doctor import Check
from agentbench_tui.tui import suite_shelf
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.pages import PAGES
from agentbench_tui.tui.screenshots import KEYS, SIZE, at_rest, marked_agents, picture, unpacked
from agentbench_tui.tui.shared import Shared

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
SIZES = ((200, 60), (120, 40), (80, 24))
"""The widest first: what has the focus there keeps it where there is less room."""
READY = {
    "home": ("2 of 2 cores", "quickstart"),
    "new": ("16 executions", "about"),
    "live": ("at the end", "before, scaled"),
}
"""What stands there once all is read that is not from the page's own reading."""
SUITES = ("gsm8k", "quickstart", "stress-smoke")
"""Those of all that ship that are shown, so that another one changes nothing here."""
CHECKS = [
    Check("ok", "cores", "2 of 2 cores usable"),
    Check("warn", "load", "3 runnable tasks on 2 cores", "wait for it or end it"),
    Check("fail", "disk", "5 MB free", "make room"),
    Check("info", "GPU", "no GPU found"),
]
WRITE = "WRITE_SNAPSHOTS" in os.environ
PICTURES = ("leaders",)
_drawn: dict[str, dict[tuple[int, int], str]] = {}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The store that scripts/record_store.py made, in the current folder; what pages tell of the
    machine they are on is given."""
    folder = tmp_path_factory.mktemp("recorded")
    unpacked(DATA / "recorded.db.gz", folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        suites = [suite for suite in suite_catalogue() if suite.name in SUITES]
        patch.setattr("agentbench_tui.instruments.doctor.diagnose", lambda database: CHECKS)
        patch.setattr("agentbench_tui.engine.catalogue.suite_catalogue", lambda: suites)
        patch.setattr(suite_shelf, "suite_catalogue", lambda: suites)
        yield Path("recorded.db")


async def drawn_at_all_sizes(database: Path, page: str) -> dict[tuple[int, int], str]:
    """A page as it is drawn, by size."""
    if page not in _drawn:
        shared = Shared(database, marked=marked_agents(database), suite="quickstart")
        app = AgentbenchApp(shared, first=page)
        found = {}
        async with app.run_test(size=SIZES[0]) as pilot:
            await settle(pilot, lambda: app.current_mode == page)
            await shows(pilot, *READY.get(page, ()))
            await at_rest(pilot)
            for key in KEYS.get(page, ()):
                await pilot.press(key)
                await at_rest(pilot)
            for size in SIZES:
                await pilot.resize_terminal(*size)
                await at_rest(pilot)
                found[size] = drawn(app)
        _drawn[page] = found
    return _drawn[page]


@pytest.mark.parametrize("size", SIZES, ids=[f"{width}x{height}" for width, height in SIZES])
@pytest.mark.parametrize("page", [page.name for page in PAGES])
async def test_snapshots(page: str, size: tuple[int, int], recorded: Path) -> None:
    shown = (await drawn_at_all_sizes(recorded, page))[size]
    kept = DATA / "snapshots" / f"{page}-{size[0]}x{size[1]}.txt"
    if WRITE:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(shown)
    assert shown.splitlines() == kept.read_text().splitlines()


def words(svg: str) -> list[str]:
    """What is written in a picture."""
    return [html.unescape(found) for found in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


@pytest.mark.parametrize("page", PICTURES)
async def test_pictures_are_current(page: str, recorded: Path) -> None:
    shared = Shared(recorded, marked=marked_agents(recorded))
    svg, _ = await picture(shared, page, SIZE)
    kept = (ROOT / "screenshots" / f"session-{page}.svg").read_text()
    assert words(kept) == words(svg), "make them again: python scripts/screenshots.py"
