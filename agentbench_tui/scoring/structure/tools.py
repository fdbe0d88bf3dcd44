"""The scorer `tool_calls`: checks tools and arguments of calls.

`expected` is a list of calls, one call, or an empty list when no tool should be called. A call is
`{name, arguments, optional: [names]}` or `{NAME: {argument: value}}`. With `possible_answers` each
argument has the list of its allowed values, in which `""` says that it may be left out: the form
of the Berkeley Function-Calling Leaderboard (Patil et al. 2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from agentbench_tui.model.answer import Answer, Case, GraderFailure, Score, Scorer, ToolCall
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.scoring.code.cpu_limit import within_limit
from agentbench_tui.scoring.recipe import Context, Recipe, always
from agentbench_tui.scoring.structure.equality import Equality, EqualityOptions, comparable, shown
from agentbench_tui.scoring.structure.pairing import most_pairs


class ToolOptions(EqualityOptions):
    """Options of `tool_calls`."""

    possible_answers: bool = False
    """Expected arguments are lists of allowed values."""
    ordered: bool = False
    """Calls must come in the expected order."""
    allow_extra: bool = False
    """Further calls do no harm."""
    pass_at: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Value from which an answer counts as right."""


@dataclass(frozen=True, slots=True)
class _Expected:
    name: str
    arguments: dict[str, Any]
    optional: frozenset[str]


def tool_calls(options: ToolOptions, context: Context) -> Scorer:
    """Return a scorer that gives credit for each expected call: half for the name, half for the
    share of arguments right.

    Value = credit ÷ the larger of expected and made calls (expected ones with `allow_extra`).
    correctness = credit ÷ made calls, completeness = expected calls made, by name ÷ expected,
    relevance = made calls that were expected, by name ÷ made. Dots and underscores in names are
    one (some servers refuse dots).
    """
    name = context.name
    matcher = _Matcher(Equality(options), options.possible_answers)

    def score(case: Case, answer: Answer) -> Score:
        expected = _read_expected(case, options.possible_answers)
        made = answer.tool_calls or tuple(
            call for message in answer.messages for call in message.tool_calls
        )
        if not expected:
            extra = "" if not made else f"called {_names(made)}, where no tool should be called"
            right = not made
            return Score(name, float(right), right, extra, relevance=float(right))
        pair = _in_order if options.ordered else _best
        pairs = within_limit(
            lambda: pair(expected, made, matcher),
            "comparing",
            "each call is compared with every expected one",
        )
        return _graded(name, options, expected, made, pairs, matcher)

    return score


def _graded(
    name: str,
    options: ToolOptions,
    expected: list[_Expected],
    made: tuple[ToolCall, ...],
    pairs: list[int | None],
    matcher: _Matcher,
) -> Score:
    credited = [
        0.0 if at is None else matcher.credit(made[at], call)
        for call, at in zip(expected, pairs, strict=True)
    ]
    paired = sum(at is not None for at in pairs)
    of = len(expected) if options.allow_extra else max(len(expected), len(made))
    value = sum(credited) / of
    wrong = [
        f"{call.name} is not called" if at is None else problem
        for call, at in zip(expected, pairs, strict=True)
        if at is None or (problem := matcher.problem(made[at], call))
    ]
    if len(made) > paired and not options.allow_extra:
        taken = set(pairs)
        extra = tuple(call for at, call in enumerate(made) if at not in taken)
        noun = "call" if len(extra) == 1 else "calls"
        wrong.append(f"{len(extra)} {noun} too many ({_names(extra)})")
    return Score(
        name,
        value,
        value >= options.pass_at,
        "; ".join(wrong[:5]),
        correctness=sum(credited) / len(made) if made else 0.0,
        completeness=paired / len(expected),
        relevance=paired / len(made) if made else None,
    )


