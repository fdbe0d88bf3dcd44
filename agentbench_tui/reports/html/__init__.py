"""A report as one HTML file that needs no network: page, charts as SVG, answers in chunks."""
