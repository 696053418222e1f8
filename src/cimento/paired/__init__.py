"""Two models on the same items: the outcomes of each by item, and their differences with tests."""
