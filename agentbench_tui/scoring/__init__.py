"""From an answer to a score, from metrics to the five dimensions, from tokens to dollars."""
