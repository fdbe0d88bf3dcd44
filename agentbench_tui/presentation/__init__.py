"""Presentation of verdicts, independent of the medium: numbers, sentences, tables and charts."""
