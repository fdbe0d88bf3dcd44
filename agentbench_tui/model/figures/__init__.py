"""Metrics and figures: name, unit, direction, formula."""
