"""Compares JSON and tool calls by value."""
