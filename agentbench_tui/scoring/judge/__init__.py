"""Answers graded by agents."""
