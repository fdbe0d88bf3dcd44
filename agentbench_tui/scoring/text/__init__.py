"""Compares texts: exact, contained, similar."""
