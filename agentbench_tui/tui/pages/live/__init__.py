"""A running run, or its replay at any speed."""
