"""Judging of an episode: fair values, hindsight, forecasts, metrics."""
