"""Surveys made from suites: exported for other programs, or served as web pages."""
