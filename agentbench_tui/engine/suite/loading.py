"""Loads a suite file into a validated suite, with the position of every key for later messages.

References to parameters are resolved on the data, before validation, so that `concurrency: ${n}`
is held to the same rules as `concurrency: 4`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace

from agentbench_tui.engine.suite import agentfarm
from agentbench_tui.engine.suite.catalog import find_suite
from agentbench_tui.engine.suite.parameters import (
    NO_SETTINGS,
    Settings,
    default_value,
    missing,
    parse_settings,
    substitute,
    unknown_reference,
)
from agentbench_tui.engine.suite.position import KeyPath, Positions, has, path_text
from agentbench_tui.engine.suite.source import read_source
from agentbench_tui.model.errors import Problem, SuiteError, UsageError
from agentbench_tui.model.identity import content_hash

if TYPE_CHECKING:
    from pydantic import BaseModel

    from agentbench_tui.model.suite import Benchmark, Parameter, Suite

    Model = TypeVar("Model", bound=BaseModel)

Replacer = Callable[[Any, Mapping[str, Any], KeyPath], Any]


class Places(msgspec.Struct, frozen=True):
    """Positions of a suite's parts in its file."""

    file: str
    positions: Positions
    moves: tuple[tuple[KeyPath, KeyPath], ...] = ()
    """Suite path → file path, for files in another format."""

    def problem(self, path: KeyPath, message: str, *, key: bool = False) -> Problem:
        """Return a problem with the part of the suite at `path` (with its key, if `key`)."""
        for new, old in self.moves:
            if path[: len(new)] == new:
                path = (*old, *path[len(new) :])
                break
        position = self.positions.find(path, key=key)
        return Problem(
            message,
            path=path_text(path),
            file=self.file,
            line=position.line if position else None,
            column=position.column if position else None,
        )


class LoadedSuite(msgspec.Struct, frozen=True):
    """A loaded suite."""

    suite: Suite
    """With every parameter at its default, and swept ones at their first value."""
    path: Path
    hash: str
    """sha256 over the canonical JSON of `suite`: the same for YAML, JSON and TOML."""
    text: str
    """Text of the file."""
    data: Mapping[str, Any]
    """The suite as plain data, references not resolved."""
    places: Places
    notes: tuple[str, ...] = ()
    """Remarks on the file, such as a parameter that has no effect."""

    @property
    def folder(self) -> Path:
        """Return the base of relative paths in the suite."""
        return self.path.resolve().parent

    def settings(
        self, texts: Sequence[str], known: Mapping[str, Any] = MappingProxyType({})
    ) -> Settings:
        """Parse `--set KEY=VALUE`; `known` are values of the suite's parameters that apply unless
        they are set. Raises UsageError, also for missing required ones.
        """
        settings = parse_settings(self.suite, texts)
        declared = {name: value for name, value in known.items() if name in self.suite.parameters}
        settings = replace(settings, suite={**declared, **settings.suite})
        if lacking := missing(self.suite, settings):
            asked = " ".join(f"--set {name}=…" for name in lacking)
            raise UsageError(f"suite {self.suite.suite_id} needs {asked}")
        return settings

    def resolve(self, settings: Settings) -> Suite:
        """Return the suite with `settings` applied. Raises SuiteError for an invalid value."""
        return _validate(self.data, self.places, settings)

    def benchmark(
        self, index: int, settings: Settings = NO_SETTINGS, point: Mapping[str, Any] | None = None
    ) -> Benchmark:
        """Return benchmark number `index` at one point of its sweep.

        Its `parameters` are its own and the point's, with the values that hold here, and its
        `sweep` has no other values.
        Raises SuiteError when a value does not fit.
        """
        from agentbench_tui.model.kind_sections import benchmark_model

        unknown: list[Problem] = []
        outer = _suite_values(self.data, settings)
        resolved = _resolve_benchmark(
            self.data["benchmarks"][index],
            index,
            outer,
            settings,
            point or {},
            _replacer(self.places, unknown),
        )
        base = ("benchmarks", index)
        return _build(
            benchmark_model(resolved.get("kind")), resolved, self.data, self.places, unknown, base
        )

    def values_for_agents(self, settings: Settings = NO_SETTINGS) -> dict[str, Any]:
        """Return every parameter's value in the suite's agents."""
        return _suite_values(self.data, settings)

    def values(self, benchmark: Benchmark, settings: Settings = NO_SETTINGS) -> dict[str, Any]:
        """Return every parameter's value for a benchmark returned by `benchmark()`."""
        outer = _suite_values(self.data, settings)
        return {**outer, **benchmark.parameters, **settings.of(benchmark.benchmark_id)}


