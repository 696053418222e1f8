"""Connectives: inventories, where they stand in sentences, how often, and what replaces them."""
