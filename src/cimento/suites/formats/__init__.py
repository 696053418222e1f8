"""Formats of suites: a module reads one format, and writes it where cimento writes it."""
