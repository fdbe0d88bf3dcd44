"""Parameters of experiments, checked before anything runs.

A class declares them by its model `Parameters`, by `param_schema`, or by the named arguments of its
own `__init__`; the last two are combined. Each form becomes one pydantic model here, so that errors
are reported in one way.
"""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from agentbench_tui.agents.python.python_source import describe as describe_error
from agentbench_tui.experiments.experiment import Experiment, has_lazy_params
from agentbench_tui.experiments.measuring.parameter_reads import (
    GIVEN,
    RecordedReads,
    after_constructor,
)
from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from pydantic import BaseModel

_TYPES: dict[str, Any] = {
    "integer": int,
    "number": float,
    "string": str,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
}
"""Type of JSON schema → of Python."""
_NAMED = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
"""Bound of JSON schema → of a pydantic field."""


def problems_of(cls: type[Experiment], values: Mapping[str, Any]) -> list[str]:
    """Return every problem of these parameters, one per line."""
    from pydantic import ValidationError

    model = parameter_model(cls)
    known = list(model.model_fields)
    open_ended = model.model_config.get("extra") == "allow"
    unknown = [] if open_ended else [name for name in values if name not in known]
    found = [_unknown(name, known) for name in unknown]
    try:
        model.model_validate({name: one for name, one in values.items() if name not in unknown})
    except ValidationError as error:
        found += [_explain(dict(one)) for one in error.errors(include_url=False)]
    return found


def make_experiment(cls: type[Experiment], values: Mapping[str, Any]) -> Experiment:
    """Return an instance with these parameters and defaults for the others.

    Raises UsageError for what `problems_of` reports and for a constructor that refuses them.
    """
    found = problems_of(cls, values)
    if found:
        raise UsageError("; ".join(found))
    checked = parameter_model(cls).model_validate(dict(values))
    given = {name: getattr(checked, name) for name in type(checked).model_fields}
    given |= checked.model_extra or {}
    by_name = not _takes_a_mapping(cls)
    try:
        instance = _by_name(cls, given) if by_name else cls(RecordedReads(given))
    except Exception as error:
        raise UsageError(f"{cls.__name__} cannot be made: {describe_error(error)}") from error
    if cls.__init__ is not Experiment.__init__:
        after_constructor(instance, by_name=by_name, is_lazy=has_lazy_params(cls))
    return instance


def _by_name(cls: type[Experiment], given: Mapping[str, Any]) -> Experiment:
    """Return an instance whose constructor has parameters as arguments; `params` then holds all of
    them.
    """
    known = set(given) if _takes_any_name(cls) else set(_own_arguments(cls))
    instance = cls(**{name: value for name, value in given.items() if name in known})
    if not {"params", GIVEN} & vars(instance).keys():  # its constructor did not call that of ours
        instance.params = {}
    for name, value in given.items():
        if name != "parameters":
            instance.params.setdefault(name, value)
    return instance


def describe(cls: type[Experiment]) -> list[dict[str, Any]]:
    """Return name, type, default (None if required) and description of each parameter, for
    people.
    """
    return [
        {
            "name": name,
            "type": _type_name(field.annotation),
            "required": field.is_required(),
            "default": None if field.is_required() else field.get_default(),
            "description": field.description or "",
        }
        for name, field in parameter_model(cls).model_fields.items()
    ]


def from_text(cls: type[Experiment], name: str, text: str) -> Any:
    """Parse a text of the command line: unchanged if the parameter is a text, else as JSON if it
    is valid JSON.
    """
    field = parameter_model(cls).model_fields.get(name)
    if field is not None and field.annotation is str:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def parameter_model(cls: type[Experiment]) -> type[BaseModel]:
    """Return the model of everything that the class accepts."""
    if cls not in _MODELS:
        _MODELS[cls] = _made_model(cls)
    return _MODELS[cls]


_MODELS: dict[type[Experiment], type[BaseModel]] = {}


def _made_model(cls: type[Experiment]) -> type[BaseModel]:
    from pydantic import BaseModel, ConfigDict, create_model

    if isinstance(cls.Parameters, type) and issubclass(cls.Parameters, BaseModel):
        return cls.Parameters
    fields: dict[str, Any] = {**_own_arguments(cls), **_schema_fields(cls)}
    is_open = _takes_any_name(cls) or (not fields and _takes_a_mapping(cls))
    config = ConfigDict(
        strict=True,
        extra="allow" if is_open else "forbid",
        arbitrary_types_allowed=True,
        protected_namespaces=(),
    )
    model: type[BaseModel] = create_model(f"{cls.__name__}Parameters", __config__=config, **fields)
    return model


def _own_arguments(cls: type[Experiment]) -> dict[str, Any]:
    """Return named arguments of the class's own constructor as fields; none if it has only the
    base class's.
    """
    if _takes_a_mapping(cls):
        return {}
    named = [one for one in _arguments(cls) if one.kind in _NAMED]
    try:
        hints = typing.get_type_hints(cls.__init__)
    except Exception:  # noqa: BLE001  # names of types that only a checker knows
        hints = {}
    return {
        one.name: (hints.get(one.name, Any), ... if one.default is one.empty else one.default)
        for one in named
    }


def _takes_a_mapping(cls: type[Experiment]) -> bool:
    """Return whether its constructor takes all parameters in one argument."""
    return [one.name for one in _arguments(cls)] in (["parameters"], ["params"])


def _takes_any_name(cls: type[Experiment]) -> bool:
    return any(one.kind is one.VAR_KEYWORD for one in _arguments(cls))


def _arguments(cls: type[Experiment]) -> list[inspect.Parameter]:
    """Return the arguments of its constructor, without self."""
    return list(inspect.signature(cls.__init__).parameters.values())[1:]


def _schema_fields(cls: type[Experiment]) -> dict[str, Any]:
    from pydantic import Field

    required = cls.param_schema.get("required", ())
    fields: dict[str, Any] = {}
    for name, schema in cls.param_schema.get("properties", {}).items():
        kind: Any = _TYPES.get(schema.get("type"), Any)
        if schema.get("enum"):
            kind = Literal[tuple(schema["enum"])]
        bounds = {_BOUNDS[key]: schema[key] for key in _BOUNDS if key in schema}
        default = schema.get("default", ... if name in required else None)
        if default is None:
            kind = kind | None if kind is not Any else Any
        description = schema.get("description")
        fields[name] = (kind, Field(default=default, description=description, **bounds))
    return fields


def _unknown(name: str, known: list[str]) -> str:
    near = did_you_mean(name, known) or (
        f"; there are {', '.join(known)}" if known else "; it takes none"
    )
    return f'there is no parameter "{name}"{near}'


def _explain(problem: dict[str, Any]) -> str:
    name = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "missing":
        return f"parameter `{name}` has to be given"
    message = str(problem["msg"]).removeprefix("Value error, ")
    several = isinstance(problem["input"], list) and problem["type"] != "list_type"
    hint = "; list several values under `sweep`" if several else ""
    return f"parameter `{name}`: {message[:1].lower()}{message[1:]}, not {problem['input']!r}{hint}"


def _type_name(annotation: Any) -> str:
    if isinstance(annotation, type):
        return annotation.__name__
    return str(annotation).replace("typing.", "")
