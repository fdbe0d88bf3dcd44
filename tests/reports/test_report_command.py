"""`agentbench report`: Markdown, JSON, CSV and JUnit of runs and comparisons."""

import csv
import json
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from hostile_run import HOSTILE
from hypothesis import given, settings
from hypothesis import strategies as st

from agentbench_tui.cli.main import _run
from agentbench_tui.contracts.catalog import decode_document
from agentbench_tui.presentation.full_report.parts import Chapter, FullReport, Verdict
from agentbench_tui.presentation.report import Column, Section, Table
from agentbench_tui.reports.markdown import markdown
from tests.engine.carried_out import run
from tests.engine.carried_out import suite as echo_suite

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
FORMULAS = set("=+-@|%＝＋－＠")


@pytest.fixture(autouse=True)
def _store(hostile_store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENTBENCH_DB", str(hostile_store))
    monkeypatch.chdir(tmp_path)


def written(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")


def junit_cases(path: str) -> dict[tuple[str, str], ET.Element]:
    """Test cases of a JUnit file by (agent or `gates`, name)."""
    found = {}
    for suite in ET.parse(path).getroot():  # our own file
        agent = (suite.get("name") or "").split(" / ")[-1]
        for case in suite:
            found[agent, case.get("name") or ""] = case
    return found


def test_the_first_line_of_markdown_is_the_verdict() -> None:
    assert _run(["report", "--md", "report.md"]) == 0
    first, *_ = written("report.md").splitlines()
    assert first.startswith("### ✅ honest is the best of 3 agents: overall score 1.000")
    assert "clearly ahead of" in first


def test_a_failed_gate_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["report", "--gate", "accuracy>=0.5", "--md", "report.md"]) == 0
    text = written("report.md")
    assert text.startswith("### ❌ Failed: 2 of 3 checks failed.\n")
    assert "accuracy\\>=0.5 fails for hostile on echo: 0." in text
    assert "honest is the best of 3 agents" in text
    assert capsys.readouterr().err == "written: report.md\n"


def test_markdown_fits_a_comment_and_obeys_no_agent() -> None:
    assert _run(["report", "hostile", "honest", "--md", "report.md"]) == 0
    text = written("report.md")
    assert len(text) < 65_536
    assert not CONTROL.search(text.replace("\n", ""))
    # Every tag, link, mention and reference in the file is ours.
    bare = re.sub(r"\\.", "", text)
    assert set(re.findall(r"</?(\w+)", bare)) <= {"details", "summary", "sub"}
    assert bare.count("<details>") == bare.count("</details>")
    assert not re.search(r"[@#]\w|://\w|www\.\w|\]\(", bare)


@given(
    reasons=st.lists(st.text(max_size=400), max_size=200),
    words=st.text(max_size=300),
    room=st.integers(4_000, 20_000),
)
@settings(max_examples=50, deadline=None)
def test_markdown_keeps_to_its_room(reasons: list[str], words: str, room: int) -> None:
    """20 agents have 190 pairs, hence as many reasons; GitHub refuses a comment too long."""
    rows = ({"agent": "a" * 80},) * 50
    table = Table((Column("agent", "Agent"),), rows)
    chapters = [Chapter(f"c{n}", f"Chapter {n}", (Section("", (table,)),)) for n in range(9)]
    verdict = Verdict(words, "open", reasons)
    text = markdown(FullReport("Run", (("run", "r1"),), verdict, chapters, {}), room)
    assert len(text) <= room
    assert text.count("<details>") == text.count("</details>")
    listed = len(re.findall(r"^- (?!…)", text, re.MULTILINE))
    counted = re.search(r"^- … and ([\d,]+) more$", text, re.MULTILINE)
    assert listed + (int(counted[1].replace(",", "")) if counted else 0) == len(reasons)


def test_markdown_has_no_heading_without_text_below() -> None:
    """Charts are for pages: in a comment, a chapter of charts would be a heading and nothing."""
    assert _run(["report", "--html", "report.html", "--md", "report.md"]) == 0
    assert "Latency" in written("report.html")
    lines = [line for line in written("report.md").splitlines() if line]
    for line, below in pairwise(lines):
        assert not (line.startswith("#") and below.startswith(("#", "<details"))), line
        assert not (line.startswith("**") and below.startswith(("#", "**", "<details"))), line


def test_csv_has_no_formula_and_no_control_character() -> None:
    assert _run(["report", "--csv", "tables"]) == 0
    assert sorted(path.name for path in Path("tables").iterdir()) == [
        "answers.csv", "executions.csv", "leaderboard.csv", "metrics.csv",
    ]  # fmt: skip
    with Path("tables/answers.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert len(rows) == 3 * len(HOSTILE)
    for row in rows:
        for name, value in row.items():
            assert not CONTROL.search(value), name
            assert len(value) < 5000
            visible = value.lstrip("\u200b\ufeff ")
            assert not (set(visible[:1]) & FORMULAS) or float(value) < 0
    said = {row["case_id"]: row["said"] for row in rows if row["agent_id"] == "hostile"}
    assert said["formula"].startswith("'")
    assert said["fullwidth"].startswith("'")
    assert said["bidi"] == "user\\u202egnp.exe \\u2066safe\\u2069"


def test_json_is_the_document_of_the_schema() -> None:
    assert _run(["report", "--json", "run.json"]) == 0
    text = written("run.json")
    decode_document(text)
    assert json.loads(text)["schema"] == "agentbench.run-details/1"
    assert _run(["report", "hostile", "honest", "--json", "compare.json"]) == 0
    decode_document(written("compare.json"))


def test_a_wrong_answer_passes_unless_a_gate_asks() -> None:
    assert _run(["report", "--junit", "junit.xml"]) == 0
    found = junit_cases("junit.xml")
    assert len(found) == 3 * len(HOSTILE)
    wrong = found["hostile", "script"]
    assert wrong.find("failure") is None
    assert "expected: script" in (wrong.findtext("system-out") or "")
    assert list(found["honest", "script"]) == []

    assert _run(["report", "--junit", "gated.xml", "--gate", "accuracy>=0.5"]) == 0
    found = junit_cases("gated.xml")
    assert found["hostile", "script"].find("failure") is not None
    assert list(found["honest", "script"]) == []
    gate = found["gates", "accuracy>=0.5 hostile on echo"]
    assert gate.find("failure") is not None
    root = ET.parse("gated.xml").getroot()  # our own file
    for suite in root:
        for what in ("failure", "error"):
            assert int(suite.get(f"{what}s") or 0) == len(suite.findall(f"testcase/{what}"))
        assert int(suite.get("tests") or 0) == len(suite.findall("testcase"))


def test_a_gate_on_time_makes_no_wrong_answer_fail() -> None:
    assert _run(["report", "--junit", "junit.xml", "--gate", "e2e_ms.mean<=0"]) == 0
    found = junit_cases("junit.xml")
    assert found["gates", "e2e_ms.mean<=0 hostile on echo"].find("failure") is not None
    assert found["hostile", "script"].find("failure") is None


def test_junit_is_xml_whatever_an_agent_says() -> None:
    assert _run(["report", "--junit", "junit.xml", "--gate", "accuracy>=1"]) == 0
    failure = junit_cases("junit.xml")["hostile", "surrogate"].findtext("failure") or ""
    assert "\\x00 end" in failure
    assert "\\ufffe \\uffff" in failure
    failed = junit_cases("junit.xml")["failing", "script"]
    assert "<b>server</b> \\x1b[31mgone" in "".join(failed.itertext())


def test_a_load_is_one_test(tmp_path: Path) -> None:
    database = ["--db", str(tmp_path / "load.db")]
    target = "mock?ttft=1ms&itl=0ms&tokens=2"
    load = ["load", target, "--requests", "5", "--no-ui", "--quiet", *database]
    assert _run(load) in {0, 3}
    assert _run(["report", "--junit", "junit.xml", "--html", "load.html", *database]) == 0
    root = ET.parse("junit.xml").getroot()  # our own file
    (suite,) = root
    assert suite.get("tests") == "1"
    (case,) = suite
    assert "0 of 5 failed" in (case.findtext("system-out") or "")
    assert 'id="latency"' in written("load.html")


REPORTER = """
def titles(results, folder):
    with open(folder + "/titles.txt", "w") as file:
        file.writelines(f"{one.agent_id} {one.cases.correct}\\n" for one in results)
def broken(results, folder):
    raise ValueError("no room")
"""


def test_a_reporter_of_other_people_gets_the_results(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.py").write_text(REPORTER)
    assert _run(["report", "--reporter", "python:mine.py:titles", "out"]) == 0
    lines = written("out/titles.txt").splitlines()
    assert sorted(lines) == ["failing 0", f"honest {len(HOSTILE)}", "hostile 0"]
    assert _run(["report", "--reporter", "python:mine.py:broken", "out"]) == 2
    assert "reporter python:mine.py:broken failed: ValueError('no room')" in capsys.readouterr().err


def test_a_summary_is_appended_for_github(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("summary.md").write_text("# Before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    assert _run(["report", "--github-summary"]) == 0
    lines = written("summary.md").splitlines()
    assert lines[0] == "# Before"
    assert "honest is the best of 3 agents" in lines[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "--github-summary"], "GITHUB_STEP_SUMMARY is not set"),
        (["report", "nothing", "--md", "x.md"], "no run 'nothing'"),
        (["report", "--md", "x.md", "--gate", "acuracy>=1"], '(did you mean "accuracy"?)'),
        (["report", "honest", "failing", "--junit", "x.xml"], "--junit is about one run"),
        (["report", "honest", "nobody", "--md", "x.md"], "nobody"),
    ],
)
def test_a_mistake_is_explained(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(arguments) == 2
    told = capsys.readouterr().err
    assert words in told
    assert "Traceback" not in told


def test_a_file_that_cannot_be_written_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("")
    assert _run(["report", "--md", "file/report.md"]) == 2
    assert "file" in capsys.readouterr().err


METRICS = """
def words(case, answer):
    return len(answer.text.split())
"""
AGENTS = """
def chatty(prompt):
    return f"{prompt} it is" if int(prompt) % 2 else prompt
"""


async def test_a_report_has_the_metrics_of_scorers_and_suites(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "metrics.py").write_text(METRICS)
    document = echo_suite(
        40,
        scorers=[{"contains": {}, "as": "answer"}, {"regex": {"pattern": "it"}, "as": "style"}],
        metrics=[{"python:metrics.py:words": {"unit": "words", "aggregate": "distribution"}}],
    )
    result = await run(tmp_path, document, AGENTS, "chatty")
    monkeypatch.setenv("AGENTBENCH_DB", str(result.database))
    assert _run(["report", "--md", "report.md", "--html", "report.html"]) == 0
    # Half of 40 answers say "it": Wilson's interval of 20 in 40. One word, or three.
    rows = [line for line in written("report.md").splitlines() if "| chatty |" in line]
    assert any("style" in row and "50.0%" in row and "35.2, 64.8" in row for row in rows)
    assert any("words.mean" in row and "2 words" in row for row in rows)
    assert "words.mean" in written("report.html")
