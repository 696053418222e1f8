"""The engine, which has models answer requests without knowing which paradigm asks."""
