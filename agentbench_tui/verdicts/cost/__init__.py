"""Costs per task and per right answer, and possible savings."""
