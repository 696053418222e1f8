"""Test suites: their records, and reading, checking and writing them."""
