"""Experiments on data stores: SQLite in its settings and places, and Redis."""
