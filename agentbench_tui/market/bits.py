"""Random numbers and functions that are the same bits on any machine.

Raw bits come from Philox4x64-10 (Salmon et al., SC 2011), a counter-based generator whose output
numpy guarantees. Each purpose has a key of its own, so what one draws never moves another. All that
is made of them uses only + - * / and the square root, which IEEE 754 rounds alike everywhere, one
array operation at a time: numpy's own exp, log, sums and normals differ between processors.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]

_LN2_HIGH = 6.93147180369123816490e-01
"""ln 2 with the last 32 bits zero, so that small multiples of it are exact."""
_LN2_LOW = 1.90821492927058770002e-10
_LOG2E = 1.44269504088896338700


@dataclass(frozen=True, slots=True)
class Streams:
    """Independent streams of one seed, one for each purpose and index.

    From tick `cut` on, numbers drawn by tick come from `suffix_seed` instead: a world with the same
    past and another future.
    """

    seed: int
    suffix_seed: int | None = None
    cut: int = 0

    def fixed(self, purpose: str, index: int, count: int) -> Words:
        """uint64[count] that no suffix changes: what is known before the first tick."""
        return _raw(self.seed, purpose, index, count)

    def by_tick(self, purpose: str, index: int, ticks: int, width: int = 1) -> Words:
        """uint64[ticks, width]; row t is all that this purpose draws at tick t."""
        words = _raw(self.seed, purpose, index, ticks * width)
        if self.suffix_seed is not None:
            other = _raw(self.suffix_seed, purpose, index, ticks * width)
            words[self.cut * width :] = other[self.cut * width :]
        return words.reshape(ticks, width)


def _raw(seed: int, purpose: str, index: int, count: int) -> Words:
    material = f"{seed}\x1f{purpose}\x1f{index}".encode()
    key = int.from_bytes(hashlib.blake2b(material, digest_size=16).digest(), "little")
    return np.random.Philox(key=key).random_raw(count)


def uniform(words: Words) -> Floats:
    """float64 strictly between 0 and 1, symmetric about 1/2: the middles of 2**52 cells."""
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def below(words: Words, count: int) -> NDArray[np.int64]:
    """int64 in 0..count-1, for count < 2**31."""
    return ((words >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)).astype(np.int64)


def exp(values: Floats) -> Floats:
    """e**x within 1 ulp or so, for |x| < 700: powers of two and a Taylor series on |r| < 0.35."""
    whole = np.rint(values * _LOG2E)
    rest = values - whole * _LN2_HIGH - whole * _LN2_LOW
    total = np.full_like(rest, 1.0 / factorial(14))
    for order in range(13, -1, -1):
        total = total * rest + 1.0 / factorial(order)
    return np.ldexp(total, whole.astype(np.int32))


def log(values: Floats) -> Floats:
    """Natural logarithm of x > 0 within an ulp or two: 2 artanh((m - 1) / (m + 1)) + e ln 2."""
    mantissa, exponent = np.frexp(values)
    small = mantissa < 0.7071067811865476
    mantissa = np.where(small, mantissa * 2.0, mantissa)
    power = exponent.astype(np.float64) - small
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    total = np.full_like(ratio, 2.0 / 25)
    for order in range(23, 0, -2):
        total = total * square + 2.0 / order
    return power * _LN2_HIGH + (ratio * total + power * _LN2_LOW)
