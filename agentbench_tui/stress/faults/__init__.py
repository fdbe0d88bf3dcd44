"""What is made to fail around a target: the proxy, processes, memory."""
