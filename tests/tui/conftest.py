"""What all tests of pages share; see `stores`."""

from stores import measured, varied

__all__ = ["measured", "varied"]
