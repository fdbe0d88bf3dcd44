"""Market conditions of a world, by name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a world differs from a quiet one."""

    volatility: float = 1.0
    """Factor on the standard deviation of perpetuals."""
    drift: float = 0.0
    """Expected log return of perpetuals over the whole world, in its standard deviations."""
    noise: float = 1.0
    """Factor on the orders of uninformed traders."""
    news: float = 1.5
    """Expected number of jumps with news, for each perpetual over the whole world."""
    switching: bool = False
    """Whether volatility alternates between a calm and a turbulent regime (with the same mean)."""
    crash: float = 0.0
    """Fall of all perpetuals near the middle of the world, in standard deviations of the world."""


CONDITIONS = {
    "calm": Conditions(volatility=0.5, noise=0.7, news=0.5),
    "bull": Conditions(drift=1.0, switching=True),
    "bear": Conditions(drift=-1.0, switching=True),
    "volatile": Conditions(volatility=2.0, noise=1.3, news=3.0, switching=True),
    "crash": Conditions(volatility=1.2, noise=1.3, switching=True, crash=5.0),
    "mixed": Conditions(switching=True),
}
