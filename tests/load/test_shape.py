"""How the load of a plan is shared out over its workers."""

from pathlib import Path

import pytest
from driving import model_target, request_type
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.load.schedule.shape import requests_of, schedule_of, worker_count, worker_plans
from agentbench_tui.load.sending.protocol import ClosedLoop, WorkerPlan
from agentbench_tui.load.spec import LoadSpec

FAR = model_target("http://192.0.2.1/v1")


def plans_of(**block: object) -> list[WorkerPlan]:
    spec = LoadSpec.model_validate(block)
    return worker_plans(
        spec,
        FAR,
        (request_type(),),
        schedule_of(spec, "."),
        seed=42,
        repeat=0,
        time_limit_s=None,
    )


@given(
    concurrency=st.integers(1, 200),
    most=st.none() | st.integers(1, 200),
    requests=st.none() | st.integers(1, 200),
    workers=st.integers(1, 32),
)
def test_workers_have_the_plans_users_and_places_between_them_and_none_is_idle(
    concurrency: int, most: int | None, requests: int | None, workers: int
) -> None:
    plans = plans_of(
        concurrency=concurrency, max_in_flight=most, requests=requests, workers=workers
    )

    users = [plan.schedule.users for plan in plans if isinstance(plan.schedule, ClosedLoop)]
    assert sum(users) == concurrency
    assert min(users) >= 1
    assert max(users) - min(users) <= 1
    if most is not None:
        assert sum(plan.max_in_flight or 0 for plan in plans) == most
        assert min(plan.max_in_flight or 0 for plan in plans) >= 1
    assert [plan.worker for plan in plans] == list(range(len(plans)))
    assert {plan.workers for plan in plans} == {len(plans)}
    assert len(plans) == min(n for n in (workers, concurrency, most, requests) if n is not None)


@pytest.mark.parametrize("block", [{"rate": 50_000}, {"throughput": True}])
def test_no_more_is_started_for_a_great_load_than_has_places(block: dict[str, object]) -> None:
    assert len(plans_of(**block, max_in_flight=1)) == 1


@pytest.mark.parametrize(
    ("block", "cores", "expected"),
    [
        ({"rate": 10.0}, 2, "may"),
        ({"rate": 10.0}, 1, "no"),
        ({"concurrency": 4}, 2, "no"),
        ({"concurrency": 4, "realtime": True}, 2, "must"),
        ({"rate": 10.0, "realtime": False}, 2, "no"),
    ],
)
def test_who_goes_first(
    block: dict[str, object], cores: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench_tui.load.schedule.shape.usable_cores", lambda: cores)
    (first, *_) = plans_of(**block)
    assert first.realtime == expected


@pytest.mark.parametrize(
    ("block", "needed"),
    [
        ({"rate": 9_000}, 5),
        ({"steps": [{"rate": 10, "for_s": 60}, {"rate": 9_000, "for_s": 60}]}, 5),
        ({"steps": [{"rate": 9_000, "for_s": 60}, {"rate": 10, "for_s": 60}]}, 5),
        ({"steps": [{"rate": 10, "for_s": 60}, {"rate": 9_000, "for_s": 60}], "duration_s": 50}, 1),
        # 600 requests of the first step, and 400 of the second
        (
            {"steps": [{"rate": 10, "for_s": 60}, {"rate": 9_000, "for_s": 60}], "requests": 1000},
            5,
        ),
        ({"ramp": {"start": 10, "end": 9_000, "over_s": 3600}, "duration_s": 3600}, 5),
        ({"ramp": {"start": 0, "end": 10_000, "over_s": 100}, "duration_s": 50}, 3),
        # A second of an hour
        ({"spike": {"rate": 1, "peak": 9_000, "at_s": 1.5, "for_s": 1}, "duration_s": 3600}, 5),
        ({"sine": {"mean": 5_000, "amplitude": 4_000, "period_s": 700}, "duration_s": 3600}, 5),
    ],
)
def test_workers_are_enough_for_the_highest_rate_of_the_whole_schedule(
    block: dict[str, object], needed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench_tui.load.schedule.shape.usable_cores", lambda: 64)
    assert len(plans_of(**block)) == needed


def test_workers_are_enough_for_the_densest_second_of_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench_tui.load.schedule.shape.usable_cores", lambda: 64)
    times = [*range(100), *(100 + nth / 5_000 for nth in range(5_000))]
    (tmp_path / "trace.csv").write_text("timestamp\n" + "".join(f"{time}\n" for time in times))
    spec = LoadSpec.model_validate({"trace": {"file": "trace.csv"}})
    arrivals = schedule_of(spec, str(tmp_path))

    assert worker_count(spec, arrivals, FAR) == 3


@pytest.mark.parametrize(
    ("block", "count"),
    [
        ({"rate": 5, "requests": 40}, 40),
        ({"rate": 5, "duration_s": 3}, None),
        ({"trace": {"file": "trace.csv"}}, 3),
        ({"trace": {"file": "trace.csv"}, "requests": 2}, 2),
        ({"trace": {"file": "trace.csv"}, "requests": 9}, 3),
        # A session's later turns are requests too, and how many there will be is not known.
        ({"rate": 5, "requests": 40, "workload": [{"turns": 2}]}, None),
    ],
)
def test_how_many_requests_end_a_window(
    tmp_path: Path, block: dict[str, object], count: int | None
) -> None:
    (tmp_path / "trace.csv").write_text("timestamp\n0\n1.5\n2\n")
    spec = LoadSpec.model_validate(block)
    assert requests_of(spec, schedule_of(spec, str(tmp_path))) == count
