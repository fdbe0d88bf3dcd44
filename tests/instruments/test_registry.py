"""Instruments by name, as suites ask for them."""

import pytest

from agentbench_tui.instruments.registry import (
    check_instrument,
    gpu_details,
    sampling_interval_s,
    unheeded,
)


@pytest.mark.parametrize("spec", ["timing", "psutil", "gpu", {"psutil": {"interval_ms": 200}}])
def test_known_instruments_are_taken(spec: object) -> None:
    assert check_instrument(spec, "task") == []  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("psutl", 'did you mean "psutil"'),
        ({"psutil": {"intervall_ms": 200}}, 'did you mean "interval_ms"'),
        ({"psutil": {"interval_ms": 5}}, "at least 10"),
        ({"gpu": {"pcie": 1}}, "`pcie` is true or false, not 1"),
        ({"gpu": {"process": True}}, 'did you mean "processes"'),
        ({"psutil": {"max_samples": 10}}, "there is no option `max_samples`"),
        ({"psutil": {"interval_ms": True}}, "must be a number"),
        ({"psutil": {}, "gpu": {}}, "one name with its options"),
        ("cprofile", "profiles experiments"),
    ],
)
def test_what_is_wrong_is_said(spec: object, said: str) -> None:
    (problem,) = check_instrument(spec, "task")  # type: ignore[arg-type]
    assert said in problem


def test_experiments_may_be_profiled() -> None:
    assert check_instrument({"cprofile": {"top_n": 30}}, "experiment") == []


def test_an_option_of_agentfarm_is_taken_of_experiments_alone_and_named_as_unheeded() -> None:
    spec = {"psutil": {"interval_ms": 200, "max_samples": 1000}}
    assert check_instrument(spec, "experiment") == []
    assert unheeded(["timing", spec, {"gpu": None}]) == ["psutil: max_samples"]


def test_details_of_gpus_are_read_where_any_entry_asks() -> None:
    assert check_instrument({"gpu": {"pcie": True, "processes": False}}, "task") == []
    assert gpu_details(["gpu", {"psutil": {}}]) == frozenset()
    specs = [{"gpu": {"pcie": True}}, {"gpu": None}, {"gpu": {"processes": False}}]
    assert gpu_details(specs) == {"pcie"}


def test_gauges_are_read_as_often_as_the_most_eager_asks() -> None:
    assert sampling_interval_s([]) == 1.0
    assert sampling_interval_s(["psutil", {"psutil": {"interval_ms": 500}}]) == 0.5
    assert sampling_interval_s([{"gpu": {"interval_ms": 250}}, {"psutil": {}}]) == 0.25


def test_an_interval_of_another_instrument_says_nothing_of_gauges() -> None:
    others = [{"pyinstrument": {"interval_ms": 0.1}}, {"plugin": {"interval_ms": "5 s"}}]
    assert sampling_interval_s(others) == 1.0
    assert sampling_interval_s([*others, {"psutil": {"interval_ms": 100}}, {"gpu": None}]) == 0.1
