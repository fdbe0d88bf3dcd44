"""Stress tests: load with faults injected between client and target, and the search for the
breaking point.
"""
