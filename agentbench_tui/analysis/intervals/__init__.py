"""Intervals of means, shares, quantiles and skewed amounts."""
