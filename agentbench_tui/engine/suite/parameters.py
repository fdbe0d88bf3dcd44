"""Parameters of a suite: declared, set by `--set`, and substituted for `${name}`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.engine.suite.position import KeyPath
from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from agentbench_tui.model.suite import Benchmark, Parameter, Suite

REFERENCE = re.compile(r"\$(\$?)\{([^{}]*)\}")
"""`${name}`; `$${` is a literal `${`."""

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:")
_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_STAND_INS: dict[str | None, Any] = {"integer": 1, "number": 1.0, "boolean": True}


class Settings(msgspec.Struct, frozen=True):
    """Values given by `--set`: for the whole suite, and for single benchmarks."""

    suite: Mapping[str, Any] = msgspec.field(default_factory=dict)
    benchmarks: Mapping[str, Mapping[str, Any]] = msgspec.field(default_factory=dict)
    """By benchmark id; these win over the suite's."""

    def of(self, benchmark_id: str) -> dict[str, Any]:
        """Return the values set for this benchmark."""
        return {**self.suite, **self.benchmarks.get(benchmark_id, {})}


NO_SETTINGS = Settings()


def parse_settings(suite: Suite, texts: Sequence[str], *, folder: Path | None = None) -> Settings:
    """Parse `KEY=VALUE` and `BENCHMARK.KEY=VALUE` by the declared types.

    Paths are relative to `folder`, by default the current one. Later ones win.
    Raises UsageError for a key that is not declared and a value that is not of its type.
    """
    folder = folder or Path.cwd()
    for_suite: dict[str, Any] = {}
    for_benchmarks: dict[str, dict[str, Any]] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"--set {text}: expected KEY=VALUE")
        benchmark_id, name, parameter = _find(suite, key)
        parsed = _parse(key, value, parameter, folder)
        if benchmark_id is None:
            for_suite[name] = parsed
        else:
            for_benchmarks.setdefault(benchmark_id, {})[name] = parsed
    return Settings(for_suite, for_benchmarks)


def declarations(suite: Suite, benchmark: Benchmark | None = None) -> dict[str, Parameter]:
    """Return what can be set: the suite's parameters, and those of `benchmark` (of all if None)."""
    from agentbench_tui.model.suite import Parameter, Range

    known: dict[str, Parameter] = {}
    for one in suite.benchmarks if benchmark is None else [benchmark]:
        for name, value in one.parameters.items():
            known.setdefault(name, Parameter(default=value))
        for name, values in (one.sweep.parameters if one.sweep else {}).items():
            if isinstance(values, Range):
                swept = Parameter(
                    default=values.start, type="integer" if values.integer else "number"
                )
            else:
                swept = Parameter(default=values[0])
            known.setdefault(name, swept)
    return known | suite.parameters


def missing(suite: Suite, settings: Settings) -> list[str]:
    """Return required parameters without a value."""
    return [
        name
        for name, parameter in suite.parameters.items()
        if parameter.required and parameter.default is None and name not in settings.suite
    ]


def default_value(parameter: Parameter) -> Any:
    """Return the default; for a required parameter without one, a value of its type for checks."""
    if parameter.default is not None or not parameter.required:
        return parameter.default
    if parameter.choices:
        return parameter.choices[0]
    return _STAND_INS.get(parameter.type, "value-not-given")


def type_problem(parameter: Parameter) -> str:
    """Return the problem with a declaration's default and choices; empty if there is none."""
    kind = type_of(parameter)
    values = [] if parameter.default is None else [parameter.default]
    for value in (*values, *(parameter.choices or ())):
        if not _is_of(value, kind):
            return f"{json.dumps(value)} is not of the type {kind}"
    if values and parameter.choices and parameter.default not in parameter.choices:
        return f"the default {json.dumps(parameter.default)} is not among the choices"
    return ""


def type_of(parameter: Parameter) -> str | None:
    """Return the declared type, else that of the default; None for lists, maps and null."""
    if parameter.type is not None:
        return parameter.type
    sample = parameter.default if parameter.default is not None else None
    if sample is None and parameter.choices:
        sample = parameter.choices[0]
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return kinds.get(type(sample))


def substitute(
    value: Any,
    values: Mapping[str, Any],
    unknown: Callable[[KeyPath, str], None],
    path: KeyPath = (),
) -> Any:
    """Return a copy of `value` with every `${name}` in its texts replaced.

    A text that is exactly `${name}` becomes the value with its type. `unknown(path, name)` is
    called for a name that has no value, which then stays as it is.
    """
    if isinstance(value, str):
        return _substitute_text(value, values, unknown, path) if "${" in value else value
    if isinstance(value, dict):
        return {key: substitute(item, values, unknown, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [
            substitute(item, values, unknown, (*path, index)) for index, item in enumerate(value)
        ]
    return value


def unknown_reference(name: str, known: Iterable[str]) -> str:
    """Return a message for an undeclared `${name}`."""
    hint = did_you_mean(name, known)
    return f"no parameter `{name}` is declared{hint}; write `$${{{name}}}` for the text itself"


def _substitute_text(
    text: str,
    values: Mapping[str, Any],
    unknown: Callable[[KeyPath, str], None],
    path: KeyPath,
) -> Any:
    def replace(match: re.Match[str]) -> str:
        escaped, name = match[1], match[2].strip()
        if escaped:
            return match[0][1:]
        if name not in values:
            unknown(path, name)
            return match[0]
        value = values[name]
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value)

    whole = REFERENCE.fullmatch(text)
    if whole and not whole[1] and whole[2].strip() in values:
        return values[whole[2].strip()]
    return REFERENCE.sub(replace, text)


def _find(suite: Suite, key: str) -> tuple[str | None, str, Parameter]:
    known = declarations(suite)
    if key in known:
        return None, key, known[key]
    by_benchmark = {
        f"{benchmark.benchmark_id}.{name}": (benchmark.benchmark_id, name, parameter)
        for benchmark in suite.benchmarks
        for name, parameter in declarations(suite, benchmark).items()
    }
    if key in by_benchmark:
        return by_benchmark[key]
    listed = ", ".join(sorted(known)) or "none"
    hint = did_you_mean(key, [*known, *by_benchmark])
    raise UsageError(
        f"--set {key}: {suite.suite_id} declares no such parameter{hint}; declared: {listed}"
    )


def _parse(key: str, text: str, parameter: Parameter, folder: Path) -> Any:
    kind = type_of(parameter)
    value: Any = text
    if kind == "integer":
        value = int(text) if re.fullmatch(r"[-+]?[0-9]{1,18}", text) else None
    elif kind == "number":
        value = _number(text)
    elif kind == "boolean":
        value = _BOOLEANS.get(text.lower())
    elif kind == "path":
        value = _absolute(text, folder)
    elif kind is None:
        value = _json_or_text(text)
    if value is None and kind is not None:
        raise UsageError(f'--set {key}: expected {_wanted(kind)}, got "{text}"')
    if parameter.choices and value not in parameter.choices:
        hint = did_you_mean(text, map(str, parameter.choices))
        choices = ", ".join(map(str, parameter.choices))
        raise UsageError(f'--set {key}: "{text}" is not one of {choices}{hint}')
    return value


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _absolute(text: str, folder: Path) -> str | None:
    if _SCHEME.match(text):
        return text
    return str(folder / Path(text).expanduser()) if text else None


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _wanted(kind: str) -> str:
    return {
        "integer": "a whole number",
        "number": "a number",
        "boolean": "true or false",
        "path": "a path",
    }.get(kind, kind)


def _is_of(value: Any, kind: str | None) -> bool:
    if kind in {"string", "path"}:
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return True
