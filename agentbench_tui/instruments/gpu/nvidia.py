"""NVIDIA GPUs through NVML, by the nvidia-ml-py binding (extra `gpu`, imported as `pynvml`).

Meanings and units of the calls: the NVML API reference. Each call may be refused by itself (old
driver, container, virtual GPU, MIG), and then only its field is not known.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.gauges import BYTES_PER_MB, GpuGauges, GpuIdentity, GpuProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

Nvml = Any
"""The `pynvml` module, or something shaped like it. It comes without types."""

_IDLE = 0x1
THROTTLE_REASONS = {
    0x2: "application clocks",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal",
    0x40: "hardware thermal",
    0x80: "power brake",
    0x100: "display clocks",
    0x200: "board limit",
    0x400: "reliability",
}
"""Bits of nvmlClocksEventReasons (formerly nvmlClocksThrottleReasons) but `idle`, 0x1."""


_LIBRARY = "libnvidia-ml.so.1"
"""Library of the driver, on Linux."""


def find_nvml() -> Nvml:
    """Like `load_nvml`, but only if there is a driver: otherwise the binding is useless, and
    importing it is slow. Raises NotAvailable.
    """
    if sys.platform == "linux":
        import ctypes

        try:
            ctypes.CDLL(_LIBRARY)
        except OSError as error:
            raise NotAvailable(f"no driver ({_LIBRARY} is not found)") from error
    return load_nvml()


def load_nvml() -> Nvml:
    """Return the NVML binding, not yet initialized. Raises NotAvailable if it is not installed."""
    try:
        with warnings.catch_warnings():
            # The retired `pynvml` package announces its retirement on import.
            warnings.simplefilter("ignore")
            return importlib.import_module("pynvml")
    except ImportError as error:
        raise NotAvailable(
            "nvidia-ml-py is not installed: pip install 'agentbench-tui[gpu]'"
        ) from error


class NvidiaGpus:
    """All NVIDIA GPUs and their MIG slices. Raises NotAvailable without any."""

    def __init__(self, nvml: Nvml, *, pcie: bool = False, processes: bool = False) -> None:
        self._nvml = nvml
        self._pcie = pcie
        self._processes = processes
        try:
            nvml.nvmlInit()
        except nvml.NVMLError as error:
            raise NotAvailable(f"NVML says: {error}") from error
        count = self._ask("nvmlDeviceGetCount") or 0
        handles = [
            (index, self._ask("nvmlDeviceGetHandleByIndex", index)) for index in range(count)
        ]
        self._devices = [(index, handle) for index, handle in handles if handle is not None]
        self._names = {i: self._text("nvmlDeviceGetName", one) for i, one in self._devices}
        self._uuids = {i: self._text("nvmlDeviceGetUUID", one) for i, one in self._devices}
        if not self._devices:
            self.close()
            raise NotAvailable("NVML finds no GPU that may be used here")

    def identities(self) -> tuple[GpuIdentity, ...]:
        driver = self._text("nvmlSystemGetDriverVersion")
        return tuple(
            GpuIdentity(
                index=index,
                vendor="NVIDIA",
                name=self._names[index],
                uuid=self._uuids[index],
                memory_total_mb=self._memory(handle)[1],
                driver=driver,
                mig=self._has_mig(handle),
            )
            for index, handle in self._devices
        )

    def sample(self) -> tuple[GpuGauges, ...]:
        return tuple(gauges for device in self._devices for gauges in self._read(*device))

    def close(self) -> None:
        self._ask("nvmlShutdown")

    def _read(self, index: int, handle: object) -> Iterator[GpuGauges]:
        nvml = self._nvml
        sliced = self._has_mig(handle)
        used, total = self._memory(handle)
        # NVML does not tell the use of a GPU in slices, and counts processes by slice.
        use = None if sliced else self._ask("nvmlDeviceGetUtilizationRates", handle)
        reasons, idle = self._throttling(handle)
        yield GpuGauges(
            index=index,
            name=self._names[index],
            uuid=self._uuids[index],
            utilisation_percent=None if use is None else float(use.gpu),
            memory_used_mb=used,
            memory_total_mb=total,
            power_w=self._scaled(1e-3, "nvmlDeviceGetPowerUsage", handle),
            power_limit_w=self._scaled(1e-3, "nvmlDeviceGetEnforcedPowerLimit", handle),
            temperature_c=self._temperature(handle),
            sm_clock_mhz=self._scaled(1, "nvmlDeviceGetClockInfo", handle, nvml.NVML_CLOCK_SM),
            memory_clock_mhz=self._scaled(1, "nvmlDeviceGetClockInfo", handle, nvml.NVML_CLOCK_MEM),
            throttle_reasons=reasons,
            throttled=None if reasons is None else int(bool(reasons)),
            idle=idle,
            pcie_received_kb_per_s=self._traffic(handle, nvml.NVML_PCIE_UTIL_RX_BYTES),
            pcie_sent_kb_per_s=self._traffic(handle, nvml.NVML_PCIE_UTIL_TX_BYTES),
            processes=None if sliced else self._process_memory(handle),
        )
        if sliced:
            yield from self._slices(index, handle)

    def _slices(self, index: int, parent: object) -> Iterator[GpuGauges]:
        """Return the slices, which have only memory; power, clocks and temperature belong to the
        whole GPU.
        """
        for number in range(self._ask("nvmlDeviceGetMaxMigDeviceCount", parent) or 0):
            handle = self._ask("nvmlDeviceGetMigDeviceHandleByIndex", parent, number)
            if handle is None:
                continue
            used, total = self._memory(handle)
            yield GpuGauges(
                index=index,
                slice=number,
                name=self._text("nvmlDeviceGetName", handle),
                uuid=self._text("nvmlDeviceGetUUID", handle),
                memory_used_mb=used,
                memory_total_mb=total,
            )

    def _ask(self, call: str, *arguments: object) -> Any:  # the binding has no types
        """Return NVML's result; None if it refuses or this binding does not have the call."""
        function = getattr(self._nvml, call, None)
        if function is None:
            return None
        try:
            return function(*arguments)
        except self._nvml.NVMLError:
            return None

    def _text(self, call: str, *arguments: object) -> str | None:
        answer = self._ask(call, *arguments)
        # Bindings before 11.515 give bytes.
        return answer.decode() if isinstance(answer, bytes) else answer

    def _scaled(self, factor: float, call: str, *arguments: object) -> float | None:
        answer = self._ask(call, *arguments)
        return None if answer is None else answer * factor

    def _has_mig(self, handle: object) -> bool:
        modes = self._ask("nvmlDeviceGetMigMode", handle)
        return modes is not None and modes[0] == self._nvml.NVML_DEVICE_MIG_ENABLE

    def _memory(self, handle: object) -> tuple[float | None, float | None]:
        """Return MB used and in total. The second version excludes the driver's own memory."""
        version = getattr(self._nvml, "nvmlMemory_v2", None)
        memory = None
        if version is not None:
            memory = self._ask("nvmlDeviceGetMemoryInfo", handle, version)
        if memory is None:
            memory = self._ask("nvmlDeviceGetMemoryInfo", handle)
        if memory is None:
            return None, None
        return memory.used / BYTES_PER_MB, memory.total / BYTES_PER_MB

    def _temperature(self, handle: object) -> float | None:
        sensor = self._nvml.NVML_TEMPERATURE_GPU
        degrees = self._scaled(1, "nvmlDeviceGetTemperature", handle, sensor)
        if degrees is None:  # the first call is to go after CUDA 13
            degrees = self._scaled(1, "nvmlDeviceGetTemperatureV", handle, sensor)
        return degrees

    def _throttling(self, handle: object) -> tuple[tuple[str, ...] | None, bool | None]:
        bits = self._ask("nvmlDeviceGetCurrentClocksEventReasons", handle)
        if bits is None:  # the name before driver 535
            bits = self._ask("nvmlDeviceGetCurrentClocksThrottleReasons", handle)
        return (None, None) if bits is None else (throttle_words(bits), bool(bits & _IDLE))

    def _traffic(self, handle: object, direction: int) -> float | None:
        if not self._pcie:
            return None
        return self._scaled(1, "nvmlDeviceGetPcieThroughput", handle, direction)

    def _process_memory(self, handle: object) -> tuple[GpuProcess, ...] | None:
        if not self._processes:
            return None
        found = self._ask("nvmlDeviceGetComputeRunningProcesses", handle)
        if found is None:
            return None
        return tuple(
            GpuProcess(
                one.pid, None if one.usedGpuMemory is None else one.usedGpuMemory / BYTES_PER_MB
            )
            for one in found
        )


def throttle_words(bits: int) -> tuple[str, ...]:
    """Return the reasons in a bit mask in words; unknown bits as `reason 0x…`."""
    rest = bits & ~_IDLE
    words = [word for bit, word in THROTTLE_REASONS.items() if rest & bit]
    unknown = rest & ~sum(THROTTLE_REASONS)
    return tuple(words + ([f"reason {unknown:#x}"] if unknown else []))
