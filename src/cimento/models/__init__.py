"""Models and what they say of texts: the only place that imports torch or transformers."""
