"""What experiments take, however they say it."""

from __future__ import annotations

import sys
from importlib import metadata
from typing import Any, ClassVar

import pytest
import workloads

from agentbench_tui.experiments.experiment import REGISTERED, Experiment, register_experiment
from agentbench_tui.experiments.parameters import (
    describe,
    from_text,
    make_experiment,
    problems_of,
)
from agentbench_tui.experiments.registry import _import_own, find_experiment, list_experiments
from agentbench_tui.experiments.settings import equal_variants
from agentbench_tui.experiments.values import numbers, plain_map
from agentbench_tui.model.errors import UsageError


class Schema(Experiment):
    """By a schema, as AgentFarm has it."""

    param_schema: ClassVar = {
        "required": ["size"],
        "properties": {
            "size": {"type": "integer", "minimum": 1},
            "mode": {"enum": ["a", "b"], "default": "a", "description": "which"},
            "rate": {"type": "number", "default": 0.5},
        },
    }


class Styled(Experiment):
    """By its constructor, as AgentFarm has it."""

    def __init__(
        self, param1: int = 100, param2: str = "x", parameters: dict[str, Any] | None = None
    ) -> None:
        super().__init__(parameters or {})
        self.params.update({"param1": param1, "param2": param2})


class Free(Experiment):
    """Takes whatever it is given."""


def test_a_schema_is_checked_and_its_defaults_filled_in() -> None:
    assert make_experiment(Schema, {"size": 3}).params == {"size": 3, "mode": "a", "rate": 0.5}
    assert problems_of(Schema, {}) == ["parameter `size` has to be given"]
    (found,) = problems_of(Schema, {"size": 0})
    assert found.startswith("parameter `size`: input should be greater than or equal to 1")
    (found,) = problems_of(Schema, {"size": 1, "mode": "c"})
    assert found.startswith("parameter `mode`")
    assert describe(Schema)[1]["description"] == "which"


def test_a_constructor_of_agentfarm_works_as_it_is() -> None:
    made = make_experiment(Styled, {"param1": 5, "parameters": {"custom": True}})
    assert made.params == {"param1": 5, "param2": "x", "custom": True}
    assert problems_of(Styled, {"param1": "5"}) != []
    (found,) = problems_of(Styled, {"param1": [1, 2]})
    assert found.endswith("; list several values under `sweep`")
    assert problems_of(Styled, {"parm1": 5}) == [
        'there is no parameter "parm1" (did you mean "param1"?)'
    ]


def test_constructors_of_all_forms_are_called_by_what_they_take() -> None:
    class Nothing(Experiment):
        def __init__(self) -> None:
            super().__init__()

    class Mapping(Experiment):
        def __init__(self, params: dict[str, Any]) -> None:
            super().__init__(params)

    class AnyName(Experiment):
        def __init__(self, first: int = 1, **rest: Any) -> None:
            super().__init__({"first": first, **rest})

    class Schemed(Experiment):
        param_schema: ClassVar = {"properties": {"size": {"type": "integer", "default": 4}}}

        def __init__(self) -> None:
            self.ready = True

    assert make_experiment(Nothing, {}).params == {}
    assert problems_of(Nothing, {"size": 1}) == ['there is no parameter "size"; it takes none']
    assert make_experiment(Mapping, {"size": 1}).params == {"size": 1}
    assert make_experiment(AnyName, {"size": 2}).params == {"first": 1, "size": 2}
    assert make_experiment(Schemed, {}).params == {"size": 4}


def test_a_constructor_that_refuses_is_told_with_its_place() -> None:
    class Picky(Experiment):
        def __init__(self, disk: str = "none") -> None:
            raise ValueError("no such disk")

    with pytest.raises(UsageError, match=r"Picky cannot be made: ValueError: no such disk \("):
        make_experiment(Picky, {})


def test_a_constructor_that_does_not_call_that_of_the_base_has_its_parameters() -> None:
    class Plain(Experiment):
        def __init__(self, n: int = 50) -> None:
            self.n = n

    made = make_experiment(Plain, {"n": 7})
    assert made.params == {"n": 7}
    assert vars(made)["n"] == 7


