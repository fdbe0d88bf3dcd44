"""Throughput and resilience under load."""
