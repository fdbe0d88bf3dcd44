"""Reads and validates a suite file, with the position of every key."""
