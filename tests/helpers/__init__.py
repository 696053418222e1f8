"""What several tests need: small models, suites, runs and servers."""