def test_an_experiment_that_says_nothing_takes_anything() -> None:
    assert make_experiment(Free, {"x": 1}).params == {"x": 1}


def test_texts_are_read_as_the_parameter_is() -> None:
    assert from_text(Styled, "param1", "7") == 7
    assert from_text(Styled, "param2", "7") == "7"
    assert from_text(Styled, "param1", "seven") == "seven"  # told by the check


def test_a_slug_is_taken_once_and_found_by_its_nearest_name() -> None:
    @register_experiment("tested_slug")
    class One(Experiment):
        """The first line.

        And more.
        """

    try:
        assert find_experiment("tested_slug") is One
        listed = {one.slug: one.summary for one in list_experiments()}
        assert listed["tested_slug"] == "The first line."
        with pytest.raises(UsageError, match='did you mean "tested_slug"'):
            find_experiment("tested_slag")
        with pytest.raises(UsageError, match="two experiments are called"):
            register_experiment("tested_slug")(Free)
    finally:
        del REGISTERED["tested_slug"]


def entry_points(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Somebody else's experiment of that name is installed."""
    point = metadata.EntryPoint(name, "workloads:Counting", "agentbench.experiments")
    monkeypatch.setattr(
        metadata, "entry_points", lambda **one: metadata.EntryPoints([point]).select(**one)
    )


def test_no_plugin_takes_the_place_of_one_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    entry_points(monkeypatch, "memory_db")
    assert find_experiment("memory_db").__name__ == "MemoryDatabase"
    (source,) = [one.source for one in list_experiments() if one.slug == "memory_db"]
    assert source == "built in"
    entry_points(monkeypatch, "theirs")
    assert find_experiment("theirs").__name__ == "Counting"


def test_a_module_that_cannot_be_imported_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    package = "agentbench_tui.experiments.stores"
    monkeypatch.setitem(sys.modules, f"{package}.redis_memory", None)
    monkeypatch.delitem(REGISTERED, "redis_memory", raising=False)
    _import_own.cache_clear()
    try:
        assert find_experiment("memory_db").__name__ == "MemoryDatabase"
        with pytest.raises(UsageError, match=rf"{package}.redis_memory cannot be imported"):
            find_experiment("redis_memory")
    finally:
        _import_own.cache_clear()


def test_a_class_in_a_file_is_found_and_anything_else_is_refused() -> None:
    path = workloads.HERE / "workloads.py"
    assert find_experiment(f"python:{path}:Counting").__name__ == "Counting"
    with pytest.raises(UsageError, match="is not a class derived from Experiment"):
        find_experiment(f"python:{path}:descriptors")
    with pytest.raises(UsageError, match="a name, or python:module:Class"):
        find_experiment("command:./it")
    with pytest.raises(UsageError, match="is not a class derived from Experiment"):
        register_experiment("nothing")(workloads.descriptors)
    with pytest.raises(UsageError, match="cannot be called"):
        register_experiment("two words")


def test_settings_are_equal_by_what_they_are_not_by_their_order() -> None:
    found = equal_variants({"a": {"x": 1, "y": 2}, "b": {"y": 2, "x": 1}, "c": {"x": 1, "y": 3}})
    assert set(found) == {"a", "b"}
    assert "variants a and b are effectively equal (x=1, y=2)" in found["a"]


def test_numbers_of_libraries_become_plain_ones() -> None:
    import numpy as np

    given = {"a": np.float64(1.5), "b": np.arange(3), "c": {"d": np.int32(4), "e": float("nan")}}
    plain = plain_map(given)
    assert plain == {"a": 1.5, "b": [0, 1, 2], "c": {"d": 4, "e": None}}
    assert dict(numbers(plain)) == {"a": 1.5, "c.d": 4.0}
    assert plain_map({"large": 2**63, "endless": 10**400}) == {"large": 2.0**63, "endless": None}
