"""The suite that `agentbench load` builds from its options: one benchmark of kind load."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.cli.suite_parts import (
    Block,
    agent_tables,
    check_request,
    check_spec,
    in_order,
    run_keys,
)
from agentbench_tui.load.options import LOAD_OPTIONS
from agentbench_tui.load.suite import DEFAULT_USERS, load_suite, swept_keys, window_of
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.suite_option import suite_fragment
from agentbench_tui.model.text.plain_number import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

_SHAPES = ("ramp", "steps", "spike", "sine")
_KEYS = (
    *("rate", *_SHAPES, "trace", "concurrency", "think_time_ms", "throughput", "arrivals"),
    *("burstiness", "duration_s", "requests", "max_in_flight", "workers", "warmup_requests"),
    *("drain_s", "stream", "realtime", "slo", "workload"),
)
"""Of `load:`, in the order in which a person reads them."""


def suite_of_options(targets: Sequence[str], given: dict[str, Any], folder: Path) -> Block:
    """Return the suite as plain data. Raises UsageError for options that contradict each other, and
    for two targets of one id."""
    _check_limits(given["slo"])
    benchmark = suite_fragment(LOAD_OPTIONS, given)
    block = in_order(_load_block(benchmark.get("load", {}), given, folder), _KEYS)
    suite = load_suite(
        block,
        agents=_different(agent_tables(targets, given, folder)),
        time_limit_ms=benchmark.get("constraints", {}).get("time_limit_ms"),
        keys=run_keys(given),
    )
    _check(block, swept_keys(block))
    return suite


def _different(agents: list[Block]) -> list[Block]:
    seen: set[str] = set()
    for table in agents:
        if table["id"] in seen:
            raise UsageError(
                f"two targets have the id '{table['id']}'; give each one of its own: "
                f"a={table['target']} b={table['target']}"
            )
        seen.add(table["id"])
    return agents


def _load_block(block: Block, given: dict[str, Any], folder: Path) -> Block:
    """Return the `load:` block with a schedule and a length; rates and users to sweep are lists."""
    if block.get("arrivals") == "max":
        block |= {"throughput": True}
        del block["arrivals"]
    if given["trace"] is None:
        block.pop("trace", None)  # options of a trace that was not given
    chosen = [name for name in ("rate", *_SHAPES, "trace", "concurrency") if name in block]
    named = [f"--{name}" for name in chosen] + ["--arrivals max"] * ("throughput" in block)
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)}: give one schedule")
    if not named:
        block["concurrency"] = DEFAULT_USERS
    _refuse_unused(given, block)
    block |= window_of(block, folder)
    check_request(given, block.get("workload", [{}])[0])
    return block


def _check_limits(given: Sequence[tuple[str, float]]) -> None:
    """Raise UsageError for a second limit on one metric, which is a mistake."""
    limits: Block = {}
    for name, limit in given:
        if name in limits:
            raise UsageError(
                f"--slo {name}={plain(limit)}: there is {name}={plain(limits[name])} already;"
                " give each metric one limit"
            )
        limits[name] = limit


def _refuse_unused(given: dict[str, Any], block: Block) -> None:
    """Raise UsageError for an option without effect, which is a mistake."""
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


def _check(block: Block, swept: Block) -> None:
    """Raise UsageError, in terms of the options, for invalid values of a load."""
    from agentbench_tui.load.spec import LoadSpec

    for name, values in swept.items() or [("", [None])]:
        for value in values:
            check_spec({**block, name: value} if name else block, LoadSpec, "load", LOAD_OPTIONS)
