"""`agentbench history`: versions in order, what each is worth, and where it changed."""

import json
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from processes import Place, make_place

CASES = 60


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    made.suite(CASES)
    return made


def run(place: Place, version: str, wrong: int, *options: str) -> None:
    """One run of a version of `bot` that gives `wrong` wrong answers, always the same."""
    code = f"def answer(prompt):\n    return prompt if int(prompt) >= {wrong} else '?'\n"
    (place.folder / f"{version}.py").write_text(code)
    agent = f"bot@{version}=python:{version}.py:answer"
    done = place.run("run", "suite.json", "--agent", agent, "--no-ui", "-q", *options)
    assert done.returncode == 0, done.stderr


def history(place: Place, *options: str) -> dict[str, Any]:
    done = place.run("history", "bot", *options, "--format", "json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_single_runs_of_a_deterministic_agent_show_where_it_changed(place: Place) -> None:
    for number in range(1, 7):
        run(place, f"v{number}", 6 if number < 4 else 20, "--tag", "nightly")
    document = history(place, "--metric", "accuracy")
    assert document["schema"] == "agentbench.history/1"
    (accuracy,) = document["histories"]
    versions = accuracy["versions"]
    assert [one["version"] for one in versions] == ["v1", "v2", "v3", "v4", "v5", "v6"]
    assert [one["value"] for one in versions] == [54 / 60] * 3 + [40 / 60] * 3
    # Wilson's interval of 54 in 60, by its formula.
    z, n, p = 1.959964, 60, 0.9
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert versions[0]["low"] == pytest.approx(middle - half, abs=1e-5)
    assert versions[0]["high"] == pytest.approx(middle + half, abs=1e-5)
    assert accuracy["changes"] == ["v4"]
    change = versions[3]["against"]
    assert (change["version"], change["verdict"]) == ("v1", "worse")
    assert change["change"] == pytest.approx(-14 / 60)
    # Five comparisons are judged together.
    assert change["p_adjusted"] == pytest.approx(min(1, 5 * change["p_value"]))
    # From then on versions are compared with the new level, and the others show nothing.
    assert [one["against"]["version"] for one in versions[1:]] == ["v1", "v1", "v1", "v4", "v4"]
    assert {one["against"]["verdict"] for one in versions[4:]} == {"inconclusive"}
    assert {tag for one in versions for tag in one["tags"]} == {"nightly"}

    printed = place.run("history", "bot", "--metric", "accuracy").stdout
    first, second, _, third, *_ = printed.splitlines()
    assert first.startswith("bot became worse with v4 (accuracy -23.3 pp [")
    assert second == "See what became worse: agentbench compare bot@v1 bot@v4"  # as judged
    assert third == "numbers/echo accuracy ███▁▁▁"
    assert "accuracy became worse with v4: -23.3 pp" in printed


def test_a_slow_decline_is_found_once_it_has_added_up(place: Place) -> None:
    for number, wrong in enumerate((0, 4, 8, 12, 16)):
        run(place, f"v{number}", wrong)
    (accuracy,) = history(place, "--metric", "accuracy")["histories"]
    against = [one["against"] for one in accuracy["versions"][1:]]
    # No step of four cases in 60 can be told from chance, not even without any adjustment.
    assert against[0]["p_value"] > 0.05
    assert accuracy["changes"]
    assert accuracy["changes"][0] in {"v2", "v3", "v4"}


def test_runs_of_one_version_are_one_value_that_counts_a_case_once(place: Place) -> None:
    run(place, "v1", 6)
    run(place, "v1", 6)
    (accuracy,) = history(place, "--metric", "accuracy")["histories"]
    (version,) = accuracy["versions"]
    assert (version["value"], len(version["run_ids"])) == (54 / 60, 2)
    # The same 60 answers twice are no more than 60 answers.
    assert version["high"] - version["low"] == pytest.approx(0.155, abs=0.005)
    printed = place.run("history", "bot", "--metric", "accuracy").stdout
    assert "there is one version with a value; run again after a change" in printed


@pytest.mark.parametrize("quality", ["clean", "noisy"])
def test_times_of_a_busy_machine_are_no_certain_change(place: Place, quality: str) -> None:
    run(place, "quick", 0)
    slow = "import time\ndef answer(prompt):\n    time.sleep(0.05)\n    return prompt\n"
    (place.folder / "slow.py").write_text(slow)
    agent = "bot@slow=python:slow.py:answer"
    assert place.run("run", "suite.json", "--agent", agent, "--no-ui", "-q").returncode == 0
    with closing(sqlite3.connect(place.database)) as connection, connection:
        connection.execute("UPDATE runs SET verdict=?", (quality,))
    (times,) = history(place, "--metric", "e2e_ms")["histories"]
    against = times["versions"][1]["against"]
    assert (against["verdict"], against["disturbed"]) == ("worse", quality == "noisy")
    first, *lines = place.run("history", "bot").stdout.splitlines()
    if quality == "clean":
        assert first.startswith("bot became worse with slow (e2e_ms ")
        assert not [line for line in lines if "in doubt" in line.lower()]
    else:
        assert first == "bot: no certain change in 2 versions."
        assert lines[0].startswith("In doubt: slow (e2e_ms ")
        assert any(line.endswith("worse, in doubt") for line in map(str.rstrip, lines))


def test_runs_list_shows_versions_and_tags(place: Place) -> None:
    run(place, "v1", 6, "--tag", "nightly")
    printed = place.run("runs", "list").stdout
    assert "bot@v1" in printed
    assert "nightly" in printed
    (listed,) = json.loads(place.run("runs", "list", "--format", "json").stdout)["runs"]
    assert (listed["agents"], listed["agent_versions"]) == (["bot"], ["bot@v1"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bo",), "no agent 'bo' (did you mean \"bot\"?)"),
        (("bot", "--metric", "acuracy"), 'no such metric (did you mean "accuracy"?)'),
        (("bot", "--suite", "other"), "agent bot has no complete run there"),
    ],
)
def test_mistakes_are_answered(place: Place, arguments: tuple[str, ...], words: str) -> None:
    run(place, "v1", 6)
    done = place.run("history", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
