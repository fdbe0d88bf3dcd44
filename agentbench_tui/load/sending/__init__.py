"""The processes that send requests and measure."""
