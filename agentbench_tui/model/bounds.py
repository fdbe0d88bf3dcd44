"""Upper limits of user-supplied numbers, in suites and on the command line.

A larger number is a typing error, and would overflow SQLite's 64 bits, a clock or a sum later, when
its source is no longer known.
"""

from __future__ import annotations

LARGEST_INTEGER = 2**63 - 1
"""Maximum of SQLite and most JSON libraries."""
LARGEST_SEED = 2**53 - 1
"""Maximum of a seed, of either sign: any reader of JSON keeps it exactly, and following seeds
still fit.
"""
LARGEST_NUMBER = 1e15
"""Maximum of any time in milliseconds, size or price: its square and sums of millions stay
finite.
"""
MOST_REPEATS = 10_000
MOST_SEEDS = 10_000
MOST_ROUNDS = 1_000_000
"""Warm-up rounds or measured iterations of one repeat."""
MOST_AT_ONCE = 10_000
"""Maximum concurrent cases."""
MOST_ROWS = 1_000_000_000
"""Cases of a benchmark, rows of a list."""
MOST_EXECUTIONS = 100_000
"""Executions of one run."""
