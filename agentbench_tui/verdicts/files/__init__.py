"""Samples, tables and results from users' files."""
