"""Compares numbers and expressions in texts by value."""
