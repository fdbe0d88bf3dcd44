"""JSON in answers: found, validated, compared field by field."""

import json
import socket
from pathlib import Path

import pytest
from bounded_work import bounded_work
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score
from agentbench_tui.scoring.code import cpu_limit
from agentbench_tui.scoring.reading import NoJson, find_json
from agentbench_tui.scoring.registry import check_scorer, make_scorer
from agentbench_tui.scoring.structure.equality import Equality, EqualityOptions

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def score(spec: object, expected: object, answer: Answer, base_dir: Path | str = "") -> Score:
    result = make_scorer(spec, base_dir=base_dir).score(Case("case", "", expected), answer)
    assert isinstance(result, Score)
    return result


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1}',
        ' {"a": 1}\n',
        'Sure!\n```json\n{"a": 1}\n```\nAnything else?',
        '```\n{"a": 1}',
        'First {"b": [} then {"a": 1} [2]',
        '```json\n{"a": 0}\n```\nNo, better:\n```json\n{"a": 1}\n```',
    ],
)
def test_json_is_found_in_text(text: str) -> None:
    assert find_json(Answer(text)) == {"a": 1}


@pytest.mark.parametrize(
    "text",
    ["none here", "NaN", "[" * 100_000, "{" * 5_000, ""],
    ids=["text", "NaN", "lists", "objects", "nothing"],
)
def test_text_without_json_is_told(text: str) -> None:
    with pytest.raises(NoJson):
        find_json(Answer(text))


@pytest.mark.parametrize(
    "hostile",
    ["[1," * 900 + "1," * 1_000_000, "```" + " " * 1_000_000],
    ids=["lists without an end", "a fence without one"],
)
def test_what_is_no_json_is_not_read_again_and_again(hostile: str) -> None:
    with bounded_work(), pytest.raises(NoJson):
        find_json(Answer(hostile))


@given(JSON)
def test_every_json_value_is_found_and_equals_itself(value: object) -> None:
    said = find_json(Answer(json.dumps(value)))
    assert Equality(EqualityOptions()).same(said, value)
    if value is not None:
        result = score("json_subset", value, Answer(json.dumps(value)))
        assert result.correct
        assert (result.correctness, result.completeness) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (5, 5.0),
        ("5", 5),
        ("1,000", 1000),
        (0.1 + 0.2, 0.3),
        ("New  York", "new york"),
        ("17*24", "17 × (24)"),
        ("2024-04-01", "April 1st, 2024"),
        ("2024-04-01T00:00:00Z", "2024-04-01T02:00:00+02:00"),
        ([1, "2"], [1.0, 2]),
    ],
)
def test_values_are_equal_by_value(said: object, expected: object) -> None:
    assert Equality(EqualityOptions()).same(said, expected)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (True, 1),
        (None, "null"),
        ("007", "7"),
        (1234567890123, 1234567890124),
        ("1234567890123", "1234567890124"),
        (10**400, 1.5),
        ("2+3", "3-2"),
        ("03/04/2024", "04/03/2024"),
        ([1, 2], [2, 1]),
        ({"a": 1}, {"a": 1, "b": 2}),
    ],
)
def test_values_that_differ_stay_apart(said: object, expected: object) -> None:
    assert not Equality(EqualityOptions()).same(said, expected)


def test_spelling_counts_where_asked() -> None:
    strict = Equality(
        EqualityOptions(ignore_case=False, numeric_strings=False, dates=False, expressions=False)
    )
    assert not strict.same("5", 5)
    assert not strict.same("A", "a")
    assert not strict.same("2024-04-01", "April 1, 2024")
    assert not strict.same("1*2", "1 * 2")
    assert Equality(EqualityOptions(ignore_punctuation=True)).same("New_York", "New York")
    assert Equality(EqualityOptions(tolerance=0.1)).same(105, 100)


def test_credit_by_field() -> None:
    expected = {"a": 1, "b": {"c": 2, "d": [3, 4]}, "e": []}
    said = {"a": 1, "b": {"c": 9, "d": [3]}, "extra": {"x": 1}}
    result = score("json_subset", expected, Answer(data=said))
    # Fields: a, b.c, b.d[0], b.d[1], e. Matching: a, b.d[0]; present: these and b.c.
    assert result.value == result.correctness == pytest.approx(2 / 5)
    assert result.completeness == pytest.approx(3 / 5)
    assert result.relevance == pytest.approx(3 / 4)
    assert not result.correct
    for place in ("b.c is 9, expected 2", "b.d[1] is missing", "e is missing"):
        assert place in result.reason


def test_further_fields_are_allowed_unless_forbidden() -> None:
    said = Answer(data={"a": 1, "b": 2})
    assert score("json_subset", {"a": 1}, said).correct
    strict = score({"json_subset": {"forbid_extra": True}}, {"a": 1}, said)
    assert (strict.correct, strict.reason) == (False, "1 field not expected")


