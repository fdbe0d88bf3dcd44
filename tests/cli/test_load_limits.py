"""A load that comes near what the machine has of ports and open files is warned about."""

import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.cli.load.limits import ceiling_warnings, warn_of_limits
from agentbench_tui.engine.run.plan import Plan
from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.instruments.environment import capture_environment, fingerprint
from agentbench_tui.load.calibration.calibration import remember
from agentbench_tui.load.limits import Bounds, bounds_here, limit_warnings, raise_open_files
from agentbench_tui.load.results.window import Calibration
from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.database import create_or_migrate
from agentbench_tui.store.transaction import write_once

HERE = "openai:http://127.0.0.1:8000/v1#m"
THERE = "openai:http://192.0.2.1:8000/v1#m"
WEIGHTS = {"accuracy": 0, "speed": 1, "efficiency": 0, "cost": 0, "reliability": 0}


def plan_of(load: dict[str, Any], target: str = HERE, **suite: Any) -> Plan:
    document = {
        "suite_id": "load",
        "agents": [{"id": "m", "target": target}],
        "weights": WEIGHTS,
        "benchmarks": [{"benchmark_id": "load", "kind": "load", "load": load}],
        **suite,
    }
    return make_plan([suite_of_data(document, Path.cwd())], RunOptions())


def warned(load: dict[str, Any], bounds: Bounds, target: str = HERE, **suite: Any) -> list[str]:
    return limit_warnings(plan_of(load, target, **suite), bounds)


@pytest.mark.parametrize(
    ("load", "is_near"),
    [
        ({"concurrency": 200}, False),
        ({"concurrency": 201}, True),
        ({"throughput": True}, True),  # 256 at once
        ({"throughput": True, "max_in_flight": 100}, False),
        ({"rate": 5000, "max_in_flight": 201}, True),
        ({"rate": 5000}, False),  # nothing bounds it, and nothing is known
        ({"concurrency": 1000, "requests": 150}, False),
    ],
)
def test_more_than_two_thirds_of_the_ports_is_near(load: dict[str, Any], is_near: bool) -> None:
    found = warned(load, Bounds(ports=300, files=None))
    assert [("this machine has 300 ports" in line) for line in found] == [True] * is_near


@pytest.mark.parametrize(
    ("target", "load", "cores", "each"),
    [
        (HERE, {"concurrency": 1000, "workers": 4}, 8, 250),
        (THERE, {"concurrency": 1000}, 2, 500),
        (HERE, {"concurrency": 1000}, 2, 1000),  # one core is left to the server
        ("mock", {"concurrency": 1000, "workers": 4}, 8, 1000),  # the server has them all
        ("http://192.0.2.1/ask", {"concurrency": 1000}, 8, 1000),  # opened in one worker
    ],
)
def test_open_files_are_counted_a_process(
    target: str, load: dict[str, Any], cores: int, each: int
) -> None:
    (line,) = warned(load, Bounds(ports=None, files=each + 64, cores=cores), target)
    assert line.startswith(
        f"m: {each + 64:,} open files in one process, which may have {each + 64:,}"
    )
    assert not warned(load, Bounds(ports=None, files=2 * (each + 64), cores=cores), target)


def test_agents_without_connections_need_no_ports() -> None:
    few = Bounds(ports=1, files=1)
    assert not warned({"concurrency": 50}, few, "command:cat")


def test_a_sweep_is_warned_about_where_it_is_near() -> None:
    swept = {"sweep": {"parameters": {"users": [1, 300]}}}
    benchmark = {"benchmark_id": "b", "kind": "load", "load": {"concurrency": "${users}"}, **swept}
    (line,) = warned({}, Bounds(ports=300, files=None), benchmarks=[benchmark])
    assert "300 connections at once" in line


def test_a_cap_on_cost_without_a_price_is_told() -> None:
    none = Bounds(ports=None, files=None)
    (line,) = warned({"concurrency": 1}, none, cost_limit_usd=2)
    assert line.startswith("m: the budget of 2 USD cannot be held: ")
    price = [{"model": "m", "input": 1, "output": 1}]
    assert not warned({"concurrency": 1}, none, cost_limit_usd=2, prices=price)
    assert not warned({"concurrency": 1}, none, "mock", cost_limit_usd=2)


