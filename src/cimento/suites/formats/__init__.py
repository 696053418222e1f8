"""Formats of suites: each module reads one format, and writes it if cimento can."""
