"""Computes answers from the store: leaderboards, documents, gates, explanations."""
