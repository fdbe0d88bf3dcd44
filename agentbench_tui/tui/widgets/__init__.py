"""Widgets: pure functions that paint, and small classes that show them."""
