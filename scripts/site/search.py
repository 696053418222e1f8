"""What a search finds: the index of the site, without parts that would hide the pages wanted.

The builder indexes every section and weighs all alike. Of a check, its example and its remedy count
with the check; attributes and methods, and everything in modules for packages of one's own, are
found with the class or module that has them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_DEEPEST = {"checks/": 1, "reference/modules": 2, "reference/python": 2, "reference/statistics": 3}
"""Beginning of a page's address to the level of its deepest heading that is found by itself."""
_FOLDED = "checks/"
_BEGINNING = "var __index = "


def shorten(site: Path) -> None:
    """Write the index anew, in both of its files: for servers, and for folders of pages."""
    index = json.loads((site / "search.json").read_text(encoding="utf-8"))
    index["items"] = list(kept(index["items"]))
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    (site / "search.json").write_text(text, encoding="utf-8")
    (site / "search.js").write_text(f"{_BEGINNING}{text};", encoding="utf-8")


def kept(items: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The sections that are found by themselves, in their order."""
    for item in items:
        address, _, anchor = item["location"].partition("#")
        deepest = next((n for start, n in _DEEPEST.items() if address.startswith(start)), 6)
        if item["level"] > deepest:
            continue
        if address.startswith(_FOLDED) and not anchor:
            inside = (part["text"] for part in items if part["location"].startswith(f"{address}#"))
            yield {**item, "text": " ".join([item["text"], *inside])}
        else:
            yield item
