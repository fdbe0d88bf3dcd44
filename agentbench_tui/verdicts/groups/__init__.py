"""Results and comparisons by groups of cases: `--by FIELD`."""
