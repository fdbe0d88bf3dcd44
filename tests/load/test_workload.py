"""What a plan's workload becomes: sessions out of prompts, datasets and made-up text."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.load.sending.protocol import Conversation, RequestType, Turn
from agentbench_tui.load.spec import LoadSpec, RequestSpec
from agentbench_tui.load.workload.corpus import PROMPTS
from agentbench_tui.load.workload.workload import LEAST_DRAWN, make_workload, problems
from agentbench_tui.model.answer import Case, Message
from agentbench_tui.model.errors import SuiteError, UsageError


def spec(*types: dict[str, Any]) -> LoadSpec:
    return LoadSpec.model_validate(
        {"rate": 1.0, "workload": list(types)} if types else {"rate": 1.0}
    )


def make(*types: dict[str, Any], seed: int = 42, folder: Path = Path()) -> tuple[RequestType, ...]:
    return make_workload(spec(*types), base_dir=str(folder), seed=seed)


def sessions(request: dict[str, Any], folder: Path = Path()) -> tuple[Conversation, ...]:
    (only,) = make(request, folder=folder)
    return only.conversations


def said(conversation: Conversation) -> list[list[tuple[str, str]]]:
    """Role and text of each message of each turn."""
    return [[(m.role, m.content) for m in turn.messages] for turn in conversation.turns]


def data(folder: Path, *records: dict[str, Any]) -> str:
    (folder / "cases.jsonl").write_text("\n".join(map(json.dumps, records)))
    return "cases.jsonl"


def test_with_nothing_given_there_are_prompts_of_our_own() -> None:
    (only,) = make()
    assert (only.name, only.weight, only.cancel_after_tokens) == ("request", 1.0, None)
    assert [said(session) for session in only.conversations] == [
        [[("user", prompt)]] for prompt in PROMPTS
    ]


def test_each_prompt_is_a_session_with_the_system_prompt_before_it() -> None:
    made = sessions({"prompts": ["One?", "Two?"], "system_prompt": "Be brief.", "output_tokens": 9})
    assert made == tuple(
        Conversation((Turn((Message("system", "Be brief."), Message("user", text)), 9),))
        for text in ("One?", "Two?")
    )


def test_a_session_of_several_turns_takes_successive_prompts() -> None:
    first, second = sessions(
        {
            "prompts": ["a", "b", "c", "d"],
            "turns": 2,
            "system_prompt": "S",
            "think_time_ms": 20.0,
        }
    )
    assert said(first) == [[("system", "S"), ("user", "a")], [("user", "b")]]
    assert said(second) == [[("system", "S"), ("user", "c")], [("user", "d")]]
    assert first.think_time_ms == 20


def test_the_last_session_goes_on_with_the_first_prompts() -> None:
    made = sessions({"prompts": ["a", "b", "c"], "turns": 2})
    assert [said(session) for session in made] == [
        [[("user", "a")], [("user", "b")]],
        [[("user", "c")], [("user", "a")]],
    ]
    (long,) = sessions({"prompts": ["a"], "turns": 3})
    assert said(long) == [[("user", "a")]] * 3


@given(st.integers(1, 12), st.integers(1, 12))
def test_every_prompt_is_asked_and_every_session_is_whole(count: int, turns: int) -> None:
    made = sessions({"prompts": [f"{n}" for n in range(count)], "turns": turns})
    asked = [turn[0][1] for session in made for turn in said(session)]
    assert all(len(session.turns) == turns for session in made)
    assert asked == [f"{place % count}" for place in range(len(asked))]
    assert count <= len(asked) < count + turns


def test_cases_of_a_dataset_bring_their_messages_and_are_kept_whole(tmp_path: Path) -> None:
    source = data(
        tmp_path,
        {"id": "x", "q": "2+2?", "expected": "4", "messages": [{"role": "user", "content": "Hi"}]},
        {"id": "y", "q": {"a": [1, 2]}},
        {"id": "z", "q": "left out"},
    )
    first, second = sessions(
        {
            "data_source": source,
            "fields": {"input": "q"},
            "limit": 2,
            "system_prompt": "Be brief.",
        },
        tmp_path,
    )
    assert said(first) == [[("system", "Be brief."), ("user", "Hi"), ("user", "2+2?")]]
    assert said(second) == [[("system", "Be brief."), ("user", '{"a":[1,2]}')]]
    cases = [msgspec.convert(session.turns[0].case, Case) for session in (first, second)]
    assert [(case.id, case.input, case.expected) for case in cases] == [
        ("x", "2+2?", "4"),
        ("y", {"a": [1, 2]}, None),
    ]


def test_tools_are_those_of_the_request_and_of_its_cases(tmp_path: Path) -> None:
    source = data(
        tmp_path,
        {"input": "Rain?", "tools": [{"name": "weather"}, {"name": "clock", "description": "own"}]},
        {"input": "Time?"},
    )
    wrapped = {"type": "function", "function": {"name": "clock", "description": "ours"}}
    first, second = sessions(
        {"data_source": source, "tools": [wrapped], "tool_rounds": 2}, tmp_path
    )
    assert first.tools == ({"name": "clock", "description": "ours"}, {"name": "weather"})
    assert second.tools == ({"name": "clock", "description": "ours"},)
    assert first.most_tool_rounds == 2


def test_results_are_found_by_the_names_that_model_apis_get() -> None:
    (only,) = sessions(
        {
            "prompts": ["Time?"],
            "tools": [{"name": "world.clock"}],
            "tool_results": {"world.clock": "noon"},
        }
    )
    assert only.tool_results == {"world.clock": "noon", "world_clock": "noon"}
    assert only.most_tool_rounds == 5


def test_without_tools_there_are_no_rounds_of_calls() -> None:
    (only,) = sessions({"prompts": ["Time?"]})
    assert (only.tools, only.tool_results, only.most_tool_rounds) == ((), {}, 0)


def test_made_up_prompts_have_the_asked_length_and_make_whole_sessions() -> None:
    made = sessions({"synthetic": {"input_tokens": 50, "distinct": 10}, "turns": 4})
    texts = [turn.messages[0].content for session in made for turn in session.turns]
    assert len(made) == 3  # of 4 turns: 12 prompts, the 10 asked for and 2 more
    assert {len(text.split()) for text in texts} == {50}
    assert len(set(texts)) == 12


def test_answers_of_drawn_length_have_it_even_with_a_single_prompt() -> None:
    made = sessions({"prompts": ["Why?"], "output_tokens": {"mean": 200, "spread": 40.0}})
    lengths = [session.turns[0].output_tokens or 0 for session in made]
    assert len(made) == LEAST_DRAWN
    assert sum(lengths) / len(lengths) == pytest.approx(200, rel=0.01)
    assert len(set(lengths)) > LEAST_DRAWN / 2


def test_every_turn_draws_a_length_of_its_own() -> None:
    made = sessions(
        {"prompts": ["a", "b"], "turns": 2, "output_tokens": {"mean": 500, "spread": 100.0}}
    )
    assert any(len({turn.output_tokens for turn in session.turns}) == 2 for session in made)


def test_types_keep_their_order_weight_and_end() -> None:
    chat, cut = make(
        {"name": "chat", "weight": 3.0, "prompts": ["Hi"]},
        {"name": "cut", "cancel_after_tokens": 7, "prompts": ["Tell me everything"]},
    )
    assert (chat.name, chat.weight, chat.cancel_after_tokens) == ("chat", 3.0, None)
    assert (cut.name, cut.weight, cut.cancel_after_tokens) == ("cut", 1.0, 7)


def test_the_same_seed_makes_the_same_workload() -> None:
    request = {"synthetic": {"input_tokens": {"mean": 40, "spread": 9.0}, "distinct": 20}}
    assert make(request, seed=7) == make(request, seed=7) != make(request, seed=8)


def test_types_that_are_alike_draw_different_prompts() -> None:
    request = {"synthetic": {"input_tokens": 40, "distinct": 5}}
    one, other = make({"name": "a", **request}, {"name": "b", **request})
    assert not any(session in other.conversations for session in one.conversations)


@pytest.mark.parametrize(
    "request_type",
    [
        {"name": "big", "synthetic": {"input_tokens": 10**15, "distinct": 1}},
        {"name": "big", "synthetic": {"input_tokens": 1000, "distinct": 100_000}},
        {"name": "big", "prompts": ["x" * 1_000_000], "turns": 65},
    ],
    ids=["one prompt", "many prompts", "long sessions"],
)
def test_more_than_64_mb_is_refused(request_type: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r'^workload "big": more than 64 MB') as refused:
        make(request_type)
    assert "\n" not in str(refused.value)


def test_types_share_the_64_mb() -> None:
    half = {"prompts": ["x" * 33_000_000]}
    make({"name": "a", **half})
    with pytest.raises(UsageError, match='"b"'):
        make({"name": "a", **half}, {"name": "b", **half})


def test_a_dataset_without_any_usable_record_is_refused_by_file_and_line(tmp_path: Path) -> None:
    source = data(tmp_path, {}, {"question": "no input"})
    with pytest.raises(SuiteError) as refused:
        make({"data_source": source}, folder=tmp_path)
    (problem,) = refused.value.problems
    assert (Path(problem.file).name, problem.line) == ("cases.jsonl", 1)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"data_source": "https://example.org/cases"}, "data_source"),
        ({"data_source": "cases.jsonl", "fields": {"inputt": "q"}}, "fields.inputt"),
    ],
)
def test_other_faults_of_a_dataset_are_named_by_their_place_in_the_benchmark(
    given: dict[str, Any], key: str, tmp_path: Path
) -> None:
    data(tmp_path, {"q": "a question"})
    with pytest.raises(SuiteError) as refused:
        make({"name": "a"}, {"name": "b", **given}, folder=tmp_path)
    (problem,) = refused.value.problems
    assert problem.path == f"load.workload.1.{key}"


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "empty prompt": ({"prompts": ["fine", " "]}, "workload.0.prompts.1: is empty"),
    "fields alone": ({"fields": {"input": "q"}}, "workload.0.fields: goes with `data_source`"),
    "limit alone": ({"limit": 3}, "workload.0.limit: goes with `data_source`"),
    "no file": ({"data_source": "nowhere.jsonl"}, "workload.0.data_source: "),
    "unknown field": (
        {"data_source": "cases.jsonl", "fields": {"inputt": "q"}},
        "workload.0.fields.inputt: a case has no field",
    ),
    "no input": ({"data_source": "cases.jsonl"}, "workload.0.data_source: "),
    "input length": (
        {"synthetic": {"input_tokens": {"mean": 5, "low": 9}}},
        "workload.0.synthetic.input_tokens: `mean` is 5, below `low` of 9",
    ),
    "output length": (
        {"output_tokens": {"mean": 5, "high": 3}},
        "workload.0.output_tokens: `mean` is 5, above `high` of 3",
    ),
    "too much text": (
        {"synthetic": {"input_tokens": 1000, "distinct": 100_000}},
        "workload.0.synthetic: 100,000 prompts of 1,000 tokens",
    ),
    "nameless tool": ({"tools": [{"description": "?"}]}, "workload.0.tools.0: has no `name`"),
    "result of no tool": (
        {"tools": [{"name": "weather"}], "tool_results": {"wether": "wet"}},
        'workload.0.tool_results.wether: there is no tool "wether" (did you mean "weather"?)',
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_cannot_be_is_found_before_the_run(fault: str, tmp_path: Path) -> None:
    data(tmp_path, {"q": "a question"})
    request, start = FAULTS[fault]
    (line,) = problems(spec(request), str(tmp_path))
    assert line.startswith(start)


def test_types_need_different_names() -> None:
    (line,) = problems(spec({}, {}), ".")
    assert line == 'workload: 2 request types are named "request"; names must differ'


def test_a_sample_can_tell_255_types_apart() -> None:
    assert not problems(spec(*({"name": f"t{n}"} for n in range(255))), ".")
    (line,) = problems(spec(*({"name": f"t{n}"} for n in range(256))), ".")
    assert line == "workload: 256 request types; at most 255"


def test_of_a_dataset_only_the_first_case_is_read_before_the_run(tmp_path: Path) -> None:
    data(tmp_path, {"input": "fine"}, {"question": "no input"})
    assert not problems(spec({"data_source": "cases.jsonl"}), str(tmp_path))


SHAREGPT = [
    {
        "id": "a",
        "conversations": [
            {"from": "system", "value": "Be brief."},
            {"from": "human", "value": "Name a river."},
            {"from": "gpt", "value": "The Ebro."},
            {"from": "human", "value": "And another?"},
            {"from": "gpt", "value": "The Po."},
        ],
    },
    {"id": "b", "conversations": []},
    {
        "id": "c",
        "conversations": [
            {"from": "gpt", "value": "Earlier text."},
            {"from": "human", "value": "Go on."},
        ],
    },
    {"id": "d", "conversations": [{"from": "gpt", "value": "Alone."}]},
]
"""Our own records in ShareGPT's form."""


def test_a_recorded_conversation_is_a_session_of_its_users_turns(tmp_path: Path) -> None:
    first, second = sessions({"data_source": data(tmp_path, *SHAREGPT)}, tmp_path)

    assert said(first) == [
        [("system", "Be brief."), ("user", "Name a river.")],
        [("user", "And another?")],
    ]
    assert said(second) == [[("user", "Go on.")]]


def test_records_that_cannot_be_sent_are_skipped_and_counted(tmp_path: Path) -> None:
    spec = LoadSpec(
        rate=1, workload=[RequestSpec(data_source=data(tmp_path, {"input": "x"}, *SHAREGPT))]
    )
    notes: list[str] = []

    make_workload(spec, base_dir=str(tmp_path), seed=1, say=notes.append)

    skipped = "cases.jsonl: 2 records skipped"
    reason = "`conversations` has no user's turn (2 records, first on line 3)"
    assert notes == [f"{skipped}: {reason}"]


def test_a_conversation_asks_for_the_number_of_tokens_in_each_turn(tmp_path: Path) -> None:
    source = data(tmp_path, SHAREGPT[0])

    (session,) = sessions({"data_source": source, "output_tokens": 7}, tmp_path)

    assert [turn.output_tokens for turn in session.turns] == [7, 7]
