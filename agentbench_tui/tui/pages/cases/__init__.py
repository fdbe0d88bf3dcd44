"""The answers of one execution, filtered and sorted."""
