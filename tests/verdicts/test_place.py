"""Where executions were measured: names of places, and the latest run of each."""

from typing import Any

import pytest

from agentbench_tui.verdicts.evidence.place import Place, by_place, latest_of_places, place_of


def row(run_key: int, seed: int = 1, **parameters: Any) -> dict[str, Any]:
    return {
        "suite_id": "s", "benchmark_id": "b", "parameters": parameters, "run_key": run_key,
        "seed": seed,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "alone", "with_suite"),
    [({}, "b", "s/b"), ({"n": 1, "k": "x"}, "b (k=x, n=1)", "s/b at k=x, n=1")],
)
def test_a_place_is_named_with_its_point(
    parameters: dict[str, Any], alone: str, with_suite: str
) -> None:
    place = place_of(row(1, **parameters))
    assert (place.words, str(place), place.point) == (alone, with_suite, parameters)


def test_parameters_are_written_as_the_store_has_them() -> None:
    assert place_of(row(1, n=1, k="x")) == Place("s", "b", '{"k":"x","n":1}')


def test_what_two_sides_choose_makes_no_place_of_its_own() -> None:
    rows = [row(1, n=1), row(1, n=2)]
    assert len(by_place(rows)) == 2
    assert by_place(rows, {"n"}) == {Place("s", "b"): rows}


def test_the_run_measured_last_is_the_latest_whatever_was_stored_last() -> None:
    imported = row(9, n=1)  # of a run that is older than it was stored
    newer = [row(5, 1, n=1), row(5, 2, n=1)]
    elsewhere = row(2, n=2)
    assert latest_of_places([imported, elsewhere, *newer]) == [elsewhere, *newer]
