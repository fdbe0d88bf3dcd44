"""What this tool itself costs, as experiments, so that it watches itself as it watches others."""
