"""GPUs of any vendor behind `open_gpus`, with the reason if there are none."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from agentbench_tui.instruments.availability import ROOT, NotAvailable
from agentbench_tui.instruments.gpu.amd import AmdGpus
from agentbench_tui.instruments.gpu.nvidia import NvidiaGpus, find_nvml

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agentbench_tui.instruments.gauges import GpuGauges, GpuIdentity
    from agentbench_tui.instruments.gpu.nvidia import Nvml


class GpuReader(Protocol):
    """The GPUs of one vendor."""

    def identities(self) -> tuple[GpuIdentity, ...]: ...

    def sample(self) -> tuple[GpuGauges, ...]: ...

    def close(self) -> None: ...


class GpuSource:
    """Every GPU of the machine. Not thread-safe; a context manager."""

    def __init__(self, readers: Sequence[GpuReader], reason: str | None) -> None:
        self._readers = tuple(readers)
        self.reason = reason
        """Why there is no GPU; None if there is one."""

    def identities(self) -> tuple[GpuIdentity, ...]:
        """Return the identities of the GPUs. Empty without any."""
        return tuple(one for reader in self._readers for one in reader.identities())

    def sample(self) -> tuple[GpuGauges, ...]:
        """Return the current gauges, MIG slices after their GPU.

        Never raises for missing values.
        """
        return tuple(one for reader in self._readers for one in reader.sample())

    def close(self) -> None:
        """Release the vendors' libraries. Idempotent."""
        readers, self._readers = self._readers, ()
        for reader in readers:
            reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_gpus(
    *,
    pcie: bool = False,
    processes: bool = False,
    nvml: Callable[[], Nvml] = find_nvml,
    root: Path = ROOT,
) -> GpuSource:
    """Find the GPUs. Prints nothing and raises nothing if there are none.

    `pcie` adds PCIe traffic, for which NVML counts 20 ms per GPU and direction; `processes` the
    memory of each process. `nvml` provides the NVML binding and `root` is the parent of `sys`:
    tests use their own.
    """
    readers: list[GpuReader] = []
    reasons: list[str] = []
    try:
        readers.append(NvidiaGpus(nvml(), pcie=pcie, processes=processes))
    except NotAvailable as absent:
        reasons.append(f"NVIDIA: {absent}")
    first = sum(len(reader.identities()) for reader in readers)
    try:
        readers.append(AmdGpus(root, first_index=first))
    except NotAvailable as absent:
        reasons.append(f"AMD: {absent}")
    return GpuSource(readers, None if readers else f"no GPU found ({'; '.join(reasons)})")
