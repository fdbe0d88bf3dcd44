"""Parameters: declared, set by `--set`, put in place of `${name}`."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.engine.suite.parameters import parse_settings, substitute, type_problem
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.suite import Parameter, Suite

SUITE = Suite.model_validate(
    {
        "suite_id": "s",
        "parameters": {
            "count": 3,
            "ratio": 0.5,
            "deep": False,
            "name": "x",
            "file": {"type": "path"},
            "level": {"default": "easy", "choices": ["easy", "hard"]},
            "list": [1, 2],
        },
        "benchmarks": [
            {
                "benchmark_id": "b.1",
                "kind": "experiment",
                "experiment": "e",
                "parameters": {"width": 10},
                "sweep": {"parameters": {"radius": [5, 8], "rate": {"start": 1, "stop": 2}}},
            }
        ],
    }
)


def unknown(path: tuple[str | int, ...], name: str) -> None:
    raise AssertionError((path, name))


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("count=-12", "count", -12),
        ("ratio=1e-3", "ratio", 0.001),
        ("deep=yes", "deep", True),
        ("deep=off", "deep", False),
        ("name=a=b", "name", "a=b"),
        ("name=", "name", ""),
        ("level=hard", "level", "hard"),
        ("list=[3]", "list", [3]),
        ("width=20", "width", 20),
        ("radius=9", "radius", 9),
        ("rate=1.5", "rate", 1.5),
        ("file=data/x.jsonl", "file", "/here/data/x.jsonl"),
        ("file=/abs/x.jsonl", "file", "/abs/x.jsonl"),
        ("file=package:m/x.jsonl", "file", "package:m/x.jsonl"),
    ],
)
def test_a_setting_is_read_by_its_declared_type(text: str, name: str, value: Any) -> None:
    settings = parse_settings(SUITE, [text], folder=Path("/here"))

    assert settings.suite == {name: value}
    assert type(settings.suite[name]) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("count=1.5", r'--set count: expected a whole number, got "1.5"'),
        ("count=", r'--set count: expected a whole number, got ""'),
        ("ratio=nan", r'--set ratio: expected a number, got "nan"'),
        ("deep=maybe", r'--set deep: expected true or false, got "maybe"'),
        ("level=hrd", r'--set level: "hrd" is not one of easy, hard \(did you mean "hard"\?\)'),
        ("cuont=1", r'--set cuont: s declares no such parameter \(did you mean "count"\?\)'),
        ("b.1.widht=1", r'did you mean "b.1.width"\?'),
        ("count", r"--set count: expected KEY=VALUE"),
        ("=1", r"expected KEY=VALUE"),
    ],
)
def test_a_wrong_setting_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_settings(SUITE, [text])


def test_a_setting_for_one_benchmark_wins_there_alone() -> None:
    settings = parse_settings(SUITE, ["count=5", "b.1.count=6", "b.1.width=7"])

    assert settings.of("b.1") == {"count": 6, "width": 7}
    assert settings.of("other") == {"count": 5}


def test_the_last_of_equal_settings_wins() -> None:
    assert parse_settings(SUITE, ["count=1", "count=2"]).suite == {"count": 2}


def test_a_text_that_is_one_reference_takes_the_value_with_its_type() -> None:
    values = {"n": 3, "on": True, "none": None, "list": [1], "s": "x"}
    given_data = ["${n}", "${on}", "${none}", "${list}", "${s}", "n=${n} on=${on} ${none}${list}"]

    assert substitute(given_data, values, unknown) == [
        3, True, None, [1], "x", "n=3 on=true [1]",
    ]  # fmt: skip


def test_a_doubled_dollar_is_the_text_itself() -> None:
    assert substitute({"a": "$${n} ${n} $n {n}"}, {"n": 1}, unknown) == {"a": "${n} 1 $n {n}"}


def test_an_unknown_reference_is_told_with_its_place_and_stays() -> None:
    told: list[tuple[tuple[str | int, ...], str]] = []

    result = substitute({"a": [{"b": "x ${m}"}]}, {}, lambda path, name: told.append((path, name)))

    assert told == [(("a", 0, "b"), "m")]
    assert result == {"a": [{"b": "x ${m}"}]}


@given(st.text(alphabet="${}na ", max_size=30))
def test_a_value_is_never_searched_for_references_again(text: str) -> None:
    assert substitute("<${v}>", {"v": text}, unknown) == f"<{text}>"


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"default": "x", "type": "integer"}, '"x" is not of the type integer'),
        ({"default": True, "type": "integer"}, "true is not of the type integer"),
        ({"default": "c", "choices": ["a", "b"]}, 'the default "c" is not among the choices'),
        ({"type": "string", "choices": ["a", 1]}, "1 is not of the type string"),
        ({"default": 1, "type": "number"}, ""),
        ({"type": "path", "required": True}, ""),
    ],
)
def test_a_declaration_is_held_to_its_own_type(declared: dict[str, Any], message: str) -> None:
    assert type_problem(Parameter.model_validate(declared)) == message
