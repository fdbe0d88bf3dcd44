"""An episode of a market world, tick by tick."""
