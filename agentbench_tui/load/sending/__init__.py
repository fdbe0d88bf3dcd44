"""The processes that send and measure."""
