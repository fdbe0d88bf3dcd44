"""Shows a running run: drawn four times a second on a terminal, else one line every few seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.live import Live

from agentbench_tui.cli.console.output import console
from agentbench_tui.model.clock import monotonic
from agentbench_tui.store.viewer import Viewer
from agentbench_tui.tui.pages.live.run_picture import RunPicture

if TYPE_CHECKING:
    from pathlib import Path


async def watch(
    database: Path, run_id: str, keys: str = "Ctrl-C: finish what is in flight and stop"
) -> None:
    """Draw a run until it ends; `keys` describes the keys."""
    picture = RunPicture(keys)
    with Live(console=console(stderr=True), refresh_per_second=4, transient=True) as live:
        async with Viewer(database, run_id) as viewer:
            async for update in viewer.updates():
                picture.take(update)
                live.update(picture.draw(update))


async def say(database: Path, run_id: str, interval_s: float, began: float) -> None:
    """Print a line about a run every `interval_s` until it ends; `began` is its beginning on
    `time.monotonic`."""
    picture = RunPicture()
    async with Viewer(database, run_id) as viewer:
        async for update in viewer.updates(interval_s):
            picture.take(update)
            line = picture.progress(update)
            if line and update.run["status"] == "running":
                click.echo(f"{monotonic() - began:5.0f} s  {line}", err=True)
