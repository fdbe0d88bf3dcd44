"""Parameters that a run varies and the code never reads."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from measuring import measured, planned, rows, slug
from pydantic import BaseModel

from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.engine.suite.agentfarm import UNTIMED
from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.experiments import kind
from agentbench_tui.experiments.experiment import Experiment
from agentbench_tui.experiments.measuring.parameter_reads import (
    RecordedReads,
    asked_for,
    settle,
    unnoted,
    unread,
)
from agentbench_tui.experiments.parameters import make_experiment


class Plain(Experiment):
    """Has no constructor of its own."""

    class Parameters(BaseModel):
        a: int = 0
        b: int = 0


class Passing(Plain):
    """Its constructor passes on what it is given."""

    def __init__(self, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(parameters or {})
        self.data = None


class Keeping(Plain):
    """Its constructor keeps something."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        super().__init__(parameters)
        self.size = len(parameters)


class Named(Experiment):
    """AgentFarm's way: arguments of its own, put into `params`."""

    def __init__(self, a: int = 0, b: int = 0, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(parameters or {})
        self.params.update({"a": a, "b": b})
        self.data = None


class NamedKeeping(Named):
    """Keeps one of them elsewhere."""

    def __init__(self, a: int = 0, b: int = 0) -> None:
        super().__init__(a, b)
        self.kept = a


class Delegating(Plain):
    """Answers for attributes that it has not."""

    def __getattr__(self, name: str) -> str:
        if name.startswith("_"):
            raise AttributeError(name)
        return name


class Shadowing(Experiment):
    """Has defaults of its own under the same name."""

    params: ClassVar = {"a": 0}


class Model(BaseModel):
    a: int
    b: int


@pytest.mark.parametrize(
    ("read", "still"),
    [
        (lambda params: params["a"], ("b",)),
        (lambda params: params.get("b"), ("a",)),
        (lambda params: params.pop("b"), ("a",)),
        (lambda params: params.setdefault("a", 3), ("b",)),
        (lambda params: "{b}".format_map(params), ("a",)),
        (lambda params: Model(**params), ()),
        (dict, ()),
        (lambda params: {**params}, ()),
        (lambda params: {"c": 3} | params, ()),
        (lambda params: params | {"c": 3}, ()),
        (lambda params: {}.update(params), ()),
        (json.dumps, ()),
        (copy.deepcopy, ()),
        (lambda params: params.copy(), ()),
        (lambda params: list(params.values()), ()),
        (lambda params: params == {"a": 1, "b": 2}, ()),
        (str, ()),
        (Model.model_validate, ()),  # read by other code than Python's: not known, so not said
        (lambda params: "a" in params, ()),
    ],
)
def test_what_is_read_of_the_parameters_is_known(
    read: Callable[[dict[str, Any]], object], still: tuple[str, ...]
) -> None:
    experiment = Experiment({"a": 1, "b": 2})
    assert unread(experiment) == ("a", "b")
    read(experiment.params)
    assert unread(experiment) == still


@pytest.mark.parametrize(
    ("cls", "still"),
    [
        (Plain, ("a", "b")),
        (Passing, ("a", "b")),  # what has kept nothing has made no use of it
        (Keeping, ()),
        (Named, ("b",)),  # `a` is read after it was made
        (NamedKeeping, ()),
        (Delegating, ()),
    ],
)
def test_what_a_constructor_has_kept_may_be_in_use(
    cls: type[Experiment], still: tuple[str, ...]
) -> None:
    experiment = make_experiment(cls, {"a": 1, "b": 2})
    if cls is Named:
        assert experiment.params["a"] == 1
    assert unread(experiment) == still
    assert experiment.params == {"a": 1, "b": 2}


@pytest.mark.parametrize("cls", [Experiment, Delegating, Shadowing])
def test_parameters_are_those_that_were_given(cls: type[Experiment]) -> None:
    assert cls({"a": 1}).params == {"a": 1}
    assert copy.deepcopy(cls({"a": 1})).params == {"a": 1}
    assert cls().params == {}


def test_reading_settings_back_is_no_use_of_them() -> None:
    experiment = Experiment({"a": 1, "b": 2})
    with unnoted(experiment):
        assert {**experiment.params} == {"a": 1, "b": 2}
    assert asked_for(experiment) == {"a": 1, "b": 2}
    assert unread(experiment) == ("a", "b")


def test_measured_calls_read_a_plain_mapping() -> None:
    experiment = Experiment({"a": 1})
    assert type(experiment.params) is RecordedReads
    experiment.params["b"] = 2
    settle(experiment)
    assert type(experiment.params) is dict
    assert experiment.params == {"a": 1, "b": 2}


@pytest.mark.parametrize("warmup", [0, 1])
async def test_variants_that_differ_in_what_is_never_read_fail(tmp_path: Path, warmup: int) -> None:
    plan = planned(
        "Deaf", tmp_path, agents=["a=variant?size=1", "b=variant?size=2", "c=variant?heard=2"],
        iterations={"warmup": warmup, "measured": 2},
    )  # fmt: skip
    outcome = await measured(plan, tmp_path)
    assert outcome.status == "incomplete"
    reasons = dict(rows(tmp_path, "SELECT agent_id, stop_reason FROM benchmark_executions"))
    equal = "variants a and b are effectively equal (heard=1): nothing reads `size`"
    assert reasons == {"a": equal, "b": equal, "c": None}


async def test_a_sweep_of_what_is_never_read_fails_in_the_end(tmp_path: Path) -> None:
    said: list[str] = []
    plan = planned(
        "Deaf", tmp_path,
        sweep={"parameters": {"size": [1, 2], "heard": [1, 2]}},
        iterations={"warmup": 0, "measured": 1},
    )  # fmt: skip
    assert (await measured(plan, tmp_path, said)).status == "incomplete"
    equal = "points of the sweep are effectively equal: nothing reads `size`"
    assert said.count(equal) == 1
    reasons = rows(tmp_path, "SELECT stop_reason FROM benchmark_executions ORDER BY ordinal")
    assert reasons == [(None,), (None,), (None,), (equal,)]


async def test_points_that_end_together_are_told_once_that_nothing_reads_what_they_vary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, tell = asyncio.Barrier(2), kind._report_unused

    async def tell_together(*arguments: Any) -> None:
        await together.wait()
        await tell(*arguments)

    monkeypatch.setattr(kind, "_report_unused", tell_together)
    said: list[str] = []
    spec = {
        "benchmark_id": "it",
        "kind": "experiment",
        "experiment": slug("Deaf"),
        "iterations": {"warmup": 0, "measured": 1},
        "sweep": {"parameters": {"size": [1, 2]}},
    }
    suite = {"suite_id": "two", "parallelism": 2, "weights": UNTIMED, "benchmarks": [spec]}
    plan = make_plan([suite_of_data(suite, tmp_path)], RunOptions(folder=tmp_path))
    assert (await measured(plan, tmp_path, said)).status == "incomplete"
    equal = "points of the sweep are effectively equal: nothing reads `size`"
    assert said.count(equal) == 1


async def test_what_is_set_and_never_read_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    plan = planned("Deaf", tmp_path, parameters={"size": 5, "heard": 2}, fresh_process=True)
    assert (await measured(plan, tmp_path, said)).status == "complete"
    assert "it: nothing reads `size`" in said


async def test_parameters_that_are_handed_on_as_a_whole_are_not_judged(tmp_path: Path) -> None:
    plan = planned("Handing", tmp_path, agents=["a=variant?size=1", "b=variant?size=2"])
    assert (await measured(plan, tmp_path)).status == "complete"
