"""From values to rows of styled text: axes, glyphs, plots, cells of tables."""
