"""Options of commands that build a suite: one table with option, suite field, type, help
and form.

The table of a command gives its options (`cli.console.suite_options`), the suite fragment that they
mean (`suite_fragment`), the option to name in a message about a field (`option_of`), and the lines
of the session's form (`tui.pages.new_run.choice`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from `least` to `most`; without `most`, of any size."""

    least: int
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Real:
    """A number from `least` to `most`, or above 0."""

    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """One of several words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A text of a form that `cli.load.options` parses, such as `rates` or `time`."""

    name: str
    alone: bool = False
    """Whether a list of one value stands for the value."""
    pairs: bool = False
    """Whether several of them are a table."""


TEXT, FLAG, SWITCH = Form("text"), Form("flag"), Form("switch")
"""Any text; an option without a value; one that can be turned off: `--stream/--no-stream`."""
Value = Whole | Real | Words | Form


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOption:
    """One option of a command."""

    flag: str
    """`--think-time`, or `--stream/--no-stream`."""
    value: Value
    help: str
    field: str = ""
    """Where a benchmark has what it sets: `load.think_time_ms`, `load.workload.0.prompts`."""
    factor: int = 1
    """What a value is multiplied by for its field: 1000 for seconds in a field in ms."""
    metavar: str | None = None
    default: str | None = None
    """What happens without it, for the help text."""
    several: bool = False
    """Whether it may be given several times."""
    name: str = ""
    """Of the value that was given; that of the option where it is empty."""
    label: str = ""
    """Of its line in the session's form, where it has one."""
    placeholder: str = ""

    @property
    def option(self) -> str:
        """Return `--stream` for `--stream/--no-stream`."""
        return self.flag.partition("/")[0]

    @property
    def key(self) -> str:
        """Return the name by which the command finds the given value."""
        return self.name or self.option.removeprefix("--").replace("-", "_")

    def value_of(self, given: Any) -> Any:
        """Convert a given value to the value of its field."""
        if isinstance(self.value, Form):
            if self.value.pairs:
                return dict(given)
            if self.value.alone and len(given) == 1:
                return given[0]
        if self.several:
            return list(given)
        return given if self.factor == 1 else given * self.factor


def is_given(value: Any) -> bool:
    """Return whether an option was given: not None, and not an empty list."""
    return value is not None and value != ()


def suite_fragment(options: Iterable[SuiteOption], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the benchmark fields of the given options, as nested tables and lists."""
    fragment: dict[str, Any] = {}
    for option in options:
        if option.field and is_given(given.get(option.key)):
            _put(fragment, option.field.split("."), option.value_of(given[option.key]))
    return fragment


def _put(place: Any, path: Sequence[str], value: Any) -> None:
    """Set the value at `path`; a list on the path has one item."""
    step: str | int = int(path[0]) if path[0].isdigit() else path[0]
    if isinstance(step, int) and not place:
        place.append({})
    if len(path) == 1:
        place[step] = value
        return
    inner: Any = [] if path[1].isdigit() else {}
    if isinstance(step, str):
        inner = place.setdefault(step, inner)
    _put(place[step] if isinstance(step, int) else inner, path[1:], value)


def option_of(options: Iterable[SuiteOption], path: Iterable[str | int]) -> str:
    """Return the option that set the value at `path` of a benchmark, or part of it; empty
    if none.
    """
    parts = [str(part) for part in path]
    for length in range(len(parts), 0, -1):
        for option in options:
            if option.field.split(".") == parts[:length]:
                return option.option
    return ""


def named(options: Iterable[SuiteOption], flag: str) -> SuiteOption:
    """Return the option of that flag. Raises KeyError."""
    for option in options:
        if option.option == flag:
            return option
    raise KeyError(flag)
