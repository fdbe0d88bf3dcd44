"""JSON and tool calls compared by value."""
