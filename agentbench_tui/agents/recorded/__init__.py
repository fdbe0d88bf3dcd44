"""Agents with predetermined answers."""
