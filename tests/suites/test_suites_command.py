"""`agentbench suites`: what it prints, where, and with which exit code."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from agentbench_tui.cli.main import _run
from agentbench_tui.cli.suites import suites
from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.suite.source import read_source
from agentbench_tui.engine.suite.starter import TEMPLATES
from agentbench_tui.engine.suite.suite_schema import suite_schema
from agentbench_tui.engine.suite.validation import validate_suite

ROOT = Path(__file__).parents[2]
GOOD = """\
suite_id: sums
description: Small sums.
parameters:
  n: {default: 2, description: How many at once.}
benchmarks:
  - benchmark_id: add
    concurrency: ${n}
    dataset: {cases: [{input: 1 + 1, expected: "2"}]}
    scorers: [exact]
    sweep: {parameters: {n: [1, 2]}}
agents:
  - {id: mine, target: "openai:http://127.0.0.1:9/v1#m"}
"""


def invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(suites, [*map(str, arguments)], standalone_mode=False)


def write(folder: Path, text: str, name: str = "sums.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def messages(folder: Path, text: str) -> list[str]:
    """What validation says, as `line path: message`."""
    found = validate_suite(load_suite(write(folder, text)))
    return [f"{one.line} {one.path}: {one.message}" for one in found]


def test_validate_says_ok_and_what_there_is(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)

    result = invoke("validate", path)

    assert result.return_value == 0
    assert result.stdout == f"{path}: suite ok: sums 1: 1 benchmark, 1 agent\n"
    assert result.stderr == ""


def test_validate_prints_every_problem_of_every_file_and_ends_with_2(tmp_path: Path) -> None:
    one = write(tmp_path, GOOD.replace("scorers", "scorrs"))
    two = write(tmp_path, GOOD.replace("n: [1, 2]", "n: [1, -2]"), "two.yaml")

    result = invoke("validate", one, two, tmp_path / "none.yaml")

    assert result.return_value == 2
    assert result.stdout == ""
    assert result.stderr.splitlines()[:2] == [
        f'{one}:9:5: benchmarks.0.scorrs: unknown key "scorrs" (did you mean "scorers"?)',
        (
            f"{two}:7:18: benchmarks.0.concurrency: expected a number of at least 1, got -2 "
            "(from `${n}`)"
        ),
    ]
    assert "none.yaml" in result.stderr.splitlines()[2]


def test_validate_shows_control_characters_instead_of_sending_them(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + '"\\e]0;owned\\a": 1\n')

    result = invoke("validate", path)

    assert r'unknown key "\x1b]0;owned\x07"' in result.stderr
    assert "\x1b" not in result.stderr


def test_validate_reads_whole_datasets(tmp_path: Path) -> None:
    write(tmp_path, '{"input": 1}\n{"inptu": 2}\n', "r.jsonl")
    path = write(
        tmp_path,
        "suite_id: s\nbenchmarks: [{benchmark_id: b, dataset: {data_source: r.jsonl}}]\n",
    )

    result = invoke("validate", path)

    assert result.return_value == 2
    assert result.stderr.startswith(f"{tmp_path / 'r.jsonl'}:2:1: no `input`")


UNEXPECTING = """\
suite_id: sums
benchmarks:
  - benchmark_id: add
    dataset: {data_source: DATA}
    scorers: [SCORER]
agents:
  - {id: mine, target: "reference:noop"}
