"""`--cluster` of `compare` and `stats summary`, and the notes on clusters that nobody declared."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import Place

from agentbench_tui.cli.main import _run

Called = Callable[..., tuple[int, str, str]]


def write(path: Path, right: Callable[[int], bool]) -> None:
    """12 passages of 10 questions, each passage wholly right or wrong."""
    rows = [f"q{case},p{case // 10},{int(right(case // 10))}" for case in range(120)]
    path.write_text("case,passage_id,correct\n" + "\n".join(rows) + "\n")


@pytest.fixture
def called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Called:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("AGENTBENCH_DB", raising=False)
    write(tmp_path / "a.csv", lambda passage: passage < 4)
    write(tmp_path / "b.csv", lambda passage: passage >= 4)

    def called(*arguments: str) -> tuple[int, str, str]:
        status = _run(list(arguments))
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return called


COMPARE = ("compare", "file:a.csv", "file:b.csv", "--metric", "accuracy")


def test_a_cluster_that_nobody_declared_is_named_once(called: Called) -> None:
    status, out, _ = called(*COMPARE)
    assert status == 0
    assert " ".join(out.split()).count("cases with the same `passage_id` are alike") == 1
    assert "120 pairs, 12 clusters" in out
    document = json.loads(called(*COMPARE, "--format", "json")[1])
    (cluster,) = document["benchmarks"][0]["clusters"]
    assert cluster["cluster"] == "passage_id"
    assert cluster["metrics"] == ["accuracy"]
    assert cluster["effective_n"] == pytest.approx(12)
    assert document["metrics"][0]["clusters"] == 12
    assert document["metrics"][0]["p_value"] == pytest.approx(1588 / 4096)


def test_the_option_decides_and_says_nothing(called: Called) -> None:
    _, out, _ = called(*COMPARE, "--cluster", "passage_id")
    assert "120 pairs, 12 clusters" in out
    assert "alike" not in out
    _, out, _ = called(*COMPARE, "--cluster", "case")
    assert "120 pairs, 40 A alone, 80 B alone" in out
    assert "better" in out


def test_a_field_that_no_case_has_is_a_usage_error(called: Called) -> None:
    status, _, err = called(*COMPARE, "--cluster", "pasage_id")
    assert status == 2
    assert 'did you mean "passage_id"' in " ".join(err.split())


def test_summaries_of_one_file_count_the_groups_as_draws(called: Called) -> None:
    found = {}
    for option in ((), ("--cluster", "passage_id"), ("--cluster", "case")):
        _, out, _ = called("stats", "summary", "a.csv", "--format", "json", *option)
        metric = next(one for one in json.loads(out)["metrics"] if one["metric"] == "accuracy")
        found[option[1:]] = metric
    assert found[()]["cluster"]["cluster"] == "passage_id"
    assert found[()]["figures"] == found["passage_id",]["figures"]
    assert found["passage_id",]["cluster"] is None
    width = {
        key: one["figures"][0]["high"] - one["figures"][0]["low"] for key, one in found.items()
    }
    # Wilson's interval of 4 of 12, and of 40 of 120.
    assert width[()] == pytest.approx(0.609 - 0.138, abs=0.06)
    assert width["case",] == pytest.approx(0.4216 - 0.2553, abs=0.001)


def test_the_table_of_a_summary_names_the_cluster(called: Called) -> None:
    _, out, _ = called("stats", "summary", "a.csv", "--metric", "accuracy")
    assert "values of cases with the same `passage_id` are alike" in " ".join(out.split())


def test_a_summary_of_two_metrics_names_their_cluster_once(called: Called, tmp_path: Path) -> None:
    rows = [
        f"q{n},p{n // 10},{int(n // 10 < 4)},{100 + 10 * (n // 10) + n % 10}" for n in range(120)
    ]
    text = "case,passage_id,correct,latency_ms\n" + "\n".join(rows) + "\n"
    (tmp_path / "timed.csv").write_text(text)
    _, out, _ = called("stats", "summary", "timed.csv")
    assert "accuracy (share)" in out
    assert "e2e_ms (ms)" in out
    assert " ".join(out.split()).count("cases with the same `passage_id` are alike") == 1


def test_times_of_groups_asked_one_after_another_may_be_alike_by_the_machine(
    called: Called, tmp_path: Path
) -> None:
    """40 groups of 5, slow for the first half; then the same cases in another order."""
    cases = [f"q{n},d{n // 5},{200 if n < 100 else 100}" for n in range(200)]
    shuffled = [cases[n * 77 % 200] for n in range(200)]
    warning = "a machine that was slower for a while looks the same"
    for rows, says in ((cases, True), (shuffled, False)):
        (tmp_path / "times.csv").write_text("case,document,latency_ms\n" + "\n".join(rows) + "\n")
        text = " ".join(called("stats", "summary", "times.csv")[1].split())
        assert "with the same `document` are alike" in text
        assert (warning in text) is says


def test_stored_runs_name_a_field_of_metadata_and_take_it_afterwards(
    called: Called, tmp_path: Path
) -> None:
    """One agent is right on even passages, the other on those that 3 divides."""
    cases = [
        {"id": f"c{n}", "input": f"{n / 10}", "expected": "yes", "metadata": {"passage": n // 10}}
        for n in range(120)
    ]
    (tmp_path / "agents.py").write_text(
        "def even(prompt): return 'yes' if int(float(prompt)) % 2 == 0 else 'no'\n"
        "def third(prompt): return 'yes' if int(float(prompt)) % 3 == 0 else 'no'\n"
    )
    Place(tmp_path).suite(0, dataset={"cases": cases})
    agents = [f"--agent={name}=python:agents.py:{name}" for name in ("even", "third")]
    store = ("--db", "store.db", "--format", "json")
    assert called("run", "suite.json", "--no-ui", *agents, "--db", "store.db")[0] == 0

    (found,) = json.loads(called("runs", "show", "latest", *store)[1])["clusters"]
    assert found["cluster"] == "metadata.passage"
    assert found["effective_n"] == pytest.approx(12)
    assert "fields: {cluster: metadata.passage}" in found["words"]

    (board,) = json.loads(called("leaderboard", *store)[1])["boards"]
    assert [note for note in board["notes"] if "`metadata.passage`" in note]
    (declared,) = json.loads(called("leaderboard", "--cluster", "passage", *store)[1])["boards"]
    assert not [note for note in declared["notes"] if "alike" in note]
    assert declared["standings"] == board["standings"]

    compared = [
        json.loads(called("compare", "even", "third", "--metric", "accuracy", *option, *store)[1])
        for option in ((), ("--cluster", "passage"))
    ]
    assert compared[0]["metrics"] == compared[1]["metrics"]
    assert compared[0]["metrics"][0]["clusters"] == 12


@pytest.mark.parametrize("option", [(), ("--cluster", "case"), ("--cluster", "id")])
def test_copies_of_a_question_are_one_draw_whatever_is_declared(
    called: Called, tmp_path: Path, option: tuple[str, ...]
) -> None:
    """8 questions under 10 ids each, of which one agent is right on two, the other on seven."""
    cases = [{"id": f"c{n}", "input": f"{n // 10}", "expected": "yes"} for n in range(80)]
    (tmp_path / "agents.py").write_text(
        "def few(prompt): return 'yes' if int(prompt) < 2 else 'no'\n"
        "def most(prompt): return 'yes' if int(prompt) < 7 else 'no'\n"
    )
    Place(tmp_path).suite(0, prompt="{input}", dataset={"cases": cases})
    agents = [f"--agent={name}=python:agents.py:{name}" for name in ("few", "most")]
    assert called("run", "suite.json", "--no-ui", *agents, "--db", "store.db")[0] == 0
    _, out, _ = called(
        "compare", "few", "most", "--metric", "accuracy", "--db", "store.db", "--format", "json",
        *option,
    )  # fmt: skip
    (found,) = json.loads(out)["metrics"]
    assert found["clusters"] == 8
    assert found["p_value"] == pytest.approx(2 / 2**5)  # five questions differ, all one way
