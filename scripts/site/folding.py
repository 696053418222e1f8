"""Blocks of code that fit the page of the site at 1,280 pixels, so that nothing is cut off.

A long command is continued in the next line, after a backslash; its explanation comes before it.
Other lines are broken where the block ends; only tables of a terminal and Python scroll.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 88
"""Characters per line that a block shows."""

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,}) *(?P<head>[^\n`]*)\n(?P<text>.*?)^(?P=indent)(?P=fence)$",
    re.MULTILINE | re.DOTALL,
)
_COMMAND = re.compile(r"(?:\$ )?(?:\S*/)?(?:cimento|python[\d.]*|pip|git|export)\s")
_EXPLAINED = re.compile(r"(?P<command>\S.*?)\s{2,}(?P<comment># .*)")
_WORD = re.compile(r"""(?:'[^']*'|"[^"]*"|\$\([^)]*\)|\S)+""")
_TABLE = re.compile(r"\S {2,}\S.* {2,}\S|\S {2,}\S.*\n.*\S {2,}\S|\t")
"""A row of three columns, two rows of two, or a tab."""
SHELL = frozenset({"", "sh", "shell", "bash", "yaml"})


def folded(text: str) -> str:
    """A page whose blocks fit, as the site shows it."""
    return _FENCE.sub(_block, text)


def _block(block: re.Match[str]) -> str:
    indent, head, text = block["indent"], block["head"].strip(), block["text"]
    language = (re.match(r"[\w-]*", head) or [""])[0]
    if language in SHELL:
        lines = (part for line in text.splitlines() for part in commands(line))
        text = "".join(f"{line}\n" for line in lines)
    is_table = language in {"", "text", "tsv"} and _TABLE.search(text)
    scrolls = is_table or language == "python"
    if longest(text) > WIDTH and not scrolls and not head.startswith("{"):
        head = f"{{ .{language or 'text'} .wrap{head.removeprefix(language)} }}"
    return f"{indent}{block['fence']}{head}\n{text}{indent}{block['fence']}"


def longest(text: str) -> int:
    """The number of characters of the longest line."""
    return max(map(len, text.splitlines()), default=0)


def commands(line: str) -> Iterator[str]:
    """The lines of a command that is too long for one; other lines are left."""
    bare = line.lstrip()
    indent = line[: len(line) - len(bare)]
    if len(line) <= WIDTH or not _COMMAND.match(bare):
        yield line
        return
    if explained := _EXPLAINED.fullmatch(bare):
        yield indent + explained["comment"]
        yield from commands(indent + explained["command"])
        return
    begun = indent
    for words in _units(bare):
        if len(begun) + len(words) + 3 > WIDTH and begun.strip():
            yield f"{begun} \\"
            begun = f"{indent}  {words}"
        else:
            begun = f"{begun} {words}" if begun.strip() else indent + words
    yield begun


def _units(command: str) -> Iterator[str]:
    """The words of a command; an option is not parted from its value."""
    unit: list[str] = []
    for word in _WORD.findall(command):
        is_value = len(unit) == 1 and unit[0].startswith("-") and not word.startswith("-")
        if unit and not is_value:
            yield " ".join(unit)
            unit = []
        unit.append(word)
    yield " ".join(unit)
