"""Computes metrics from stored samples."""
