"""Click options from the tables of `model.suite_option`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from agentbench_tui.cli.console.numbers import ABOVE_ZERO, Number
from agentbench_tui.cli.load.options import (
    Field,
    Length,
    Ramp,
    Rates,
    Sine,
    Slo,
    Spike,
    Steps,
    Time,
    Users,
)
from agentbench_tui.cli.stress.options import Scenarios
from agentbench_tui.model.suite_option import FLAG, SWITCH, TEXT, Real, SuiteOption, Whole, Words

Command = TypeVar("Command", bound=Callable[..., Any])
_FORMS: dict[str, click.ParamType] = {  # type: ignore[type-arg]  # generic in click's newest only
    "rates": Rates(),
    "users": Users(),
    "ramp": Ramp(),
    "steps": Steps(),
    "spike": Spike(),
    "sine": Sine(),
    "time": Time(),
    "time or zero": Time(zero=True),
    "length": Length(),
    "slo": Slo(),
    "field": Field(),
    "scenarios": Scenarios(),
}
"""Name of a form → what reads it."""


def suite_options(options: Iterable[SuiteOption]) -> Callable[[Command], Command]:
    """Return a decorator that gives a command these options, in their order."""

    def decorate(command: Command) -> Command:
        for option in reversed([*options]):
            command = _click_option(option)(command)
        return command

    return decorate


def _click_option(option: SuiteOption) -> Callable[[Command], Command]:
    names = (option.flag, option.name) if option.name else (option.flag,)
    settings: dict[str, Any] = {"help": option.help}
    if option.value == FLAG:
        settings["is_flag"] = True
    elif option.value == SWITCH:
        settings["default"] = None
    elif option.value != TEXT:
        settings["type"] = _type_of(option)
    if option.metavar is not None:
        settings["metavar"] = option.metavar
    if option.several:
        settings["multiple"] = True
    if option.default is not None:
        settings["show_default"] = option.default
    return click.option(*names, **settings)


def _type_of(option: SuiteOption) -> click.ParamType:  # type: ignore[type-arg]  # as above
    value = option.value
    if isinstance(value, Whole):
        return click.IntRange(value.least, value.most)
    if isinstance(value, Words):
        return click.Choice(value.words)
    if isinstance(value, Real):
        if value.least is None or value.most is None:
            return ABOVE_ZERO
        return Number(value.least, value.most)
    return _FORMS[value.name]
