"""One variant measured: its seat, the timer, profilers in passes of their own."""
