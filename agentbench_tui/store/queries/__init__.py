"""Queries on the store, by noun."""
