"""The parts that StateSet's suites measure, as code that really works."""
