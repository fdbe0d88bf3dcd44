"""HTTP and server-sent events, with receive times taken before parsing."""
