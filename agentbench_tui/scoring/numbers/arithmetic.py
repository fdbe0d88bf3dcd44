"""Arithmetic of bounded size: exact with fractions if possible, else in double precision."""

from __future__ import annotations

import math
from fractions import Fraction

Value = Fraction | float
"""A Fraction is exact; a float is an irrational number to double precision."""

MAX_BITS = 13_000
"""Maximum bits of a numerator or denominator:

3,900 digits, below Python's limit for conversion to text.
"""
_MAX_EXPONENT = 20_000
_MAX_ROOT = 64


class Unreadable(ValueError):
    """Raised for a text that is not one readable number."""


def checked(value: Value) -> Value:
    """Return the value. Raises Unreadable if it is too long or not finite."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Unreadable
    elif max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise Unreadable
    return value


def magnitude(value: Value) -> Value:
    """Return the value without its sign."""
    return -value if value < 0 else value


def quotient(top: Value, bottom: Value) -> Value:
    """Return top ÷ bottom. Raises Unreadable for a division by zero."""
    if not bottom:
        raise Unreadable
    return checked(top / bottom)


def power(base: Value, exponent: Value) -> Value:
    """Return base to the exponent, exact for whole exponents of exact numbers."""
    if isinstance(exponent, float) or isinstance(base, float):
        return _float_power(base, exponent)
    if exponent.denominator == 1:
        times = abs(exponent.numerator)
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        trivial = base in {0, 1, -1}
        if (not base and exponent <= 0) or (not trivial and times * bits > MAX_BITS * 2):
            raise Unreadable
        if times > _MAX_EXPONENT:
            raise Unreadable
        return checked(base**exponent.numerator)
    if exponent.denominator > _MAX_ROOT:
        return _float_power(base, exponent)
    return power(root(base, exponent.denominator), Fraction(exponent.numerator))


def root(value: Value, degree: int = 2) -> Value:
    """Return the real root of a degree of 1..64, exact if it is rational."""
    if not 1 <= degree <= _MAX_ROOT or (value < 0 and degree % 2 == 0):
        raise Unreadable
    if value < 0:
        return -root(-value, degree)
    if isinstance(value, Fraction):
        top, bottom = (_whole_root(n, degree) for n in (value.numerator, value.denominator))
        if top is not None and bottom is not None:
            return Fraction(top, bottom)
    return _float_power(value, 1 / degree)


def _whole_root(value: int, degree: int) -> int | None:
    if degree == 2:
        guess = math.isqrt(value)
        return guess if guess * guess == value else None
    if value.bit_length() > 900:
        return None
    nearest = round(float(value) ** (1 / degree))
    return next((n for n in (nearest - 1, nearest, nearest + 1) if n**degree == value), None)


def _float_power(base: Value, exponent: Value) -> float:
    try:
        result = math.pow(base, exponent)
    except (ValueError, OverflowError):
        raise Unreadable from None
    if not math.isfinite(result) or (not result and base):
        raise Unreadable
    return result
