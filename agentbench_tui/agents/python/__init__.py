"""Python agents: in the harness's process, or in a separate one."""
