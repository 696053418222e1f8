"""Language models and what they say of texts: no other package imports torch or transformers."""