"""


def unexpecting(scorer: str, data: str = "d.jsonl") -> str:
    return UNEXPECTING.replace("DATA", data).replace("SCORER", scorer)


@pytest.mark.parametrize(
    ("record", "fields", "advice"),
    [
        ({"input": "1 + 1", "answer": "2"}, "", "`fields: {expected: answer}` (the record has i"),
        ({"input": "1", "n": 1, "Target": 2}, "", "`fields: {expected: Target}` (the record"),
        ({"input": "1 + 1", "sum": 2}, "", "`fields: {expected: …}` (the record has input, sum)"),
        ({"q": "1 + 1", "label": 2}, ", fields: {input: q}", "`expected: label` in `fields` (the"),
    ],
)
def test_a_dataset_without_what_its_scorer_needs_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    record: dict[str, Any],
    fields: str,
    advice: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.jsonl").write_text(2 * (json.dumps(record) + "\n"))
    path = write(tmp_path, unexpecting("exact", "d.jsonl" + fields))
    reason = "no case has `expected`, which the scorer `exact` needs"
    wanted = f"{path}:4:14: benchmarks.0.dataset: {reason}; map it with {advice}"

    assert wanted in invoke("validate", path).output
    for mode in ("--dry-run", "--no-ui"):
        assert _run(["run", str(path), "--db", "store.db", mode]) == 2
        assert wanted in capsys.readouterr().err
    assert not (tmp_path / "store.db").exists()


@pytest.mark.parametrize(
    ("scorer", "is_fine"),
    [
        ('{regex: {pattern: "[0-9]+"}}', True),
        ("regex", False),
        ("{json_schema: {schema: {type: object}}}", True),
        ("json_schema", False),
        ("{model_graded: {judges: [reference:noop], rubric: Is polite.}}", True),
        ("{weighted: {parts: [{scorer: {regex: {pattern: a}}}]}}", True),
        ("{weighted: {parts: [{scorer: {regex: {pattern: a}}}, {scorer: numeric}]}}", False),
        ('"python:scorer.py:one"', True),
        *((name, False) for name in ("normalized", "contains", "numeric", "multiple_choice")),
        *((name, False) for name in ("token_f1", "rouge_l", "json_subset", "tool_calls")),
        ("python_tests", False),
    ],
)
def test_only_scorers_that_compare_need_what_is_expected(
    tmp_path: Path, scorer: str, is_fine: bool
) -> None:
    (tmp_path / "scorer.py").write_text("def one(case, answer): return 1.0\n")
    (tmp_path / "d.jsonl").write_text('{"input": "1 + 1"}\n')

    found = messages(tmp_path, unexpecting(scorer))

    assert bool(found) is not is_fine
    (tmp_path / "d.jsonl").write_text('{"input": "1"}\n{"input": "1 + 1", "expected": "2"}\n')
    assert messages(tmp_path, unexpecting(scorer)) == []  # some cases may lack it


def test_a_generator_without_what_its_scorer_needs_is_refused_by_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "def endless():\n    while True:\n        yield {'input': 'x', 'answer': 'y'}\n"
    (tmp_path / "made.py").write_text(code)
    path = write(tmp_path, unexpecting("exact", '"python:made.py:endless", limit: 3'))

    assert validate_suite(load_suite(path)) == []
    assert _run(["run", str(path), "--dry-run"]) == 2
    assert "no case has `expected`" in (said := capsys.readouterr().err)
    assert "`expected: answer`" not in said
    assert "`fields: {expected: answer}`" in said


def test_validate_takes_values_and_says_what_it_could_not_check(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "suite_id: s\nparameters: {data: {type: path, required: true}}\n"
        "benchmarks: [{benchmark_id: b, dataset: {data_source: '${data}'}}]\n",
    )

    unset = invoke("validate", path)
    missing = invoke("validate", path, "--set", f"data={tmp_path / 'none.jsonl'}")

    assert unset.stdout.endswith("1 benchmark, 0 agents, not checked: what needs --set data\n")
    assert missing.return_value == 2
    assert missing.stderr == (
        f"{path}:3:55: benchmarks.0.dataset.data_source: {tmp_path / 'none.jsonl'}: no such file\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[exact]", "[exct]", "9 benchmarks.0.scorers.0:"),
        ("openai:", "opnai:", "12 agents.0.target:"),
        ("    scorers: [exact]", "    metrics_measured: [acuracy]", 'no metric "acuracy" (did you'),
        ("agents:", "gates: ['accuracy>0.5', 'acuracy>1']\nagents:", "11 gates.1:"),
        ("agents:", "baseline: yours\nagents:", '11 baseline: no agent "yours" in this suite'),
        (
            "agents:",
            "baseline_scores: [{agent_id: a, benchmark_id: ad, scores: {sped: 1}}]\nagents:",
            '11 baseline_scores.0.benchmark_id: no benchmark "ad" (did you mean "add"?)',
        ),
        (
            "agents:",
            "  - {benchmark_id: add, dataset: {cases: [{input: 1}]}}\nagents:",
            '11 benchmarks.1.benchmark_id: a second benchmark "add"',
        ),
        ("agents:", "agents:\n  - {id: mine, target: 'openai:http://h/v1#m'}", "a second agent"),
        ("default: 2", "default: 2, type: string", "4 parameters.n: 2 is not of the type string"),
        ("[1, 2]", "{start: 1, stop: 9, count: 3}", "got 5.0 (from `${n}`)"),
        ("{n: [1, 2]}", "{nn: [1]}", '10 benchmarks.0.sweep.parameters.nn: no parameter "nn" is'),
        ("{input: 1 + 1,", "{inptu: 1 + 1,", '8 benchmarks.0.dataset.cases.0: unknown key "inptu"'),
    ],
)
def test_what_is_wrong_beyond_the_form_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    found = messages(tmp_path, GOOD.replace(old, new, 1))

    assert any(message in one for one in found), found


def test_a_good_suite_has_no_problems(tmp_path: Path) -> None:
    assert messages(tmp_path, GOOD) == []


def test_a_metric_without_percentile_is_no_rubric(tmp_path: Path) -> None:
    rubric = "    scoring_rubric: {speed: {metric: e2e_ms, target: 1, limit: 2}}\n"

    (found,) = messages(tmp_path, GOOD.replace("    sweep", rubric + "    sweep"))

    assert found.startswith('10 benchmarks.0.scoring_rubric.speed.metric: no metric "e2e_ms"')


def test_show_says_parameters_and_benchmarks(tmp_path: Path) -> None:
    result = invoke("show", write(tmp_path, GOOD))

    assert "sums 1" in result.stdout
    assert "--set n=INTEGER  (default 2)" in result.stdout
    assert "How many at once." in result.stdout
    assert "3 + 5" in result.stdout


def test_show_as_json_holds_the_whole_suite(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)

    document = json.loads(invoke("show", path, "--format", "json").stdout)

    assert document["schema"] == "agentbench.suite/1"
    assert document["hash"] == load_suite(path).hash
    assert document["suite"]["benchmarks"][0]["concurrency"] == 1  # the first point


def test_list_shows_suites_and_survives_a_broken_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites").mkdir()
    write(tmp_path / "suites", GOOD)
    write(tmp_path / "suites", "a: [\n", "torn.yaml")

    rows = json.loads(invoke("list", "--format", "json").stdout)["suites"]
    by_name = {row["name"]: row for row in rows}

    assert by_name["sums"]["description"] == "Small sums."
    assert (by_name["sums"]["origin"], by_name["sums"]["benchmarks"]) == ("folder", 1)
    assert by_name["torn"]["description"].startswith("cannot be read: suites/torn.yaml:2:")


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_new_suite_is_valid(tmp_path: Path, template: str) -> None:
    path = tmp_path / "made" / "mine.yaml"

    made = invoke("new", path, "--template", template)

    assert made.return_value == 0
    assert load_suite(path).suite.suite_id == "mine"
    assert validate_suite(load_suite(path), datasets=True) == []


def test_new_writes_over_a_file_only_when_told_to(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)

    refused = invoke("new", path)

    assert str(refused.exception) == f"{path} already exists; overwrite it with --force"
    assert path.read_text() == GOOD
    assert invoke("new", path, "--force").return_value == 0
    assert path.read_text() != GOOD


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["new", "a.json"], "a new suite is YAML"),
        (["new", "-- rf.yaml"], "is not a name"),
        (["new", "a.yaml", "--template", "fil"], 'did you mean "file"'),
    ],
)
def test_new_refuses_what_could_not_be_a_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)

    result = invoke(arguments[0], "--", arguments[1]) if " " in arguments[1] else invoke(*arguments)

    assert message in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def schema_problems(data: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(suite_schema())
    return [error.message for error in validator.iter_errors(data)]


def test_the_schema_is_one_and_goes_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "suite.schema.json"

    assert invoke("schema", "--output", path).return_value == 0

    assert json.loads(path.read_text()) == json.loads(invoke("schema").stdout) == suite_schema()
    jsonschema.Draft202012Validator.check_schema(suite_schema())


def test_the_schema_takes_good_suites_and_refuses_misspelled_ones(tmp_path: Path) -> None:
    good = read_source(write(tmp_path, GOOD)).data

    assert schema_problems({"$schema": "suite.schema.json", **good}) == []
    assert schema_problems({**good, "benchmraks": []}) != []
    assert schema_problems({**good, "seed": "x"}) != []


def test_the_schema_explains_fields() -> None:
    described = suite_schema()["$defs"]["Dataset"]["properties"]["data_source"]["description"]

    assert "package:MODULE/PATH" in described


@pytest.mark.parametrize("path", sorted((ROOT / "suites").glob("*.yaml")), ids=lambda one: one.stem)
def test_shipped_suites_fit_the_schema_and_the_loader(path: Path) -> None:
    assert schema_problems(read_source(path).data) == []
    loaded = load_suite(path)
    assert loaded.suite.suite_id == path.stem
    assert validate_suite(loaded, datasets=True) == []


def test_the_example_of_the_manual_is_a_suite(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "suites.md").read_text(encoding="utf-8")
    example = text.split("```yaml\n", 1)[1].split("```", 1)[0]
    write(tmp_path, '{"question": "1 + 1?", "answer": "2", "level": "easy"}\n', "questions.jsonl")
    path = write(tmp_path, example)

    assert validate_suite(load_suite(path), datasets=True) == []
    assert schema_problems(read_source(path).data) == []


def test_the_manual_names_every_key_of_a_suite() -> None:
    pages = (ROOT / "docs" / name for name in ("suites.md", "load.md", "stress.md"))
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    schema = suite_schema()
    parts = {"Suite": schema, **schema["$defs"]}

    for part in parts.values():
        for key in part["properties"]:
            assert f"`{key}`" in text, key


def test_every_command_shows_an_example() -> None:
    for name, command in suites.commands.items():
        help_text = command.help or ""
        assert f"agentbench suites {name}" in help_text, name
