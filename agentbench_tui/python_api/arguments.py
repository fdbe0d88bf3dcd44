"""Checks of arguments that the command line checks as options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from agentbench_tui.model.errors import UsageError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from agentbench_tui.agents.python.session_objects import Place, SessionObject

Item = TypeVar("Item")


def check_counts(**given: tuple[int | None, int, int | None]) -> None:
    """Raise UsageError for a number outside its bounds: name → (value, least, most)."""
    for name, (value, least, most) in given.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise UsageError(f"{name} is {value!r}; give a whole number")
        if value < least:
            raise UsageError(f"{name} is {value}; give at least {least}")
        if most is not None and value > most:
            raise UsageError(f"{name} is {value}; give at most {most}")


def names(parameter: str, given: Sequence[str]) -> tuple[str, ...]:
    """Return several names. Raises UsageError for a single text, whose letters would be meant."""
    if isinstance(given, str):
        raise UsageError(f"{parameter} is a text; give a list: {parameter}=[{given!r}]")
    return tuple(given)


def present(**given: Any) -> dict[str, Any]:
    """Return the arguments that are not None; sequences other than texts as lists."""
    return {
        name: list(value) if isinstance(value, list | tuple) else value
        for name, value in given.items()
        if value is not None
    }


def check_block(block: Mapping[str, Any], model: type[BaseModel], function: str) -> None:
    """Raise UsageError, in the words of the arguments, for values that a block cannot have."""
    from pydantic import ValidationError

    from agentbench_tui.engine.suite.suite_problems import findings

    try:
        model.model_validate(block)
    except ValidationError as error:
        finding = findings(error, dict(block), model)[0]
        path = ".".join(str(part) for part in finding.path)
        raise UsageError(f"{function}: {path + ': ' if path else ''}{finding.message}") from None


def check_importable(objects: Mapping[Place, SessionObject], function: str) -> None:
    """Raise UsageError for a callable that only this process can call, where others send."""
    for (_, name), one in objects.items():
        if not one.is_importable:
            raise UsageError(
                f"{function}: other processes send the requests and cannot import {name}; move"
                " it to the top level of a module or a script"
            )
