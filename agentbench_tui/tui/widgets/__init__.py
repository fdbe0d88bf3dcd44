"""Widgets of our own: pure functions that paint, and small classes that show them."""
