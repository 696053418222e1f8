"""TODO: stories."""
