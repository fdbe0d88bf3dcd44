"""Datasets that need more than reading a file: generators for `data_source: python:…`."""
