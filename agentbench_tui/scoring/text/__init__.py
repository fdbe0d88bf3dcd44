"""Texts compared: exact, contained, alike."""
