"""Ratings: sentences that people rated, and models beside the people."""
