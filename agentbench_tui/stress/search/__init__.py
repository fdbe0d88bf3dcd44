"""Where a target breaks and how it scales: searches over levels of load."""
