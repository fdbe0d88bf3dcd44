"""Typed documents that commands print and Python callers get; JSON Schemas are made from them.

A document is one JSON object whose first field, `schema`, names its class, such as
`agentbench.run/1`. `catalog` lists the classes by these names.
"""
