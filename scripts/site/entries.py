"""Entries of the Python reference: name, signature and first paragraph; the rest is folded.

A page of a hundred entries is a list that can be read down. A link to a method opens the entry
that holds it, in the browser.
"""

from __future__ import annotations

import re

_ENTRY = re.compile(
    r'<h[23] id="cimento\.[^"]+" class="doc doc-heading">(?:(?!<h[23]\b).)*?'
    r'<div class="doc doc-contents[^"]*">(?:\s*<p class="doc doc-class-bases">.*?</p>)?'
    r"(?P<first>\s*<p>(?:(?!</?p\b).)*</p>)?",
    re.DOTALL,
)
_BOX = re.compile(r"<div\b|</div>")
OPENS = '<details class="entry"><summary>Details</summary>'


def collapsed(html: str) -> str:
    """A page on which what follows the first paragraph of each entry opens by a click."""
    parts, done = list[str](), 0
    for entry in _ENTRY.finditer(html):
        if entry.start() < done:  # a method, in the entry of its class
            continue
        begin, end = entry.end(), _end_of_box(html, entry.end())
        rest = html[begin:end]
        if entry["first"] and re.sub(r"<[^>]*>|\s", "", rest):
            parts += [html[done:begin], f"\n{OPENS}{rest}</details>\n"]
            done = end
    return "".join([*parts, html[done:]])


def _end_of_box(html: str, begin: int) -> int:
    """Where the box ends that is open at a place."""
    depth = 1
    for tag in _BOX.finditer(html, begin):
        depth += -1 if tag[0] == "</div>" else 1
        if not depth:
            return tag.start()
    raise ValueError("a box is not closed")
