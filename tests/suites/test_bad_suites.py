"""Files that no suite should be: each is refused by a sentence with a place, quickly."""

import copy
import json
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.suite.position import SourceFault
from agentbench_tui.engine.suite.source import read_source
from agentbench_tui.engine.suite.validation import validate_suite
from agentbench_tui.engine.suite.yaml_source import parse_yaml
from agentbench_tui.model.errors import SuiteError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)

CASES = {
    "python tag": ("a.yaml", "a: !!python/object/apply:os.system ['true']\n", "1:4", "not allowed"),
    "unknown tag": ("a.yaml", "a: !secret x\n", "1:4", "the tag `!secret` is not allowed"),
    "alias bomb": ("a.yaml", BOMB, "6:", "more than 100,000 keys and values"),
    "alias of itself": ("a.yaml", "a: &a [*a]\n", "1:8", "a value that contains it"),
    "alias of nothing": ("a.yaml", "a: *b\n", "1:4", "no anchor &b"),
    "deep YAML": ("a.yaml", "a: " + "[" * 3000, "1:", "nested more than 64 levels"),
    "deep YAML blocks": (
        "a.yaml",
        "".join(" " * n + "a:\n" for n in range(99)),
        "66:",
        "nested more than 64 levels",
    ),
    "deep JSON": ("a.json", "[" * 100_000, "1:", "nested more than 64 levels"),
    "deep TOML": ("a.toml", "a = " + "[" * 3000 + "]" * 3000, "", "nested"),
    "duplicate key in YAML": ("a.yaml", "a: 1\nb: 2\na: 3\n", "3:1", 'the key "a" is given twice'),
    "duplicate key in JSON": ("a.json", '{"a": 1,\n "a": 2}', "2:2", 'the key "a" is given twice'),
    "duplicate key in TOML": ("a.toml", "a = 1\na = 2\n", "2:", "Cannot overwrite a value"),
    "tab": ("a.yaml", "a:\n\tb: 1\n", "2:1", "indent with spaces"),
    "two colons": ("a.yaml", "a: b: c\n", "1:5", "put the text in quotes"),
    "control character": ("a.yaml", "a: b\nc: \x07\n", "2:4", "control character"),
    "NUL": ("a.yaml", "a: 1\nb: \0\n", "2:4", "NUL"),
    "empty YAML": ("a.yaml", "", "1:1", "the file is empty"),
    "only a comment": ("a.yaml", "# nothing\n", "1:1", "the file is empty"),
    "empty JSON": ("a.json", " \n", "2:1", "the file is empty"),
    "empty TOML": ("a.toml", "\n", "1:1", "the file is empty"),
    "list": ("a.yaml", "- a\n- b\n", "1:1", "expected a map of keys, found a list"),
    "text": ("a.json", '"a"', "1:1", "found a single value"),
    "two documents": ("a.yaml", "a: 1\n---\nb: 2\n", "2:1", "several documents"),
    "number as key": ("a.yaml", "1: a\n", "1:1", "a key must be text, not `1`"),
    "list as key": ("a.yaml", "? [a]\n: b\n", "1:3", "not a list or map"),
    "infinity": ("a.yaml", "a: -.inf\n", "1:4", "not a finite number"),
    "NaN": ("a.json", '{"a": NaN}', "1:7", "`NaN` is not a finite number"),
    "too large for a float": ("a.yaml", "a: [1e400]\n", "1:5", "not a finite number"),
    "TOML infinity": ("a.toml", "a = inf\n", "1:5", "not a finite number"),
    "too large for 64 bits": ("a.json", '{"a": 9223372036854775808}', "1:7", "beyond 64 bits"),
    "5,000 digits": ("a.yaml", "a: " + "9" * 5000, "1:4", "too large"),
    "5,000 digits in JSON": ("a.json", '{"a": ' + "9" * 5000 + "}", "1:7", "too large"),
    "half a surrogate pair": ("a.json", r'{"a": "\ud800"}', "1:7", "half a surrogate pair"),
    "trailing comma": ("a.json", '{"a": 1,}', "1:9", "expected a key"),
    "more after the end": ("a.json", '{"a": 1} x', "1:10", "something follows"),
    "unclosed": ("a.json", '{"a": [1', "1:9", "expected `,` or `]`"),
    "broken TOML": ("a.toml", "a = 1\nb = \n", "2:5", "not valid TOML"),
}


def refused(path: Path) -> tuple[str, str]:
    """`line:column` and the message of the one problem."""
    with pytest.raises(SuiteError) as caught:
        read_source(path)
    (problem,) = caught.value.problems
    assert problem.file == str(path)
    place = "" if problem.line is None else f"{problem.line}:{problem.column}"
    return place, problem.message


@pytest.mark.parametrize("case", CASES)
def test_a_bad_text_is_refused_with_its_place(tmp_path: Path, case: str) -> None:
    name, text, place, message = CASES[case]
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    found_place, found = refused(path)

    assert message in found
    assert found_place.startswith(place)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: 1".encode("utf-16"), "is UTF-16; save it as UTF-8"),
        (b"b: 1\na: \xe9\n", "is not UTF-8 text (byte 0xe9 at position 4 of line 2); save it as"),
        (b"a: 1\n#" + b"x" * (1 << 20), "larger than 1,048,576 bytes"),
        (b"a:\n" + b" - 1\n" * 100_001, "more than 100,000 keys and values"),
    ],
)
def test_bad_bytes_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.yaml"
    path.write_bytes(content)

    assert message in refused(path)[1]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file whose disk fails")
