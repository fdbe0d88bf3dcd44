"""The public Python API, which `import agentbench_tui` offers; see its `__all__`."""
