"""NVIDIA gauges against an NVML of our making; names and bits against the real binding."""

import sys
import types

import pynvml
import pytest
from fake_nvml import FakeGpu, FakeNvml
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.gauges import GpuGauges, GpuProcess, reading
from agentbench_tui.instruments.gpu import open_gpus
from agentbench_tui.instruments.gpu.nvidia import (
    THROTTLE_REASONS,
    NvidiaGpus,
    find_nvml,
    load_nvml,
    throttle_words,
)


def _only(nvml: FakeNvml, **options: bool) -> GpuGauges:
    (gauges,) = NvidiaGpus(nvml, **options).sample()
    return gauges


def test_a_gpu_that_answers_everything_is_read_in_our_units() -> None:
    gauges = _only(FakeNvml(FakeGpu(reasons=0x4)))
    assert gauges == GpuGauges(
        index=0,
        name="Tesla Fake",
        uuid="GPU-1",
        utilisation_percent=87.0,
        memory_used_mb=30_000.0,
        memory_total_mb=80_000.0,
        power_w=251.5,
        power_limit_w=700.0,
        temperature_c=61.0,
        sm_clock_mhz=1980.0,
        memory_clock_mhz=2619.0,
        throttle_reasons=("power cap",),
        throttled=1,
        idle=False,
    )


@pytest.mark.parametrize(
    ("refused", "unknown"),
    [
        ({"UtilizationRates"}, {"utilisation_percent"}),
        ({"PowerUsage"}, {"power_w"}),
        ({"EnforcedPowerLimit"}, {"power_limit_w"}),
        ({"Temperature", "TemperatureV"}, {"temperature_c"}),
        ({"ClockInfo"}, {"sm_clock_mhz", "memory_clock_mhz"}),
        ({"EventReasons", "ThrottleReasons"}, {"throttle_reasons", "throttled", "idle"}),
        ({"MemoryInfo", "MemoryInfo_v2"}, {"memory_used_mb", "memory_total_mb"}),
        ({"Name"}, {"name"}),
        ({"UUID"}, {"uuid"}),
    ],
)
def test_a_refused_call_leaves_out_its_own_fields_only(
    refused: set[str], unknown: set[str]
) -> None:
    whole = set(reading(_only(FakeNvml(FakeGpu()))))
    assert whole - set(reading(_only(FakeNvml(FakeGpu(refused=refused))))) == unknown


def test_a_gpu_that_is_lost_while_running_becomes_unknown_and_not_zero() -> None:
    gpu = FakeGpu()
    gpus = NvidiaGpus(FakeNvml(gpu))
    gpu.refused.add("everything")
    (gauges,) = gpus.sample()
    assert reading(gauges) == {"index": 0, "name": "Tesla Fake", "uuid": "GPU-1"}


def test_a_true_zero_is_told() -> None:
    fields = reading(_only(FakeNvml(FakeGpu(use=0, memory=(0, 80_000_000_000)))))
    assert fields["utilisation_percent"] == 0
    assert fields["memory_used_mb"] == 0
    assert fields["throttled"] == 0


def test_memory_leaves_out_what_the_driver_keeps_where_nvml_tells() -> None:
    old = FakeNvml(FakeGpu(refused={"MemoryInfo_v2"}))
    assert _only(FakeNvml(FakeGpu())).memory_used_mb == 30_000
    assert _only(old).memory_used_mb == 31_000


def test_old_and_new_names_of_calls_are_tried() -> None:
    old = FakeNvml(
        FakeGpu(reasons=0x40), without=frozenset({"nvmlDeviceGetCurrentClocksEventReasons"})
    )
    assert _only(old).throttle_reasons == ("hardware thermal",)
    new = FakeNvml(FakeGpu(), without=frozenset({"nvmlDeviceGetTemperature"}))
    assert _only(new).temperature_c == 62


def test_idling_is_told_apart_from_throttling() -> None:
    gauges = _only(FakeNvml(FakeGpu(reasons=0x1)))
    assert (gauges.idle, gauges.throttle_reasons, gauges.throttled) == (True, (), 0)


def test_words_for_throttling_follow_the_bits_of_the_real_binding() -> None:
    meant = {
        "application clocks": "ApplicationsClocksSetting",
        "power cap": "SwPowerCap",
        "hardware slowdown": "HwSlowdown",
        "sync boost": "SyncBoost",
        "software thermal": "SwThermalSlowdown",
        "hardware thermal": "HwThermalSlowdown",
        "power brake": "HwPowerBrakeSlowdown",
        "display clocks": "DisplayClockSetting",
        "board limit": "BoardLimit",
        "reliability": "Reliability",
    }
    bits = {word: getattr(pynvml, f"nvmlClocksThrottleReason{n}") for word, n in meant.items()}
    assert {word: bit for bit, word in THROTTLE_REASONS.items()} == bits
    assert throttle_words(pynvml.nvmlClocksThrottleReasonGpuIdle) == ()


@given(st.integers(0, 2**64 - 1))
def test_every_bit_but_idle_is_told(bits: int) -> None:
    words = throttle_words(bits)
    by_word = {word: bit for bit, word in THROTTLE_REASONS.items()}
    told = sum(by_word[w] if w in by_word else int(w.removeprefix("reason "), 16) for w in words)
    assert told == bits & ~1


