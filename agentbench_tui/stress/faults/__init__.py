"""Faults injected around a target: proxy, processes, memory."""
