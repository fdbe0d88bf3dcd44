"""Scores answers, maps metrics to the five dimensions, and converts tokens to dollars."""
