"""One observation of a case in full: question, answer, failures, scores."""

from __future__ import annotations

import json
from typing import Any

from agentbench_tui.model.text.untrusted import visible
from agentbench_tui.presentation.numbers import duration, from_one

_CHARACTERS = 4000
"""Maximum characters of one text."""


def case_lines(observation: dict[str, Any]) -> list[str]:
    """Return lines of an observation (of `queries.case_of`), with its agent and benchmark."""

    def text(value: Any) -> str:
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        return visible(shown, _CHARACTERS)

    case, answer = observation["case"], observation["answer"] or {}
    head = (
        f"── {observation['benchmark_id']} · {observation['agent_id']} · {case['id']}"
        f" · repeat {from_one(observation['repeat'])},"
        f" iteration {from_one(observation['iteration'])}"
        f" · {duration(observation['e2e_ms'])}"
    )
    before = case.get("messages", [])
    lines = [head]
    for turn in before:
        calls = f" {text(turn['tool_calls'])}" if turn.get("tool_calls") else ""
        lines.append(f"{turn['role']}: {text(turn.get('content', ''))}{calls}")
    lines.append(f"input: {text(case['input'])}")
    lines.append(f"expected: {text(case.get('expected'))}")
    for message in observation["messages"]:
        calls = f" {text(message['tool_calls'])}" if message["tool_calls"] else ""
        lines.append(f"  {message['role']}: {text(message['content'])}{calls}")
    if answer:
        said = {name: answer[name] for name in ("text", "data", "tool_calls") if answer.get(name)}
        lines.append(f"answer: {text(said.get('text') if set(said) == {'text'} else said)}")
    lines += [
        f"failure: {failure['kind']} ({failure['stage']}): {text(failure['detail'])}"
        for failure in observation["failures"]
    ]
    for score in observation["scores"]:
        verdict = "right" if score["correct"] else "wrong"
        reason = f": {text(score['reason'])}" if score.get("reason") else ""
        lines.append(f"score: {score['scorer']} {score['value']:.3f} {verdict}{reason}")
    return lines