def test_the_fake_is_shaped_like_the_real_binding() -> None:
    names = [name for name in dir(FakeNvml) if name.startswith(("nvml", "NVML"))]
    assert len(names) > 20
    assert [name for name in names if not hasattr(pynvml, name)] == []
    constants = [name for name in names if isinstance(getattr(FakeNvml, name), int)]
    assert {n: getattr(FakeNvml, n) for n in constants} == {
        n: getattr(pynvml, n) for n in constants
    }


def test_every_call_that_is_made_exists_in_the_real_binding() -> None:
    gpu = FakeGpu(slices={0: FakeGpu()}, refused={"Temperature", "EventReasons"})
    nvml = FakeNvml(gpu, FakeGpu())
    gpus = NvidiaGpus(nvml, pcie=True, processes=True)
    gpus.identities()
    gpus.sample()
    assert len(set(nvml.calls)) > 15
    assert [name for name in nvml.calls if not hasattr(pynvml, name)] == []


def test_a_gpu_in_slices_has_no_utilization_but_memory_by_slice() -> None:
    parts = {
        0: FakeGpu(name="MIG 3g", uuid="MIG-a", memory=(1_000_000, 40_000_000_000)),
        2: FakeGpu(name="MIG 1g", uuid="MIG-b", memory=(0, 10_000_000_000)),
    }
    nvml = FakeNvml(FakeGpu(slices=parts, processes=[(1, 2)]), FakeGpu(uuid="GPU-2"))
    whole, first, second, other = NvidiaGpus(nvml, processes=True).sample()
    assert (whole.utilisation_percent, whole.processes) == (None, None)
    assert whole.power_w == 251.5
    assert [one.scope for one in (whole, first, second, other)] == [
        *("gpu:0", "gpu:0.0", "gpu:0.2", "gpu:1")
    ]
    assert reading(first) == {
        "index": 0,
        "slice": 0,
        "name": "MIG 3g",
        "uuid": "MIG-a",
        "memory_used_mb": 1.0,
        "memory_total_mb": 40_000.0,
    }
    assert second.memory_used_mb == 0
    assert other.utilisation_percent == 87


def test_pcie_traffic_is_asked_for_only_on_request() -> None:
    nvml = FakeNvml(FakeGpu())
    assert _only(nvml).pcie_received_kb_per_s is None
    assert "nvmlDeviceGetPcieThroughput" not in nvml.calls
    gauges = _only(nvml, pcie=True)
    assert (gauges.pcie_received_kb_per_s, gauges.pcie_sent_kb_per_s) == (11, 22)


def test_memory_of_a_process_may_be_hidden_while_the_process_is_seen() -> None:
    nvml = FakeNvml(FakeGpu(processes=[(7, 5_000_000), (8, None)]))
    assert _only(nvml, processes=True).processes == (GpuProcess(7, 5.0), GpuProcess(8, None))
    refused = FakeNvml(FakeGpu(refused={"Processes"}))
    assert _only(refused, processes=True).processes is None


def test_identities_name_card_memory_and_driver() -> None:
    nvml = FakeNvml(FakeGpu(), FakeGpu(uuid="GPU-2", slices={0: FakeGpu()}))
    first, second = NvidiaGpus(nvml).identities()
    assert (first.vendor, first.name, first.uuid) == ("NVIDIA", "Tesla Fake", "GPU-1")
    assert (first.memory_total_mb, first.driver, first.mig) == (80_000.0, "580.1", False)
    assert (second.index, second.mig) == (1, True)


def test_texts_of_old_bindings_that_are_bytes_become_text() -> None:
    gpu = FakeGpu()
    gpu.name = b"Tesla Old"  # type: ignore[assignment]  # what the old binding gives
    assert _only(FakeNvml(gpu)).name == "Tesla Old"


def test_without_a_driver_the_reason_is_told_and_nothing_printed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    source = open_gpus(nvml=lambda: FakeNvml(driver=False))
    assert (source.sample(), source.identities()) == ((), ())
    assert source.reason is not None
    assert "NVML Shared Library Not Found" in source.reason
    assert capfd.readouterr() == ("", "")


def test_a_driver_without_a_usable_gpu_is_closed_again() -> None:
    nvml = FakeNvml(FakeGpu(refused={"HandleByIndex"}))
    with pytest.raises(NotAvailable, match="no GPU"):
        NvidiaGpus(nvml)
    assert nvml.open == 0


def test_a_gpu_that_may_not_be_used_is_left_out() -> None:
    nvml = FakeNvml(FakeGpu(refused={"HandleByIndex"}), FakeGpu(uuid="GPU-2"))
    assert [one.uuid for one in NvidiaGpus(nvml).sample()] == ["GPU-2"]


def test_a_missing_package_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(NotAvailable, match=r"pip install 'agentbench-tui\[gpu\]'"):
        load_nvml()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the driver is looked for by NVML")
def test_without_its_driver_the_binding_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentbench_tui.instruments.gpu.nvidia._LIBRARY", "libnone-such.so.1")
    monkeypatch.setitem(sys.modules, "pynvml", None)  # whoever imports it is told so
    with pytest.raises(NotAvailable, match=r"no driver \(libnone-such\.so\.1 is not found\)"):
        find_nvml()


def test_the_real_binding_is_found_when_it_is_installed() -> None:
    assert isinstance(load_nvml(), types.ModuleType)


def test_closing_gives_nvml_back_once() -> None:
    nvml = FakeNvml(FakeGpu())
    with open_gpus(nvml=lambda: nvml) as source:
        assert source.reason is None
        assert nvml.open == 1
    source.close()
    assert nvml.open == 0
    assert source.sample() == ()
