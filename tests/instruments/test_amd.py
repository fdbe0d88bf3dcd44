"""AMD gauges against a `sys` folder with the files that the amdgpu driver makes."""

from pathlib import Path

import pytest
from fake_nvml import FakeGpu, FakeNvml

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.gauges import reading
from agentbench_tui.instruments.gpu import open_gpus
from agentbench_tui.instruments.gpu.amd import AmdGpus


def _write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")


def _card(root: Path, number: int, vendor: str = "0x1002") -> Path:
    device = root / f"sys/class/drm/card{number}/device"
    _write(device, vendor=vendor, device="0x74a1")
    return device


@pytest.fixture
def full(tmp_path: Path) -> Path:
    device = _card(tmp_path, 1)
    _write(
        device,
        product_name="Instinct Fake",
        unique_id="abc123",
        gpu_busy_percent="42",
        mem_info_vram_used="16000000000",
        mem_info_vram_total="192000000000",
    )
    _write(
        device / "hwmon/hwmon3",
        power1_average="312000000",
        power1_cap="750000000",
        temp1_input="54000",
        freq1_input="2100000000",
        freq2_input="1300000000",
    )
    _write(tmp_path / "sys/module/amdgpu", version="6.8.5")
    return tmp_path


def test_a_card_is_read_in_our_units(full: Path) -> None:
    (gauges,) = AmdGpus(full).sample()
    assert reading(gauges) == {
        "index": 0,
        "name": "Instinct Fake",
        "uuid": "abc123",
        "utilisation_percent": 42.0,
        "memory_used_mb": 16_000.0,
        "memory_total_mb": 192_000.0,
        "power_w": 312.0,
        "power_limit_w": 750.0,
        "temperature_c": 54.0,
        "sm_clock_mhz": 2100.0,
        "memory_clock_mhz": 1300.0,
    }


def test_the_identity_names_card_and_driver(full: Path) -> None:
    (identity,) = AmdGpus(full).identities()
    assert (identity.vendor, identity.name, identity.uuid) == ("AMD", "Instinct Fake", "abc123")
    assert (identity.memory_total_mb, identity.driver) == (192_000.0, "amdgpu 6.8.5")


def test_what_a_card_does_not_show_is_unknown(tmp_path: Path) -> None:
    _write(_card(tmp_path, 0), gpu_busy_percent="not a number")
    (gauges,) = AmdGpus(tmp_path).sample()
    assert reading(gauges) == {"index": 0, "name": "AMD GPU 0x74a1"}


def test_newer_chips_give_power_and_heat_under_other_names(full: Path) -> None:
    monitor = full / "sys/class/drm/card1/device/hwmon/hwmon3"
    (monitor / "power1_average").rename(monitor / "power1_input")
    (monitor / "temp1_input").rename(monitor / "temp2_input")
    (gauges,) = AmdGpus(full).sample()
    assert (gauges.power_w, gauges.temperature_c) == (312.0, 54.0)


def test_cards_of_others_and_their_outputs_are_passed_over(tmp_path: Path) -> None:
    for number, busy in ((10, "10"), (2, "2")):
        _write(_card(tmp_path, number), gpu_busy_percent=busy)
    _card(tmp_path, 0, vendor="0x8086")
    _write(tmp_path / "sys/class/drm/card2-DP-1/device", vendor="0x1002")
    found = AmdGpus(tmp_path).sample()
    assert [(one.index, one.utilisation_percent) for one in found] == [(0, 2.0), (1, 10.0)]


def test_without_a_card_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotAvailable, match="/sys/class/drm"):
        AmdGpus(tmp_path)


def test_cards_are_numbered_after_those_of_nvidia(full: Path) -> None:
    with open_gpus(nvml=lambda: FakeNvml(FakeGpu(), FakeGpu()), root=full) as source:
        assert [(one.index, one.vendor) for one in source.identities()] == [
            (0, "NVIDIA"),
            (1, "NVIDIA"),
            (2, "AMD"),
        ]
        assert [one.scope for one in source.sample()] == ["gpu:0", "gpu:1", "gpu:2"]
        assert source.reason is None
