"""Overhead of the harness in a load."""
