"""The live view of `agentbench run` on a terminal, drawn four times a second from the store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.live import Live

from agentbench_tui.cli.output import console
from agentbench_tui.store.viewer import Viewer
from agentbench_tui.tui.run_picture import RunPicture

if TYPE_CHECKING:
    from pathlib import Path


async def watch(database: Path, run_id: str) -> None:
    """Draw a run until it ends."""
    picture = RunPicture("Ctrl-C: finish what is in flight and stop")
    with Live(console=console(stderr=True), refresh_per_second=4, transient=True) as live:
        async with Viewer(database, run_id) as viewer:
            async for update in viewer.updates():
                picture.take(update)
                live.update(picture.draw(update))
