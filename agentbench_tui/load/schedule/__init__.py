"""Determines when requests are due: arrivals, rates, pace."""
