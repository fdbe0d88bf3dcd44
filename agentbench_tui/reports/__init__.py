"""Files that people pass on: HTML, Markdown, CSV, JSON, JUnit and figures.

Nothing is computed or worded here: a file renders what `presentation` and `verdicts` return.
"""
