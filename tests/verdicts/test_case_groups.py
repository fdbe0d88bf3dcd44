"""Groups of cases by a field: order, ranges of numbers, tags, cases without it, refusals."""

import numpy as np
import pytest

from agentbench_tui.model.answer import Case
from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.evidence.place import Place
from agentbench_tui.verdicts.groups.case_groups import MOST_GROUPS, CaseFields, CaseGroups

HERE = Place("s", "b")


def fields(*metadata: dict[str, object]) -> CaseFields:
    """Of cases 0, 1, … with this metadata."""
    found = CaseFields()
    found.add_places([HERE])
    for number, one in enumerate(metadata):
        found.add_case(number, Case(f"c{number}", "?", metadata=dict(one)))
    return found


def table(groups: CaseGroups, cases: int, place: Place = HERE) -> dict[str, list[int]]:
    """Name of each group → the numbers of its cases."""
    members = groups.members(np.arange(cases), place)
    return {
        name: np.flatnonzero(row).tolist() for name, row in zip(groups.names, members, strict=True)
    }


def test_a_plain_name_means_the_field_of_the_metadata_and_cases_without_it_come_last() -> None:
    found = fields({"kind": "b"}, {"kind": "A"}, {}, {"kind": "b"})
    expected = {"A": [1], "b": [0, 3], "–": [2]}
    assert table(found.groups("kind"), 4) == expected
    assert table(found.groups("metadata.kind"), 4) == expected
    assert found.groups("metadata.kind").label == "kind"


def test_a_case_with_several_tags_is_in_several_groups() -> None:
    found = fields({"tags": ["x", "y"]}, {"tags": ["y"]})
    assert table(found.groups("tags"), 2) == {"x": [0], "y": [0, 1]}


def test_few_numbers_are_groups_by_size_and_many_are_cut_into_quarters() -> None:
    few = fields(*({"level": level} for level in (10, 2, 2, 10, 1)))
    assert list(table(few.groups("level"), 5)) == ["1", "2", "10"]
    many = fields(*({"length": length} for length in range(1, 41)))
    groups = many.groups("length")
    assert {name: len(cases) for name, cases in table(groups, 40).items()} == {
        "1–10": 10, "11–20": 10, "21–30": 10, "31–40": 10,
    }  # fmt: skip
    assert groups.note == "length: numbers in ranges of about a quarter of the cases each"


def test_ranges_of_large_and_of_close_numbers_have_names_of_their_own() -> None:
    seconds = fields(*({"at": 1_700_000_000 + second} for second in range(40)))
    assert table(seconds.groups("at"), 40) == {
        f"17000000{first:02}–17000000{first + 9:02}": [*range(first, first + 10)]
        for first in (0, 10, 20, 30)
    }
    close = fields(*({"weight": 0.5 + number / 2**40} for number in range(40)))
    assert [len(cases) for cases in table(close.groups("weight"), 40).values()] == [10] * 4


def test_a_case_with_several_numbers_is_in_the_range_of_each() -> None:
    found = fields(*({"years": [number, number + 20]} for number in range(20)))
    groups = table(found.groups("years"), 20)
    assert {name: len(cases) for name, cases in groups.items()} == {
        "0–9": 10, "10–19": 10, "20–29": 10, "30–39": 10,
    }  # fmt: skip
    assert groups["0–9"] == groups["20–29"] == [*range(10)]


def test_the_benchmark_is_a_field_of_where_the_case_was_asked() -> None:
    found = fields({}, {})
    other = Place("s", "c")
    found.add_places([other])
    groups = found.groups("benchmark")
    assert table(groups, 2) == {"b": [0, 1], "c": []}
    assert table(groups, 2, other) == {"b": [], "c": [0, 1]}


def test_a_field_of_the_metadata_that_is_named_as_another_keeps_its_prefix() -> None:
    found = fields({"suite": "x", "kind": "y"})
    assert found.names() == ["benchmark", "kind", "metadata.suite", "suite"]
    assert table(found.groups("suite"), 1) == {"s": [0]}
    assert table(found.groups("metadata.suite"), 1) == {"x": [0]}


def test_an_unknown_field_is_refused_with_those_there_are() -> None:
    found = fields({"category": "a"}, {"difficulty": "b"})
    with pytest.raises(UsageError) as refused:
        found.groups("catgory")
    assert str(refused.value) == (
        '--by catgory: no case has this field (did you mean "category"?);'
        " there are benchmark, category, difficulty, suite"
    )
    with pytest.raises(UsageError, match=r"`fields: \{metadata.level: level\}` in a suite keeps"):
        found.groups("level")


def test_a_field_with_a_value_for_each_case_is_refused() -> None:
    found = fields(*({"name": f"n{number}"} for number in range(40)))
    with pytest.raises(UsageError, match="40 of its 40 values belong to a single case"):
        found.groups("name")


def test_so_many_groups_that_nobody_reads_them_are_refused() -> None:
    found = fields(*({"name": f"n{number // 2}"} for number in range(2 * MOST_GROUPS + 2)))
    with pytest.raises(UsageError, match="has 501 values; at most 500 groups"):
        found.groups("name")


def test_a_column_that_differs_within_a_case_is_no_field_of_it() -> None:
    found = CaseFields()
    found.add_column("hour", [0, 1, 0], ["9", "9", ""], "a.csv")
    with pytest.raises(UsageError, match=r"--by hour: b.csv: one case has '9' and '10'"):
        found.add_column("hour", [0], ["10"], "b.csv")
