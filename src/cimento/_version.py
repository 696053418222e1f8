"""The version, alone, so that every module may name it without importing the rest."""

from __future__ import annotations

__version__ = "0.1.0"
