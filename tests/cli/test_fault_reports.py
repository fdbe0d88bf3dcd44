"""Reports of bugs on a terminal: no control characters and no secrets, whatever the error says."""

import os
import sys
from pathlib import Path

import pytest

from agentbench_tui.cli.console.fault import report_fault, report_unreportable

SECRET = "sk-ant-api03-" + "A" * 24
MESSAGE = f"before\x1b]0;title\x07 {SECRET}\r\x9b\u202e after"
UNSAFE = set("\x1b\x07\r\x9b\u202e")


class Silent(Exception):
    """Has no message."""

    def __str__(self) -> str:
        raise RuntimeError("none")


def test_the_report_of_last_resort_is_one_printable_line(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert report_unreportable(ValueError(f"{MESSAGE}\nnext")) == 70
    (line,) = capfd.readouterr().err.splitlines()
    assert line.isprintable()
    assert line.startswith("agentbench: a fault could not be reported: ValueError: before ]0;title")
    assert " after next; if code of yours" in line
    assert SECRET not in line
    assert "***" in line


def test_a_secret_at_the_cut_of_the_report_of_last_resort_is_masked(
    capfd: pytest.CaptureFixture[str],
) -> None:
    report_unreportable(ValueError("x" * 430 + f" {SECRET}"))
    assert "sk-ant" not in capfd.readouterr().err


@pytest.mark.parametrize("error", [ValueError(MESSAGE), Silent()], ids=["cannot mask", "no text"])
def test_a_message_that_cannot_be_masked_is_left_out(
    error: Exception, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if isinstance(error, ValueError):  # then importing it raises ImportError
        monkeypatch.setitem(sys.modules, "agentbench_tui.model.text.secrets", None)
    assert report_unreportable(error) == 70
    assert capfd.readouterr().err == (
        f"agentbench: a fault could not be reported: {type(error).__name__}; if code of yours "
        "replaces parts of Python, run it as `worker:` or `command:`\n"
    )


@pytest.mark.parametrize("has_folder", [True, False])
def test_the_report_of_a_bug_prints_no_control_characters_and_no_secrets(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    has_folder: bool,
) -> None:
    folder = tmp_path if has_folder else tmp_path / "missing"
    monkeypatch.setattr("tempfile.tempdir", os.fspath(folder))
    assert report_fault(ValueError(MESSAGE), ["runs", "list"]) == 70
    printed = capsys.readouterr().err
    assert "a bug in agentbench: ValueError: before\\x1b]0;title" in printed
    assert not UNSAFE & set(printed)
    assert SECRET not in printed
    assert len(list(tmp_path.glob("agentbench-fault-*.txt"))) == has_folder
