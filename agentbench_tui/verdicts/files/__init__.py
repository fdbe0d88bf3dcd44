"""Samples, tables and results that a person brings as files."""
