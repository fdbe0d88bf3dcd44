"""One table says what options mean in a suite: the fragment, the words of faults, the forms."""

from typing import Any

import pytest
from pydantic import BaseModel

from agentbench_tui.load.options import LOAD_OPTIONS
from agentbench_tui.load.spec import LoadSpec
from agentbench_tui.model.suite import Constraints
from agentbench_tui.model.suite_option import (
    FLAG,
    SWITCH,
    TEXT,
    Form,
    SuiteOption,
    named,
    option_of,
    suite_fragment,
)
from agentbench_tui.stress.options import STRESS_OPTIONS
from agentbench_tui.stress.spec import StressSpec

OPTIONS = (
    SuiteOption(flag="--think-time", value=TEXT, field="load.think_ms", factor=1000, help=""),
    SuiteOption(flag="--rate", value=Form("rates", alone=True), field="load.rate", help=""),
    SuiteOption(flag="--tag", value=TEXT, name="tags", several=True, field="tags", help=""),
    SuiteOption(flag="--slo", value=Form("slo", pairs=True), field="load.slo", help=""),
    SuiteOption(flag="--prompt", value=TEXT, field="load.workload.0.prompt", help=""),
    SuiteOption(flag="--turns", value=TEXT, field="load.workload.0.turns", help=""),
    SuiteOption(flag="--stream/--no-stream", value=SWITCH, field="load.stream", help=""),
    SuiteOption(flag="--mine", value=FLAG, help=""),
)


def test_a_fragment_holds_what_was_given_where_its_field_is() -> None:
    given = {
        "think_time": 0.5, "rate": [20], "tags": ("a", "b"), "slo": (("e2e_ms", 9),),
        "prompt": "x", "turns": 2, "stream": False, "mine": True,
    }  # fmt: skip
    assert suite_fragment(OPTIONS, given) == {
        "load": {
            "think_ms": 500.0,
            "rate": 20,
            "slo": {"e2e_ms": 9},
            "workload": [{"prompt": "x", "turns": 2}],
            "stream": False,
        },
        "tags": ["a", "b"],
    }


def test_what_was_not_given_leaves_nothing() -> None:
    given: dict[str, Any] = dict.fromkeys((one.key for one in OPTIONS), None)
    assert suite_fragment(OPTIONS, given | {"tags": (), "slo": ()}) == {}


def test_several_values_of_a_field_that_can_be_swept_stay_a_list() -> None:
    assert suite_fragment(OPTIONS, {"rate": [10, 20]}) == {"load": {"rate": [10, 20]}}


@pytest.mark.parametrize(
    ("path", "option"),
    [
        (("load", "rate"), "--rate"),
        (("load", "slo", "e2e_ms"), "--slo"),
        (("load", "workload", 0, "turns"), "--turns"),
        (("load", "stream"), "--stream"),
        (("load", "unknown"), ""),
        (("load",), ""),
    ],
)
def test_a_fault_is_told_by_the_option_that_set_the_field(
    path: tuple[str | int, ...], option: str
) -> None:
    assert option_of(OPTIONS, path) == option


def test_an_unknown_flag_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(KeyError):
        named(OPTIONS, "--no-such")


def _annotation(model: Any, parts: list[str]) -> bool:
    """Whether a model has a field at this path; lists and unions are looked through."""
    if not parts:
        return True
    if parts[0].isdigit():
        return _annotation(model, parts[1:])
    candidates = [model, *getattr(model, "__args__", ())]
    for one in candidates:
        for inner in (one, *getattr(one, "__args__", ())):
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                field = inner.model_fields.get(parts[0])
                if field is not None:
                    return _annotation(field.annotation, parts[1:])
    return False


@pytest.mark.parametrize(
    ("options", "kind", "spec"),
    [(LOAD_OPTIONS, "load", LoadSpec), (STRESS_OPTIONS, "stress", StressSpec)],
)
def test_every_field_of_a_table_is_one_of_the_suite(
    options: tuple[SuiteOption, ...], kind: str, spec: type[BaseModel]
) -> None:
    for option in options:
        if not option.field:
            continue
        first, *rest = option.field.split(".")
        model = {kind: spec, "constraints": Constraints}[first]
        assert rest[0] in model.model_fields, option.field
        assert _annotation(model, rest), option.field


def test_a_field_that_no_suite_has_is_noticed() -> None:
    assert not _annotation(LoadSpec, ["workload", "0", "synthetic", "lenght"])
    assert not _annotation(StressSpec, ["limits", "p99_ms"])


@pytest.mark.parametrize("options", [LOAD_OPTIONS, STRESS_OPTIONS])
def test_flags_and_names_are_each_used_once(options: tuple[SuiteOption, ...]) -> None:
    assert len({one.option for one in options}) == len(options)
    assert len({one.key for one in options}) == len(options)
