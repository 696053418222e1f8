"""Canaries: texts found nowhere else, by which a suite is recognised in training data.

The idea is BIG-bench's (Srivastava et al. 2023, arXiv:2206.04615, section 3): a fixed string in
every file lets those who gather training texts leave it out, and shows where they did not.
"""

from __future__ import annotations

import re
import uuid

CANARY = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What makes a canary unlike any other text: a random identifier somewhere in it."""


def new_canary() -> str:
    """A fresh canary, such as ``cimento:5f0c2b1e-7d3a-4b56-9a51-0d6f6f2f7a10``."""
    return f"cimento:{uuid.uuid4()}"


def is_canary(text: object) -> bool:
    """Whether a text has what makes a canary one of its kind."""
    return isinstance(text, str) and CANARY.search(text) is not None
