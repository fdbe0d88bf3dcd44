"""Turns values into rows of styled text: axes, glyphs, plots, table cells."""
