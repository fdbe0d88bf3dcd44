"""Load: open- and closed-loop load on agents and endpoints, measured in processes of its own."""
