"""Runs code in answers against tests, within limits."""