def load_suite(path_or_name: str | Path) -> LoadedSuite:
    """Read a suite by path or by name.

    Raises UsageError for an unknown name, and SuiteError with every problem of the file.
    """
    path = path_or_name if isinstance(path_or_name, Path) else find_suite(path_or_name)
    source = read_source(path)
    data = {key: value for key, value in source.data.items() if key != "$schema"}  # for editors
    places = Places(str(path), source.positions)
    notes: tuple[str, ...] = ()
    if agentfarm.is_agentfarm(data):
        if unknown := agentfarm.unknown_keys(data):
            raise SuiteError(
                [places.problem((key,), message, key=True) for key, message in unknown]
            )
        translated = agentfarm.to_suite(data, path.stem)
        data, notes = translated.data, tuple(f"{path}: {note}" for note in translated.notes)
        places = Places(str(path), source.positions, translated.moves)
    suite = _validate(data, places, NO_SETTINGS)
    digest = content_hash(suite.model_dump(mode="json"))
    return LoadedSuite(suite, path, digest, source.text, data, places, notes)


def suite_of_data(data: Mapping[str, Any], folder: Path) -> LoadedSuite:
    """Return a suite from generated data, as if it had been read from a file in `folder`.

    Raises SuiteError with every problem, each with its key path and no place.
    """
    import json

    places = Places("", Positions())
    suite = _validate(data, places, NO_SETTINGS)
    digest = content_hash(suite.model_dump(mode="json"))
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return LoadedSuite(suite, folder / f"{suite.suite_id}.json", digest, text, data, places)


def _validate(data: Mapping[str, Any], places: Places, settings: Settings) -> Suite:
    from agentbench_tui.model.kind_sections import suite_model

    unknown: list[Problem] = []
    resolved = _resolve(data, settings, places, unknown)
    return _build(suite_model(resolved), resolved, data, places, unknown)


def _build(
    model: type[Model],
    resolved: Any,
    data: Any,
    places: Places,
    unknown: Sequence[Problem],
    base: KeyPath = (),
) -> Model:
    """Return the model of `resolved`, which is located at `base`.

    Raises SuiteError with all problems.
    """
    from pydantic import ValidationError

    from agentbench_tui.engine.suite.suite_problems import findings
    from agentbench_tui.model.suite import CHECK_KINDS

    problems = list(unknown)
    try:
        built = model.model_validate(resolved, context={CHECK_KINDS: True})
    except ValidationError as error:
        for finding in findings(error, resolved, model):
            path = (*base, *finding.path)
            message = finding.message + from_reference(data, path)
            problems.append(places.problem(path, message, key=finding.at_key))
        problems += _misnamed(resolved, places)
    if problems:
        raise SuiteError(in_order(problems))
    return built


def _misnamed(resolved: Mapping[str, Any], places: Places) -> list[Problem]:
    """Return unknown scorers and instruments in a suite that also has syntax problems."""
    from agentbench_tui.instruments.registry import check_instrument
    from agentbench_tui.scoring.registry import check_scorer

    found: list[Problem] = []
    benchmarks = resolved.get("benchmarks")
    for index, benchmark in enumerate(benchmarks if isinstance(benchmarks, list) else ()):
        for part in ("scorers", "instruments"):
            entries = benchmark.get(part) if isinstance(benchmark, dict) else None
            for place, spec in enumerate(entries if isinstance(entries, list) else ()):
                if not isinstance(spec, str | dict):
                    continue  # its form is told already
                if part == "scorers":
                    messages = check_scorer(spec, base_dir=Path(places.file).parent)
                else:
                    messages = check_instrument(spec, str(benchmark.get("kind", "task")))
                path: KeyPath = ("benchmarks", index, part, place)
                found += [places.problem(path, message) for message in messages]
    return found


