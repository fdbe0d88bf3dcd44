"""Agents outside the harness's process: protocols, programs, servers."""
