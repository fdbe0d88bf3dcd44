"""Tests of differences, effect sizes and equivalence."""
