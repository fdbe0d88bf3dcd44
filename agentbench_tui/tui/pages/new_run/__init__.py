"""Chooses what to measure and how, and starts it."""
