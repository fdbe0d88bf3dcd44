"""Agents ranked by a metric, with the uncertainty of the ranks."""
