"""TODO: tokens."""
