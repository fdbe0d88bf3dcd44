"""The market world: a deterministic game of markets, feed and chats that agents play."""
