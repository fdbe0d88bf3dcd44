"""Agents outside our process: protocols, programs, servers."""
