"""Charts of `presentation.charts` as SVG, colored by the style sheet of the page."""
