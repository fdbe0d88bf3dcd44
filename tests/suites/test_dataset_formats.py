"""Forms of dataset files that other programs write: CSV of spreadsheets, and chat format."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.engine.dataset import open_dataset
from agentbench_tui.model.answer import Case, Message
from agentbench_tui.model.errors import SuiteError
from agentbench_tui.model.suite import Benchmark


def cases(folder: Path, name: str, **dataset: Any) -> list[Case]:
    benchmark = Benchmark.model_validate(
        {"benchmark_id": "b", "dataset": {"data_source": name, **dataset}}
    )
    with open_dataset(benchmark, base_dir=folder, seed=1) as source:
        return list(source)


def test_a_csv_field_may_be_as_long_as_a_record(tmp_path: Path) -> None:
    question = "word " * 40_000
    (tmp_path / "d.csv").write_text(f'input,expected\n"{question}",yes\n')

    (case,) = cases(tmp_path, "d.csv")

    assert (case.input, case.expected) == (question, "yes")


def test_a_csv_line_beyond_the_bound_is_refused(tmp_path: Path) -> None:
    from agentbench_tui.model.delimited import LONGEST_FIELD

    (tmp_path / "d.csv").write_text("input,expected\n" + "x" * (LONGEST_FIELD + 2) + ",yes\n")

    with pytest.raises(SuiteError, match=r"d\.csv:2:1: not valid CSV: a line of more than"):
        cases(tmp_path, "d.csv")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_header_decides_what_separates_fields(tmp_path: Path, separator: str) -> None:
    rows = (("id", "input", "expected"), ("1", '"one;\ntwo, three"', "a"), ("2", "next", "b"))
    text = "".join(separator.join(row) + "\r\n" for row in rows)
    (tmp_path / "d.csv").write_text("\ufeff" + text, encoding="utf-8", newline="")

    first, second = cases(tmp_path, "d.csv")

    assert (first.id, first.input, first.expected) == ("1", "one;\ntwo, three", "a")
    assert (second.id, second.input, second.expected) == ("2", "next", "b")


def test_a_separator_inside_quotes_of_the_header_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text('input,"expected;a;b;c"\nq,x\n')

    (case,) = cases(tmp_path, "d.csv", fields={"expected": "expected;a;b;c"})

    assert (case.input, case.expected) == ("q", "x")


def test_decimal_commas_are_read_where_semicolons_separate_fields(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("input;expected\nWie viel?;3,5\nWer, und wo?;1.000,5\n")
    (tmp_path / "b.csv").write_text('input,expected\nHow much?,"3,5"\n')

    assert [case.expected for case in cases(tmp_path, "a.csv")] == ["3.5", "1.000,5"]
    assert [case.input for case in cases(tmp_path, "a.csv")] == ["Wie viel?", "Wer, und wo?"]
    assert [case.expected for case in cases(tmp_path, "b.csv")] == ["3,5"]


SYSTEM = {"role": "system", "content": "Be brief."}
QUESTION = {"role": "user", "content": "2 + 2?"}
RIGHT = {"role": "assistant", "content": "4"}
SHOTS = [{"role": "user", "content": "1 + 1?"}, {"role": "assistant", "content": "2"}]


@pytest.mark.parametrize(
    ("record", "before", "expected"),
    [
        ({"messages": [SYSTEM, QUESTION, RIGHT]}, [SYSTEM], "4"),
        ({"messages": [SYSTEM, *SHOTS, QUESTION, RIGHT]}, [SYSTEM, *SHOTS], "4"),
        ({"messages": [SYSTEM, QUESTION], "expected": "4"}, [SYSTEM], "4"),
        ({"messages": [QUESTION, RIGHT], "expected": "4"}, [], "4"),
        ({"messages": [SYSTEM, QUESTION, RIGHT], "input": "2 + 2?"}, [SYSTEM], "4"),
        ({"messages": [QUESTION, RIGHT], "input": "2 + 2?", "expected": "four"}, [], "four"),
        ({"messages": [SYSTEM, *SHOTS], "input": "2 + 2?", "expected": "4"}, [SYSTEM, *SHOTS], "4"),
    ],
)
def test_a_dialogue_never_sends_the_question_twice_or_its_answer(
    tmp_path: Path, record: dict[str, Any], before: list[dict[str, str]], expected: str
) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps(record) + "\n")

    (case,) = cases(tmp_path, "d.jsonl")

    assert case.input == "2 + 2?"
    assert case.messages == tuple(Message(**message) for message in before)
    assert case.expected == expected


def test_paths_into_the_dialogue_do_not_send_the_answer(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps({"messages": [SYSTEM, QUESTION, RIGHT]}) + "\n")
    fields = {"input": "messages.1.content", "expected": "messages.2.content"}

    (case,) = cases(tmp_path, "d.jsonl", fields=fields)

    assert (case.input, case.expected) == ("2 + 2?", "4")
    assert case.messages == (Message("system", "Be brief."),)


def test_calls_of_tools_at_the_end_of_a_dialogue_are_what_is_expected(tmp_path: Path) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "add", "arguments": '{"x": 2}'}}
    answer = {"role": "assistant", "content": None, "tool_calls": [call]}
    (tmp_path / "d.jsonl").write_text(json.dumps({"messages": [QUESTION, answer]}) + "\n")

    (case,) = cases(tmp_path, "d.jsonl")

    assert case.expected == [{"name": "add", "arguments": {"x": 2}}]
    assert case.messages == ()


def calling(arguments: str) -> dict[str, Any]:
    """An answer that calls a tool."""
    function = {"name": "add", "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"function": function}]}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"messages": [{"role": "human", "content": "q"}]}, 'there is no role "human"'),
        ({"messages": [{"role": "asistant", "content": "q"}]}, 'did you mean "assistant"'),
        ({"messages": [SYSTEM]}, "`messages` has no user's message"),
        ({"messages": [SYSTEM, RIGHT]}, "`messages` has no user's message"),
        ({"messages": [QUESTION, RIGHT], "expected": "5"}, "`expected` is another one"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "expected `str`"),
        ({"messages": [QUESTION, calling("{")]}, "the arguments of a tool call are no JSON"),
        (
            {"messages": [QUESTION, calling('{"x": ' + "[" * 10_000)]},
            "the arguments of a tool call are no JSON",
        ),
    ],
)
def test_what_is_no_dialogue_is_refused_with_its_line(
    tmp_path: Path, record: dict[str, Any], message: str
) -> None:
    (tmp_path / "d.jsonl").write_text(json.dumps(record) + "\n")

    with pytest.raises(SuiteError, match=r"d\.jsonl:1:1: ") as caught:
        cases(tmp_path, "d.jsonl")
    assert message in str(caught.value)
