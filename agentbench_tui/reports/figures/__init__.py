"""Plots on a terminal and as files: lines, bars, bands and flame graphs."""