class _Matcher:
    """Compares one made call with one expected call."""

    def __init__(self, equality: Equality, possible_answers: bool) -> None:
        self._equality = equality
        self._possible = possible_answers

    def credit(self, made: ToolCall, expected: _Expected) -> float:
        """Return 0 for another tool, else 0.5 + 0.5 × share of arguments (expected or
        given) right.
        """
        if _key(made.name) != _key(expected.name):
            return 0.0
        given = {*made.arguments, *(expected.arguments.keys() - expected.optional)}
        if not given:
            return 1.0
        return 0.5 + 0.5 * sum(self._right(made, expected, key) for key in given) / len(given)

    def problem(self, made: ToolCall, expected: _Expected) -> str:
        """Return what is wrong with the arguments, or an empty string."""
        given = {*made.arguments, *(expected.arguments.keys() - expected.optional)}
        for key in sorted(given):
            if not self._right(made, expected, key):
                said = shown(made.arguments[key]) if key in made.arguments else "missing"
                wanted = (
                    shown(expected.arguments[key])
                    if key in expected.arguments
                    else "no such argument"
                )
                return f"{expected.name}: {key} is {said}, expected {wanted}"
        return ""

    def _right(self, made: ToolCall, expected: _Expected, key: str) -> bool:
        if key not in made.arguments or key not in expected.arguments:
            return False
        said, wanted = made.arguments[key], expected.arguments[key]
        if self._possible:
            return self._allowed(said, wanted)
        return self._equality.same(said, wanted)

    def _allowed(self, said: Any, allowed: Any) -> bool:
        if not isinstance(allowed, list):
            return self._is(said, allowed)
        return any(self._is(said, value) for value in allowed)

    def _is(self, said: Any, value: Any) -> bool:
        if isinstance(value, dict) and isinstance(said, dict):
            # Objects inside allowed values list the allowed values of each key in turn; deeper
            # ones hold plain values.
            needed = {key for key, allowed in value.items() if not _may_lack(allowed)}
            return needed <= said.keys() <= value.keys() and all(
                self._allowed(item, value[key]) for key, item in said.items()
            )
        if isinstance(value, list) and isinstance(said, list):
            return len(said) == len(value) and all(map(self._is, said, value))
        return self._equality.same(said, value)


def _in_order(
    expected: list[_Expected], made: tuple[ToolCall, ...], matcher: _Matcher
) -> list[int | None]:
    """Return the best pairing in order: an alignment of two sequences by credit."""
    rows = [[0.0] * (len(made) + 1) for _ in range(len(expected) + 1)]
    for i, call in enumerate(expected, 1):
        for j, one in enumerate(made, 1):
            with_pair = rows[i - 1][j - 1] + matcher.credit(one, call)
            rows[i][j] = max(with_pair, rows[i - 1][j], rows[i][j - 1])
    pairs: list[int | None] = [None] * len(expected)
    i, j = len(expected), len(made)
    while i and j:
        if rows[i][j] == rows[i - 1][j]:
            i -= 1
        elif rows[i][j] == rows[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            pairs[i] = j
    return pairs


def _best(
    expected: list[_Expected], made: tuple[ToolCall, ...], matcher: _Matcher
) -> list[int | None]:
    """Return a pairing in any order: as many completely right calls as possible, then by falling
    credit.
    """
    credit = [[matcher.credit(one, call) for one in made] for call in expected]
    pairs = most_pairs(len(expected), len(made), lambda call, at: credit[call][at] == 1.0)
    taken = set(pairs)
    left = sorted(
        (
            (-value, call, at)
            for call, row in enumerate(credit)
            for at, value in enumerate(row)
            if 0 < value < 1
        )
    )
    for _, call, at in left:
        if pairs[call] is None and at not in taken:
            pairs[call] = at
            taken.add(at)
    return pairs


def _read_expected(case: Case, possible_answers: bool) -> list[_Expected]:
    if case.expected is None:
        raise GraderFailure(f"case {case.id} has no `expected`; for no call at all give []")
    given = comparable(case)
    calls = given if isinstance(given, list) else [given]
    return [_read_call(call, case, possible_answers) for call in calls]


def _read_call(call: Any, case: Case, possible_answers: bool) -> _Expected:
    if isinstance(call, dict) and isinstance(call.get("name"), str):
        name, arguments = call["name"], call.get("arguments", {})
        optional = frozenset(call.get("optional", ()))
    elif isinstance(call, dict) and len(call) == 1:
        name, arguments = next(iter(call.items()))
        optional = frozenset()
    else:
        raise GraderFailure(f"case {case.id}: {shown(call)} is not a call {{name, arguments}}")
    if not isinstance(arguments, dict):
        raise GraderFailure(f"case {case.id}: the arguments of {name} are not a table")
    if possible_answers:
        for key, allowed in arguments.items():
            if not isinstance(allowed, list):
                raise GraderFailure(f"case {case.id}: {name}.{key} is not a list of allowed values")
        optional |= {key for key, allowed in arguments.items() if _may_lack(allowed)}
    return _Expected(name, arguments, optional)


def _may_lack(allowed: Any) -> bool:
    return isinstance(allowed, list) and "" in allowed


def _key(name: str) -> str:
    return name.replace(".", "_")


def _names(calls: tuple[ToolCall, ...]) -> str:
    return one_line(", ".join(call.name for call in calls), 80)


RECIPES = {"tool_calls": Recipe(ToolOptions, tool_calls, needs_expected=always)}
