"""One side held against another: tests, intervals, verdicts, and what to do about them."""
