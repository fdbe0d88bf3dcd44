"""The HTTP service of `agentbench serve`: reads the store, starts runs as separate processes, and
computes nothing itself.

Needs the extra `api`. Modules that import FastAPI or uvicorn are imported by `serving` alone.
"""
