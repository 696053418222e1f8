"""Judgments by prompt: suites of sentences that a model is asked about in words."""
