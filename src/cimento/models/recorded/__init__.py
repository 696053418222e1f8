"""Recorded surprisals: read, aligned with a suite and replayed; no model is loaded."""
