"""Detects whether an agent has become worse: its newest runs against a baseline or its history."""
