"""Pages of the recorded store look as they did, at several sizes; and pictures of them are current.

What is kept is the text of the screen, not SVG: that changes with every version of the toolkit and
with styles, and nobody reads a difference in it. After a wanted change:

    WRITE_SNAPSHOTS=1 python -m pytest tests/tui/test_snapshots.py
"""

import html
import os
import re
from pathlib import Path

import pytest

from agentbench_tui.tui.screenshots import SIZE, marked_agents, picture, unpacked
from agentbench_tui.tui.shared import Shared

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
SIZES = ((80, 24), (120, 40))
WIDEST = (200, 60)
PAGES = (
    "leaders",
    "compare",
    "history",
    "cost",
    "cases",
    "profile",
    "stress",
    "market",
    "training",
)
"""Those that tell nothing of this machine or of now."""
SHOWN = [(page, size) for page in PAGES for size in SIZES]
SHOWN += [(page, WIDEST) for page in ("leaders", "compare", "market")]
WRITE = "WRITE_SNAPSHOTS" in os.environ
PICTURES = ("leaders",)
_taken: dict[tuple[str, tuple[int, int]], tuple[str, str]] = {}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store that scripts/record_store.py made."""
    return unpacked(DATA / "recorded.db.gz", tmp_path_factory.mktemp("recorded"))


async def taken(database: Path, page: str, size: tuple[int, int] = SIZE) -> tuple[str, str]:
    """A page as (SVG, text); each is drawn once."""
    if (page, size) not in _taken:
        shared = Shared(database, marked=marked_agents(database))
        _taken[page, size] = await picture(shared, page, size)
    return _taken[page, size]


@pytest.mark.parametrize(
    ("page", "size"), SHOWN, ids=[f"{page}-{size[0]}x{size[1]}" for page, size in SHOWN]
)
async def test_snapshots(page: str, size: tuple[int, int], recorded: Path) -> None:
    _, shown = await taken(recorded, page, size)
    kept = DATA / "snapshots" / f"{page}-{size[0]}x{size[1]}.txt"
    if WRITE:
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(shown + "\n")
    assert shown.splitlines() == kept.read_text().splitlines()


def words(svg: str) -> list[str]:
    """What is written in a picture."""
    return [html.unescape(found) for found in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


@pytest.mark.parametrize("page", PICTURES)
async def test_pictures_are_current(page: str, recorded: Path) -> None:
    svg, _ = await taken(recorded, page)
    kept = (ROOT / "screenshots" / f"session-{page}.svg").read_text()
    assert words(kept) == words(svg), "make them again: python scripts/screenshots.py"
