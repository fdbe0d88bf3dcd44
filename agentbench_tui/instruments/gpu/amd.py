"""AMD GPUs through sysfs, as the amdgpu driver exposes them; no vendor library.

Files and units: the kernel's Documentation/gpu/amdgpu and Documentation/hwmon/sysfs-interface:
bytes, microwatts, thousandths of a degree, hertz. Throttling is only in a binary table whose
layout differs by chip, so it is not known here.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from agentbench_tui.instruments.availability import ROOT, NotAvailable
from agentbench_tui.instruments.gauges import BYTES_PER_MB, GpuGauges, GpuIdentity

_AMD = "0x1002"
"""PCI vendor id."""


class _Card(msgspec.Struct, frozen=True):
    index: int
    device: Path
    monitor: Path | None
    """Folder of the hwmon of the card."""
    name: str
    uuid: str | None


class AmdGpus:
    """All AMD GPUs. Raises NotAvailable without any."""

    def __init__(self, root: Path = ROOT, *, first_index: int = 0) -> None:
        """`first_index`: the number of the first card, after the GPUs of other vendors."""
        self._driver = _driver(root)
        devices = _devices(root)
        if not devices:
            raise NotAvailable("no card of the amdgpu driver in /sys/class/drm")
        self._cards = [_card(first_index + place, device) for place, device in enumerate(devices)]

    def identities(self) -> tuple[GpuIdentity, ...]:
        return tuple(
            GpuIdentity(
                index=card.index,
                vendor="AMD",
                name=card.name,
                uuid=card.uuid,
                memory_total_mb=_number(card.device / "mem_info_vram_total", 1 / BYTES_PER_MB),
                driver=self._driver,
            )
            for card in self._cards
        )

    def sample(self) -> tuple[GpuGauges, ...]:
        return tuple(_read(card) for card in self._cards)

    def close(self) -> None:
        """Do nothing: no resource is held between readings."""


def _devices(root: Path) -> list[Path]:
    cards = [
        path
        for path in (root / "sys/class/drm").glob("card*")
        if re.fullmatch(r"card\d+", path.name) and _line(path / "device/vendor") == _AMD
    ]
    return [card / "device" for card in sorted(cards, key=lambda card: int(card.name[4:]))]


def _card(index: int, device: Path) -> _Card:
    model = _line(device / "product_name") or f"AMD GPU {_line(device / 'device') or ''}".strip()
    return _Card(
        index=index,
        device=device,
        monitor=next(iter(sorted(device.glob("hwmon/hwmon*"))), None),
        name=model,
        uuid=_line(device / "unique_id"),
    )


def _read(card: _Card) -> GpuGauges:
    device = card.device
    return GpuGauges(
        index=card.index,
        name=card.name,
        uuid=card.uuid,
        utilisation_percent=_number(device / "gpu_busy_percent"),
        memory_used_mb=_number(device / "mem_info_vram_used", 1 / BYTES_PER_MB),
        memory_total_mb=_number(device / "mem_info_vram_total", 1 / BYTES_PER_MB),
        # Newer chips give the power of the moment only.
        power_w=_monitored(card, ("power1_average", "power1_input"), 1e-6),
        power_limit_w=_monitored(card, ("power1_cap",), 1e-6),
        # Accelerators without an edge sensor begin with the junction's, number 2.
        temperature_c=_monitored(card, ("temp1_input", "temp2_input"), 1e-3),
        sm_clock_mhz=_monitored(card, ("freq1_input",), 1e-6),
        memory_clock_mhz=_monitored(card, ("freq2_input",), 1e-6),
    )


def _monitored(card: _Card, names: tuple[str, ...], factor: float) -> float | None:
    """Return the value of the first readable hwmon file."""
    if card.monitor is None:
        return None
    readings = (_number(card.monitor / name, factor) for name in names)
    return next((value for value in readings if value is not None), None)


def _driver(root: Path) -> str | None:
    if not (root / "sys/module/amdgpu").is_dir():
        return None
    version = _line(root / "sys/module/amdgpu/version")
    return f"amdgpu {version}" if version else "amdgpu"


def _number(path: Path, factor: float = 1.0) -> float | None:
    """Return the number in a file; None if it is missing, refused (a sleeping card returns EBUSY)
    or no number.
    """
    text = _line(path)
    try:
        return None if text is None else float(text) * factor
    except ValueError:
        return None


def _line(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except (OSError, UnicodeDecodeError):
        return None
