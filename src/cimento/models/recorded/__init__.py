"""TODO: recorded."""
