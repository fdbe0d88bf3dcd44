"""The tree for choosing what to run: a load, a stress, or a suite and parts of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, cast

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Tree

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs, glyphs
from agentbench_tui.tui.pages.new_run.suite_shelf import CASES_SHOWN, ShelvedSuite
from agentbench_tui.tui.theme import palette

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.style import Style
    from textual import events
    from textual.widgets.tree import TreeNode

Kind = Literal["load", "stress", "category", "suite", "benchmark", "case", "words"]
FIRST = "quickstart"
"""The suite that the cursor is at when the tree is opened."""
_LONGEST = 160
_FAULTY = "faulty"
_NEEDS_AGENT = "needs an agent"
_ACTIONS = {
    "up": "cursor_up", "down": "cursor_down", "pageup": "page_up", "pagedown": "page_down",
    "home": "end(0)", "end": "end(-1)", "left": "fold", "right": "unfold",
    "enter": "select_cursor", "space": "pick",
}  # fmt: skip
"""Keys of a tree: early ones are handled once it is filled."""
_MOST_EARLY = 100


class Place(NamedTuple):
    """A line of the tree."""

    kind: Kind
    suite: str = ""
    benchmark: str = ""
    case: str = ""
    about: str = ""


def _heading(one: ShelvedSuite) -> str:
    """Return the heading of a suite: its category, or the folder of many similar ones."""
    folder, slash, _ = one.name.rpartition("/")
    return folder if slash and one.loaded is not None and one.origin != "file" else one.category


def _order(one: ShelvedSuite) -> tuple[bool, bool, str, bool, bool, str]:
    """Sort suites that can run immediately before those that need an agent; folders and invalid
    ones last.
    """
    heading = _heading(one)
    return (
        heading == _FAULTY,
        heading != one.category,
        heading,
        one.name != FIRST,
        one.needs_agent,
        one.name,
    )


def _indent(node: TreeNode[Place]) -> int:
    """Return the depth of the node below the lines at the left edge."""
    depth = -1
    while node.parent is not None:
        depth, node = depth + 1, node.parent
    return max(0, depth)


class SuiteTree(Tree[Place]):
    """Enter chooses a suite, a load or a stress, and opens and closes nodes; the space bar picks
    benchmarks and cases.
    """

    DEFAULT_CSS: ClassVar[str] = """
    SuiteTree {
        background: $background; overflow-x: hidden;
        scrollbar-size-vertical: 1; scrollbar-background: $background;
    }
    SuiteTree:focus { background-tint: $background 0%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "pick", "Pick"),
        Binding("home", "end(0)", "First", show=False),
        Binding("end", "end(-1)", "Last", show=False),
        Binding("right", "unfold", "Open", show=False),
        Binding("left", "fold", "Close", show=False),
    ]

    class Chosen(Message):
        """A suite, load or stress was chosen."""

        def __init__(self, place: Place) -> None:
            super().__init__()
            self.place = place

    class Picked(Message):
        """A benchmark or case was picked or unpicked."""

        def __init__(self, place: Place) -> None:
            super().__init__()
            self.place = place

    class CasesWanted(Picked):
        """A benchmark was opened."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__("", id=id)
        self.show_root = False
        self.guide_depth = 2
        self.auto_expand = False
        self._what, self._suite = "run", ""
        self._picked: frozenset[tuple[str, str]] = frozenset()
        self._early: list[str] | None = []
        """Keys that came before there was anything to choose from."""
        self.root.add_leaf("", Place("words", about="reading the suites …"))

    def on_key(self, event: events.Key) -> None:
        """Keep keys that are pressed while suites are loading for later."""
        if self._early is not None and event.key in _ACTIONS:
            event.stop()
            if len(self._early) < _MOST_EARLY:
                self._early.append(event.key)

    def fill(self, shelf: Sequence[ShelvedSuite]) -> None:
        """Show suites by category, that of the initial suite first, then those of folders; the two
        loads come first.
        """
        self.clear()
        self.root.add_leaf("", Place("load", about="load a target: how fast is it?"))
        self.root.add_leaf("", Place("stress", about="stress a target: where does it break?"))
        headings: dict[str, list[ShelvedSuite]] = {}
        for one in sorted(shelf, key=_order):
            headings.setdefault(_heading(one), []).append(one)
        first = next((_heading(one) for one in shelf if one.name == FIRST), "")
        for name in sorted(headings, key=lambda name: name != first):
            heading = self.root.add("", Place("category", about=name), expand=True)
            for one in headings[name]:
                self._add_suite(heading, one)
        self.call_after_refresh(self._go_to_first)

    async def _go_to_first(self) -> None:
        """Move to the initial suite, then apply the keys pressed early."""
        nodes = [node for heading in self.root.children for node in heading.children]
        begin = [one for one in nodes if one.data is not None and one.data.suite == FIRST]
        if begin or nodes:
            self.move_cursor((begin or nodes)[0])
        early, self._early = self._early or [], None
        for key in early:
            await self.run_action(_ACTIONS[key])

    def mark(self, what: str, suite: str, picked: frozenset[tuple[str, str]]) -> None:
        """Mark the choice: a load, a stress, or a run of a suite with these (benchmark, case)
        picked; the case is empty for a whole benchmark.
        """
        self._what, self._suite, self._picked = what, suite if what == "run" else "", picked
        self._invalidate()
        self.refresh()

    def open_suite(self, name: str) -> Place | None:
        """Put the cursor on it and open it; return None if it is missing or invalid."""
        for heading in self.root.children:
            for node in heading.children:
                if node.data is not None and node.data.suite == name and node.children:
                    node.expand()
                    self.call_after_refresh(self.move_cursor, node)
                    return node.data
        return None

    def show_cases(self, place: Place, ids: Sequence[str], count: int, fault: str = "") -> None:
        """Show cases below a benchmark."""
        node = self._node_of(place)
        if node is None:
            return
        node.remove_children()
        for one in ids:
            node.add_leaf("", place._replace(kind="case", case=one, about=one))
        if fault or count > len(ids):
            words = fault or f"and {count - CASES_SHOWN:,} more"
            node.add_leaf("", Place("words", about=words))

    def render_label(self, node: TreeNode[Place], base_style: Style, style: Style) -> Text:
        """Return a mark if it is chosen or picked, then name and description."""
        place = node.data
        if place is None:
            return Text("", style)
        chosen = getattr(self.app, "glyphs", None)
        signs = chosen if isinstance(chosen, Glyphs) else glyphs()
        colors = palette(self.app.theme, no_color=self.app.no_color)
        if not self.has_focus:
            style = base_style
        # The cursor's own colors leave no room for fainter ones.
        dim = None if self.has_focus and node is self.cursor_node else colors.dim
        text = Text(style=style, no_wrap=True)
        if place.kind not in {"category", "words"}:
            mark = signs.tick if self._is_marked(place) else " "
            text.append(f"{mark} ", colors.accent if dim is not None else None)
        elif node.children:
            text.append(f"{signs.down if node.is_expanded else signs.pointer} ", dim)
        name = place.case or place.benchmark or place.suite
        if node.parent is not None and node.parent.data is not None:
            name = name.removeprefix(f"{node.parent.data.about}/")  # the folder stands above it
        if place.kind == "category":
            text.append(signs.plain(one_line(place.about, _LONGEST)), colors.title)
        elif not name or place.kind in {"case", "words"}:
            dull = dim if place.kind == "words" else None
            text.append(signs.plain(one_line(place.about, _LONGEST)), dull)
        else:
            text.append(
                signs.plain(one_line(name, 64)), "bold" if place.suite == self._suite else None
            )
            text.append(f"  {signs.plain(one_line(place.about, _LONGEST))}", dim)
        room = self.scrollable_content_region.width - _indent(node) * self.guide_depth
        if text.cell_len > room > 0:
            text.truncate(room - 1)
            text.rstrip()
            text.append(signs.ellipsis, dim)
        return text

    def action_pick(self) -> None:
        """Choose the suite, or pick the part, at the cursor."""
        node = self.cursor_node
        if node is None or node.data is None:
            return
        if node.data.kind in {"benchmark", "case"}:
            self.post_message(self.Picked(node.data))
        elif node.data.kind == "category":
            node.toggle()
        elif node.data.kind != "words":
            self.post_message(self.Chosen(node.data))

    def action_end(self, line: int) -> None:
        """Move to the first line (0) or the last (-1)."""
        self.cursor_line = line if line == 0 else self.last_line

    def action_unfold(self) -> None:
        if self.cursor_node is not None:
            self._open(self.cursor_node)

    def action_fold(self) -> None:
        """Close it, or go to its parent."""
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.children:
            node.collapse()
        elif node.parent is not None and node.parent is not self.root:
            self.move_cursor(node.parent)

    def on_tree_node_selected(self, event: Tree.NodeSelected[Place]) -> None:
        """Choose or open the node on Enter or a click."""
        event.stop()
        node = event.node
        if node.data is None:
            return
        if node.data.kind in {"load", "stress"} or (
            node.data.kind == "suite" and node.data.suite != self._suite
        ):
            self.post_message(self.Chosen(node.data))
            node.expand()
        elif node.data.kind == "case":
            self.post_message(self.Picked(node.data))
        elif node.is_expanded:
            node.collapse()
        else:
            self._open(node)

    def on_focus(self) -> None:
        self._invalidate()

    def on_blur(self) -> None:
        self._invalidate()

    def _open(self, node: TreeNode[Place]) -> None:
        if node.data is not None and node.data.kind == "benchmark":
            first = cast("Place", node.children[0].data) if node.children else None
            if first is not None and first.kind == "words":
                self.post_message(self.CasesWanted(node.data))
        node.expand()

    def _add_suite(self, heading: TreeNode[Place], one: ShelvedSuite) -> None:
        if one.loaded is None:
            heading.add_leaf("", Place("words", about=f"{one.name}: {one.fault}"))
            return
        suite = one.loaded.suite
        about = suite.description or suite.name
        if one.name.endswith(about):
            about = ""  # it stands there already
        if one.needs_agent:
            about = f"{_NEEDS_AGENT}. {about}".strip()
        node = heading.add("", Place("suite", one.name, about=about))
        for benchmark in suite.benchmarks:
            name = benchmark.benchmark_id
            about = benchmark.description or benchmark.name or benchmark.kind
            place = Place("benchmark", one.name, name, about=about)
            if benchmark.dataset is None:
                node.add_leaf("", place)
            else:
                node.add("", place).add_leaf("", Place("words", about="reading the cases …"))

    def _is_marked(self, place: Place) -> bool:
        if place.kind in {"load", "stress"}:
            return place.kind == self._what
        if not place.suite or place.suite != self._suite:
            return False
        return place.kind == "suite" or (place.benchmark, place.case) in self._picked

    def _node_of(self, place: Place) -> TreeNode[Place] | None:
        for heading in self.root.children:
            for suite in heading.children:
                for node in suite.children:
                    if node.data == place:
                        return node
        return None
