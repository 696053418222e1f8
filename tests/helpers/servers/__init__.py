"""Servers on loopback that the tests ask."""
