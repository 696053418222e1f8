"""Paradigms: the kinds of test. Each says what it asks, how it judges and what it reports."""
