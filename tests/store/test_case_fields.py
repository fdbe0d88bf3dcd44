"""Fields of stored cases: one value, several, none."""

import sqlite3

import msgspec

from agentbench_tui.model.answer import Case
from agentbench_tui.model.case_fields import Fields
from agentbench_tui.store.queries.cases import case_fields


def stored(*cases: Case) -> list[Fields]:
    """The fields of these cases, read back from a table as the store has it."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE cases (key INTEGER, dataset_key, case_id, body)")
    rows = [
        (key, 7, case.id, msgspec.json.encode(case).decode())
        for key, case in enumerate(cases, start=1)
    ]
    connection.executemany("INSERT INTO cases VALUES (?,?,?,?)", rows)
    found = case_fields(connection, [7])
    connection.close()
    assert list(found) == [7]
    return [found[7][key] for key in range(1, len(cases) + 1)]


def test_a_case_has_the_scalars_of_its_metadata_its_cluster_and_what_is_expected() -> None:
    case = Case(
        "a", "?", expected=140, cluster="book 1",
        metadata={"difficulty": "hard", "level": 3, "seen": False, "weight": 0.5},
    )  # fmt: skip
    assert stored(case) == [
        {
            "metadata.difficulty": ("hard",),
            "metadata.level": ("3",),
            "metadata.seen": ("false",),
            "metadata.weight": ("0.5",),
            "cluster": ("book 1",),
            "expected": ("140",),
        }
    ]


def test_a_list_gives_several_values_and_a_map_dotted_names() -> None:
    case = Case("a", "?", metadata={"tags": ["x", "y", "x"], "source": {"year": 2024.0}})
    assert stored(case) == [{"metadata.tags": ("x", "y"), "metadata.source.year": ("2024",)}]


def test_what_names_no_group_is_no_field() -> None:
    long = "word " * 40
    case = Case(
        "a", "?", expected={"total": 3},
        metadata={"text": long, "none": None, "rows": [{"a": 1}], "many": list(range(100))},
    )  # fmt: skip
    assert stored(case, Case("b", "?", expected=long), Case("c", "?", expected=True)) == [
        {},
        {},
        {"expected": ("true",)},
    ]
