"""Random numbers and functions that give the same bits on any machine.

Raw bits come from Philox4x64-10 (Salmon et al., SC 2011), a counter-based generator whose output
numpy guarantees. Each purpose has a key of its own, so what one draws never moves another. All that
is made of them uses only + - * / and the square root, which IEEE 754 rounds alike everywhere, one
array operation at a time: numpy's own exp, log, sums and normals differ between processors.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import factorial
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.random.bit_generator import ISeedSequence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Words = NDArray[np.uint64]

_LN2_HIGH = 6.93147180369123816490e-01
"""ln 2 with the last 32 bits zero, so that small multiples of it are exact."""
_LN2_LOW = 1.90821492927058770002e-10
_LOG2E = 1.44269504088896338700
_EXP = tuple(1.0 / factorial(order) for order in range(14, -1, -1))
_LOG = tuple(2.0 / order for order in range(25, 0, -2))

_CENTER = (
    (
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ),
    (
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ),
)
_SHOULDER = (
    (
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ),
    (
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ),
)
_TAIL = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    ),
    (
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ),
)
"""Wichura, Algorithm AS 241 (1988), PPND16: numerators and denominators, highest power first."""

_CDF = (
    (
        3.52624965998911e-2,
        0.700383064443688,
        6.37396220353165,
        33.912866078383,
        112.079291497871,
        221.213596169931,
        220.206867912376,
    ),
    (
        8.83883476483184e-2,
        1.75566716318264,
        16.064177579207,
        86.7807322029461,
        296.564248779674,
        637.333633378831,
        793.826512519948,
        440.413735824752,
    ),
)
"""Hart et al., Computer Approximations (1968), no. 5666: the normal tail over its density."""


@dataclass(frozen=True, slots=True)
class Streams:
    """Independent streams of one seed, one for each purpose and index.

    From tick `cut` on, numbers drawn by tick come from `suffix_seed` instead: a world with the same
    past and another future.
    """

    seed: int
    suffix_seed: int | None = None
    cut: int = 0
    salt: bytes = b""
    """Key of the hash that every stream is derived by, up to 64 bytes. Without it, whoever has
    this code can draw the same numbers."""

    def fixed(self, purpose: str, index: int, count: int) -> Words:
        """Return uint64[count] that do not depend on a suffix: values known before the
        first tick.
        """
        return _raw(self.seed, purpose, index, count, self.salt)

    def by_tick(self, purpose: str, index: int, ticks: int, width: int = 1) -> Words:
        """Return uint64[ticks, width]; row t holds the draws for this purpose at tick t."""
        words = _raw(self.seed, purpose, index, ticks * width, self.salt)
        if self.suffix_seed is not None:
            other = _raw(self.suffix_seed, purpose, index, ticks * width, self.salt)
            words[self.cut * width :] = other[self.cut * width :]
        return words.reshape(ticks, width)


class _Key(ISeedSequence):
    """Philox's key, set directly.

    Given as `key=`, numpy would request system entropy that it does not use.
    """

    __slots__ = ("_words",)

    def __init__(self, words: Words) -> None:
        self._words = words

    # numpy calls it so: the count and type are those of Philox's key.
    def generate_state(self, n_words: int, dtype: object = np.uint64) -> Words:  # noqa: ARG002
        return self._words


def _raw(seed: int, purpose: str, index: int, count: int, salt: bytes) -> Words:
    material = f"{seed}\x1f{purpose}\x1f{index}".encode()
    digest = hashlib.blake2b(material, digest_size=16, key=salt).digest()
    key = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
    # Philox takes any ISeedSequence; its types only know numpy's own.
    return np.random.Philox(cast("np.random.SeedSequence", _Key(key))).random_raw(count)


def uniform(words: Words) -> Floats:
    """Return float64 strictly between 0 and 1, symmetric about 1/2: the midpoints of 2**52
    cells.
    """
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def below(words: Words, count: int) -> NDArray[np.int64]:
    """Return int64 in 0..count-1, for count < 2**31."""
    return ((words >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)).astype(np.int64)


def exp(values: Floats) -> Floats:
    """Return e**x to about 1 ulp for |x| < 700: powers of two and a Taylor series on |r| < 0.35."""
    whole = np.rint(values * _LOG2E)
    rest = values - whole * _LN2_HIGH - whole * _LN2_LOW
    total = _polynomial(_EXP, rest)
    return np.ldexp(total, whole.astype(np.int32))


def log(values: Floats) -> Floats:
    """Return the natural logarithm of x > 0 to about 2 ulp: 2 artanh((m - 1) / (m + 1)) + e
    ln 2.
    """
    mantissa, exponent = np.frexp(values)
    small = mantissa < 0.7071067811865476
    mantissa = np.where(small, mantissa * 2.0, mantissa)
    power = exponent.astype(np.float64) - small
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    total = _polynomial(_LOG, square)
    return power * _LN2_HIGH + (ratio * total + power * _LN2_LOW)


def normal(words: Words) -> Floats:
    """Return standard normal numbers by the inverse distribution function, one per word."""
    chance = uniform(words)
    offset = chance - 0.5
    middle = 0.180625 - offset * offset
    result = offset * _ratio(_CENTER, middle)
    outer = np.flatnonzero(middle < 0.0)
    if outer.size:
        side = offset.reshape(-1)[outer]
        root = np.sqrt(-log(0.5 - np.abs(side)))
        size = np.where(root <= 5.0, _ratio(_SHOULDER, root - 1.6), _ratio(_TAIL, root - 5.0))
        result.reshape(-1)[outer] = np.where(side < 0.0, -size, size)
    return result


def normal_cdf(values: Floats) -> Floats:
    """Return the standard normal distribution function, absolute error below 2e-12; 0 or 1 beyond
    7.
    """
    size = np.minimum(np.abs(values), 7.0)
    tail = exp(size * size * -0.5) * _ratio(_CDF, size)
    tail = np.where(size < 7.0, tail, 0.0)
    return np.where(values > 0.0, 1.0 - tail, tail)


def logit(chances: Floats) -> Floats:
    """Return ln(p / (1 - p)) for p strictly between 0 and 1."""
    return log(chances / (1.0 - chances))


def _ratio(terms: tuple[tuple[float, ...], tuple[float, ...]], at: Floats) -> Floats:
    return _polynomial(terms[0], at) / _polynomial(terms[1], at)


def _polynomial(coefficients: tuple[float, ...], at: Floats) -> Floats:
    total = at * coefficients[0]
    for coefficient in coefficients[1:-1]:
        total += coefficient
        total *= at
    return total + coefficients[-1]
