"""TODO: server."""
