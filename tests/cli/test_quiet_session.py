"""Who asks for the session, and for silence too, is told in a line which of them holds."""

from pathlib import Path

import pytest
from processes import make_place

from agentbench_tui.cli.main import _run

RUN = ("run", "suite.json", "--agent", "echo=python:agents.py:echo", "--quiet")
SAID = "--ui full: ignored because of --quiet"


def test_a_session_that_is_not_shown_says_why_where_it_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = make_place(tmp_path)
    place.suite(1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTBENCH_DB", str(place.database))
    assert _run([*RUN, "--ui", "full"]) == 0
    assert capsys.readouterr().err.splitlines()[:1] == [SAID]
    monkeypatch.setenv("AGENTBENCH_UI", "full")  # what somebody has for every day
    assert _run([*RUN]) == 0
    assert SAID not in capsys.readouterr().err
