"""Training: learning curves of one or two groups of runs, read from files."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.containers import Horizontal
from textual.widgets import Static

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.dialogs.asking import Line
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.drawing.plot_data import PlotData
from agentbench_tui.tui.pages.market.page import EXAMPLE
from agentbench_tui.tui.pages.page import Page
from agentbench_tui.tui.pages.training.rows import (
    curves_plot,
    demo,
    runs_table,
    sentences_of,
    stored_table,
)
from agentbench_tui.tui.shared import Lead
from agentbench_tui.tui.widgets.crumbs import CrumbBar
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.plot import Plot
from agentbench_tui.tui.widgets.sentences import Sentences

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.analysis.scale import Better
    from agentbench_tui.store.queries.experiments import ExperimentRun
    from agentbench_tui.verdicts.training.training_curves import TrainingCurves

VIEWS = ("curves", "runs", "said")
_LONGEST_PATH = 2_000
_ASKED = (
    "A file of training runs (CSV or JSON lines with a column of steps), or a folder of such files."
    " Two of them, the control first, are compared:"
)
_METRIC = "The column that holds the metric, such as overview/reward; empty for the usual one:"
_HOW = "press o to open a file or folder of training runs, or d for an example"


class Training(Page["list[ExperimentRun]"]):
    """Curves above, runs and their summary below; experiments in the store until a file is
    opened.
    """

    DEFAULT_CSS: ClassVar[str] = """
    Training #banner { height: 1; background: $warning; color: $background; text-style: bold;
        text-align: center; display: none; }
    Training.-example #banner { display: block; }
    Training #curves { height: 3fr; }
    Training #below { height: 2fr; }
    Training #runs { width: 3fr; } Training #said { width: 2fr; }
    Training.-narrow #curves, Training.-low #curves,
    Training.-narrow #runs, Training.-low #runs,
    Training.-narrow #said, Training.-low #said { display: none; }
    Training.-narrow #below, Training.-low #below { display: none; height: 1fr; }
    Training.-narrow.-at-curves #curves, Training.-low.-at-curves #curves,
    Training.-narrow.-at-runs #runs, Training.-low.-at-runs #runs,
    Training.-narrow.-at-runs #below, Training.-low.-at-runs #below,
    Training.-narrow.-at-said #said, Training.-low.-at-said #said,
    Training.-narrow.-at-said #below, Training.-low.-at-said #below { display: block; }
    """
    WITHOUT_STORE: ClassVar[str] = ""
    BINDINGS: ClassVar = [
        Binding("o", "open", "Files", tooltip="one or two files or folders of runs"),
        Binding("u", "metric", "Metric", tooltip="which column is shown"),
        Binding("s", "single", "Singles", tooltip="each run, or their mean with its band"),
        Binding("b", "better", "Better", show=False, tooltip="whether more of the metric is good"),
        Binding("d", "demo", "Example", tooltip="curves that are made up"),
        Binding("v", "view", "Panel", tooltip="curves, runs, what they say"),
        Binding("y", "copy", "Copy", show=False, tooltip="the run at the cursor"),
        Binding("e", "command", "Command line", show=False, tooltip="that says the same"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._paths: tuple[str, ...] = ()
        self._metric: str | None = None
        self._better: Better | None = None
        """Better direction, if the user chose one."""
        self._found: TrainingCurves | None = None
        self._stored: dict[str, str] = {}
        """Executions of experiments, with their runs."""
        self._single = False
        self._view = VIEWS[0]

    def crumbs(self) -> tuple[str, ...]:
        if self.has_class("-example"):
            return ("Training", "example")
        return ("Training", *(Path(path).name for path in self._paths))

    def content(self) -> ComposeResult:
        yield Static(Text(EXAMPLE), id="banner", markup=False)
        yield panel(Plot(PlotData(reason=_HOW), id="curves"), "learning curves")
        with Horizontal(id="below"):
            yield panel(Grid(id="runs"), "runs")
            yield panel(Sentences(id="said"), "what they say")

    def on_mount(self) -> None:
        self.add_class(f"-at-{self._view}")
        self.query_one("#runs", Grid).focus()

    def reload(self) -> None:
        """Read the files again, or the list of experiments in the store without files."""
        if self._is_bare:
            super().reload()
        elif self._paths and not self.has_class("-example"):
            self.run_worker(self._load, thread=True, group="read", exclusive=True)

    @property
    def _is_bare(self) -> bool:
        """Return whether neither files nor the example are shown."""
        return not self._paths and not self.has_class("-example")

    @property
    def is_reading(self) -> bool:
        """Return whether a worker of the group "read" is reading files."""
        return self._is_bare and super().is_reading

    def store_changed(self) -> None:
        """Do nothing while files are shown, since they do not change with the store."""
        if self._is_bare:
            super().store_changed()

    def read(self, connection: sqlite3.Connection) -> list[ExperimentRun]:
        from agentbench_tui.store.queries.experiments import experiment_runs

        return experiment_runs(connection)

    def show(self, found: list[ExperimentRun]) -> None:
        if not self._is_bare:
            return
        runs = self.query_one("#runs", Grid)
        entitle(runs, "experiments in the store: enter shows what each iteration returned")
        self._stored = {one.execution_id: one.run_id for one in found}
        runs.show(stored_table(found))

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Enter: show the runs' own curves; for an experiment its iterations."""
        event.stop()
        if self._is_bare:
            self.shared.run_id = self._stored[event.key]
            self.session.show_answers(Lead(event.key))
        else:
            self.action_single()

    def action_open(self) -> None:
        """Ask for the files."""
        self.app.push_screen(Line(_ASKED, _LONGEST_PATH), self._opened)

    def action_metric(self) -> None:
        """Ask for the column."""
        if self._paths and not self.has_class("-example"):
            self.app.push_screen(Line(_METRIC), self._chosen)
        else:
            self.notify(f"there are no files yet: {_HOW}")

    def action_better(self) -> None:
        """Switch the better direction of the metric."""
        if not self._paths or self.has_class("-example"):
            self.notify(f"there are no files yet: {_HOW}")
            return
        self._better = "lower" if self._better == "higher" else "higher"
        self.notify(f"{self._better} is better")
        self.reload()

    def action_single(self) -> None:
        """Switch between each run, and the mean of each group with its band."""
        if self._found is None:
            self.notify(f"there are no curves yet: {_HOW}")
            return
        self._single = not self._single
        self._draw()

    def action_demo(self) -> None:
        """Show the example, labeled as one."""
        self.tell("")
        self.add_class("-example")
        self.run_worker(self._make_demo, thread=True, group="read", exclusive=True)

    def action_view(self) -> None:
        """Focus the next panel if all fit, else show it."""
        self.remove_class(f"-at-{self._view}")
        self._view = VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)]
        self.add_class(f"-at-{self._view}")
        self.query_one("#said" if self._view == "said" else "#runs").focus()

    def action_copy(self) -> None:
        """Copy the run at the cursor with its numbers."""
        key = self.query_one("#runs", Grid).cursor_key
        if self._found is None or key is None:
            self.notify("there is no run to copy")
            return
        number, _, at = key.partition("/")
        group = self._found.groups[int(number)]
        values = "\t".join("–" if one is None else repr(one)
                           for one in (values[int(at)] for values in group.values))  # fmt: skip
        self.app.copy_to_clipboard(f"{one_line(group.runs[int(at)].name)}\t{values}")
        self.notify("copied the run")

    def action_command(self) -> None:
        """Show the command line that says the same."""
        if not self._paths or self.has_class("-example"):
            self.notify(f"there are no files yet: {_HOW}")
            return
        metric = [] if self._metric is None else ["--metric", self._metric]
        self.tell(shlex.join(["agentbench", "stats", "variance", *self._paths, *metric]))

    def _opened(self, line: str | None) -> None:
        if not line:
            return
        try:
            paths = tuple(shlex.split(line))
        except ValueError as error:
            self.tell(f"{one_line(line)}: {error}")
            return
        self._paths, self._metric, self._better = paths, None, None
        self.remove_class("-example")
        self.reload()

    def _chosen(self, metric: str | None) -> None:
        if metric is not None:
            self._metric, self._better = metric or None, None
            self.reload()

    def _load(self) -> None:
        """Read the files, in a thread."""
        from agentbench_tui.verdicts.training.training_curves import read_curves

        try:
            paths = [Path(path).expanduser() for path in self._paths]
            found = read_curves(paths, self._metric, self._better)
        except (AgentbenchError, OSError) as error:
            self.app.call_from_thread(self.tell, str(error))
        else:
            self.app.call_from_thread(self._show, found)

    def _make_demo(self) -> None:
        self.app.call_from_thread(self._show, demo())

    def _show(self, found: TrainingCurves) -> None:
        if not self.is_attached:
            return
        self.tell("")
        self._found = found
        self.query_one(CrumbBar).show(("agentbench", *self.crumbs()))
        self._draw()

    def _draw(self) -> None:
        found = self._found
        assert found is not None
        plot = self.query_one("#curves", Plot)
        what = "single runs" if self._single else "mean over seeds, 95% band by t"
        entitle(plot, f"{found.metric} by step: {what}")
        plot.show(curves_plot(found, single=self._single))
        runs = self.query_one("#runs", Grid)
        count = sum(len(group.runs) for group in found.groups)
        entitle(runs, f"{counted(count, 'run')}: {found.metric} as one number each")
        runs.show(runs_table(found))
        self.query_one("#said", Sentences).show(sentences_of(found))
