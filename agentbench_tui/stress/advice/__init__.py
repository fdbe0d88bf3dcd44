"""Recommendations for the findings of a scenario: rules over its report."""
