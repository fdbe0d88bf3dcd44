"""The parts that StateSet's suites measure, as working code."""