def from_reference(data: Any, path: KeyPath) -> str:
    """Return a note if the value at `path` of a suite's `data` came from a parameter."""
    for part in path:
        if not has(data, part):
            return ""
        data = data[part]
    return f" (from `{data}`)" if isinstance(data, str) and "${" in data else ""


def in_order(problems: Sequence[Problem]) -> list[Problem]:
    """Return distinct problems by their position in the file."""
    return sorted(
        dict.fromkeys(problems), key=lambda problem: (problem.line or 0, problem.column or 0)
    )


def _replacer(places: Places, unknown: list[Problem]) -> Replacer:
    """Return a function that substitutes values into the part at a path; names without a value go
    to `unknown`.
    """

    def replace(value: Any, values: Mapping[str, Any], base: KeyPath) -> Any:
        def complain(path: KeyPath, name: str) -> None:
            unknown.append(places.problem((*base, *path), unknown_reference(name, values)))

        return substitute(value, values, complain)

    return replace


def _resolve(
    data: Mapping[str, Any], settings: Settings, places: Places, unknown: list[Problem]
) -> dict[str, Any]:
    """Return `data` with the references in its benchmarks and agents replaced."""
    outer = _suite_values(data, settings)
    replace = _replacer(places, unknown)
    resolved = dict(data)
    if "agents" in data:
        resolved["agents"] = replace(data["agents"], outer, ("agents",))
    if isinstance(benchmarks := data.get("benchmarks"), list):
        resolved["benchmarks"] = [
            _resolve_benchmark(one, index, outer, settings, None, replace)
            for index, one in enumerate(benchmarks)
        ]
    return resolved


def _resolve_benchmark(
    benchmark: Any,
    index: int,
    outer: Mapping[str, Any],
    settings: Settings,
    point: Mapping[str, Any] | None,
    replace: Replacer,
) -> Any:
    if not isinstance(benchmark, dict):
        return benchmark
    base: KeyPath = ("benchmarks", index)
    given = benchmark.get("parameters")
    own = replace(given, outer, (*base, "parameters")) if isinstance(given, dict) else {}
    swept = _first_values(benchmark.get("sweep"))
    pinned = settings.of(str(benchmark.get("benchmark_id")))
    values = {**outer, **swept, **own, **(point or {}), **pinned}
    rest = {key: value for key, value in benchmark.items() if key not in {"parameters", "sweep"}}
    resolved = replace(rest, values, base)
    if "sweep" in benchmark and point is None:
        resolved["sweep"] = replace(benchmark["sweep"], outer, (*base, "sweep"))
    elif swept:
        # What was swept is still known at a point, at the cost of one value.
        here = {name: [values[name]] for name in swept}
        resolved["sweep"] = {**benchmark["sweep"], "parameters": here}
    if isinstance(given, dict):
        resolved["parameters"] = own
    elif "parameters" in benchmark:
        resolved["parameters"] = given
    if point is not None:
        names = (*own, *point, *(name for name in pinned if name in swept))
        resolved["parameters"] = {name: values[name] for name in dict.fromkeys(names)}
    return resolved


def _suite_values(data: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return values of the suite's declared parameters, without invalid declarations."""
    declared = data.get("parameters")
    if not isinstance(declared, dict):
        return dict(settings.suite)
    values = {}
    for name, written in declared.items():
        parameter = _declaration(written)
        values[name] = None if parameter is None else default_value(parameter)
    return {**values, **settings.suite}


def _declaration(written: Any) -> Parameter | None:
    from pydantic import ValidationError

    from agentbench_tui.model.suite import Parameter

    try:
        return Parameter.model_validate(
            written if isinstance(written, dict) else {"default": written}
        )
    except ValidationError:
        return None


def _first_values(sweep: Any) -> dict[str, Any]:
    """Return one value of each swept parameter, for validating the suite."""
    swept = sweep.get("parameters") if isinstance(sweep, dict) else None
    values: dict[str, Any] = {}
    for name, written in (swept if isinstance(swept, dict) else {}).items():
        if isinstance(written, list) and written:
            values[name] = written[0]
        elif isinstance(written, dict):
            start = written.get("start")
            if written.get("integer") is True and isinstance(start, int | float):
                start = round(start)
            values[name] = start
    return values
