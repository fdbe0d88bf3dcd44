"""Recorded answers find their cases, whatever the suite does with the cases."""

import asyncio
import gzip
import json
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.agents.recorded.recording import Recording, RecordingFault, _HashIndex
from agentbench_tui.agents.registry import check_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.model.answer import Answer, FailureKind, Usage

sys.path.insert(0, str(Path(__file__).parent))

from opening import ask, failure, opened

RECORDS = [
    {
        "question": f"How many legs have {n} ducks?",
        "truth": f"A: {2 * n}",
        "small": {"solution": f"{n} legs", "is_right": False},
        "large": {"solution": f"{2 * n} legs", "is_right": True},
    }
    for n in range(1, 60)
]


def jsonl(records: list[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


WRITERS: dict[str, Callable[[list[Any]], bytes]] = {
    "r.jsonl": jsonl,
    "r.jsonl.gz": lambda records: gzip.compress(jsonl(records)),
    "r.json": lambda records: json.dumps(records, indent=2).encode(),
    "r.json.gz": lambda records: gzip.compress(json.dumps(records).encode()),
    "blank.jsonl": lambda records: b"\xef\xbb\xbf" + jsonl(records).replace(b"\n", b"\n\r\n"),
}


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    (tmp_path / "r.jsonl").write_bytes(jsonl(RECORDS))
    return tmp_path


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("prompt", ["{}", "Solve this:\n{}\nGive a number.", "{} Think first."])
async def test_each_case_gets_its_answer_in_any_order_and_within_a_prompt(
    tmp_path: Path, name: str, prompt: str
) -> None:
    (tmp_path / name).write_bytes(WRITERS[name](RECORDS))
    shuffled = random.Random(1).sample(RECORDS, 40)
    async with opened(f"replay:{name}?answer=large.solution", tmp_path) as agent:
        for place, record in enumerate(shuffled):
            request = ask(prompt.format(record["question"]), id=str(place))
            large: Any = record["large"]
            assert (await agent.answer(request)).text == large["solution"]


async def test_the_search_for_a_prompts_form_holds_nothing_else_up(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search, beside = Recording.find_inside, threading.Event()
    waited: list[bool] = []

    def slow(self: Recording, text: str) -> tuple[str, str] | None:
        waited.append(beside.wait(5))
        return search(self, text)

    monkeypatch.setattr(Recording, "find_inside", slow)
    asked = [f"Solve this: {record['question']} Think." for record in RECORDS[:10]]
    async with opened("replay:r.jsonl?answer=truth", recorded) as agent:
        answers = asyncio.gather(*(agent.answer(ask(text)) for text in asked))
        asyncio.get_running_loop().call_later(0, beside.set)
        texts = [answer.text for answer in await answers]
    assert texts == [record["truth"] for record in RECORDS[:10]]
    assert waited == [True]  # one search for all of them, and the loop went on meanwhile


async def test_a_question_that_begins_another_is_not_taken_for_it(tmp_path: Path) -> None:
    records = [
        {"q": "How many legs have ducks?", "a": "short"},
        {"q": "How many legs have ducks? And cows?", "a": "long"},
    ]
    (tmp_path / "r.jsonl").write_bytes(jsonl(records))
    async with opened("replay:r.jsonl?answer=a", tmp_path) as agent:
        prompt = "Q: How many legs have ducks? And cows?"
        assert (await agent.answer(ask(prompt))).text == "long"
        assert (await agent.answer(ask("Q: How many legs have ducks?"))).text == "short"


async def test_a_case_is_found_by_id_when_its_text_is_not(tmp_path: Path) -> None:
    records = [{"task_id": f"T/{n}", "prompt": f"p{n}", "done": f"d{n}"} for n in range(3)]
    (tmp_path / "r.jsonl").write_bytes(jsonl(records))
    async with opened("replay:r.jsonl?answer=done", tmp_path) as agent:
        assert (await agent.answer(ask("reworded", id="T/2"))).text == "d2"
        await failure(agent, ask("reworded", id="T/3"), FailureKind.AGENT)
        # The text says more than an id that may be a mere number.
        assert (await agent.answer(ask("p1", id="T/2"))).text == "d1"


async def test_match_and_field_options_decide_what_must_be_equal(tmp_path: Path) -> None:
    records = [{"n": n, "q": "same?", "alt": f"alt{n}", "a": f"a{n}"} for n in range(3)]
    (tmp_path / "r.jsonl").write_bytes(jsonl(records))
    base = "replay:r.jsonl?answer=a"
    async with opened(f"{base}&match=id&id=n", tmp_path) as agent:
        assert (await agent.answer(ask("same?", id="2"))).text == "a2"
    async with opened(f"{base}&question=alt&match=question", tmp_path) as agent:
        assert (await agent.answer(ask("alt1", id="2"))).text == "a1"
        await failure(agent, ask("same?", id="2"), FailureKind.AGENT)


@pytest.mark.parametrize(
    ("recorded_answer", "answer"),
    [
        ("text", Answer(text="text")),
        (7, Answer(text="7", data=7)),
        ({"city": "Rome"}, Answer(text='{"city":"Rome"}', data={"city": "Rome"})),
        (
            {"text": "t", "usage": {"output_tokens": 3}},
            Answer(text="t", usage=Usage(output_tokens=3)),
        ),
    ],
)
async def test_recorded_values_of_any_kind(
    tmp_path: Path, recorded_answer: Any, answer: Answer
) -> None:
    (tmp_path / "r.jsonl").write_bytes(jsonl([{"q": "x", "a": recorded_answer}]))
    async with opened("replay:r.jsonl?answer=a", tmp_path) as agent:
        assert await agent.answer(ask("x")) == answer


async def test_recorded_figures_go_with_the_answer(tmp_path: Path) -> None:
    record = {
        "q": "x", "runs": [{"a": "ok", "ms": 120.5, "first": 30, "in": 11, "out": 4, "usd": 0.02}],
        "by": "model-1",
    }  # fmt: skip
    (tmp_path / "r.jsonl").write_bytes(jsonl([record]))
    paths = (
        "answer=runs.0.a&latency_ms=runs.0.ms&ttft_ms=runs.0.first&input_tokens=runs.0.in"
        "&output_tokens=runs.0.out&cost_usd=runs.0.usd&model=by"
    )
    async with opened(f"replay:r.jsonl?{paths}", tmp_path) as agent:
        assert await agent.answer(ask("x")) == Answer(
            text="ok",
            usage=Usage(11, 4),
            ttft_ms=30,
            model="model-1",
            cost_usd=0.02,
            metadata={"latency_ms": 120.5},
        )


async def test_recorded_counts_of_zero_are_none(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(jsonl([{"q": "x", "a": "ok", "in": 0, "out": 0}]))
    target = "replay:r.jsonl?answer=a&input_tokens=in&output_tokens=out"
    async with opened(target, tmp_path) as agent:
        assert await agent.answer(ask("x")) == Answer(text="ok")


async def test_what_was_not_recorded_is_a_failure_of_the_agent(recorded: Path) -> None:
    lines = [*RECORDS, {"question": "Unanswered?", "large": {}}]
    (recorded / "r.jsonl").write_bytes(jsonl(lines))
    async with opened("replay:r.jsonl?answer=large.solution", recorded) as agent:
        missing = await failure(agent, ask("Never asked?"), FailureKind.AGENT)
        assert missing.detail == "no record of `r.jsonl` belongs to this case"
        empty = await failure(agent, ask("Unanswered?"), FailureKind.AGENT)
        assert empty.detail == "record 60 has no `large.solution`"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no record"),
        (b"not json\n", "record 1 is not JSON"),
        (b'\n{"a": "\xe9"}\n', "record 1 is not UTF-8 text (byte 0xe9 at position 8 of its line)"),
        (b'[{},\n{"a": "\xe9"}]', "is not UTF-8 text (byte 0xe9 at position 8 of line 2); save"),
        (b"17\n", "record 1 is not a JSON object"),
        (b"[1, 2", "is not JSON"),
        (b'{"question": "q", "largo": {"solution": "s"}}\n', 'did you mean "largo.solution"'),
    ],
)
def test_what_is_wrong_with_a_file_is_known_before_the_run(
    tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "r.jsonl").write_bytes(content)
    spec = parse_agent("replay:r.jsonl?answer=large.solution", base_dir=str(tmp_path))
    [problem] = check_agent(spec)
    assert said in problem


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(jsonl(RECORDS))[:-20])
    spec = parse_agent("replay:r.jsonl.gz?answer=large.solution", base_dir=str(tmp_path))
    [problem] = check_agent(spec)
    assert "cannot be read: Compressed file ended" in problem


def test_a_fault_in_a_later_record_names_it(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_bytes(jsonl(RECORDS[:4]) + b"{broken\n")
    with pytest.raises(RecordingFault, match="record 5 is not JSON"):
        Recording("r.jsonl", str(tmp_path))


def test_a_file_inside_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "with_data" / "data").mkdir(parents=True)
    (tmp_path / "with_data" / "__init__.py").touch()
    (tmp_path / "with_data" / "data" / "r.jsonl.gz").write_bytes(gzip.compress(jsonl(RECORDS)))
    monkeypatch.syspath_prepend(str(tmp_path))
    recording = Recording("package:with_data/data/r.jsonl.gz", "")
    assert len(recording) == len(RECORDS)
    recording.close()
    with pytest.raises(RecordingFault, match="has no file `data/none`"):
        Recording("package:with_data/data/none", "")


def test_texts_stay_in_the_file(tmp_path: Path) -> None:
    """20 MB are allowed for 100,000 records; a tenth of them is measured."""
    records = [
        {"id": f"case-{n}", "question": f"What is {n}? {'x' * 1000}", "truth": str(n), "a": "b"}
        for n in range(10_000)
    ]
    (tmp_path / "r.jsonl").write_bytes(jsonl(records))
    del records
    Recording("r.jsonl", str(tmp_path)).close()  # whatever the first use of the code costs
    before = psutil.Process().memory_info().rss
    recording = Recording("r.jsonl", str(tmp_path), unmatched="a")
    grown = psutil.Process().memory_info().rss - before
    assert recording.find("case-77") == 77
    recording.close()
    assert grown < 4_000_000


@given(st.lists(st.integers(0, (1 << 64) - 1), max_size=3000))
def test_the_index_gives_what_was_first_added(keys: list[int]) -> None:
    index, plain = _HashIndex(), dict[int, int]()
    for number, key in enumerate(keys):
        index.add(key, number)
        plain.setdefault(key, number)
    for key in (*keys, 0, 1, 1 << 63):
        assert index.get(key) == plain.get(key)
