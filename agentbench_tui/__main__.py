"""`python -m agentbench_tui` is `agentbench`."""

from agentbench_tui.cli.main import run

if __name__ == "__main__":
    run()
