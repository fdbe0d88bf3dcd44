"""Forms of dataset files that other programs write: CSV of spreadsheets, and chat format."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.engine.cases.dataset import open_dataset
from agentbench_tui.model.answer import Answer, Case, Message, Request, Score, ToolCall
from agentbench_tui.model.errors import SuiteError
from agentbench_tui.model.suite import Benchmark
from agentbench_tui.scoring.numbers.tokens import DecimalMark
from agentbench_tui.scoring.registry import make_scorer


def cases(folder: Path, name: str, *, prompt: str | None = None, **dataset: Any) -> list[Case]:
    benchmark = Benchmark.model_validate(
        {"benchmark_id": "b", "prompt": prompt, "dataset": {"data_source": name, **dataset}}
    )
    with open_dataset(benchmark, base_dir=folder, seed=1) as source:
        return list(source)


def test_a_csv_field_may_be_as_long_as_a_record(tmp_path: Path) -> None:
    question = "word " * 40_000
    (tmp_path / "d.csv").write_text(f'input,expected\n"{question}",yes\n')

    (case,) = cases(tmp_path, "d.csv")

    assert (case.input, case.expected) == (question, "yes")


def test_a_csv_line_beyond_the_bound_is_refused(tmp_path: Path) -> None:
    from agentbench_tui.model.text.delimited import LONGEST_FIELD

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


@pytest.mark.parametrize(
    ("first", "separator"),
    [
        ("sep=;", ";"),
        ("sep=,", ","),
        ("SEP=|", "|"),
        ('"sep=;"', ";"),
        ("sep=\t", "\t"),
        ("sep=;;", ";"),
    ],
)
def test_the_first_line_of_excel_names_the_separator(
    tmp_path: Path, first: str, separator: str
) -> None:
    rows = (("id", "input", "expected"), ("1", '"one, two; three|four"', "a"), ("2", "next", "b"))
    lines = (first, *(separator.join(row) for row in rows))
    text = "\ufeff" + "".join(f"{line}\r\n" for line in lines)
    (tmp_path / "d.csv").write_text(text, encoding="utf-8", newline="")

    one, two = cases(tmp_path, "d.csv")

    assert (one.id, one.input, one.expected) == ("1", "one, two; three|four", "a")
    assert (two.id, two.input, two.expected) == ("2", "next", "b")


def test_the_named_separator_is_none_of_the_columns_and_counts_as_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("sep=;\ninput;expected\nWie viel?;3,5\nUnd?;1.000,5\n")
    (tmp_path / "b.csv").write_text("sep=;\ninput;expected\na;1,5\nb;2.5\n")
    (tmp_path / "c.csv").write_text("sep=;\ninput;expected\na;1;2\n")
    (tmp_path / "d.csv").write_text("input,sep=;\na,1\n")

    assert [case.expected for case in cases(tmp_path, "a.csv")] == [3.5, 1000.5]
    with pytest.raises(SuiteError, match=r"b\.csv:4:1: .*'1,5' in line 3"):
        cases(tmp_path, "b.csv")
    with pytest.raises(SuiteError, match=r"c\.csv:3:1: 3 fields where the header has 2"):
        cases(tmp_path, "c.csv")
    (case,) = cases(tmp_path, "d.csv", fields={"expected": "sep=;"})
    assert case.expected == "1"


def test_a_separator_inside_quotes_of_the_header_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text('input,"expected;a;b;c"\nq,x\n')

    (case,) = cases(tmp_path, "d.csv", fields={"expected": "expected;a;b;c"})

    assert (case.input, case.expected) == ("q", "x")


def test_decimal_commas_are_read_where_semicolons_separate_fields(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("input;expected\nWie viel?;3,5\nWer, und wo?;1.000,5\n")
    (tmp_path / "b.csv").write_text('input,expected\nHow much?,"3,5"\n')

    assert [case.expected for case in cases(tmp_path, "a.csv")] == [3.5, 1000.5]
    assert [case.input for case in cases(tmp_path, "a.csv")] == ["Wie viel?", "Wer, und wo?"]
    assert [case.expected for case in cases(tmp_path, "b.csv")] == ["3,5"]


GERMAN = "id;input;expected\n1,1;12,5;3,5\n1,10;1.000,25;3,14\n1,2;7;1.234,5\n1,3;8;1,250\n"


@pytest.mark.parametrize("packed", [False, True])
def test_one_decimal_comma_decides_for_its_column(tmp_path: Path, packed: bool) -> None:
    name = "d.csv.gz" if packed else "d.csv"
    content = GERMAN.encode() + b"2;1.234;1.234\n3;9;-12,00\n4;9;n/a\n5;9;12345678901234567,0\n"
    (tmp_path / name).write_bytes(gzip.compress(content) if packed else content)

    found = cases(tmp_path, name)

    assert [case.expected for case in found] == [
        3.5, 3.14, 1234.5, 1.25, 1234, -12, "n/a", "12345678901234567.0"
    ]  # fmt: skip
    assert [case.input for case in found][:5] == ["12,5", "1.000,25", "7", "8", "1.234"]
    assert [case.id for case in found][:4] == ["1,1", "1,10", "1,2", "1,3"]


@pytest.mark.parametrize("decimal", [".", ","])
def test_answers_in_either_notation_are_right(tmp_path: Path, decimal: DecimalMark) -> None:
    (tmp_path / "d.csv").write_text(GERMAN)
    answers = {
        ".": ["3.5", "3.14", "1,234.5", "1.25"],
        ",": ["3,5", "3,14", "1.234,5", "1,250"],
    }[decimal]
    scorer = make_scorer({"numeric": {"decimal": decimal}})
    for case, answer in zip(cases(tmp_path, "d.csv"), answers, strict=True):
        score = scorer.score(case, Answer(answer))
        assert isinstance(score, Score)
        assert score.correct, (case.expected, answer)


def test_what_is_sent_and_what_names_a_case_stay_as_written(tmp_path: Path) -> None:
    text = "id;input;cluster;expected;cost\n1.000;1,5;2,5;3,5;4,5\n"
    (tmp_path / "d.csv").write_text(text)
    (case,) = cases(tmp_path, "d.csv", fields={"metadata.cost": "cost"})
    assert (case.id, case.input, case.cluster) == ("1.000", "1,5", "2,5")
    assert (case.expected, case.metadata) == (3.5, {"cost": "4.5"})


def test_a_column_without_a_decimal_comma_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("input;expected\n1,5;1.234\n2,5;2.5\n")

    assert [case.expected for case in cases(tmp_path, "d.csv")] == ["1.234", "2.5"]


def test_numbers_of_both_notations_in_one_column_are_refused(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("input;expected\na;7\nb;1,5\nc;2.5\n")

    with pytest.raises(SuiteError) as error:
        cases(tmp_path, "d.csv")

    reason = "'2.5' has a decimal point, but '1,5' in line 3 a decimal comma"
    assert f'd.csv:4:1: column "expected": {reason}; write' in str(error.value)


def test_a_column_of_text_and_both_notations_is_text(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("input;expected\na;1,2\nb;3.14\nc;Paris\n")

    assert [case.expected for case in cases(tmp_path, "d.csv")] == ["1,2", "3.14", "Paris"]


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


RESULT = {"role": "tool", "tool_call_id": "a", "content": "4"}


@pytest.mark.parametrize("prompt", [None, "{input} A number only."])
def test_a_dialogue_that_ends_with_the_result_of_a_tool_is_sent_as_it_is(
    tmp_path: Path, prompt: str | None
) -> None:
    made = calling('{"x": 2}')
    made["tool_calls"][0]["id"] = "a"
    final = {"role": "assistant", "content": "It is 4."}
    record = {"messages": [SYSTEM, QUESTION, made, RESULT, final]}
    (tmp_path / "d.jsonl").write_text(json.dumps(record) + "\n")

    (case,) = cases(tmp_path, "d.jsonl", prompt=prompt)

    asked = "2 + 2?" if prompt is None else "2 + 2? A number only."
    assert (case.input, case.expected) == (asked, "It is 4.")
    call = ToolCall("add", {"x": 2}, id="a")
    # Nothing follows the tool's result: the agent continues from there.
    assert Request(case, seed=1).conversation() == (
        Message("system", "Be brief."),
        Message("user", asked),
        Message("assistant", "", (call,)),
        Message("tool", "4", tool_call_id="a"),
    )


def test_an_earlier_use_of_a_tool_is_followed_by_the_question(tmp_path: Path) -> None:
    made, earlier = calling("{}"), {"role": "user", "content": "1 + 1?"}
    turns = [earlier, made, RESULT, {"role": "assistant", "content": "2"}, QUESTION, RIGHT]
    (tmp_path / "d.jsonl").write_text(json.dumps({"messages": turns}) + "\n")

    (case,) = cases(tmp_path, "d.jsonl")

    sent = [turn.role for turn in Request(case, seed=1).conversation()]
    assert sent == ["user", "assistant", "tool", "assistant", "user"]
    assert (case.input, case.expected) == ("2 + 2?", "4")


def test_results_of_tools_without_any_question_are_refused(tmp_path: Path) -> None:
    turns = [calling("{}"), RESULT, RIGHT]
    (tmp_path / "d.jsonl").write_text(json.dumps({"messages": turns}) + "\n")

    with pytest.raises(SuiteError, match="no user's message"):
        cases(tmp_path, "d.jsonl")


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
        ({"messages": [QUESTION, calling("{")]}, "the arguments of a tool call are not valid JSON"),
        (
            {"messages": [QUESTION, calling('{"x": ' + "[" * 10_000)]},
            "the arguments of a tool call are not valid JSON",
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
