"""TODO: ratings."""
