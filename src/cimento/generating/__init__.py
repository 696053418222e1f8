"""Suites of agreement made from a grammar: templates with slots, and a lexicon of forms."""
