"""`python -m agentbench_tui` is `agentbench`."""

from agentbench_tui.cli.entrance import agentbench

if __name__ == "__main__":
    agentbench()
