"""The engine: requests times a model gives answers. It never learns which kind of test asks."""
