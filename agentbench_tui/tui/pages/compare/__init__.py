"""Compares two or more selectors, metric by metric, in plots, and case by case."""
