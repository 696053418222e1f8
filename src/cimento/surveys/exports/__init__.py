"""A design for other programs: one file for each of them."""
