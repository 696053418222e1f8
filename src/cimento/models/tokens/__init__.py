"""Tokens and texts: what a tokenizer makes of a request, and which token covers what."""
