"""Every page of the recorded store looks as it did, at three sizes; pictures of pages are current.

What differs is drawn in snapshot_report.html, which a failure writes. After a wanted change:

    ./run test -n 0 tests/tui/test_snapshots.py --snapshot-update
"""

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from page_pictures import (
    KEYS,
    SIZE,
    at_rest,
    drawn,
    marked_agents,
    picture,
    unpacked,
)
from stores import screen_text, settle, shows
from textual.app import App

from agentbench_tui.engine.suite.catalog import suite_catalog
from agentbench_tui.instruments.doctor import Check
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.page_list import PAGES
from agentbench_tui.tui.pages.new_run import suite_shelf
from agentbench_tui.tui.shared import Shared

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).parent / "data" / "recorded.db.gz"
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
PICTURES = ("leaders",)
_drawn: dict[str, dict[tuple[int, int], tuple[str, str]]] = {}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The store that scripts/record_store.py made, in the current folder; what pages tell of the
    machine they are on is given."""
    folder = tmp_path_factory.mktemp("recorded")
    unpacked(RECORDED, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("AGENTBENCH_ASCII", "0")  # whatever the encoding of the output
        suites = [suite for suite in suite_catalog() if suite.name in SUITES]
        patch.setattr("agentbench_tui.instruments.doctor.diagnose", lambda database: CHECKS)
        patch.setattr("agentbench_tui.engine.suite.catalog.suite_catalog", lambda: suites)
        patch.setattr(suite_shelf, "suite_catalog", lambda: suites)
        yield Path("recorded.db")


class Drawn(App[str]):
    """A session that is over: `snap_compare` runs an app, and wants its picture for it."""

    def __init__(self, svg: str) -> None:
        super().__init__()
        self._svg = svg

    def run(self, **_: object) -> str:
        return self._svg


async def drawn_at_all_sizes(database: Path, page: str) -> dict[tuple[int, int], tuple[str, str]]:
    """A page as (SVG, plain text), by size: one session, resized, as three would cost double."""
    if page not in _drawn:
        shared = Shared(database, marked=marked_agents(database), suite="quickstart")
        app = AgentbenchApp(shared, first=page, rate_hz=0)
        found = {}
        async with app.run_test(size=SIZES[0]) as pilot:
            await settle(pilot, lambda: app.current_mode == page)
            await shows(pilot, *READY.get(page, ()))
            await at_rest(pilot)
            for key in KEYS.get(page, ()):
                await pilot.press(key)
                await at_rest(pilot)
            for size in SIZES:
                if size != app.size:
                    await pilot.resize_terminal(*size)
                    await at_rest(pilot)
                found[size] = drawn(app), screen_text(app)
        _drawn[page] = found
    return _drawn[page]


@pytest.mark.parametrize("size", SIZES, ids=[f"{width}x{height}" for width, height in SIZES])
@pytest.mark.parametrize("page", [page.name for page in PAGES])
async def test_snapshots(
    page: str, size: tuple[int, int], recorded: Path, snap_compare: Callable[..., bool]
) -> None:
    svg, text = (await drawn_at_all_sizes(recorded, page))[size]
    assert snap_compare(Drawn(svg)), f"it looks otherwise:\n{text}"


def words(svg: str) -> list[str]:
    """What is written in a picture."""
    return [html.unescape(found) for found in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


@pytest.mark.parametrize("page", PICTURES)
async def test_pictures_are_current(page: str, recorded: Path) -> None:
    shared = Shared(recorded, marked=marked_agents(recorded))
    svg, _ = await picture(shared, page, SIZE)
    kept = (ROOT / "screenshots" / f"session-{page}.svg").read_text()
    assert words(kept) == words(svg), "make them again: python scripts/screenshots.py"
