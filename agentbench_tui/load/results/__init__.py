"""From stored samples to metrics."""
