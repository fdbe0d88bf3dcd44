"""Adapters to everything that answers."""
