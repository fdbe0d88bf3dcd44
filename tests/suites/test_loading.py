"""A suite is read from YAML, JSON and TOML alike, and found by path or by name."""

import json
import re
from pathlib import Path

import pytest

from agentbench_tui.engine.suite.catalog import find_suite, suite_catalog
from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.suite.parameters import NO_SETTINGS
from agentbench_tui.engine.suite.source import read_source
from agentbench_tui.model.errors import SuiteError, UsageError

SUITE = {
    "suite_id": "sums",
    "suite_name": "Sums",
    "category": "accuracy",
    "parameters": {"n": 4, "level": {"default": "easy", "choices": ["easy", "hard"]}},
    "benchmarks": [
        {
            "benchmark_id": "add",
            "concurrency": "${n}",
            "dataset": {"cases": [{"input": "1 + 1", "expected": "2"}]},
            "scorers": ["exact"],
        }
    ],
}
YAML = """\
suite_id: sums
suite_name: Sums
category: accuracy
parameters:
  n: 4
  level: {default: easy, choices: [easy, hard]}
benchmarks:
  - benchmark_id: add
    concurrency: ${n}
    dataset:
      cases: [{input: 1 + 1, expected: "2"}]
    scorers: [exact]
"""
TOML = """\
suite_id = "sums"
suite_name = "Sums"
category = "accuracy"
[parameters]
n = 4
level = {default = "easy", choices = ["easy", "hard"]}
[[benchmarks]]
benchmark_id = "add"
concurrency = "${n}"
scorers = ["exact"]
[benchmarks.dataset]
cases = [{input = "1 + 1", expected = "2"}]
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def problems(path: Path) -> list[str]:
    """Every problem as `line:column path message`."""
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    return [f"{one.line}:{one.column} {one.path} {one.message}" for one in caught.value.problems]


def test_yaml_json_and_toml_give_the_same_suite_and_hash(tmp_path: Path) -> None:
    loaded = [
        load_suite(write(tmp_path, "a.yaml", YAML)),
        load_suite(write(tmp_path, "a.json", json.dumps(SUITE))),
        load_suite(write(tmp_path, "a.toml", TOML)),
    ]

    assert {one.hash for one in loaded} == {loaded[0].hash}
    assert len(loaded[0].hash) == 64
    suite = loaded[2].suite
    assert (suite.name, suite.benchmarks[0].concurrency) == ("Sums", 4)
    assert suite.parameters["level"].choices == ["easy", "hard"]


def test_the_text_is_kept_as_it_was_written(tmp_path: Path) -> None:
    assert load_suite(write(tmp_path, "a.yaml", YAML)).text == YAML


def test_the_hash_changes_with_the_meaning_and_not_with_the_spelling(tmp_path: Path) -> None:
    original = load_suite(write(tmp_path, "a.yaml", YAML)).hash

    assert load_suite(write(tmp_path, "b.yaml", "# a comment\n" + YAML)).hash == original
    assert load_suite(write(tmp_path, "c.yaml", YAML.replace('"2"', '"3"'))).hash != original


def test_plain_scalars_follow_the_yaml_1_2_core_schema(tmp_path: Path) -> None:
    text = """\
