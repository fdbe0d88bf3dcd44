"""Adapters: everything that answers."""
