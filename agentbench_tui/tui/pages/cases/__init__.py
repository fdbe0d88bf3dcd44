"""The answers of one execution, chosen and sorted."""
