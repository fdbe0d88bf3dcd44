"""One short question tells whether an agent answers, before a run."""

import sys
from pathlib import Path

import pytest

from agentbench_tui.agents.target import parse_agent
from agentbench_tui.agents.trial import QUESTION, ask_once
from agentbench_tui.model.answer import AgentFailure


async def test_an_agent_is_asked_once(tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text("import sys\nprint(sys.stdin.read().strip())\n")
    spec = parse_agent(f"command:{sys.executable} echo.py", base_dir=str(tmp_path))
    answer, took_ms = await ask_once(spec)
    assert QUESTION in answer.text
    assert took_ms > 0


async def test_one_that_is_not_there_fails_with_its_reason(tmp_path: Path) -> None:
    spec = parse_agent("openai:http://127.0.0.1:9/v1#m", base_dir=str(tmp_path))
    with pytest.raises(AgentFailure, match="connection"):
        await ask_once(spec)
