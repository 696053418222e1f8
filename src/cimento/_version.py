"""The version number, in a module that imports nothing, so that every module may import it."""

from __future__ import annotations

__version__ = "0.1.0"
