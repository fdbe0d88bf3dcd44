"""Experiments on spatial structures for neighbor search."""
