"""Ratings: rated sentences, and the comparison of people with models."""
