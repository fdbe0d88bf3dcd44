"""The planning agent: divides a question into steps and runs tools in a separate process.

Run as `python -m agentbench_tui.agents.quickstart.planner`. It reports its phases as spans and its
tool calls as messages. If no plan fits, it uses the rules.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from fractions import Fraction
from typing import Any

from agentbench_tui.agents.quickstart.arithmetic import solve
from agentbench_tui.agents.quickstart.documents import read_document
from agentbench_tui.agents.quickstart.language import NUMBER, dates, plain, read_number
from agentbench_tui.agents.quickstart.requests import read_request
from agentbench_tui.agents.worker import Reply, Task, serve
from agentbench_tui.process.environment import python_module

_N = rf"({NUMBER})"


class ToolFailed(Exception):
    """Raised when a tool cannot execute a step: the plan does not fit."""


class Toolbox:
    """The tools' process, started once, and the calls for the current question."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            python_module("agentbench_tui.agents.quickstart.toolbox"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.messages: list[dict[str, Any]] = []
        self.spans: list[dict[str, Any]] = []
        self._began = 0.0

    def begin(self) -> None:
        """Start a new question."""
        self.messages, self.spans = [], []
        self._began = time.perf_counter()

    def elapsed_ms(self) -> float:
        """Return the time since the question arrived in ms."""
        return (time.perf_counter() - self._began) * 1000

    def call(self, tool: str, **arguments: Any) -> Any:
        """Return the tool's result. Raises ToolFailed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        start = self.elapsed_ms()
        self._process.stdin.write(json.dumps({"tool": tool, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        reply = json.loads(self._process.stdout.readline())
        self.spans.append(
            {"name": f"tool:{tool}", "start_ms": start, "duration_ms": self.elapsed_ms() - start}
        )
        call_id = str(len(self.messages) // 2)
        call = {"name": tool, "arguments": arguments, "id": call_id}
        self.messages += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "content": json.dumps(reply), "tool_call_id": call_id},
        ]
        if "error" in reply:
            raise ToolFailed(reply["error"])
        return reply["result"]

    def calculate(self, operation: str, *values: str) -> str:
        """Run a calculator step on exact numbers."""
        result: str = self.call("calculate", operation=operation, values=list(values))
        return result


def plan_length(text: str, tools: Toolbox) -> str | None:
    """Plan for a length in miles, divided or repeated, in metric units."""
    given = re.search(rf"{_N} (miles)", text)
    wanted = re.search(r"How many (metres|kilometres)", text)
    if given is None or wanted is None:
        return None
    length: str = tools.call("convert", value=_exact(given[1]), unit="miles", into=wanted[1])
    if pieces := re.search(rf"cut into {_N} equal", text):
        length = tools.calculate("divide", length, _exact(pieces[1]))
    if days := re.search(rf"on each of {_N} days", text):
        length = tools.calculate("multiply", length, _exact(days[1]))
    return length


def plan_weight(text: str, tools: Toolbox) -> str | None:
    """Plan for adding or subtracting pounds and grams."""
    given = re.search(rf"{_N} pounds", text)
    other = re.search(rf"{_N} grams", text)
    if given is None or other is None or "Stock" in text:
        return None
    grams = tools.call("convert", value=_exact(given[1]), unit="pounds", into="grams")
    operation = "subtract" if re.search("taken out|less", text) else "add"
    return tools.calculate(operation, grams, _exact(other[1]))


def plan_date(text: str, tools: Toolbox) -> str | None:
    """Plan for a date some weeks and days after another, or its weekday."""
    days = re.search(rf"(?:{_N} weeks and )?{_N} days", text)
    start = dates(text)
    if days is None or not start:
        return None
    weeks = int(days[1] or 0)
    found = tools.call("calendar", day=start[0][1].isoformat(), plus_days=7 * weeks + int(days[2]))
    return str(found["weekday" if "weekday" in text else "date"])


def plan_stay(text: str, tools: Toolbox) -> str | None:
    """Plan for the price of the nights between two days, perhaps shared."""
    price = re.search(rf"{_N} euros a night", text)
    days = dates(text)
    if price is None or len(days) != 2:
        return None
    first, last = (day.isoformat() for _, day in days)
    nights = tools.call("calendar", day=first, until=last)["days"]
    cost = tools.calculate("multiply", str(nights), _exact(price[1]))
    if people := re.search(rf"{_N} people share", text):
        cost = tools.calculate("divide", cost, _exact(people[1]))
    return cost


def plan_basket(text: str, tools: Toolbox) -> str | None:
    """Plan for the cost of goods from a price list."""
    table = re.search(r"Price of one, in cents: (.+?)\. ", text)
    if table is None:
        return None
    wanted = re.findall(rf"{_N} (?:of )?([a-z]+(?:-\d+)?)", text[table.end() :])
    prices = tools.call("look_up", table=table[1], names=[name for _, name in wanted])
    costs = [
        tools.calculate("multiply", _exact(count), price)
        for (count, _), price in zip(wanted, prices, strict=True)
    ]
    return tools.calculate("add", *costs)


def plan_recipe(text: str, tools: Toolbox) -> str | None:
    """Plan for the number of portions that the stock of one ingredient allows."""
    stock = re.search(r"Stock in (kg|pounds): (.+?)\. ", text)
    portion = re.search(rf"{_N} grams of (\w+)", text)
    if stock is None or portion is None:
        return None
    (amount,) = tools.call("look_up", table=stock[2], names=[portion[2]])
    grams = tools.call("convert", value=amount, unit=stock[1], into="grams")
    return tools.calculate("floor_divide", grams, _exact(portion[1]))


PLANS = (plan_length, plan_weight, plan_stay, plan_date, plan_basket, plan_recipe)


def _exact(number: str) -> str:
    return str(read_number(number))


def _solve(text: str, tools: Toolbox) -> str:
    for plan in PLANS:
        try:
            result = plan(text, tools)
        except ToolFailed:
            continue
        if result is None:
            continue
        if "Round" in text:
            result = tools.calculate("round", result)
        return plain(Fraction(result)) if re.fullmatch(r"-?\d+(/\d+)?", result) else result
    value = solve(text)
    return "" if value is None else plain(value)


def _calls(task: Task) -> list[dict[str, Any]]:
    """Return one call for each part of the request that a tool can do."""
    parts = re.split(r",? and then ", task.text)
    found = (read_request(part, task.tools) for part in parts)
    return [call for call in found if call is not None]


def answer(task: Task, tools: Toolbox) -> Reply:
    """Plan, run the steps, and answer."""
    tools.begin()
    if task.tools:
        reply = Reply(tool_calls=_calls(task))
    else:
        request, _, document = task.text.partition("\n\n")
        if "JSON" in request:
            data = read_document(request, _last_day_first(document))
            reply = Reply(text=json.dumps(data), data=data)
        else:
            reply = Reply(text=_solve(task.text, tools))
    reply.messages = tools.messages
    plan = {"name": "plan", "start_ms": 0.0, "duration_ms": tools.elapsed_ms()}
    reply.spans = [plan, *tools.spans]
    return reply


def _last_day_first(document: str) -> str:
    """Start at `It moves`, since a letter that moves a meeting names the old day first."""
    head, moves, rest = document.partition("It moves to ")
    if not moves:
        return document
    return re.sub(r" cannot be on .+? as planned", " cannot be", head) + moves + rest


def main() -> None:
    """Serve with one set of tools."""
    tools = Toolbox()
    serve(lambda task: answer(task, tools), name="planner", version="1")


if __name__ == "__main__":
    main()
