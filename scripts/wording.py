"""Plain English in messages, help, pages and docstrings: one term for one thing, the field's.

The rules are those of ``scripts/wording.toml``, each with its reason: terms, and turns of phrase
that a native speaker would not write. Spelling has its own list (``scripts/spelling.py``). Of
Python files, strings and comments are read, not code. Run with::

    python scripts/wording.py          # prints each place; exit code 1 if there is one
    python scripts/wording.py --fix    # replaces what has one replacement
"""

from __future__ import annotations

import argparse
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import spelling

RULES = Path(__file__).with_name("wording.toml")
SUFFIXES = frozenset({".py", ".md", ".html", ".js", ".toml", ".json"})
LEFT_OUT = re.compile(
    r"tests/(frozen/|repository/test_wording)|CHANGELOG\.md|scripts/(wording|spelling)\.|docs/data/"
)
ENGLISH = re.compile(r"^[^\n=]*\ben\s*=.*$", re.MULTILINE)
"""A line of a file of texts in several languages."""

# Nouns without an article: "is not text", "is not part of the table".
_NAMES = frozenset({"UTF-8", "YAML", "JSON", "CSV"})
_MASS = frozenset({"text", "part", "evidence", "information", "proof"}) | _NAMES
_COUNTED = re.compile(r"\s+(?:file|object|table|value|list|node)\b")
"""What has an article before it all the same: a text file, a JSON object."""
_VOWEL = re.compile(
    r"(?!(?i:un[ei]|us[eu]|uti|utf|url|one|eu))"
    r"(?:(?i:[aeiou])|[FHLMNRSX](?=[A-Z0-9-])|n-|https?\b)"
)
_STAND = {
    "before": "come", "after": "come", "first": "come", "last": "come", "with": "come",
    "twice": "appear", "together": "be", "on": "be", "at": "be",
}  # fmt: skip
_FORMS = {
    "come": {"stand": "come", "stands": "comes", "stood": "came"},
    "appear": {"stand": "appear", "stands": "appears", "stood": "appeared"},
    "be": {"stand": "are", "stands": "is", "stood": "was"},
}
_INFINITIVE = re.compile(r"\b(?:to|should|must|may|can|could|will|would|not|let \w+)\s+$")


_BLANK = re.compile(r"(\(\?<[=!][^)]*\))| ")
"""A blank of a pattern, but for those of what looks behind, whose width is fixed."""


class Rule(NamedTuple):
    """A turn of phrase to avoid.

    Attributes:
        pattern: what finds it.
        write: its replacement, a format string over the named groups, or the name of a function.
        why: the reason, in a sentence.
        only: the kind of text that it holds for; empty for all.
    """

    pattern: re.Pattern[str]
    write: str
    why: str
    only: str


class Place(NamedTuple):
    """A place where a rule is broken."""

    start: int
    end: int
    rule: Rule
    instead: str


def rules(said: Mapping[str, Any]) -> list[Rule]:
    """The rules of a file, terms first."""
    return [
        Rule(
            # A blank of a rule is any white space, so that the end of a line hides nothing.
            re.compile(_BLANK.sub(lambda m: m[1] or r"\s+", one["pattern"]), re.MULTILINE),
            one.get("write", ""),
            f"{one['use']}: {one['why']}" if "use" in one else one["why"],
            one.get("only", ""),
        )
        for one in (*said["term"], *said["avoid"])
    ]


def _article(match: re.Match[str]) -> str:
    word = match["next"]
    bare = word.strip('`*"<')
    gap = match[0][len(match["verb"]) : -len(word)].replace("no", "not", 1)
    mass = bare in _MASS and not _COUNTED.match(match.string[match.end() :])
    plural = match["verb"] in {"are", "were"}
    if plural and not mass and not bare.endswith("s"):
        return ""
    article = "" if plural or mass else ("an " if _VOWEL.match(bare) else "a ")
    return f"{match['verb']}{gap}{article}{word}"


