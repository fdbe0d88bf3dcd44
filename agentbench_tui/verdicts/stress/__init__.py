"""Stress scenarios: documents, levels, sentences."""
