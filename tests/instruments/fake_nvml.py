"""Something shaped like the `pynvml` module, with GPUs of our making."""
# ruff: noqa: N802, N815 (the binding's own names)

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


class NVMLError(Exception):
    pass


class NVMLError_NotSupported(NVMLError):  # noqa: N801 (the binding's own name)
    def __str__(self) -> str:
        return "Not Supported"


class NVMLError_LibraryNotFound(NVMLError):  # noqa: N801 (the binding's own name)
    def __str__(self) -> str:
        return "NVML Shared Library Not Found"


@dataclass
class FakeGpu:
    name: str = "Tesla Fake"
    uuid: str = "GPU-1"
    memory: tuple[int, int] = (30_000_000_000, 80_000_000_000)
    """Bytes used and in all."""
    reserved: int = 1_000_000_000
    """Bytes the driver keeps; in `used` by the first version of the call only."""
    use: int = 87
    reasons: int = 0
    slices: dict[int, FakeGpu] = field(default_factory=dict)
    processes: list[tuple[int, int | None]] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    """Calls that this GPU answers with NotSupported."""


class FakeNvml:
    """The subset of the binding that is used. `without`: functions an old binding lacks."""

    NVMLError = NVMLError
    NVML_TEMPERATURE_GPU = 0
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2
    NVML_PCIE_UTIL_TX_BYTES = 0
    NVML_PCIE_UTIL_RX_BYTES = 1
    NVML_DEVICE_MIG_ENABLE = 1
    nvmlMemory_v2 = 0x02000028

    def __init__(
        self, *gpus: FakeGpu, driver: bool = True, without: frozenset[str] = frozenset()
    ) -> None:
        self.gpus = gpus
        self.driver = driver
        self.without = without
        self.open = 0
        self.calls: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("nvml"):
            if name in object.__getattribute__(self, "without"):
                raise AttributeError(name)
            object.__getattribute__(self, "calls").append(name)
        return object.__getattribute__(self, name)

    def nvmlInit(self) -> None:
        if not self.driver:
            raise NVMLError_LibraryNotFound
        self.open += 1

    def nvmlShutdown(self) -> None:
        self.open -= 1

    def nvmlSystemGetDriverVersion(self) -> str:
        return "580.1"

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> FakeGpu:
        return self._allowed(self.gpus[index], "HandleByIndex")

    def nvmlDeviceGetName(self, gpu: FakeGpu) -> str:
        return self._allowed(gpu, "Name").name

    def nvmlDeviceGetUUID(self, gpu: FakeGpu) -> str:
        return self._allowed(gpu, "UUID").uuid

    def nvmlDeviceGetMigMode(self, gpu: FakeGpu) -> list[int]:
        if not gpu.slices:
            raise NVMLError_NotSupported
        return [1, 1]

    def nvmlDeviceGetMaxMigDeviceCount(self, gpu: FakeGpu) -> int:
        return 7

    def nvmlDeviceGetMigDeviceHandleByIndex(self, gpu: FakeGpu, index: int) -> FakeGpu:
        if index not in gpu.slices:
            raise NVMLError
        return gpu.slices[index]

    def nvmlDeviceGetMemoryInfo(self, gpu: FakeGpu, version: int | None = None) -> SimpleNamespace:
        self._allowed(gpu, "MemoryInfo_v2" if version else "MemoryInfo")
        used, total = gpu.memory
        return SimpleNamespace(used=used if version else used + gpu.reserved, total=total)

    def nvmlDeviceGetUtilizationRates(self, gpu: FakeGpu) -> SimpleNamespace:
        return SimpleNamespace(gpu=self._allowed(gpu, "UtilizationRates").use, memory=3)

    def nvmlDeviceGetPowerUsage(self, gpu: FakeGpu) -> int:
        self._allowed(gpu, "PowerUsage")
        return 251_500

    def nvmlDeviceGetEnforcedPowerLimit(self, gpu: FakeGpu) -> int:
        self._allowed(gpu, "EnforcedPowerLimit")
        return 700_000

    def nvmlDeviceGetTemperature(self, gpu: FakeGpu, sensor: int) -> int:
        self._allowed(gpu, "Temperature")
        return 61

    def nvmlDeviceGetTemperatureV(self, gpu: FakeGpu, sensor: int) -> int:
        self._allowed(gpu, "TemperatureV")
        return 62

    def nvmlDeviceGetClockInfo(self, gpu: FakeGpu, clock: int) -> int:
        self._allowed(gpu, "ClockInfo")
        return {self.NVML_CLOCK_SM: 1980, self.NVML_CLOCK_MEM: 2619}[clock]

    def nvmlDeviceGetCurrentClocksEventReasons(self, gpu: FakeGpu) -> int:
        return self._allowed(gpu, "EventReasons").reasons

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, gpu: FakeGpu) -> int:
        return self._allowed(gpu, "ThrottleReasons").reasons

    def nvmlDeviceGetPcieThroughput(self, gpu: FakeGpu, counter: int) -> int:
        self._allowed(gpu, "PcieThroughput")
        return {self.NVML_PCIE_UTIL_RX_BYTES: 11, self.NVML_PCIE_UTIL_TX_BYTES: 22}[counter]

    def nvmlDeviceGetComputeRunningProcesses(self, gpu: FakeGpu) -> list[SimpleNamespace]:
        self._allowed(gpu, "Processes")
        return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in gpu.processes]

    def _allowed(self, gpu: FakeGpu, call: str) -> FakeGpu:
        if call in gpu.refused or "everything" in gpu.refused:
            raise NVMLError_NotSupported
        return gpu
