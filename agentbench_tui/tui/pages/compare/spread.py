"""Distributions of the compared values: histogram and distribution curves."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.containers import Horizontal

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.database import reading
from agentbench_tui.tui.drawing.histogram_data import HistogramData
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.drawing.plot_data import PlotData
from agentbench_tui.tui.pages.compare.pictures import curve_picture, spread_picture
from agentbench_tui.tui.widgets.histogram import HistogramView
from agentbench_tui.tui.widgets.plot import Plot
from agentbench_tui.verdicts.comparison.side_pictures import SPREAD, spreads

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.tui.pages.page import Page
    from agentbench_tui.verdicts.comparison.pictured import Pictured
    from agentbench_tui.verdicts.evidence.place import Place


class Spreads(Horizontal):
    """Both plots of one metric at one place, computed in a thread."""

    SCOPED_CSS: ClassVar[bool] = False
    DEFAULT_CSS: ClassVar[str] = ".-narrow Spreads { layout: vertical; }"

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._compared: Pictured | None = None
        self._values: dict[Place, dict[str, list[Floats]]] = {}
        """Values of the comparison, by place and metric for every side."""
        self._place: Place | None = None
        self._sides = (0, 1)
        self._metric = ""

    def compose(self) -> ComposeResult:
        yield panel(HistogramView(id="spread"), "how B is spread, A outlined")
        yield panel(Plot(id="curve"), "share of answers up to x")

    def show(self, compared: Pictured, sides: tuple[int, int], place: Place | None) -> None:
        """Show this place, or the first one; `sides` are the numbers of the selectors in the
        histogram.
        """
        if compared is not self._compared:
            self._compared, self._values = compared, {}
        self._place = place or next(iter(compared.places), None)
        self._sides = sides
        self._draw()

    def choose(self, metric: str) -> bool:
        """Draw this metric next; return False if single answers have no values of it."""
        if metric not in SPREAD:
            return False
        self._metric = metric
        return True

    def next_metric(self) -> bool:
        """Show the next metric with values of single answers; return False if there is no other."""
        known = [*self._values.get(self._place, {})] if self._place is not None else []
        if len(known) < 2:
            return False
        at = known.index(self._metric) if self._metric in known else -1
        self._metric = known[(at + 1) % len(known)]
        self._draw()
        return True

    def _draw(self) -> None:
        compared, place = self._compared, self._place
        if compared is not None and place is not None and self.display:
            self.run_worker(
                lambda: self._pictures(compared, place),
                thread=True,
                group="spread",
                exclusive=True,
            )

    def _pictures(self, compared: Pictured, place: Place) -> None:
        """Compute the plots, in a thread."""
        page = cast("Page[Any]", self.screen)
        try:
            if place not in self._values:
                with reading(page.shared.database) as connection:
                    self._values[place] = spreads(connection, compared.sides, place)
        except (AgentbenchError, sqlite3.Error) as error:
            self.app.call_from_thread(page.tell, str(error))
            return
        values = self._values[place]
        metric = self._metric if self._metric in values else next(iter(values), "")
        if not metric:
            why = f"no answer of {place} has a time or tokens"
            self.app.call_from_thread(
                self._show, place, metric, HistogramData(reason=why), PlotData(reason=why)
            )
            return
        labels = [side.label for side in compared.sides]
        spread = spread_picture(metric, values[metric], labels, self._sides)
        curve = curve_picture(metric, values[metric], labels)
        self.app.call_from_thread(self._show, place, metric, spread, curve)

    def _show(self, place: Place, metric: str, spread: HistogramData, curve: PlotData) -> None:
        self._metric = metric
        histogram, plot = self.query_one("#spread", HistogramView), self.query_one("#curve", Plot)
        entitle(histogram, f"how B is spread, A outlined: {place}")
        entitle(plot, f"{metric}, share of answers up to x; f: the next metric")
        histogram.show(spread)
        plot.show(curve)
