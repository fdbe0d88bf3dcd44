"""The memory agent: answers by similarity to worked examples and to its earlier answers.

Run as `python -m agentbench_tui.agents.quickstart.memory`. Likeness is the overlap of skip-grams,
all pairs of words in their order, as in ROUGE-S: a table that grows with the square of the input.
Short questions cost kilobytes; long letters and price lists cost more memory than is sensible.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from fractions import Fraction
from itertools import combinations

from agentbench_tui.agents.quickstart.cues import call_by_words, labelled_values
from agentbench_tui.agents.quickstart.language import numbers, plain
from agentbench_tui.agents.worker import Reply, Task, serve

REMEMBERED = 50
"""Questions whose answers are kept; the oldest is forgotten first."""

_EXAMPLES: tuple[tuple[str, str], ...] = (
    ("Jo has # sweets. Jo buys # more and then gives # to Kim. How many are there now?", "a+b-c"),
    ("There were # pens in a box. Jo took # of them and found # more. How many now?", "a-b+c"),
    ("One crate holds # bottles. How many bottles are in # crates?", "a*b"),
    ("There are # jars with # sweets in each. How many sweets in all?", "a*b"),
    ("A cup costs $# and a plate costs $#. What do # cups and # plates cost?", "a*c+b*d"),
    ("# lamps at $# each and # chairs at $# each. What is the total?", "a*b+c*d"),
    ("A car drives at # km per hour. How many kilometres in # hours?", "a*b"),
    ("# sweets are shared equally among # children. How many are left over?", "a%b"),
    ("A cook puts # buns into bags of #. How many full bags are there?", "a//b"),
    ("Kim has # more pens than Jo. Jo has # pens. How many do they have together?", "a+b+b"),
    ("Jo has # pens. Kim has # fewer pens than Jo. How many pens does Kim have?", "a-b"),
    ("A bike costs $#. It is sold at #% off. What is the new price?", "a-a*b/100"),
    ("Of # guests, #% came by train. How many guests came by train?", "a*b/100"),
    ("Jo picked # plums. Kim picked twice as many. How many did Kim pick?", "a+a"),
    ("A machine makes # lids in # minutes. How many does it make in # minutes?", "a*c/b"),
    ("A garden is # m long and # m wide. How many metres of fence go around it?", "a+b+a+b"),
    ("A room is # m long and # m wide. What is its area in square metres?", "a*b"),
    ("Jo pays for # pies at $# each with a $# note. How much change?", "c-a*b"),
    ("Jo has # shelves with # books each and lends # books. How many are left?", "a*b-c"),
)
"""Question with `#` for numbers → what to do with them, called a, b, c, …"""


def skip_grams(text: str) -> set[tuple[str, str]]:
    """Return all ordered pairs of words; numbers count as one word."""
    words = re.findall(r"[a-z]+|#|%", re.sub(r"\d[\d,.]*", "#", text.lower()))
    return set(enumerated_pairs(words))


def enumerated_pairs(words: list[str]) -> list[tuple[str, str]]:
    """Return pairs with repeated words numbered (`box`, `box2`, …), so that repetition counts."""
    seen: dict[str, int] = {}
    marked = []
    for word in words:
        seen[word] = seen.get(word, 0) + 1
        marked.append(word if seen[word] == 1 else f"{word}{seen[word]}")
    return list(combinations(marked, 2))


class Memory:
    """Worked examples, and recent answers."""

    def __init__(self) -> None:
        self._examples = [(skip_grams(text), formula) for text, formula in _EXAMPLES]
        self._answers: OrderedDict[str, str] = OrderedDict()

    def answer(self, task: Task) -> Reply:
        """Answer with an earlier answer, else with that of the most similar example."""
        text = task.text
        if task.tools:
            return Reply(tool_calls=[call_by_words(text, task.tools)])
        if text not in self._answers:
            grams = skip_grams(text)
            self._answers[text] = self._new_answer(text, grams)
            if len(self._answers) > REMEMBERED:
                self._answers.popitem(last=False)
        found = self._answers[text]
        keys, _, _ = text.partition("\n\n")
        return Reply(text=found, data=json.loads(found) if "JSON" in keys else None)

    def _new_answer(self, text: str, grams: set[tuple[str, str]]) -> str:
        keys, _, document = text.partition("\n\n")
        if "JSON" in keys:
            return json.dumps(labelled_values(document))
        _, formula = max(self._examples, key=lambda example: likeness(grams, example[0]))
        value = evaluate(formula, numbers(text))
        return "" if value is None else plain(value)


def likeness(one: set[tuple[str, str]], other: set[tuple[str, str]]) -> float:
    """Return shared pairs ÷ all pairs (Jaccard)."""
    return len(one & other) / max(1, len(one | other))


def evaluate(formula: str, values: list[Fraction]) -> Fraction | None:
    """Evaluate a formula of letters and `+ - * / // %`, products before sums; None if it does not
    fit.
    """
    total = Fraction(0)
    for sign, term in re.findall(r"([+-]?)([^+-]+)", formula):
        parts = re.split(r"(//|[*/%])", term)
        try:
            product = _operand(parts[0], values)
            for operator, part in zip(parts[1::2], parts[2::2], strict=True):
                product = _apply(operator, product, _operand(part, values))
        except (IndexError, ZeroDivisionError):
            return None
        total += -product if sign == "-" else product
    return total


def _operand(text: str, values: list[Fraction]) -> Fraction:
    return Fraction(text) if text.isdecimal() else values[ord(text) - ord("a")]


def _apply(operator: str, left: Fraction, right: Fraction) -> Fraction:
    if operator == "*":
        return left * right
    if operator == "/":
        return left / right
    return Fraction(left // right) if operator == "//" else left % right


if __name__ == "__main__":
    serve(Memory().answer, name="memory", version="1")
