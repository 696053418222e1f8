"""TODO: serving."""
