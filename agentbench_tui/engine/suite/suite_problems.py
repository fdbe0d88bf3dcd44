"""Converts pydantic's errors about a suite to sentences with the position and the nearest name.

For a union, pydantic reports the errors of each member. Only those of the member that the author
evidently meant are kept; if none is evident, one sentence names all members.
"""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import msgspec

from agentbench_tui.engine.suite.position import KeyPath, has
from agentbench_tui.model.errors import did_you_mean
from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

_SHAPES = {
    "string_type": "text (in quotes)",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a map",
    "model_type": "a map",
    "none_required": "null",
}
"""Errors that say that the value has the wrong shape, and the shape that was expected."""


class Finding(msgspec.Struct, frozen=True):
    """One problem with the data of a suite."""

    path: KeyPath
    message: str
    at_key: bool = False
    """Whether the key, rather than its value, is wrong."""


def findings(error: ValidationError, data: Any, model: type[BaseModel]) -> list[Finding]:
    """Return every problem of `data` once, in the order of the model."""
    groups: dict[KeyPath, dict[KeyPath, list[ErrorDetails]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for detail in error.errors(include_url=False, include_context=True, include_input=True):
        union, member = _union_of(detail, data)
        groups[union][member].append(detail)
    found: list[Finding] = []
    for members in groups.values():
        meant = _meant(list(members.values()))
        if len(meant) > 1 and all(_is_shape(details) for details in meant):
            found.append(_none_fits([details[0] for details in meant], data))
            continue
        found += [_finding(detail, data, model) for details in meant for detail in details]
    return list(dict.fromkeys(found))


def _meant(members: list[list[ErrorDetails]]) -> list[list[ErrorDetails]]:
    """Return the members of a union that report more than a wrong type; all if none does."""
    deeper = [details for details in members if not _is_shape(details)]
    return deeper or members


def _is_shape(details: list[ErrorDetails]) -> bool:
    return len(details) == 1 and details[0]["type"] in _SHAPES


def _none_fits(details: list[ErrorDetails], data: Any) -> Finding:
    shapes = list(dict.fromkeys(_SHAPES[detail["type"]] for detail in details))
    path = true_path(details[0]["loc"], data)
    return Finding(path, f"expected {' or '.join(shapes)}, got {_shown(details[0]['input'])}")


def true_path(location: Sequence[str | int], data: Any) -> KeyPath:
    """Return a pydantic location without the names of union members."""
    path: KeyPath = ()
    for part in location:
        if has(data, part):
            data = data[part]
            path = (*path, part)
    return path


def _union_of(detail: ErrorDetails, data: Any) -> tuple[KeyPath, KeyPath]:
    """Return the location up to its first union member, and up to and including it.

    A part that the data does not have names a union member, save for a missing key and for the
    mark of an error in a key. Errors outside unions stand alone: both are their whole location.
    """
    location = detail["loc"]
    real = location[:-1] if detail["type"] == "missing" or location[-1:] == (_KEY,) else location
    for index, part in enumerate(real):
        if not has(data, part):
            return location[:index], location[: index + 1]
        data = data[part]
    return location, location


def _finding(detail: ErrorDetails, data: Any, model: type[BaseModel]) -> Finding:
    kind, location = detail["type"], detail["loc"]
    path = true_path(location, data)
    if kind == "missing":
        return Finding(path, f"`{location[-1]}` is missing")
    if kind == "extra_forbidden":
        known = _known_keys(model, path[:-1])
        message = f'unknown key "{path[-1]}"{did_you_mean(str(path[-1]), known)}'
        return Finding(path, message, at_key=True)
    context: Mapping[str, Any] = detail.get("ctx", {})
    return Finding(path, _message(kind, context, detail), at_key=location[-1:] == (_KEY,))


_KEY = "[key]"
"""Last part of the location of an error in a key."""
_NAME_RULE = "letters, digits, `.`, `_` and `-`, at most 64, the first a letter or digit"

_LIMITS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "greater_than": lambda context: f"a number above {plain(context['gt'])}",
    "greater_than_equal": lambda context: f"a number of at least {plain(context['ge'])}",
    "less_than": lambda context: f"a number below {plain(context['lt'])}",
    "less_than_equal": lambda context: f"a number of at most {plain(context['le'])}",
    "literal_error": lambda context: f"one of {context['expected']}",
    "string_pattern_mismatch": lambda _: f"a name ({_NAME_RULE})",
    "finite_number": lambda _: "a finite number",
    "too_short": lambda context: f"at least {context['min_length']} item",
    "too_long": lambda context: f"at most {context['max_length']} items",
}


def _message(kind: str, context: Mapping[str, Any], detail: ErrorDetails) -> str:
    given = detail["input"]
    if kind == "value_error":
        return str(context["error"])
    if kind in _SHAPES:
        return f"expected {_SHAPES[kind]}, got {_shown(given)}"
    if kind in _LIMITS:
        hint = ""
        if kind == "literal_error" and isinstance(given, str):
            hint = did_you_mean(given, _quoted(str(context["expected"])))
        return f"expected {_LIMITS[kind](context)}, got {_shown(given)}{hint}"
    return f"{detail['msg'][:1].lower()}{detail['msg'][1:]}, got {_shown(given)}"


def _quoted(expected: str) -> list[str]:
    return expected.split("'")[1::2]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return one_line(msgspec.json.encode(value).decode(), 60)


def _known_keys(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Return the names that the models reached by `path` accept."""
    kinds: list[Any] = [model]
    for part in path:
        kinds = [inner for kind in kinds for inner in _step(kind, part)]
    names: list[str] = []
    for kind in kinds:
        if _is_model(kind):
            names += _names(kind)
    return names


def _names(model: type[BaseModel]) -> list[str]:
    from pydantic import AliasChoices

    names: list[str] = []
    for name, info in model.model_fields.items():
        names.append(name)
        if isinstance(info.validation_alias, AliasChoices):
            names += [choice for choice in info.validation_alias.choices if isinstance(choice, str)]
    return names


def _step(kind: Any, part: str | int) -> Iterable[Any]:
    """Return the types that a value of type `kind` may have at `part`, with unions expanded."""
    if _is_model(kind):
        info = kind.model_fields.get(part)
        return _members(info.annotation) if info else ()
    arguments = get_args(kind)
    if get_origin(kind) is list and arguments:
        return _members(arguments[0])
    if get_origin(kind) is dict and arguments:
        return _members(arguments[1])
    return ()


def _members(kind: Any) -> list[Any]:
    if get_origin(kind) is Annotated:
        return _members(get_args(kind)[0])
    if get_origin(kind) in {Union, types.UnionType}:
        return [inner for one in get_args(kind) for inner in _members(one)]
    return [kind]


def _is_model(kind: Any) -> bool:
    from pydantic import BaseModel

    return isinstance(kind, type) and issubclass(kind, BaseModel)
