"""Turns a course into messages for load workers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.load.spec import LoadSpec, RequestSpec, SyntheticSpec
from agentbench_tui.load.workload.workload import make_workload
from agentbench_tui.model.identity import derive_seed

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Group
    from agentbench_tui.load.sending.protocol import RequestType
    from agentbench_tui.stress.stand.window_plan import WindowPlan

LONGEST_DRAIN_S = 8.0
"""Default grace period after a window, short because a dead target must not delay the run."""
LEAST_IN_FLIGHT = 64
MOST_IN_FLIGHT = 4096
"""Connections of one window: more than most machines let one process have open."""
DISTINCT_TOKENS = 500_000
"""Number of distinct tokens over all prompts of one window, if their length is given."""
MOST_DISTINCT = 64


def load_spec_of(
    course: WindowPlan,
    workload: list[RequestSpec],
    *,
    time_limit_s: float,
    warmup_requests: int,
    most_in_flight: int,
) -> LoadSpec:
    """Return the window as a load; the profile of a course is only in `course.arrivals`."""
    rate = course.highest_rate
    return LoadSpec(
        rate=rate,
        concurrency=course.users,
        duration_s=course.length_s,
        requests=course.requests,
        warmup_requests=warmup_requests,
        max_in_flight=_in_flight(course, rate, time_limit_s, most_in_flight),
        drain_s=min(time_limit_s, LONGEST_DRAIN_S) if course.drain_s is None else course.drain_s,
        workload=_of_length(workload, course.input_tokens),
    )


def workload_of(load_spec: LoadSpec, group: Group, repeat: int) -> tuple[RequestType, ...]:
    """Return prompts that differ in each window, since a server would have earlier ones in its
    cache.
    """
    seed = derive_seed(group.seed, "workload", repeat)
    return make_workload(load_spec, base_dir=group.base_dir, seed=seed)


def _in_flight(
    course: WindowPlan, rate: float | None, time_limit_s: float, most: int
) -> int | None:
    """Return enough in-flight slots for every request to take its whole time limit: a request
    that waits for a slot adds no load.
    """
    if rate is None or course.max_in_flight is not None:
        return course.max_in_flight
    enough = math.ceil(rate * time_limit_s)
    return min(max(enough, LEAST_IN_FLIGHT), most)


def _of_length(workload: list[RequestSpec], tokens: int | None) -> list[RequestSpec]:
    if tokens is None:
        return workload
    first = workload[0]
    distinct = min(max(DISTINCT_TOKENS // tokens, 1), MOST_DISTINCT)
    return [
        RequestSpec(
            name=f"{tokens}-tokens",
            synthetic=SyntheticSpec(input_tokens=tokens, distinct=distinct),
            system_prompt=first.system_prompt,
            output_tokens=first.output_tokens,
        )
    ]
