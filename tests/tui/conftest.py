"""What all tests of pages share; see `stores`."""

from stores import measured

__all__ = ["measured"]
