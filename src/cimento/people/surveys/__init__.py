"""TODO: surveys."""
