"""What all tests of pages share; see `stores`."""

from stores import loaded, measured, varied

__all__ = ["loaded", "measured", "varied"]
