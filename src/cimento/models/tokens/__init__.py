"""Tokens and texts: tokenizing of requests, and the characters that tokens cover."""
