"""What a kind of test is (a paradigm), where the kinds are found, and what a run of one is."""
