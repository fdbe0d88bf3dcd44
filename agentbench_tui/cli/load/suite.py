"""The suite that `agentbench load` builds from its options: one benchmark of kind load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.cli.suite_parts import Block, agent_tables, request_of, run_keys
from agentbench_tui.load.suite import DEFAULT_USERS, load_suite, swept_keys, window_of
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.plain_number import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHAPES = ("ramp", "steps", "spike", "sine")
_OPTIONS = {
    "duration_s": "duration",
    "think_time_ms": "think-time",
    "warmup_requests": "warmup",
    "max_in_flight": "max-in-flight",
    "drain_s": "drain",
    "throughput": "arrivals",
}
"""Keys of `load:` whose option has another name."""


def suite_of_options(target: str, given: dict[str, Any], folder: Path) -> Block:
    """The suite, as plain data. Raises UsageError for options that contradict each other."""
    block = _load_block(given, folder)
    timeout_s = given["timeout"]
    suite = load_suite(
        block,
        agents=agent_tables([target], given, folder),
        time_limit_ms=None if timeout_s is None else timeout_s * 1000,
        keys=run_keys(given),
    )
    _check(block, swept_keys(block))
    return suite


def _load_block(given: dict[str, Any], folder: Path) -> Block:
    """The `load:` block; rates and users to sweep are lists in it."""
    block = _schedule(given)
    _length(block, given, folder)
    for name in ("max_in_flight", "workers"):
        if given[name] is not None:
            block[name] = given[name]
    for key, name in (("warmup_requests", "warmup"), ("drain_s", "drain"), ("stream", "stream")):
        if given[name] is not None:
            block[key] = given[name]
    if given["realtime"] is not None:
        block["realtime"] = given["realtime"]
    if given["slo"]:
        block["slo"] = _limits(given["slo"])
    request = request_of(given)
    if request:
        block["workload"] = [request]
    return block


def _limits(given: Sequence[tuple[str, float]]) -> Block:
    """Metric → limit. A second limit on one metric is a misunderstanding."""
    limits: Block = {}
    for name, limit in given:
        if name in limits:
            raise UsageError(
                f"--slo {name}={plain(limit)}: there is {name}={plain(limits[name])} already;"
                " give each metric one limit"
            )
        limits[name] = limit
    return limits


def _schedule(given: dict[str, Any]) -> Block:
    chosen = [
        name for name in ("rate", *_SHAPES, "trace", "concurrency") if given[name] is not None
    ]
    most = given["arrivals"] == "max"
    named = [f"--{name}" for name in chosen] + ["--arrivals max"] * most
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)}: give one schedule")
    block: Block = {}
    if most:
        block["throughput"] = True
    elif not chosen or chosen == ["concurrency"]:
        block["concurrency"] = _one_or_many(given["concurrency"] or [DEFAULT_USERS])
        if given["think_time"] is not None:
            block["think_time_ms"] = given["think_time"] * 1000
    elif chosen == ["trace"]:
        block["trace"] = {"file": given["trace"]}
        for key in ("speed", "unit"):
            if given[f"trace_{key}"] is not None:
                block["trace"][key] = given[f"trace_{key}"]
    else:
        (name,) = chosen
        block[name] = _one_or_many(given[name]) if name == "rate" else given[name]
        for key in ("arrivals", "burstiness"):
            if given[key] is not None:
                block[key] = given[key]
    _refuse_unused(given, block)
    return block


def _refuse_unused(given: dict[str, Any], block: Block) -> None:
    """An option that would change nothing is a misunderstanding."""
    is_rate = not {"throughput", "concurrency", "trace"} & block.keys()
    needs = {
        "think_time": ("concurrency" in block, "--concurrency"),
        "trace_speed": ("trace" in block, "--trace"),
        "trace_unit": ("trace" in block, "--trace"),
        "arrivals": (is_rate or "throughput" in block, "--rate, --ramp, --steps, --spike, --sine"),
        "burstiness": (given["arrivals"] == "gamma", "--arrivals gamma"),
        "prefix_share": (given["input_tokens"] is not None, "--input-tokens"),
    }
    for name, (used, wanted) in needs.items():
        if given[name] is not None and not used:
            raise UsageError(f"--{name.replace('_', '-')} works only with {wanted}")


def _length(block: Block, given: dict[str, Any], folder: Path) -> None:
    """Return the duration: the given one, else that of the shape, else DEFAULT_S."""
    if given["duration"] is not None:
        block["duration_s"] = given["duration"]
    if given["requests"] is not None:
        block["requests"] = given["requests"]
    block |= window_of(block, folder)


def _one_or_many(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _check(block: Block, swept: Block) -> None:
    """Raise UsageError, in terms of the options, for invalid values of a load."""
    from pydantic import ValidationError

    from agentbench_tui.engine.suite.suite_problems import findings
    from agentbench_tui.load.spec import LoadSpec

    for name, values in swept.items() or [("", [None])]:
        for value in values:
            point = {**block, name: value} if name else block
            try:
                LoadSpec.model_validate(point)
            except ValidationError as error:
                finding = findings(error, point, LoadSpec)[0]
                raise UsageError(f"{_option_of(finding.path)}{finding.message}") from None


def _option_of(path: tuple[str | int, ...]) -> str:
    """`--max-in-flight: ` for a problem at that key of `load:`."""
    names = [str(part) for part in path if isinstance(part, str)]
    if not names:
        return ""
    name = names[-1] if names[0] == "workload" else names[0]
    name = {**_OPTIONS, "cancel_after_tokens": "cancel-after", "prompts": "prompt"}.get(name, name)
    return f"--{name.replace('_', '-')}: "
