"""Leaderboards: boards, ranks, and their uncertainty."""
