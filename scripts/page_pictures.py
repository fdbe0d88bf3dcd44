"""Pictures of pages: `python scripts/page_pictures.py --db FILE [--to FOLDER] [PAGE …]`.

A picture is the page as it stands once it has read the store; it names no font to be fetched.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import zlib
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.page_list import PAGES, page_of
from agentbench_tui.tui.pages.page import Page
from agentbench_tui.tui.shared import Shared
from agentbench_tui.tui.theme import DARK, THEMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from textual.pilot import Pilot

SIZE = (120, 40)
SHOWN = ("live", "leaders", "compare", "history", "cost", "cases", "profile")
"""Pages that a store with plain runs fills."""
KEYS = {"leaders": ("w",), "cost": ("w",), "market": ("d",), "training": ("d",)}
"""Pressed first: all runs, however old they are by now, and examples where a store with plain runs
has nothing to show."""
_LOOK_S = 0.1
_MOST_LOOKS = 600
_STILL = 2
"""Looks in which nothing changed: it has come to rest."""


async def picture(
    shared: Shared, page: str, size: tuple[int, int] = SIZE, theme: str = DARK
) -> tuple[str, str]:
    """A page as (SVG, plain text), once it has come to rest."""
    app = AgentbenchApp(shared, first=page, theme=theme)
    async with app.run_test(size=size) as pilot:
        text = await at_rest(pilot)
        for key in KEYS.get(page, ()):
            await pilot.press(key)
            text = await at_rest(pilot)
        return drawn(app), text


def drawn(app: AgentbenchApp) -> str:
    """The screen as SVG. Textual names a web font; the picture must ask nobody for anything."""
    svg = app.export_screenshot(title="agentbench", simplify=True)
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


async def at_rest(pilot: Pilot[None]) -> str:
    """The text of the screen, once nothing on it changes any more."""
    app = cast("AgentbenchApp", pilot.app)
    before, still = "", 0
    for _ in range(_MOST_LOOKS):
        await pilot.pause(_LOOK_S)
        now = "\n".join(_lines(app)) if _may_rest(app) else ""
        still = still + 1 if now and now == before else 0
        before = now
        if still >= _STILL:
            break
    return before


def _may_rest(app: AgentbenchApp) -> bool:
    """Whether nothing is being read or worked out; that a run is followed never ends."""
    busy = [one for one in app.workers if not one.is_finished and one.group != "follow"]
    return isinstance(app.screen, Page) and not app.screen.is_reading and not busy


def marked_agents(database: Path, most: int = 3) -> list[str]:
    """The agents of the newest run: what a comparison is shown of."""
    with closing(connect_to_read(database)) as connection:
        rows = connection.execute(
            "SELECT DISTINCT agent_id FROM benchmark_executions WHERE run_key="
            "(SELECT MAX(key) FROM runs) ORDER BY agent_id DESC LIMIT ?",
            (most,),
        ).fetchall()
    return [row[0] for row in rows]


def unpacked(file: Path, folder: Path) -> Path:
    """The database itself, of one that is kept packed."""
    if file.suffix != ".gz":
        return file
    target = folder / file.stem
    target.write_bytes(zlib.decompress(file.read_bytes(), wbits=31))
    return target


def _lines(app: AgentbenchApp) -> Iterator[str]:
    for strip in app.screen._compositor.render_strips():
        yield "".join(segment.text for segment in strip).rstrip()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pictures; gives the exit code."""
    parser = argparse.ArgumentParser(
        prog="python scripts/page_pictures.py", description="Pictures of pages."
    )
    parser.add_argument(
        "pages", nargs="*", metavar="PAGE", help=", ".join(one.name for one in PAGES)
    )
    parser.add_argument("--db", type=Path, required=True, help="a database, or one packed by gzip")
    parser.add_argument("--to", type=Path, default=Path("screenshots"), metavar="FOLDER")
    parser.add_argument("--theme", choices=THEMES, default=DARK)
    options = parser.parse_args(arguments)
    pages = options.pages or SHOWN
    unknown = set(pages) - {page.name for page in PAGES}
    if unknown:
        sys.stderr.write(f"no page {', '.join(sorted(unknown))}\n")
        return 2
    options.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        database = unpacked(options.db, Path(folder))
        for page in pages:
            shared = Shared(database, marked=marked_agents(database))
            svg, _ = asyncio.run(picture(shared, page_of(page).name, theme=options.theme))
            (options.to / f"session-{page}.svg").write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
