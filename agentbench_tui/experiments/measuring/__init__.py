"""Measures one variant: its seat, the timer, separate passes of profilers."""