a: no
b: 012
c: 1_000
d: 12:30:45
e: 2026-11-28
f: 0x1F
g: 1e3
h: ~
i: TRUE
j: 0o17
"""
    data = read_source(write(tmp_path, "scalars.yaml", text)).data

    # https://yaml.org/spec/1.2.2/#1032-tag-resolution
    assert data == {
        "a": "no",
        "b": 12,
        "c": "1_000",
        "d": "12:30:45",
        "e": "2026-11-28",
        "f": 31,
        "g": 1000.0,
        "h": None,
        "i": True,
        "j": 15,
    }
    assert isinstance(data["g"], float)


def test_anchors_and_merges_are_written_out(tmp_path: Path) -> None:
    text = "base: &b {x: 1, y: 2}\none: {<<: *b, y: 3}\ntwo: *b\n"

    data = read_source(write(tmp_path, "anchors.yaml", text)).data

    assert data["one"] == {"x": 1, "y": 3}
    assert data["two"] == {"x": 1, "y": 2}


def test_json_escapes_and_surrogate_pairs_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, "a.json", r'{"a": "\ud83d\ude00\/\n", "b": [1, -2.5e1, null, true]}')

    assert read_source(path).data == {"a": "😀/\n", "b": [1, -25.0, None, True]}


@pytest.mark.parametrize("prefix", ["", "\ufeff"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_byte_order_mark_and_windows_line_ends_change_nothing(
    tmp_path: Path, prefix: str, ending: str
) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes((prefix + YAML).replace("\n", ending).encode())

    assert load_suite(path).hash == load_suite(write(tmp_path, "b.yaml", YAML)).hash


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", YAML.replace("scorers: [exact]", "scorers: [exact]\n    concurency: 3")),
        ("a.toml", TOML.replace('scorers = ["exact"]', 'scorers = ["exact"]\n  concurency = 3')),
        (
            "a.json",
            json.dumps(SUITE, indent=2).replace('"scorers"', '"concurency": 3,\n "scorers"'),
        ),
    ],
)
def test_a_misspelled_key_is_told_with_its_place_and_the_nearest_name(
    tmp_path: Path, name: str, text: str
) -> None:
    line = next(n for n, one in enumerate(text.splitlines(), 1) if "concurency" in one)
    column = text.splitlines()[line - 1].index("concurency") + (0 if name == "a.json" else 1)

    assert problems(write(tmp_path, name, text)) == [
        (
            f'{line}:{column} benchmarks.0.concurency unknown key "concurency" '
            '(did you mean "concurrency"?)'
        )
    ]


def test_all_problems_are_told_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = """\
suite_id: a b
category: acuracy
benchmarks:
  - benchmark_id: x
    iterations: {measured: 0, warmpu: 2}
    dataset: {cases: [{input: q}], limit: true}
    constraints: {time_limit_ms: fast}
    scorers: [3]
    sweep: {parameters: {n: 5, m: {start: 1, stp: 2}}}
  - {kind: task}
