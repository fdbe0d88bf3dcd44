"""A comparison by groups of cases, on evidence made of numbers and on files."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agentbench_tui.analysis.differences.multiplicity import holm
from agentbench_tui.contracts.document import plain
from agentbench_tui.model.errors import UsageError
from agentbench_tui.presentation.comparison.by_group import groups_sentences
from agentbench_tui.verdicts.comparison.compare import Compared, compare
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.files.file_field import FileField
from agentbench_tui.verdicts.groups.case_groups import CaseFields
from agentbench_tui.verdicts.groups.compare_groups import (
    ComparedByGroups,
    GroupComparison,
    PairByGroups,
    compare_by_groups,
    judged_group,
)
from agentbench_tui.verdicts.groups.compare_groups_document import groups_document
from agentbench_tui.verdicts.selection.side import load_sides

Row = tuple[str, str, float]
"""Case, group, whether it is right."""


def rows(sizes: dict[str, int], right: dict[str, int]) -> list[Row]:
    """Of each group so many cases, the first of which are right."""
    return [
        (f"{name}{n}", name, float(n < right[name]))
        for name, size in sizes.items()
        for n in range(size)
    ]


def write(path: Path, lines: Sequence[Row], *, named: bool = True) -> str:
    head = "case,kind,correct" if named else "kind,correct"
    body = [f"{case},{kind},{right}" if named else f"{kind},{right}" for case, kind, right in lines]
    path.write_text("\n".join([head, *body]) + "\n")
    return f"file:{path}"


def compared(
    *selectors: str, by: str = "kind", metrics: Sequence[str] = ("accuracy",)
) -> tuple[Compared, ComparedByGroups]:
    with closing(sqlite3.connect(":memory:")) as connection:
        numbers, fields = CaseNumbers(connection), CaseFields()
        sides = load_sides(connection, selectors, None, None, numbers, by=FileField(by, fields))
        found = compare(connection, sides, numbers, Asked(), metrics)
        return found, compare_by_groups(connection, found, numbers, fields, by, metrics)


def only(found: ComparedByGroups) -> PairByGroups:
    (one,) = found.pairs
    return one


def test_each_group_is_compared_as_its_cases_alone_are_with_p_adjusted_by_holm(
    tmp_path: Path,
) -> None:
    sizes = {"x": 60, "y": 60, "z": 60}
    a = write(tmp_path / "a.csv", rows(sizes, {"x": 30, "y": 30, "z": 30}))
    b = write(tmp_path / "b.csv", rows(sizes, {"x": 50, "y": 38, "z": 30}))
    _, found = compared(a, b)
    metrics = [group.metrics[0] for group in only(found).groups]
    assert [group.group for group in only(found).groups] == ["x", "y", "z"]
    for name, one in zip(("x", "y"), metrics, strict=False):
        alone = [
            write(tmp_path / f"{side}-{name}.csv", [row for row in lines if row[1] == name])
            for side, lines in (
                ("a", rows(sizes, {"x": 30, "y": 30, "z": 30})),
                ("b", rows(sizes, {"x": 50, "y": 38, "z": 30})),
            )
        ]
        whole, _ = compared(*alone)
        same = whole.pairs[0].metrics[0]
        assert (one.difference, one.n, one.only_b) == (same.difference, same.n, same.only_b)
        # McNemar's exact test: all cases that one alone is right on are B's
        exact = 2 * 0.5 ** (one.only_b or 0)
        assert one.p_value == pytest.approx(max(same.p_value or 0, exact))
        assert None not in (one.low, same.low)
        assert (one.low or 0) <= (same.low or 0) < (same.high or 0) <= (one.high or 0)
    # nothing differs in z: its test can find nothing (Tarone) and is not counted
    p = [one.p_value for one in metrics[:2] if one.p_value is not None]
    assert [one.p_adjusted for one in metrics[:2]] == holm(p)
    assert found.tests == 2
    assert [one.verdict for one in metrics] == ["better", "better", "inconclusive"]


def test_the_main_verdict_is_the_same_with_and_without_groups(tmp_path: Path) -> None:
    sizes = {"x": 40, "y": 40}
    a = write(tmp_path / "a.csv", rows(sizes, {"x": 20, "y": 20}))
    b = write(tmp_path / "b.csv", rows(sizes, {"x": 30, "y": 20}))
    with_groups, _ = compared(a, b)
    connection = sqlite3.connect(":memory:")
    numbers = CaseNumbers(connection)
    sides = load_sides(connection, (a, b), None, None, numbers)
    without = compare(connection, sides, numbers, Asked(), ("accuracy",))
    connection.close()
    assert with_groups.pairs[0].metrics == without.pairs[0].metrics


def test_no_number_of_cases_shows_a_difference_of_a_file_from_itself(tmp_path: Path) -> None:
    sizes = {"x": 40, "y": 40}
    a = write(tmp_path / "a.csv", rows(sizes, {"x": 20, "y": 30}))
    b = write(tmp_path / "b.csv", rows(sizes, {"x": 22, "y": 30}))
    for other, needs in ((a, False), (b, True)):
        metrics = [group.metrics[0] for group in only(compared(a, other)[1]).groups]
        assert [one.verdict for one in metrics] == ["inconclusive"] * 2
        assert [one.n_to_exclude is not None for one in metrics] == [needs] * 2


def test_a_difference_of_one_group_alone_varies_and_a_common_one_does_not(tmp_path: Path) -> None:
    sizes = {"x": 80, "y": 80}
    a = write(tmp_path / "a.csv", rows(sizes, {"x": 40, "y": 40}))
    b = write(tmp_path / "b.csv", rows(sizes, {"x": 70, "y": 40}))
    c = write(tmp_path / "c.csv", rows(sizes, {"x": 55, "y": 54}))
    one_group, common = (only(compared(a, other)[1]) for other in (b, c))
    assert one_group.metrics[0].p_varies is not None
    assert one_group.metrics[0].p_varies < 0.001
    assert common.metrics[0].p_varies is not None
    assert common.metrics[0].p_varies > 0.5
    assert groups_sentences("kind", common)[0].startswith(
        "accuracy: the difference does not vary by kind more than by chance (p = "
    )


def test_better_in_one_group_and_worse_in_another_is_said(tmp_path: Path) -> None:
    sizes = {"x": 60, "y": 60}
    a = write(tmp_path / "a.csv", rows(sizes, {"x": 30, "y": 50}))
    b = write(tmp_path / "b.csv", rows(sizes, {"x": 50, "y": 30}))
    said = groups_sentences("kind", only(compared(a, b)[1]))
    assert said[1] == f"accuracy: {b} is better in x, and worse in y."


def test_a_whole_that_contradicts_every_group_is_said(tmp_path: Path) -> None:
    # kidney stones, Charig et al. 1986: treatment A is better for small and for large stones
    a = rows({"small": 87, "large": 263}, {"small": 81, "large": 192})
    b = rows({"small": 270, "large": 80}, {"small": 234, "large": 55})
    of_a, of_b = (
        write(tmp_path / f"{name}.csv", lines, named=False) for name, lines in (("a", a), ("b", b))
    )
    found = only(compared(of_b, of_a)[1])
    (metric,) = found.metrics
    assert metric.whole == pytest.approx(273 / 350 - 289 / 350)
    assert metric.is_reversed
    small, large = 81 / 87 - 234 / 270, 192 / 263 - 55 / 80
    assert metric.same_mix == pytest.approx((357 * small + 343 * large) / 700)
    said = groups_sentences("kind", found)
    assert any("lower over all cases, but higher in every group of kind" in one for one in said)
    assert metric.p_varies is not None  # Cochran's Q
    assert metric.p_varies > 0.5


def test_paired_sides_have_one_mix_and_cannot_be_reversed(tmp_path: Path) -> None:
    sizes = {"x": 30, "y": 60}
    a = write(tmp_path / "a.csv", rows(sizes, {"x": 20, "y": 30}))
    b = write(tmp_path / "b.csv", rows(sizes, {"x": 10, "y": 45}))
    (metric,) = only(compared(a, b)[1]).metrics
    assert metric.same_mix is None
    assert not metric.is_reversed


def test_the_column_of_one_file_is_enough(tmp_path: Path) -> None:
    lines = rows({"x": 20, "y": 20}, {"x": 10, "y": 15})
    a = write(tmp_path / "a.csv", lines)
    (tmp_path / "b.csv").write_text(
        "case,correct\n" + "".join(f"{case},{right}\n" for case, _, right in lines)
    )
    found = only(compared(a, f"file:{tmp_path}/b.csv")[1])
    assert [(one.group, one.cases_a, one.cases_b) for one in found.groups] == [
        ("x", 20, 20), ("y", 20, 20),
    ]  # fmt: skip


def test_files_without_the_column_are_refused_with_the_columns_they_have(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", rows({"x": 20}, {"x": 10}))
    with pytest.raises(UsageError, match=r'\(did you mean "kind"\?\); there are benchmark, case,'):
        compared(a, a, by="kinds")


def test_the_document_has_stable_keys_and_is_bounded(tmp_path: Path) -> None:
    sizes = dict.fromkeys("abcdef", 10)
    a = write(tmp_path / "a.csv", rows(sizes, dict.fromkeys(sizes, 5)))
    b = write(tmp_path / "b.csv", rows(sizes, dict.fromkeys(sizes, 6)))
    document = plain(groups_document(compared(a, b)[1], limit=4))
    assert list(document) == ["field", "adjustment", "tests", "notes", "pairs"]
    (pair,) = document["pairs"]
    assert (len(pair["groups"]), pair["more"]) == (4, 2)
    assert list(pair["groups"][0]) == ["group", "cases_a", "cases_b", "metrics"]
    assert "suite_id" not in pair["groups"][0]["metrics"][0]


def test_cases_that_are_found_to_belong_together_are_one_draw_in_groups_as_well(
    tmp_path: Path,
) -> None:
    draw = np.random.default_rng(4)
    right = {side: draw.random(40) < 0.5 for side in "ab"}
    selectors = []
    for side in "ab":
        lines = [
            (f"passage{n}-{part}", "xy"[n % 2], float(right[side][n]))
            for n in range(40)
            for part in range(5)
        ]
        selectors.append(write(tmp_path / f"{side}.csv", lines))
    found, groups = compared(*selectors)
    assert found.pairs[0].metrics[0].clusters == 40
    assert [one.metrics[0].clusters for one in only(groups).groups] == [20, 20]


def test_a_verdict_that_a_suspect_cluster_explains_is_held_back() -> None:
    clear = Comparison(
        "accuracy", "share", "higher", 0.02, a=0.5, b=0.9, difference=0.4, low=0.2, high=0.6,
        inner_low=0.25, inner_high=0.55, p_value=0.001, paired=True, n=50, sd=0.5,
    )  # fmt: skip
    open_one = replace(clear, low=-0.1, high=0.9, inner_low=0.0, inner_high=0.8, p_value=0.2)
    group = GroupComparison("x", 50, 50, (clear,), ((open_one, "not decided: passages"),))
    (held,) = judged_group(group, [0.01]).metrics
    assert held.verdict == "inconclusive"
    assert held.p_adjusted == 1.0  # ten times its p, as that of the other was adjusted
    assert held.notes[-1] == "not decided: passages"
    (kept,) = judged_group(replace(group, suspects=((clear, "?"),)), [0.01]).metrics
    assert kept.verdict == "better"


def test_equal_sides_are_hardly_ever_called_different_in_any_group(tmp_path: Path) -> None:
    draw, false = np.random.default_rng(3), 0
    for _ in range(12):
        lines = [(f"c{n}", f"g{n % 8}") for n in range(160)]
        sides = [
            write(tmp_path / f"{name}.csv", [(*line, float(draw.random() < 0.7)) for line in lines])
            for name in "ab"
        ]
        groups = only(compared(*sides)[1]).groups
        false += any(one.metrics[0].verdict in {"better", "worse"} for one in groups)
    assert false <= 3


def test_times_of_0_in_repeats_are_not_taken_to_logarithms(tmp_path: Path) -> None:
    text = "case,kind,repeat,latency_ms\n" + "".join(
        f"q{case},{case % 2},{repeat},{case % 5 + repeat}\n"
        for repeat in range(3)
        for case in range(20)
    )
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(text)
    a, b = (f"file:{tmp_path / name}.csv" for name in "ab")
    _, found = compared(a, b, metrics=["e2e_ms"])
    assert only(found).metrics[0].p_varies in {None, 1.0}
