"""What the harness itself costs a load."""
