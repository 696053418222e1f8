"""TODO: hf."""