"""
    assert problems(write(tmp_path, "a.yaml", text)) == [
        (
            "1:11 suite_id expected a name (letters, digits, `.`, `_` and `-`, at most 64, "
            'the first a letter or digit), got "a b"'
        ),
        (
            "2:11 category expected one of 'speed', 'accuracy', 'cost', 'reliability', "
            "'scalability' or 'comprehensive', "
            'got "acuracy" (did you mean "accuracy"?)'
        ),
        "5:28 benchmarks.0.iterations.measured expected a number of at least 1, got 0",
        '5:31 benchmarks.0.iterations.warmpu unknown key "warmpu" (did you mean "warmup"?)',
        "6:43 benchmarks.0.dataset.limit expected a whole number, got true",
        '7:34 benchmarks.0.constraints.time_limit_ms expected a number, got "fast"',
        "8:15 benchmarks.0.scorers.0 expected text (in quotes) or a map, got 3",
        "9:29 benchmarks.0.sweep.parameters.n expected a list or a map, got 5",
        "9:35 benchmarks.0.sweep.parameters.m `stop` is missing",
        '9:46 benchmarks.0.sweep.parameters.m.stp unknown key "stp" (did you mean "stop"?)',
        "10:5 benchmarks.1 `benchmark_id` is missing",
    ]


def test_a_misspelled_key_in_a_declared_parameter_is_no_default_value(tmp_path: Path) -> None:
    text = YAML.replace("choices:", "choises:")

    assert problems(write(tmp_path, "a.yaml", text)) == [
        '6:26 parameters.level.choises unknown key "choises" (did you mean "choices"?)'
    ]


def test_precision_is_only_asked_of_what_iterations_are_judged_by(tmp_path: Path) -> None:
    text = YAML + "    early_stop: {metric: e2e_ms.p95, half_width: 0.05}\n"
    told = (
        "13:26 benchmarks.0.early_stop.metric expected one of 'accuracy' or 'e2e_ms.p50', "
        'got "e2e_ms.p95" (did you mean "e2e_ms.p50"?)'
    )
    assert problems(write(tmp_path, "a.yaml", text)) == [told]


def test_a_value_out_of_a_parameter_is_held_to_the_rules_of_its_field(tmp_path: Path) -> None:
    text = YAML.replace("n: 4", "n: four")

    assert problems(write(tmp_path, "a.yaml", text)) == [
        '9:18 benchmarks.0.concurrency expected a whole number, got "four" (from `${n}`)'
    ]


def test_a_suite_with_required_parameters_loads_and_asks_for_them_when_run(tmp_path: Path) -> None:
    text = YAML.replace("n: 4", "n: {type: integer, required: true}")
    loaded = load_suite(write(tmp_path, "a.yaml", text))

    with pytest.raises(UsageError, match=r"suite sums needs --set n=…"):
        loaded.settings([])
    assert loaded.benchmark(0, loaded.settings(["n=7"])).concurrency == 7


def test_a_benchmark_at_a_point_has_the_values_that_hold_there(tmp_path: Path) -> None:
    text = (
        YAML.replace("scorers: [exact]", "prompt: '${level}/${t}: {input}'")
        + "    parameters: {level: hard, own: 1}\n"
        + "    sweep: {parameters: {n: [1, 2], t: [0.5, 1.5]}}\n"
    )
    loaded = load_suite(write(tmp_path, "a.yaml", text))

    benchmark = loaded.benchmark(0, NO_SETTINGS, {"n": 2, "t": 1.5})

    assert benchmark.concurrency == 2
    assert benchmark.prompt == "hard/1.5: {input}"
    assert benchmark.parameters == {"level": "hard", "own": 1, "n": 2, "t": 1.5}
    assert loaded.values(benchmark) == benchmark.parameters


def test_a_suite_is_found_in_the_folder_of_suites_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites" / "packed").mkdir(parents=True)
    write(tmp_path / "suites", "plain.toml", TOML)
    write(tmp_path / "suites" / "packed", "suite.yaml", YAML)

    assert find_suite("plain") == Path("suites/plain.toml")
    assert find_suite("packed") == Path("suites/packed/suite.yaml")
    assert {"plain", "packed"} <= {entry.name for entry in suite_catalog()}


def test_a_suite_of_a_group_is_found_by_the_group_and_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites" / "stores").mkdir(parents=True)
    write(tmp_path / "suites" / "stores", "disk.yaml", YAML)

    assert find_suite("stores/disk") == Path("suites/stores/disk.yaml")
    assert find_suite("infrastructure/memory_db_baseline").is_file()  # ships
    with pytest.raises(UsageError, match="no suite file stores/disc"):
        find_suite("stores/disc")


def test_suites_of_a_group_are_listed_by_the_group_and_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites" / "stores").mkdir(parents=True)
    write(tmp_path / "suites" / "stores", "disk.yaml", YAML)
    write(tmp_path / "suites" / "stores", "cases.json", "[]")

    named = {entry.name: entry.path for entry in suite_catalog()}
    assert named["stores/disk"] == Path("suites/stores/disk.yaml")
    assert "stores/cases" not in named
    assert find_suite("stores/disk") == named["stores/disk"]
    assert "infrastructure/memory_db_baseline" in named  # ships
    with pytest.raises(UsageError, match='did you mean "stores/disk"') as raised:
        find_suite("stores_disk")
    assert "stores/disk," not in str(raised.value)


def test_an_unknown_suite_is_answered_with_the_nearest_and_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suites").mkdir()
    write(tmp_path / "suites", "arithmetic.yaml", YAML)

    with pytest.raises(UsageError, match=r'no suite "arithmetik" \(did you mean "arithmetic"\?\)'):
        find_suite("arithmetik")
    with pytest.raises(UsageError, match=r"no suite file suites/arithmetc\.yaml \(did you mean"):
        find_suite("suites/arithmetc.yaml")


@pytest.mark.parametrize("given", ["bom.ymal", "bom.yam", "bon.yaml~", "./bom.ymal"])
def test_a_misspelled_file_is_said_to_be_missing_with_the_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "bom.yaml", YAML)
    write(tmp_path, "other.yaml", YAML)

    with pytest.raises(UsageError, match=r'did you mean (the file )?"bom\.yaml"') as raised:
        find_suite(given)
    assert re.match(r"no suite file|no suite .* and no such file", str(raised.value))


def test_a_file_that_is_not_there_is_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r'^no suite "xyzzy\.csv", and no such file; known: '):
        find_suite("xyzzy.csv")


def test_a_file_of_the_current_folder_is_hinted_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "my-suite.yaml", YAML)

    for name in ("my-suit", "my-suite"):
        with pytest.raises(UsageError, match=r'\(did you mean the file "my-suite\.yaml"\?\)'):
            find_suite(name)
    with pytest.raises(UsageError) as caught:
        find_suite("wholly-other")
    assert "did you mean" not in str(caught.value)


def test_plug_ins_bring_suites_and_a_broken_one_breaks_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "plug-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[agentbench.suites]\nplugged = plugged_suites:path\nbroken = plugged_suites:missing\n"
    )
    write(tmp_path, "plugged.yaml", YAML)
    write(
        tmp_path,
        "plugged_suites.py",
        "from pathlib import Path\ndef path(): return Path(__file__).with_name('plugged.yaml')\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    assert load_suite("plugged").suite.suite_id == "sums"
    with pytest.raises(UsageError, match=r"suite broken: the plug-in plugged_suites:missing"):
        find_suite("broken")
