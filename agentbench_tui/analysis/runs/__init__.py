"""Runs and their history: between-run variance, changes of level, gates."""
