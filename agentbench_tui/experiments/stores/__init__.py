"""Experiments on data stores: SQLite with several settings and locations, and Redis."""