def test_a_file_that_breaks_off_while_it_is_read_is_named() -> None:
    assert refused(Path("/proc/self/mem"))[1] == "cannot be read: input/output error"


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    pipe, link, bound = tmp_path / "pipe.yaml", tmp_path / "link.yaml", tmp_path / "s.yaml"
    os.mkfifo(pipe)
    link.symlink_to(tmp_path / "nowhere.yaml")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(bound))

        assert refused(pipe)[1] == "is a pipe, not a file"
        assert refused(tmp_path)[1] == "is a folder, not a file"
        assert refused(Path("/dev/zero"))[1] == "is a device, not a file"
        assert refused(bound)[1] == "is a socket, not a file"
        assert refused(link)[1] == "no such file (a link that leads nowhere)"
        assert refused(tmp_path / "none.yaml")[1] == "no such file"


def test_a_link_to_a_suite_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    (tmp_path / "b.yaml").symlink_to(tmp_path / "a.yaml")

    assert read_source(tmp_path / "b.yaml").data == {"a": 1}


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\n")
    path.chmod(0)

    assert refused(path)[1] == "cannot be opened: permission denied"


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "a/b", "..", ".", "-rf", ".hidden", "~root", "$(id)", "a\nb", "a\n",
     "x" * 65, "a ", "na\u0301me", "\u202eab", "a%2fb", ""],
)  # fmt: skip
def test_ids_that_could_become_a_path_or_an_option_are_refused(tmp_path: Path, name: str) -> None:
    benchmark = {"benchmark_id": "b", "dataset": {"cases": [{"input": 1}]}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"suite_id": name, "benchmarks": [benchmark]}))

    with pytest.raises(SuiteError, match="expected a name"):
        load_suite(path)


@pytest.mark.parametrize("value", [-1, 0, 1.5, "4", True, None, [1], "1e400"])
@pytest.mark.parametrize("field", ["concurrency", "retries", "iterations"])
def test_no_value_is_bent_into_a_number(tmp_path: Path, field: str, value: object) -> None:
    if field == "retries" and value == 0 and value is not False:
        return  # none is a fine number of retries
    benchmark = {"benchmark_id": "b", "dataset": {"cases": [{"input": 1}]}}
    part = {"measured": value} if field == "iterations" else value
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"suite_id": "s", "benchmarks": [{**benchmark, field: part}]}))

    with pytest.raises(SuiteError, match=f"benchmarks.0.{field}"):
        load_suite(path)


@given(st.text(alphabet="ab:[]{}&*!<-?|>'\"# \n\t,%@.~0", max_size=40))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    with suppress(SourceFault):
        parse_yaml(text)


WHOLE: dict[str, Any] = {
    "suite_id": "s",
    "parameters": {"n": {"default": 1, "type": "integer"}},
    "benchmarks": [
        {
            "benchmark_id": "b",
            "concurrency": "${n}",
            "parameters": {"m": 1},
            "dataset": {"cases": [{"input": "${m}", "id": "x"}], "fields": {"expected": "id"}},
            "scorers": [{"numeric": {"tolerance": 0.1}}],
            "scoring_rubric": {"speed": {"metric": "e2e_ms.p50", "target": 1, "limit": 2}},
            "sweep": {"parameters": {"n": {"start": 1, "stop": 4, "integer": True}, "m": [1, 2]}},
            "iterations": {"warmup": 0},
        }
    ],
    "agents": [{"id": "a", "target": "openai:http://127.0.0.1:9/v1#m", "options": {}}],
    "weights": {"cost": 1},
    "gates": ["accuracy>=0.5"],
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every part of a suite."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return [
        found
        for key, part in parts
        for found in (places(part, (*path, key)) if isinstance(part, dict | list) else [])
        + [(*path, key)]
    ]


@given(
    st.sampled_from(places(WHOLE)),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-2, 2)
        | st.floats(-9, 9)
        | st.sampled_from(
            ["", "${n}", "${m}", "${q}", "$${", "x", "exact", "python:x:y", "a b", "{input}"]
        ),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(st.sampled_from(["start", "default", "input", "id", "q"]), inner)
        ),
        max_leaves=4,
    ),
)
def test_any_value_in_any_place_is_accepted_or_told(
    tmp_path_factory: pytest.TempPathFactory, place: tuple[Any, ...], value: Any
) -> None:
    data = copy.deepcopy(WHOLE)
    part: Any = data
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    path = tmp_path_factory.mktemp("any") / "a.json"
    path.write_text(json.dumps(data))

    with suppress(SuiteError):
        for problem in validate_suite(load_suite(path), datasets=True):
            assert problem.file == str(path)
            assert problem.line == 1


def test_a_misspelled_scorer_is_told_beside_faults_of_form(tmp_path: Path) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(
        "suite_id: s\n"
        "versoin: '1'\n"
        "benchmarks:\n"
        "  - benchmark_id: b\n"
        "    dataset: {cases: [{input: a, expected: a}]}\n"
        "    scorers: [normalzed]\n"
        "    instruments: [psutl]\n"
        "    concurrency: many\n"
    )
    with pytest.raises(SuiteError) as caught:
        load_suite(path)
    said = str(caught.value).splitlines()
    assert len(said) == 4
    assert ":2:1: versoin:" in said[0]
    assert ":6:" in said[1]
    assert 'did you mean "normalized"' in said[1]
    assert ":7:" in said[2]
    assert 'did you mean "psutil"' in said[2]
    assert ":8:" in said[3]
