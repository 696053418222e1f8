"""TODO: annotate."""
