"""The share of a window in which the machine's tasks waited, by its own clock."""

import pytest

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.pressure import Pressure
from agentbench_tui.load.calibration import stalls
from agentbench_tui.load.calibration.stalls import Stalls


class Machine:
    """Some task of it waits for so much of the time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, share: float) -> None:
        self.now_us, self.share, self.tells = 7_000_000, share, True
        monkeypatch.setattr(stalls, "perf_counter_ns", lambda: self.now_us * 1000)
        monkeypatch.setattr(stalls, "read_pressure", self.read)

    def read(self, resource: str) -> Pressure:
        assert resource == "cpu"
        if not self.tells:
            raise NotAvailable("no such file")
        total_us = round(self.share * self.now_us)
        self.now_us += 100  # which the reading takes
        return Pressure(0, 0, 0, total_us)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_it_is_the_share_of_the_time_between_and_never_more_than_all(
    monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    machine = Machine(monkeypatch, share)
    looked = Stalls()
    machine.now_us += 50_000
    percent = looked.percent()
    assert percent is not None
    assert percent <= 100 * share
    assert percent == pytest.approx(100 * share, rel=0.01)


def test_it_is_not_known_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(monkeypatch, 0.5)
    looked = Stalls()
    machine.tells = False
    assert looked.percent() is None
    assert Stalls().percent() is None
