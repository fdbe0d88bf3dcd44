"""How Python callables are named: by a module, by a script, or for the calling program alone."""

import functools
import json
import linecache
from collections.abc import Callable
from typing import Any

import pytest

from agentbench_tui.agents.python.session_objects import session_objects
from agentbench_tui.python_api.callables import named_callable, source_version


def top_level(question: str) -> str:
    return question


def decorated(function: Callable[[str], str]) -> Callable[[str], str]:
    @functools.wraps(function)
    def call(question: str) -> str:
        return function(question)

    return call


class Session:
    def __init__(self, word: str = "x") -> None:
        self.word = word

    def answer(self, question: str) -> str:
        return self.word


def make(word: str) -> Callable[[str], str]:
    return lambda question: word


@pytest.mark.parametrize("value", [top_level, Session, json.dumps, Session.answer])
def test_what_a_module_holds_is_named_by_the_module(value: Any) -> None:
    named = named_callable(value)
    assert named.target == f"python:{value.__module__}:{value.__qualname__}"
    assert named.object.is_importable


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (make("a"), "<lambda>"),
        (decorated(top_level), "top_level"),
        (functools.partial(top_level), "top_level"),
        (Session("word").answer, "answer"),
        (Session("word"), "Session"),
    ],
)
def test_no_other_process_is_sent_to_something_of_the_same_name(value: Any, name: str) -> None:
    """A method without its object, or a class without its arguments, is not what was given."""
    named = named_callable(value)
    assert named.place[0] == "__main__"
    assert named.name == name
    assert not named.object.is_importable
    assert named.object.value is value


def test_two_closures_of_one_function_have_two_places() -> None:
    first, second = make("a"), make("b")
    one = named_callable(first)
    in_call = named_callable(second, {one.place: one.object})
    assert in_call.place != one.place
    with session_objects({one.place: one.object}):
        assert named_callable(first).place == one.place
        assert named_callable(second).place != one.place
    assert named_callable(second).place == one.place


def in_a_cell(code: str, number: int) -> dict[str, Any]:
    """Names that a notebook's cell defines, whose source only linecache knows."""
    file = f"<ipython-input-{number}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(code, file, "exec"), names)
    return names


FUNCTION = "def agent(question):\n    return {!r}\n"
CLASS = "class Agent:\n    def answer(self, question):\n        return {!r}\n"


@pytest.mark.parametrize(("code", "name"), [(FUNCTION, "agent"), (CLASS, "Agent")])
def test_an_edited_cell_is_another_version(code: str, name: str) -> None:
    old, same, new = (
        source_version(in_a_cell(code.format(word), number)[name])
        for number, word in enumerate(("a", "a", "b"))
    )
    assert old == same
    assert old not in {new, None}


def test_without_source_there_is_no_version_of_it() -> None:
    names: dict[str, Any] = {}
    exec("def agent(question): return question", names)
    assert source_version(names["agent"]) is None
    assert source_version(len) is None
