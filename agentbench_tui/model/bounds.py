"""How large a number may be that a person gives: in a suite, on the command line, anywhere.

Beyond these a number is a slip of the hand, and would overflow SQLite's 64 bits, a clock or a
sum somewhere later, where nobody can say any more which number it was.
"""

from __future__ import annotations

LARGEST_INTEGER = 2**63 - 1
"""What SQLite and most JSON libraries hold."""
LARGEST_SEED = 2**53 - 1
"""Of a seed, either sign: any reader of JSON keeps it exactly, and seeds after it still fit."""
LARGEST_NUMBER = 1e15
"""Of any time in milliseconds, size or price: its square and sums of millions stay finite."""
MOST_REPEATS = 10_000
MOST_SEEDS = 10_000
MOST_ROUNDS = 1_000_000
"""Warm-up rounds or measured iterations of one repeat."""
MOST_AT_ONCE = 10_000
"""Cases asked at once."""
MOST_ROWS = 1_000_000_000
"""Cases of a benchmark, rows of a list."""
MOST_EXECUTIONS = 100_000
"""Executions of one run."""
