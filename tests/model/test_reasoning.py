"""Reasoning in the content of an answer: what it is, and what only looks like it."""

import pytest
from bounded_work import bounded_work

from agentbench_tui.model.text.reasoning import Split, split_reasoning


@pytest.mark.parametrize("name", ["think", "thinking", "thought", "reasoning", "seed:think"])
def test_leading_block_is_no_answer(name: str) -> None:
    assert split_reasoning(f"\n <{name}>5?\n</{name}>\n\n7\n") == Split("7\n")


def test_other_spellings_of_the_tags() -> None:
    assert split_reasoning("[THINK]5?[/THINK]7").answer == "7"
    assert split_reasoning("◁think▷5?◁/think▷7").answer == "7"
    assert split_reasoning("<THINK>5?</Think>7").answer == "7"


def test_closing_tag_whose_opening_tag_was_in_the_prompt() -> None:
    assert split_reasoning("5? no: 7\n</think>\n\n7").answer == "7"
    assert split_reasoning("So `x`</think>7").answer == "7"


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 7.",
        "Use <think>5?</think> to hold reasoning.",
        'import re\nre.sub(r"<think>.*?</think>", "", text)',
        "answer = text.split('</think>')[-1]",
        "The closing tag is `</think>`, the opening one `<think>`.",
        "`<think>` opens reasoning.",
        "<thinker>5</thinker>",
        "if a <think> b",
        "",
    ],
)
def test_answer_that_mentions_tags_stays_whole(text: str) -> None:
    assert split_reasoning(text) == Split(text)


def test_text_that_ends_inside_its_reasoning_has_no_answer() -> None:
    assert split_reasoning("<think>\nFirst guess: the answer is 5.") == Split("", unclosed=True)
    assert split_reasoning("<think>a</think>\n<think>b") == Split("", unclosed=True)
    assert split_reasoning("<think>\n\n</think>\n\n") == Split("")


def test_blocks_in_a_row_inside_each_other_and_in_the_answer() -> None:
    assert split_reasoning("<think>a</think>\n<think>b</think>\n7").answer == "7"
    assert split_reasoning("<think>a<think>b</think>c</think>7").answer == "7"
    assert split_reasoning("<think>a</think>Write <think>b</think>.").answer == (
        "Write <think>b</think>."
    )
    assert split_reasoning("<think>a</think>It ends with </think>.").answer == (
        "It ends with </think>."
    )
    assert split_reasoning("<reasoning>why</reasoning><answer>7</answer>").answer == (
        "<answer>7</answer>"
    )


def test_reasoning_that_mentions_its_tag_ends_at_the_closing_tag() -> None:
    assert split_reasoning("<think>I am in a <think> block</think>7").answer == "7"
    assert split_reasoning("<think>The tag is `</think>`, so</think>7").answer == "7"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>use `a`</think>`x`", "`x`"),
        ("<think>I say 'x'</think>'x'", "'x'"),
        ('<think>word is "y"</think>"x"', '"x"'),
        ("<think>code:\n```\ny\n```</think>```\nx\n```", "```\nx\n```"),
        ("<think>a</think>\n<think>use `a`</think>`x`", "`x`"),
        ("[THINK]use `a`[/THINK]`x`", "`x`"),
        ("<think>`</think>` closes; use `a`</think>`x`", "`x`"),
        ("<think>'</think>' closes; it's 'a'</think>'x'", "'x'"),
        ("<think>use `a`</think>`x`, not `</think>`", "`x`, not `</think>`"),
        ("<think>a <think> block with `a`</think>`x`", "`x`"),
        ("<think>word.'</think>'x'", "'x'"),
    ],
)
def test_quotes_around_the_only_closing_tag_are_of_the_reasoning_and_the_answer(
    text: str, answer: str
) -> None:
    assert split_reasoning(text) == Split(answer)


@pytest.mark.parametrize(
    "text",
    [
        "<think>I must close the block with `</think>` later. Maybe it is 4",
        "<think>end with `</think>`; Paris or London?",
        "<think>end with '</think>'; Paris or London?",
        '<think>the tag "</think>" ends it. 4?',
        '<think>"</think>" ends it. 4?',
        '<think>write:"</think>"then 4',
        "<think>(`</think>`)4",
    ],
)
def test_a_mention_does_not_close_reasoning_that_was_cut_off(text: str) -> None:
    assert split_reasoning(text) == Split("", unclosed=True)


@pytest.mark.parametrize("before", ["\ufeff", " \t\n", "\u200b", "\xa0", "\ufeff\n"])
def test_blanks_before_the_opening_tag(before: str) -> None:
    assert split_reasoning(f"{before}<think>5?</think>{before}7") == Split("7")
    assert split_reasoning(f"{before}7") == Split(f"{before}7")


def test_blanks_inside_a_tag() -> None:
    assert split_reasoning("<think >5?</think\n>7") == Split("7")
    assert split_reasoning("5?</think >7") == Split("7")
    assert split_reasoning("<think >5?") == Split("", unclosed=True)


@pytest.mark.parametrize(
    "part",
    [
        *("<think></think>", "<think><think></think>", "<think>", "</think>"),
        *("<a><think></thought>", "<think>`</think>`", "<think>'</think>'"),
        *("<think ", "<think>\ufeff"),
    ],
)
def test_hostile_text_of_a_megabyte_costs_bounded_time(part: str) -> None:
    text = part * (1_000_000 // len(part))
    with bounded_work():
        split = split_reasoning(text)
    assert len(split.answer) <= len(text)