def test_order_of_lists_is_ignored_on_request() -> None:
    said = Answer(data=[{"n": 2}, {"n": 1}])
    assert not score("json_subset", [{"n": 1}, {"n": 2}], said).correct
    assert score({"json_subset": {"ignore_order": True}}, [{"n": 1}, {"n": 2}], said).correct


@pytest.mark.parametrize(
    ("expected", "said", "value"),
    [
        # 103 is within 3% of both and 98 of the first alone, which must leave it to the second.
        pytest.param([100, 105], [103, 98], 1.0, id="tolerance"),
        pytest.param([100, 105], [103, 90], 0.5, id="tolerance, one wrong"),
        pytest.param(
            [{"a": 1}, {"a": 1, "b": 2}],
            [{"a": 1, "b": 2, "x": 0}, {"a": 1, "x": 0}],
            1.0,
            id="further fields",
        ),
        pytest.param([[1, 2], [3, 4]], [[4, 3], [2, 1]], 1.0, id="lists in lists"),
        # The item that is the same is not given to another that needs less of it.
        pytest.param(
            [{"a": 1}, {"a": 1, "b": 2, "c": 3}],
            [{"a": 1, "b": 2, "c": 9}, {"a": 1}],
            0.75,
            id="the same before what has more",
        ),
    ],
)
def test_in_any_order_as_many_items_as_can_be_are_right(
    expected: object, said: object, value: float
) -> None:
    spec = {"json_subset": {"ignore_order": True, "tolerance": 0.03}}
    assert score(spec, expected, Answer(data=said)).value == value


def test_long_lists_in_any_order_are_the_graders_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_limit, "LIMIT_S", 0.1)
    spec = {"json_subset": {"ignore_order": True}}
    said = [[f"thing {number}"] for number in range(100_000)]
    with bounded_work(), pytest.raises(GraderFailure, match=r"took more than 0\.1 s"):
        score(spec, [[f"item {number}"] for number in range(1_000)], Answer(data=said))


def test_answer_without_json_is_wrong_and_says_so() -> None:
    result = score("json_subset", {"a": 1}, Answer("I do not know"))
    assert (result.value, result.completeness) == (0, 0)
    assert "no JSON" in result.reason


def test_schema_by_option_file_or_case(tmp_path: Path) -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"minimum": 3}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    for spec, expected in (
        ({"json_schema": {"schema": schema}}, None),
        ({"json_schema": {"file": "schema.json"}}, None),
        ("json_schema", schema),
    ):
        assert score(spec, expected, Answer('{"n": 3}'), tmp_path).correct
        result = score(spec, expected, Answer('{"n": 2}'), tmp_path)
        assert not result.correct
        assert "$.n" in result.reason


def test_broken_schemas_are_told_before_the_run(tmp_path: Path) -> None:
    (problem,) = check_scorer({"json_schema": {"schema": {"type": "objekt"}}})
    assert "not a valid JSON schema" in problem
    (problem,) = check_scorer({"json_schema": {"file": "none.json"}}, base_dir=tmp_path)
    assert "none.json cannot be read" in problem


def test_schema_references_are_not_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        with pytest.raises(GraderFailure, match="refers to"):
            score({"json_schema": {"schema": {"$ref": url}}}, None, Answer("{}"))
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"pattern": "^(a+)+$"}, "a" * 60 + "!", id="pattern"),
        pytest.param({"uniqueItems": True}, [[n, {}] for n in range(500_000)], id="unique"),
    ],
)
def test_an_answer_that_takes_a_schema_ages_is_the_graders_failure(
    monkeypatch: pytest.MonkeyPatch, schema: dict[str, object], value: object
) -> None:
    monkeypatch.setattr(cpu_limit, "LIMIT_S", 0.1)
    with pytest.raises(GraderFailure, match=r"took more than 0\.1 s"):
        score({"json_schema": {"schema": schema}}, None, Answer(json.dumps(value)))


def test_only_so_many_faults_of_an_answer_are_looked_for() -> None:
    spec = {"json_schema": {"schema": {"items": {"type": "string"}}}}
    few = score(spec, None, Answer(json.dumps([1] * 999)))
    assert few.reason == "$[0]: 1 is not of type 'string' (and 998 more)"
    with bounded_work():
        many = score(spec, None, Answer(json.dumps([1] * 1_000_000)))
    assert many.reason == "$[0]: 1 is not of type 'string' (and at least 999 more)"


def test_punctuation_that_is_ignored_may_stand_in_telephone_numbers() -> None:
    options = {"json_subset": {"ignore_punctuation": True}}
    result = make_scorer(options).score(
        Case("case", "", {"phone": "555-0100"}), Answer('{"phone": "5550100"}')
    )
    assert isinstance(result, Score)
    assert result.correct
