"""American spelling in code, messages, pages and tests: British words are found, and replaced.

The words are those of ``scripts/spelling.toml``. A word in a name counts as well: ``_COLOURS`` is
one, and so is a file of such a name. Data in other languages and sentences of suites are left out.
Run with::

    python scripts/spelling.py          # prints each place; exit code 1 if there is one
    python scripts/spelling.py --fix    # replaces the words, and renames the files
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RULES = Path(__file__).with_name("spelling.toml")
_SUFFIXES = "cff css html js json md py sh toml tsv txt yaml yml"
SUFFIXES = frozenset(f".{suffix}" for suffix in _SUFFIXES.split(" "))
NAMES = frozenset({"Makefile", "run"})
"""Files without a suffix that are looked at."""

DATA = re.compile(
    r"(src/cimento/data/(grammars|suites|models)|tests/data|scripts/demo/words"
    r"|(constraints|locked|locked-dev|requirements[\w-]*)\.txt$)"
)
PAGES_OF_DATA = re.compile(r"/(README\.md|suite\.toml)$")
OTHER_LANGUAGE = re.compile(r"\.(it|es|pt|ru)\.\w+$")

# An escape such as \n is no letter of the word after it; letters beside one of another alphabet, or
# with an accent, are a part of a word in another language.
_ACCENTED = "[\\u00c0-\\u024f\\u0400-\\u04ff]"
WORD = re.compile(
    rf"\\[nt](?=[A-Za-z])|(?<!{_ACCENTED})(?:[A-Z]?[a-z]+|[A-Z]+(?![a-z]))(?!{_ACCENTED})"
)
PERCENT = re.compile(r"\b([Pp])er cent\b")


class Spelling:
    """The rules of the file, ready to be applied.

    Args:
        rules: what the file says.
    """

    def __init__(self, rules: Mapping[str, Any]) -> None:
        self._words: Mapping[str, str] = rules["words"]
        self._titles = rules["titles"]
        self._allowed: Mapping[str, Sequence[str]] = rules["allowed"]
        before = "(?P<before>(?:dis|mis|un|re|de|pre|non)?"
        self._patterns = [
            (re.compile(before + f"(?:{'|'.join(rules[name])}){kept})(?:{ending})"), american)
            for name, kept, ending, american in (
                ("our", "", "our(?P<after>[a-z]*)", "or"),
                ("ise", "i", "s(?P<after>e[ds]?|ers?|ing|ations?|able)", "z"),
                ("yse", "y", "s(?P<after>e|ed|ers?|ing)", "z"),
                ("double_l", "", "l(?P<after>ed|ers?|ings?)", ""),
            )
        ]

    def american(self, word: str) -> str:
        """A word as Americans spell it, with the capitals that it had."""
        plain = word.lower()
        spelled = self._spelled(plain)
        if spelled == plain:
            return word
        return (
            spelled.upper() if word.isupper() else spelled.title() if word[0].isupper() else spelled
        )

    def _spelled(self, word: str) -> str:
        for singular, ending in ((word, ""), (word.removesuffix("s"), "s")):
            if singular in self._words:
                return self._words[singular] + ending
        for pattern, american in self._patterns:
            if match := pattern.fullmatch(word):
                return match["before"] + american + match["after"]
        return word

    def british(self, text: str, path: str) -> Iterator[re.Match[str]]:
        """The British spellings in a text, but for those that are meant.

        Args:
            text: of a file.
            path: of the file from the root.
        """
        meant = [*self._titles, *self._allowed.get(path, ())]
        if "*" in meant:
            return
        kept = [
            range(place.start(), place.end())
            for words in meant
            for place in re.finditer(re.escape(words), text)
        ]
        for match in (*WORD.finditer(text), *PERCENT.finditer(text)):
            if replacement(self, match) != match[0] and not any(match.start() in k for k in kept):
                yield match


def replacement(spelling: Spelling, match: re.Match[str]) -> str:
    """What stands in the place of a word, or of *percent*."""
    return match[1] + "ercent" if match.re is PERCENT else spelling.american(match[0])


def fixed(text: str, matches: Sequence[re.Match[str]], spelling: Spelling) -> str:
    """A text with its British words replaced."""
    for match in sorted(matches, key=lambda match: -match.start()):
        text = text[: match.start()] + replacement(spelling, match) + text[match.end() :]
    return text


def tracked(root: Path) -> list[str]:
    """The files of a repository, as paths from its root, but for those that git ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=root, capture_output=True, check=True, text=True)  # noqa: S603  # git, with fixed arguments
    return list(filter(None, listed.stdout.split("\0")))


def is_looked_at(path: str) -> bool:
    """Whether a file is English text of ours."""
    is_text = Path(path).suffix in SUFFIXES or Path(path).name in NAMES
    is_data = DATA.match(path) and not PAGES_OF_DATA.search(path)
    return is_text and not is_data and not OTHER_LANGUAGE.search(path)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the places of British words, or replace them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--fix", action="store_true", help="replace them")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the repository")
    given = parser.parse_args(arguments)
    spelling = Spelling(tomllib.loads(RULES.read_text(encoding="utf-8")))
    n_found = 0
    for path in filter(is_looked_at, tracked(given.root)):
        if not (given.root / path).is_file():
            continue
        text = (given.root / path).read_text(encoding="utf-8")
        matches = list(spelling.british(text, path))
        in_name = list(spelling.british(path, path))
        n_found += len(matches) + len(in_name)
        if given.fix:
            (given.root / path).write_text(fixed(text, matches, spelling), encoding="utf-8")
            if in_name:
                target = given.root / fixed(path, in_name, spelling)
                target.parent.mkdir(parents=True, exist_ok=True)
                (given.root / path).rename(target)
            continue
        for match in in_name:
            print(f"{path}: the name of the file: {match[0]}, {replacement(spelling, match)}")
        for match in sorted(matches, key=lambda match: match.start()):
            line = text.count("\n", 0, match.start()) + 1
            print(f"{path}:{line}: {match[0]}, {replacement(spelling, match)}")
    return int(n_found > 0 and not given.fix)


if __name__ == "__main__":
    sys.exit(main())
