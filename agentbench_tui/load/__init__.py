"""Open- and closed-loop load on agents and endpoints, measured in separate processes."""
