"""When requests are due: arrivals, rates, pace."""
