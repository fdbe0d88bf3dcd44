"""Writes of a run, by noun.

Functions that take a connection belong inside a transaction of the `Writer`; those that take a
`RowWriter` queue one row, which is committed with others.
"""
