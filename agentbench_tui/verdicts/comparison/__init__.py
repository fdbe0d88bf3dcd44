"""Comparison of two sides: tests, intervals, verdicts, and recommendations."""
