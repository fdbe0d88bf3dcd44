"""Detectable effects of a sample size, and sample sizes for an effect, from given figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from agentbench_tui.analysis.power import (
    power_mcnemar,
    sample_size_mcnemar,
    sample_size_paired,
    sample_size_proportions,
    sample_size_ratio,
    sample_size_two_sample,
    smallest_detectable_paired,
    smallest_detectable_two_sample,
)
from agentbench_tui.contracts.stats import PairingGainResult, PowerAnswer, StatsPowerDocument
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.plain_number import plain

USUAL_SIZES = (5, 10, 15, 20, 30, 100)
GAIN_FROM = 5
"""Minimum number of pairs for reporting the gain from pairing; below it, the gain would be
chance.
"""
_FEWEST = 2
_STEPS = 60
"""Halvings: past the precision of a double."""

Design = Literal["unpaired", "paired"]
Unit = Literal["sd", "ratio", "points"]


@dataclass(frozen=True, slots=True)
class Chances:
    """Probability of a false positive, and statistical power."""

    alpha: float = 0.05
    power: float = 0.8

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 0.5:
            raise UsageError(f"--alpha {plain(self.alpha)}: a chance below 0.5 is needed")
        if not self.alpha < self.power < 1:
            raise UsageError(
                f"--power {plain(self.power)}: a chance above alpha and below 1 is needed"
            )


@dataclass(frozen=True, slots=True)
class Answer:
    """Statement that a sample size detects an effect."""

    name: str
    """Metric; empty if only figures were given."""
    design: Design
    n: int | None
    """Values per side, or pairs; None if unknown."""
    effect: float | None
    """`sd`: in standard deviations, of the values or of the pairs' differences. `ratio`: change as
    a share, 0.05 is 5% more. `points`: difference of shares, 0.02 is 2 points."""
    unit: Unit
    asked: Literal["effect", "n", "power"]
    """The requested quantity; the others were given."""
    power: float
    sd: float | None = None
    """Standard deviation of the logarithms, or of the logarithms' differences within pairs; None
    for effects in sds.
    """
    what: str = "runs"
    """Unit of the sample size."""
    reason: str = ""


def power_document(
    answers: Iterable[Answer],
    chances: Chances,
    selectors: Sequence[str] = (),
    pairing: Iterable[PairingGainResult] = (),
) -> StatsPowerDocument:
    """Return the answers as a document."""
    return StatsPowerDocument(
        alpha=chances.alpha,
        power=chances.power,
        selectors=tuple(selectors),
        pairing=tuple(pairing),
        answers=tuple(PowerAnswer(**asdict(answer)) for answer in answers),
    )


def smallest_effects(
    n: int, chances: Chances, sd: float | None = None, name: str = ""
) -> list[Answer]:
    """Return the smallest effect that n values per side, and n pairs, detect; as a ratio if `sd` is
    on logarithms. Raises UsageError below 2.
    """
    if n < _FEWEST:
        raise UsageError(f"--n {n}: 2 or more are needed for a spread")
    designs: dict[Design, Callable[..., float]] = {
        "unpaired": smallest_detectable_two_sample,
        "paired": smallest_detectable_paired,
    }
    found = []
    for design, smallest in designs.items():
        effect = smallest(n, power=chances.power, alpha=chances.alpha)
        found.append(_effect(name, design, n, effect, chances, sd))
    return found


def _effect(
    name: str, design: Design, n: int, effect: float, chances: Chances, sd: float | None
) -> Answer:
    if sd is None:
        return Answer(name, design, n, effect, "sd", "effect", chances.power)
    grown = effect * sd
    change = math.expm1(grown) if grown < 700 else math.inf
    return Answer(name, design, n, change, "ratio", "effect", chances.power, sd)


def sizes_for(
    effect: float, chances: Chances, sd: float | None = None, name: str = ""
) -> list[Answer]:
    """Return values per group, and pairs, that detect an effect: in sds, or a change if `sd` is
    given.

    Raises UsageError for an effect that no number finds.
    """
    found = []
    both: tuple[Design, ...] = ("unpaired", "paired")
    for design in both:
        try:
            n = _size(effect, chances, sd, paired=design == "paired")
        except ValueError as error:
            raise UsageError(f"--effect {plain(effect)}: {error}") from None
        unit: Unit = "sd" if sd is None else "ratio"
        found.append(Answer(name, design, n, effect, unit, "n", chances.power, sd))
    return found


def _size(effect: float, chances: Chances, sd: float | None, *, paired: bool) -> int:
    if sd is not None:
        ratio = sample_size_ratio(
            sd, effect, paired=paired, power=chances.power, alpha=chances.alpha
        )
        return ratio.n
    size = sample_size_paired if paired else sample_size_two_sample
    return size(effect, chances.power, alpha=chances.alpha).n


def size_for_shares(first: float, second: float, chances: Chances, name: str = "") -> Answer:
    """Return the cases per side that distinguish two shares. Raises UsageError if none can."""
    try:
        n = sample_size_proportions(first, second, power=chances.power, alpha=chances.alpha)
    except ValueError as error:
        raise UsageError(f"--shares {plain(first)} {plain(second)}: {error}") from None
    return Answer(name, "unpaired", n, second - first, "points", "n", chances.power, what="cases")


def smallest_share_difference(n: int, share: float, chances: Chances, name: str = "") -> Answer:
    """Return the smallest difference from a share that n cases per side detect, toward one half,
    where more cases are needed.
    """
    end = 0.0 if share > 0.5 else 1.0

    def seen(other: float) -> bool:
        return sample_size_proportions(share, other, power=chances.power, alpha=chances.alpha) <= n

    if n < 1 or not seen(end):
        reason = f"{n} cases cannot show any difference from {plain(100 * share, 3)}%"
        return Answer(
            name,
            "unpaired",
            n,
            None,
            "points",
            "effect",
            chances.power,
            what="cases",
            reason=reason,
        )
    near, far = share, end
    for _ in range(_STEPS):
        middle = (near + far) / 2
        if middle in (near, far):
            break
        near, far = (near, middle) if seen(middle) else (middle, far)
    return Answer(
        name, "unpaired", n, abs(far - share), "points", "effect", chances.power, what="cases"
    )


def mcnemar_answer(
    only_a: float, only_b: float, chances: Chances, n: int | None = None, name: str = ""
) -> Answer:
    """Return pairs that show a difference between cases right only in A and only in B, or the power
    of `n` pairs. Raises UsageError for impossible or equal probabilities.
    """
    try:
        if n is not None:
            seen = power_mcnemar(only_a, only_b, n, alpha=chances.alpha)
            return Answer(name, "paired", n, only_b - only_a, "points", "power", seen, what="cases")
        size = sample_size_mcnemar(only_a, only_b, power=chances.power, alpha=chances.alpha)
    except ValueError as error:
        raise UsageError(f"--discordant {plain(only_a)} {plain(only_b)}: {error}") from None
    return Answer(name, "paired", size, only_b - only_a, "points", "n", chances.power, what="cases")
