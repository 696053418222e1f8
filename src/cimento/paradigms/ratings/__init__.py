"""Ratings: sentences that people rated, compared with models."""
