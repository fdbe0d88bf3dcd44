"""Code in answers, run against tests inside limits."""
