"""TODO: io."""