def _stand(match: re.Match[str]) -> str:
    where = match["where"]
    verb = _STAND.get(where, "be")
    before = match.string[max(0, match.start() - 20) : match.start()]
    form = _FORMS[verb][match["verb"]]
    if verb == "be" and match["verb"] == "stand" and _INFINITIVE.search(before):
        form = "be"
    return form + match[0][len(match["verb"]) :]


def instead(rule: Rule, match: re.Match[str]) -> str:
    """What is written in the place of a match; empty if a person has to decide."""
    if rule.write == "article":
        return _article(match)
    if rule.write == "stand":
        return _stand(match)
    if rule.write.startswith("P:"):
        begin = "P" if match["s"] == "S" else "p"
        return begin + rule.write[2:].format(**match.groupdict())
    if not rule.write:
        return ""
    return rule.write.format(**match.groupdict())


def english(path: str, text: str) -> Iterator[tuple[int, int, str]]:
    """The parts of a file that are English text: start, end, kind.

    Args:
        path: of the file from the root.
        text: of the file.
    """
    suffix = Path(path).suffix
    if suffix == ".py":
        yield from _python(text)
    elif suffix == ".toml" and re.search(r"(?m)^[^\n=]*\b(?:it|es|ru)\s*=", text):
        yield from ((match.start(), match.end(), "messages") for match in ENGLISH.finditer(text))
    else:
        yield 0, len(text), "pages" if suffix in {".md", ".html"} else "messages"


def _python(text: str) -> Iterator[tuple[int, int, str]]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    # Neighboring strings are one text: a phrase may begin in one and end in the next.
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            kind = "messages" if token.type == tokenize.STRING else "comments"
            yield (
                starts[token.start[0] - 1] + token.start[1],
                starts[token.end[0] - 1] + token.end[1],
                kind,
            )


def places(path: str, text: str, rules: Sequence[Rule], kept: Sequence[str]) -> list[Place]:
    """The places of a file where a rule is broken, in order.

    Args:
        path: of the file from the root.
        text: of the file.
        rules: of the list.
        kept: texts that may stay.
    """
    if not any(rule.pattern.search(text) for rule in rules):
        return []
    spans = [
        range(match.start(), match.end())
        for phrase in kept
        for match in re.finditer(re.escape(phrase), text)
    ]
    found = [
        Place(start + match.start(), start + match.end(), rule, instead(rule, match))
        for start, end, kind in english(path, text)
        for rule in rules
        if rule.only in ("", kind)
        for match in rule.pattern.finditer(text[start:end])
        if not any(start + match.start() in span for span in spans)
    ]
    return sorted(found)


def fixed(text: str, found: Sequence[Place]) -> str:
    """A text in which every place with a replacement has it; of two that overlap, the later one.

    The earlier one is found again in the next run.
    """
    begun = len(text)
    for place in sorted(found, reverse=True):
        if place.instead and place.end <= begun:
            text = text[: place.start] + place.instead + text[place.end :]
            begun = place.start
    return text


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the places, or replace what has one replacement."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("--fix", action="store_true", help="replace what has one replacement")
    parser.add_argument("--root", type=Path, default=spelling.ROOT, help="of the repository")
    given = parser.parse_args(arguments)
    said = tomllib.loads(RULES.read_text(encoding="utf-8"))
    listed, n_left = rules(said), 0
    for path in filter(spelling.is_looked_at, spelling.tracked(given.root)):
        file = given.root / path
        if file.suffix not in SUFFIXES or LEFT_OUT.match(path) or not file.is_file():
            continue
        text = file.read_text(encoding="utf-8")
        found = places(path, text, listed, said["allowed"].get(path, ()))
        if given.fix and found:
            file.write_text(fixed(text, found), encoding="utf-8")
            found = [place for place in found if not place.instead]
        n_left += len(found)
        for place in found:
            line = text.count("\n", 0, place.start) + 1
            seen = " ".join(text[place.start : place.end].split())
            remedy = f"write {' '.join(place.instead.split())!r}; " if place.instead else ""
            print(f"{path}:{line}: {seen!r}: {remedy}{place.rule.why}")
    return int(n_left > 0)


if __name__ == "__main__":
    sys.exit(main())
