"""Python agents: in this process, or in a separate one."""
