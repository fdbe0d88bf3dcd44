"""Precision of figures, required sample sizes, and checks of the statistics."""
