from pathlib import Path

import pytest

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.pressure import Pressure, read_pressure, run_queue_wait_ns


def test_the_some_line_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "proc/pressure"
    folder.mkdir(parents=True)
    (folder / "io").write_text(
        "some avg10=1.53 avg60=0.87 avg300=0.25 total=4242\n"
        "full avg10=9.99 avg60=9.99 avg300=9.99 total=1\n"
    )
    assert read_pressure("io", tmp_path) == Pressure(1.53, 0.87, 0.25, 4242)


@pytest.mark.parametrize("text", ["", "some\n", "some avg10=x avg60=0 avg300=0 total=1\n"])
def test_another_form_is_not_available_rather_than_zero(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "proc/pressure"
    folder.mkdir(parents=True)
    (folder / "cpu").write_text(text)
    with pytest.raises(NotAvailable, match="/proc/pressure/cpu: not in the form known"):
        read_pressure("cpu", tmp_path)


def test_a_kernel_without_pressure_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="/proc/pressure/memory: No such file"):
        read_pressure("memory", tmp_path)


def test_the_wait_is_the_second_field(tmp_path: Path) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/schedstat").write_text("83613 59830 2\n")
    assert run_queue_wait_ns(tmp_path) == 59830
    (tmp_path / "proc/self/schedstat").write_text("83613\n")
    with pytest.raises(NotAvailable, match="schedstat"):
        run_queue_wait_ns(tmp_path)
