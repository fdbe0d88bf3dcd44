"""`agentbench compare file:…`: samples of files, against each other and against the store."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import make_place

from agentbench_tui.cli.main import _run

Compare = Callable[..., tuple[int, str, str]]


def write_samples(path: Path, factor: float, *, seed: int = 0, cases: int = 40) -> None:
    """Right are all but each fifth, and of the factor depends the time."""
    rows = [
        f"c{case},{0.1 * (1 + case % 7) * factor * (1 + 0.01 * ((case * 7 + seed) % 5))},"
        f"{int(case % 5 > 0)}"
        for case in range(cases)
    ]
    path.write_text("case,latency_s,correct\n" + "\n".join(rows) + "\n")


@pytest.fixture
def compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Compare:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AGENTBENCH_DB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    write_samples(tmp_path / "a.csv", 1.0)
    write_samples(tmp_path / "b.csv", 1.3, seed=1)

    def compare(*arguments: str) -> tuple[int, str, str]:
        status = _run(["compare", *arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return compare


def metrics(printed: str) -> dict[str, dict[str, Any]]:
    return {one["metric"]: one for one in json.loads(printed)["metrics"]}


def test_two_files_need_no_database(compare: Compare, tmp_path: Path) -> None:
    status, out, err = compare("file:a.csv", "file:b.csv", "--format", "json")
    assert status == 0
    found = metrics(out)
    assert found["e2e_ms"]["verdict"] == "worse"
    assert found["e2e_ms"]["ratio"] == pytest.approx(1.3, rel=0.01)
    assert found["accuracy"]["difference"] == 0
    assert found["accuracy"]["paired"]
    assert json.loads(out)["sides"]["a"]["notes"] == [err.splitlines()[0]]
    assert "a.csv: read as: latency_s × 1000 → e2e_ms, correct → accuracy" in err
    assert not (tmp_path / "data").exists()


def test_files_that_say_nothing_of_failures_are_not_compared_by_reliability(
    compare: Compare, tmp_path: Path
) -> None:
    for names, expected in ((("a.csv", "b.csv"), False), (("told.csv", "b.csv"), True)):
        header, *rows = (tmp_path / "a.csv").read_text().splitlines()
        told = [f"{header},status", *(f"{row},ok" for row in rows)]
        (tmp_path / "told.csv").write_text("\n".join(told) + "\n")
        a, b = (f"file:{name}" for name in names)
        assert ("reliability" in metrics(compare(a, b, "--format", "json")[1])) is expected


def test_a_note_that_holds_on_every_benchmark_is_printed_once(
    compare: Compare, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        header, *rows = (tmp_path / f"{name}.csv").read_text().splitlines()
        told = [f"{header},benchmark", *(f"{row},{of}" for of in ("x", "y") for row in rows)]
        (tmp_path / f"{name}2.csv").write_text("\n".join(told) + "\n")
    out = " ".join(compare("file:a2.csv", "file:b2.csv")[1].split())
    assert out.count("Speed was measured in one run per side") == 1
    assert "On all 2 benchmarks: Speed was measured" in out


def test_markdown_begins_with_the_verdict(compare: Compare) -> None:
    first, *_ = compare("file:a.csv", "file:b.csv", "--format", "md")[1].splitlines()
    assert first.startswith("**file:b.csv is worse than file:a.csv: ")


def test_the_values_of_both_sides_have_their_unit(compare: Compare, tmp_path: Path) -> None:
    for name, ms, usd in (("m.csv", 250, 0.002), ("n.csv", 12_500, 0.0035)):
        rows = [f"c{case},{ms},{usd}" for case in range(20)]
        (tmp_path / name).write_text("case,latency_ms,cost_usd\n" + "\n".join(rows) + "\n")
    out = compare("file:m.csv", "file:n.csv")[1]
    assert "250 ms, 12.5 s" in out
    assert "$0.0020, $0.0035" in out


def test_swapped_files_give_the_reciprocal(compare: Compare) -> None:
    one = metrics(compare("file:a.csv", "file:b.csv", "--format", "json")[1])["e2e_ms"]
    other = metrics(compare("file:b.csv", "file:a.csv", "--format", "json")[1])["e2e_ms"]
    assert one["ratio"] == pytest.approx(1 / other["ratio"])
    assert one["p_value"] == pytest.approx(other["p_value"], rel=1e-9)
    assert (one["verdict"], other["verdict"]) == ("worse", "better")


def test_a_file_compared_with_itself_is_equivalent(compare: Compare, tmp_path: Path) -> None:
    write_samples(tmp_path / "many.csv", 1.0, cases=160)
    found = metrics(compare("file:many.csv", "file:many.csv", "--format", "json")[1])
    assert found["e2e_ms"]["verdict"] == "equivalent"


def test_files_of_other_cases_are_told(compare: Compare, tmp_path: Path) -> None:
    path = tmp_path / "b.csv"
    path.write_text(path.read_text().replace("\nc", "\nd"))
    out = compare("file:a.csv", "file:b.csv")[1]
    assert "A was asked 40 cases, B 40, none of them the same: not paired" in out
    assert out.startswith("No winner can be named between file:a.csv and file:b.csv: ")
    path.write_text("latency_s\n1\n2\n")  # without ids none could be the same
    assert "not paired" not in compare("file:a.csv", "file:b.csv")[1]


def test_the_gate_is_open_where_neither_side_can_win(compare: Compare, tmp_path: Path) -> None:
    """No case in common, so that all wrong answers of B may be those to harder questions."""
    (tmp_path / "a.csv").write_text("case,correct\n" + "".join(f"a{n},1\n" for n in range(40)))
    (tmp_path / "b.csv").write_text("case,correct\n" + "".join(f"b{n},0\n" for n in range(40)))
    status, out, err = compare("file:a.csv", "file:b.csv", "--fail-on", "worse")
    assert out.startswith("No winner can be named between file:a.csv and file:b.csv: ")
    assert status == 3
    assert "gate: no verdict, not ranked: A was asked 40 cases, B 40, none of them" in err


def test_where_one_file_says_no_seeds_cases_alone_make_pairs(
    compare: Compare, tmp_path: Path
) -> None:
    rows = "".join(f"c{case},{seed},{1 + case}\n" for case in range(20) for seed in (1, 2))
    (tmp_path / "seeded.csv").write_text("case,seed,ms\n" + rows)
    for sides in (("seeded", "a"), ("a", "seeded")):
        out = compare(*(f"file:{name}.csv" for name in sides), "--format", "json")[1]
        found = metrics(out)["e2e_ms"]
        assert (found["paired"], found["n"]) == (True, 20)


def test_what_a_file_says_cannot_steer_the_terminal(compare: Compare, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("case,ms,failure_kind\na,1,\nb,2,\x1b[31mred\n")
    status, out, err = compare("file:x.csv", "file:a.csv")
    assert status == 0
    assert "\\x1b[31mred 1" in err
    assert "\x1b" not in out + err


def test_three_files_make_a_matrix(compare: Compare, tmp_path: Path) -> None:
    write_samples(tmp_path / "c.csv", 0.5)
    out = compare("file:a.csv", "file:b.csv", "file:c.csv", "--format", "json")[1]
    assert len(json.loads(out)["matrix"]) == 3


def test_a_column_of_ones_own_needs_a_direction(compare: Compare, tmp_path: Path) -> None:
    for name, shift in (("x.csv", 0.0), ("y.csv", 2.0)):
        rows = "".join(f"c{case},{case % 9 + shift}\n" for case in range(30))
        (tmp_path / name).write_text("case,fluency\n" + rows)
    sides = ("file:x.csv", "file:y.csv", "--metric", "fluency")
    status, _, err = compare(*sides)
    assert (status, "--better higher or --better lower" in err) == (2, True)
    for better, verdict in (("higher", "better"), ("lower", "worse")):
        status, out, _ = compare(*sides, "--better", better, "--format", "json")
        assert metrics(out)["fluency"]["verdict"] == verdict


def test_a_file_meets_what_was_measured_by_the_ids_of_the_cases(
    compare: Compare, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = make_place(tmp_path)
    place.suite(30)
    agent = ("--agent", "echo=python:agents.py:echo")
    assert _run(["run", "suite.json", *agent, "--no-ui", "--db", "store.db"]) == 0
    capsys.readouterr()
    rows = "".join(f"c{case},1\n" for case in range(30))
    (tmp_path / "all_right.csv").write_text("case_id,correct\n" + rows)
    sides = ("echo", "file:all_right.csv", "--db", "store.db", "--format", "json")
    status, out, _ = compare(*sides)
    assert status == 0
    accuracy = metrics(out)["accuracy"]
    assert accuracy["paired"]
    assert (accuracy["n"], accuracy["only_a"], accuracy["only_b"]) == (30, 0, 10)
    assert accuracy["verdict"] == "better"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("file:a.csv", "file:none.csv"), "none.csv: cannot be read: no such file"),
        (("file:a.csv", "file:"), "a path is expected behind file:"),
        (("file:a.csv", "file:b.csv", "--metric", "speed"), "--better higher or --better lower"),
        (
            ("file:a.csv", "file:b.csv", "--metric", "speed", "--better", "lower"),
            "a.csv: has no column 'speed'; it has case, latency_s, correct",
        ),
        (("x", "y", "--better", "lower"), "--better is for columns of files"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_line(
    compare: Compare, arguments: tuple[str, ...], said: str
) -> None:
    status, _, err = compare(*arguments)
    assert status == 2
    assert said in err


def test_benchmarks_that_no_other_side_has_are_told(compare: Compare, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("benchmark,ms\nqa,1\n")
    (tmp_path / "y.csv").write_text("benchmark,ms\ncode,1\n")
    status, _, err = compare("file:x.csv", "file:y.csv")
    assert (status, "no benchmark in common" in err) == (2, True)
    assert "file/qa" in err


def test_a_file_compared_with_itself_gets_one_line(compare: Compare) -> None:
    _, out, _ = compare("file:a.csv", "file:./a.csv")
    lines = out.splitlines()
    same = "both sides are the same file, so there is nothing to compare."
    assert lines == [f"A file:a.csv, B file:./a.csv: {same}"]
    assert "measure" in compare("file:a.csv", "file:b.csv")[1]
