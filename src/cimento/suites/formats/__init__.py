"""TODO: formats."""