@pytest.mark.parametrize(
    ("target", "is_told"),
    [("python:json:loads", True), ("command:cat", True), (HERE, False), ("mock", False)],
)
def test_an_agent_that_is_not_told_how_long_to_answer_is_warned_about(
    target: str, is_told: bool
) -> None:
    load = {"concurrency": 1, "workload": [{"output_tokens": 5}]}
    found = warned(load, Bounds(ports=None, files=None), target)
    assert ["--output-tokens) is not passed on" in line for line in found] == [True] * is_told
    assert not warned({"concurrency": 1}, Bounds(ports=None, files=None), target)


@pytest.mark.parametrize(
    ("target", "workers", "cores", "is_told"),
    [
        (HERE, None, 2, True), (HERE, None, 3, False), (HERE, 2, 3, True), ("mock", None, 2, True),
        ("python:json:loads", None, 2, True), (THERE, None, 2, False), (THERE, None, 1, True),
    ],
)  # fmt: skip
def test_a_view_that_has_no_core_of_its_own_is_told(
    target: str, workers: int | None, cores: int, is_told: bool
) -> None:
    plan = plan_of({"rate": 5} | ({"workers": workers} if workers else {}), target)
    bounds = Bounds(ports=None, files=None, cores=cores)
    found = limit_warnings(plan, bounds, watched=True)
    assert ["no spare core" in line for line in found] == [True] * is_told
    assert limit_warnings(plan, bounds) == []


def calibration(ceiling_per_s: float) -> Calibration:
    return Calibration(
        at="2026-01-31T12:00:00.000Z",
        rate_per_s=100.0,
        overhead_p50_ms=0.1,
        overhead_p99_ms=0.2,
        n=300,
        cpu_us_per_request=50.0,
        ceiling_per_s=ceiling_per_s,
        workers=1,
        streamed=True,
    )


def test_a_plan_beyond_half_of_the_senders_ceiling_is_warned_about(tmp_path: Path) -> None:
    database = tmp_path / "a.db"
    plan = plan_of({"rate": 501})
    assert ceiling_warnings(plan, str(database)) == []
    create_or_migrate(database)
    assert ceiling_warnings(plan, str(database)) == []  # nothing was measured yet
    here = fingerprint(capture_environment(Path.cwd()))
    write_once(database, [lambda c: remember(c, None, here, calibration(1000.0))])
    (line,) = ceiling_warnings(plan, str(database))
    assert line.startswith("m: offered 501.0/s, 50% of the 1,000/s")
    assert ceiling_warnings(plan_of({"rate": 499}), str(database)) == []
    assert ceiling_warnings(plan_of({"concurrency": 5000}), str(database)) == []
    assert ceiling_warnings(plan_of({"rate": 501}, "command:cat"), str(database)) == []


@pytest.fixture
def _few_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("_few_files")
def test_the_soft_limit_of_open_files_is_raised() -> None:
    assert bounds_here().files == 256
    raise_open_files()
    files = bounds_here().files
    assert files is None or files > 256


BREAKS_OFF: dict[str, Any] = {"rate": 5, "workload": [{"cancel_after_tokens": 3}]}


@pytest.mark.parametrize(
    ("agent", "load", "told"),
    [
        ({"target": "command:cat"}, BREAKS_OFF, "leave it out for command: agents"),
        ({"target": "reference:perfect"}, BREAKS_OFF, "leave it out for reference: agents"),
        ({"target": HERE, "options": {"stream": False}}, BREAKS_OFF, "give `stream: true`"),
        ({"target": HERE, "options": {"stream": "false"}}, BREAKS_OFF, "give `stream: true`"),
        (
            {"target": HERE, "options": {"transport": "aiohttp"}},
            BREAKS_OFF,
            "not seen with a proxy",
        ),
        ({"target": HERE, "options": {"stream": False}}, BREAKS_OFF | {"stream": True}, None),
        ({"target": HERE}, BREAKS_OFF, None),
        ({"target": "mock"}, BREAKS_OFF, None),
        ({"target": "reference:perfect"}, {"rate": 5}, None),
    ],
)
def test_answers_that_come_in_one_piece_are_not_to_be_broken_off(
    agent: dict[str, Any], load: dict[str, Any], told: str | None
) -> None:
    plan = plan_of(load, agents=[{"id": "m", **agent}])
    if told is None:
        warn_of_limits(plan)
        return
    with pytest.raises(UsageError, match=r"^load m: `cancel_after_tokens`") as refused:
        warn_of_limits(plan)
    assert told in str(refused.value)
