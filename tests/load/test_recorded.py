"""Traces with lengths: read from the forms in which they are published, and replayed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.load.schedule.shape import trace_words
from agentbench_tui.load.sending.protocol import Conversation, RecordedLengths, RequestType
from agentbench_tui.load.spec import LoadSpec
from agentbench_tui.load.workload.conversation import Mix
from agentbench_tui.load.workload.recorded import RecordedSessions
from agentbench_tui.load.workload.trace import read_trace
from agentbench_tui.load.workload.workload import make_workload
from agentbench_tui.model.errors import UsageError

Run = Callable[..., tuple[int, str, str]]

MOONCAKE = [
    {"timestamp": 0, "input_length": 1200, "output_length": 50, "hash_ids": [7, 8, 9]},
    {"timestamp": 900, "input_length": 1100, "output_length": 4, "hash_ids": [7, 8, 11]},
    {"timestamp": 300, "input_length": 90, "output_length": 16, "hash_ids": [12]},
]
"""Our own rows in the form of the Mooncake traces."""


def written(folder: Path, rows: list[dict[str, Any]]) -> str:
    (folder / "trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "trace.jsonl"


def workload(folder: Path, trace: dict[str, Any], **request: Any) -> tuple[RequestType, ...]:
    block: dict[str, Any] = {"trace": trace}
    if request:
        block["workload"] = [request]
    return make_workload(LoadSpec.model_validate(block), base_dir=str(folder), seed=3)


def prompt(conversation: Conversation) -> str:
    return conversation.turns[0].messages[-1].content


@pytest.mark.parametrize(
    ("text", "offsets", "tokens_in", "tokens_out", "unit"),
    [
        (
            ("TIMESTAMP,ContextTokens,GeneratedTokens\n"
            "2023-11-16 18:17:03.9799600,480,10\n2023-11-16 18:17:05.1206440,74,14\n"),
            (0.0, 1.140684), (480, 74), (10, 14), "ISO 8601",
        ),
        (
            ("TIMESTAMP,ContextTokens,GeneratedTokens\n"
            "2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10 00:00:01.009930+00:00,30,7\n"),
            (0.0, 1.0), (2162, 30), (5, 7), "ISO 8601",
        ),
        (
            ("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
            "5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,230,1317,API log\n"),
            (0.0, 40.0), (472, 1087), (18, 230), "s",
        ),
        (
            "".join(json.dumps(row) + "\n" for row in MOONCAKE),
            (0.0, 0.3, 0.9), (1200, 90, 1100), (50, 16, 4), "ms",
        ),
    ],
    ids=["azure 2023", "azure 2024", "burstgpt", "mooncake"],
)  # fmt: skip
def test_published_forms_are_read_with_their_lengths(
    tmp_path: Path,
    text: str,
    offsets: tuple[float, ...],
    tokens_in: tuple[int, ...],
    tokens_out: tuple[int, ...],
    unit: str,
) -> None:
    (tmp_path / "trace").write_text(text)

    trace = read_trace(tmp_path / "trace")

    assert trace.offsets_s == pytest.approx(offsets)
    assert (trace.input_tokens, trace.output_tokens, trace.unit) == (tokens_in, tokens_out, unit)


def test_a_unit_that_is_given_counts(tmp_path: Path) -> None:
    name = written(tmp_path, MOONCAKE)

    assert read_trace(tmp_path / name, unit="s").offsets_s == (0.0, 300.0, 900.0)


def test_rows_without_tokens_are_skipped_and_counted(tmp_path: Path) -> None:
    rows = [*MOONCAKE, *({"timestamp": 1, "input_length": 5, "output_length": x} for x in (0, "?"))]
    name = written(tmp_path, rows)

    trace = read_trace(tmp_path / name)

    assert (len(trace.offsets_s), trace.skipped) == (3, 2)
    assert "2 rows skipped: tokens in and out must be whole numbers" in trace.words()


def test_a_trace_without_any_usable_row_is_refused(tmp_path: Path) -> None:
    name = written(tmp_path, [{"timestamp": 1, "input_length": 0, "output_length": 1}])

    with pytest.raises(UsageError, match="has no arrivals; 1 row skipped: tokens in"):
        read_trace(tmp_path / name)


@pytest.mark.parametrize(
    ("speed", "requests", "words"),
    [
        (1.0, None, "3 requests over 0.9 s (timestamps in ms); 797 input and 23.3 output tokens"),
        (2.0, None, "3 requests over 0.45 s (timestamps in ms); 797 input and 23.3 output tokens"),
        (1.0, 2, "2 requests over 0.3 s (timestamps in ms); 645 input and 33 output tokens"),
    ],
)
def test_a_plan_says_how_long_a_trace_takes(
    tmp_path: Path, speed: float, requests: int | None, words: str
) -> None:
    trace = {"file": written(tmp_path, MOONCAKE), "speed": speed}
    spec = LoadSpec.model_validate({"trace": trace, "requests": requests})

    assert trace_words(spec, str(tmp_path)).startswith(f"trace trace.jsonl: {words}")


def test_each_arrival_sends_the_request_of_its_row(tmp_path: Path) -> None:
    (recorded,) = workload(tmp_path, {"file": written(tmp_path, MOONCAKE)})
    mix = Mix([recorded], seed=5)

    sessions = [mix.pick(arrival)[1] for arrival in range(3)]

    assert [len(prompt(session).split()) for session in sessions] == [1200, 90, 1100]
    assert [session.turns[0].output_tokens for session in sessions] == [50, 16, 4]
    assert prompt(mix.pick(3)[1]) == prompt(sessions[0])
    assert prompt(mix.pick(-1)[1]) == prompt(sessions[2])


def test_equal_blocks_are_equal_text_and_others_are_not(tmp_path: Path) -> None:
    (recorded,) = workload(tmp_path, {"file": written(tmp_path, MOONCAKE)})
    assert recorded.recorded is not None
    first, short, last = (prompt(one).split() for one in RecordedSessions(recorded.recorded))

    assert first[:1024] == last[:1024]
    assert first[1024:1100] != last[1024:]
    assert first[:90] != short


def test_what_to_send_replaces_the_recorded_requests(tmp_path: Path) -> None:
    trace = {"file": written(tmp_path, MOONCAKE)}

    (own,) = workload(tmp_path, trace, prompts=["Why?"])
    (asked,) = workload(tmp_path, trace, output_tokens=9, system_prompt="Be brief.")

    assert own.recorded is None
    assert prompt(own.conversations[0]) == "Why?"
    assert asked.recorded is not None
    assert asked.recorded.output_tokens == (9, 9, 9)
    assert asked.recorded.input_tokens == (1200, 90, 1100)
    assert [one.role for one in asked.conversations[0].turns[0].messages] == ["system", "user"]


@given(
    st.lists(
        st.tuples(st.integers(1, 3000), st.lists(st.integers(-5, 5), max_size=4)),
        min_size=1,
        max_size=6,
    )
)
def test_a_prompt_has_exactly_as_many_words_as_its_row_has_tokens(
    rows: list[tuple[int, list[int]]],
) -> None:
    lengths = RecordedLengths(
        1, tuple(row[0] for row in rows), (1,) * len(rows), tuple(tuple(row[1]) for row in rows)
    )

    sessions = RecordedSessions(lengths)

    assert [len(prompt(one).split()) for one in sessions] == [row[0] for row in rows]
    assert [prompt(one) for one in RecordedSessions(lengths)] == [prompt(one) for one in sessions]


def test_prompts_without_blocks_share_no_beginning() -> None:
    count = 3000
    sessions = RecordedSessions(RecordedLengths(1, (4,) * count, (1,) * count))

    assert len({tuple(prompt(one).split()[:2]) for one in sessions}) == count
