"""Stress: load with faults put between client and target, and the search for where it breaks."""
