"""The works that can be cited: the facts in ``references.toml``, and the entries made from them."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from textwrap import shorten

from cimento._version import __version__
from cimento.io.inline_markup import tex

OTHERS = "others"
"""The name that ends a shortened list of authors."""

_FIELDS = (
    "journal", "booktitle", "series", "publisher", "year", "volume", "number", "pages", "version",
    "doi", "url", "note",
)  # fmt: skip
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s,;{}]+")
_ADDRESS = re.compile(r"\b(?:https?://)?((?:[\w-]+\.)+[a-z]{2,}/[^\s,;]*)", re.IGNORECASE)
_BIBTEX_KEY = re.compile(r"@\w+\s*\{\s*([^,\s}]+)")
_MOST_NAMED = 2
_LONGEST_NAME = 60
YEAR = "2026"
"""Year of this version of cimento, which BibTeX entries require."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedWork:
    """A work that can be cited.

    Attributes:
        key: key of the BibTeX entry; it never changes.
        type: type of the BibTeX entry.
        authors: names as ``Family, Given``; ``others`` ends a shortened list, braces hold a group.
        title: title of the work; may be empty if only a text is known.
        fields: the other fields as plain text, by their BibTeX names.
        known_as: texts that identify the work instead of its DOI or address.
        ready: the BibTeX entry as its author wrote it; empty if it is made from the rest.
        by_version: whether a text names its version too, as of a suite.
    """

    key: str
    type: str
    authors: tuple[str, ...] = ()
    title: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    known_as: tuple[str, ...] = ()
    ready: str = ""
    by_version: bool = False

    @property
    def short(self) -> str:
        """The form of citation within a text: ``Kauf and Ivanova 2023``."""
        names = [_family(author) for author in self.authors if author != OTHERS]
        version = f"version {self.fields['version']}" if "version" in self.fields else ""
        if "year" not in self.fields:
            return version or self.title or self._note or self.key
        if not names:
            return self.title
        many = len(names) > _MOST_NAMED or OTHERS in self.authors
        who = f"{names[0]} et al." if many else " and ".join(names)
        # The name of a suite is in the text; its author, year and version tell which one it is.
        ends = f", {version}" if self.by_version and version else ""
        return f"{who} {self.fields['year']}{ends}"

    @property
    def line(self) -> str:
        """The entry in a list of references, in plain text."""
        if self.ready or not self.title:
            return self.fields.get("note") or self.ready
        authors = "; ".join("et al." if name == OTHERS else _bare(name) for name in self.authors)
        year = f"({self.fields['year']})" if "year" in self.fields else ""
        head = " ".join(filter(None, (authors, year)))
        doi = self.fields.get("doi")
        ends = [
            _sentence(head),
            _sentence(self.title),
            _sentence(self._place),
            _sentence(self.fields.get("note", "")),
            f"https://doi.org/{doi}" if doi else self.fields.get("url", ""),
        ]
        return " ".join(filter(None, ends))

    @property
    def _note(self) -> str:
        """The text by which a work is known, shortened if it is long."""
        return shorten(self.fields.get("note", ""), _LONGEST_NAME, placeholder=" ...")

    @property
    def _place(self) -> str:
        """The place of publication: ``Language 88(1), 82-123``."""
        facts = self.fields
        number = f"({facts['number']})" if "number" in facts else ""
        volume = facts.get("volume", "") + number
        inside = facts.get("booktitle", "")
        if "series" in facts:
            inside = f"{inside} ({facts['series']} {volume})"
            volume = ""
        outer = " ".join(filter(None, (facts.get("journal", ""), inside, volume)))
        version = f"Version {facts['version']}" if "version" in facts else ""
        pages = facts.get("pages", "").replace("--", "-")
        return ", ".join(filter(None, (outer, facts.get("publisher"), version, pages)))


def bibtex(references: Iterable[CitedWork]) -> str:
    """BibTeX entries, one after the other."""
    return "\n".join(_entry(reference) for reference in references)


@functools.cache
def library() -> Mapping[str, CitedWork]:
    """All works in the data file, by key."""
    text = (resources.files("cimento.cite") / "references.toml").read_text(encoding="utf-8")
    return {
        key: CitedWork(
            key=key,
            type=facts["type"],
            authors=tuple(facts["authors"]),
            title=facts["title"],
            fields={name: str(facts[name]) for name in _FIELDS if name in facts},
            known_as=tuple(facts.get("known_as", ())),
        )
        for key, facts in tomllib.loads(text).items()
    }


def cimento_itself() -> CitedWork:
    """The reference for this toolkit."""
    return CitedWork(
        key="cimento",
        type="misc",
        authors=("{The cimento developers}",),
        title="cimento: Targeted linguistic evaluation of language models",
        fields={"version": __version__, "year": YEAR},
    )


def works_in(text: str) -> tuple[CitedWork, ...]:
    """The works that a text names by DOI or address, separated by ``;``.

    A part that names no known work is a reference of its own, with the part as its note.

    Args:
        text: a text such as the source of a measure or the reference of a suite.
    """
    works: dict[str, CitedWork] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        for work in _known(part) or (from_text(part),):
            works.setdefault(work.key, work)
    return tuple(works.values())


def from_text(text: str) -> CitedWork:
    """A reference known only by a text; a text in BibTeX is kept unchanged.

    Args:
        text: the text as its author wrote it.
    """
    match = _BIBTEX_KEY.match(text.strip())
    if match is not None:
        return CitedWork(key=match[1], type="misc", ready=text.strip())
    doi = _DOI.search(text)
    more = {"doi": doi[0].rstrip(".)")} if doi else {}
    return CitedWork(key=bibtex_key(text), type="misc", fields={"note": text, **more})


def bibtex_key(text: str) -> str:
    """A text as a BibTeX key: letters, digits and hyphens, at most 40 characters."""
    plain = re.sub(r"[^a-z0-9]+", "-", _ascii(text).lower()).strip("-")
    return plain[:40].rstrip("-") or "reference"


def _known(part: str) -> tuple[CitedWork, ...]:
    """The works in the data file that a text names."""
    dois = {match.rstrip(".)").lower() for match in _DOI.findall(part)}
    addresses = {match.rstrip("./)").lower() for match in _ADDRESS.findall(part)}
    return tuple(work for work in library().values() if _is_named(work, part, dois, addresses))


def _is_named(work: CitedWork, part: str, dois: set[str], addresses: set[str]) -> bool:
    if work.known_as:
        return any(name in part for name in work.known_as)
    address = work.fields.get("url", "").partition("://")[2].rstrip("/").lower()
    return work.fields.get("doi", "").lower() in dois or address in addresses


def _entry(work: CitedWork) -> str:
    if work.ready:
        return work.ready + "\n"
    lines = [f"@{work.type}{{{work.key},"]
    if work.authors:
        names = " and ".join(map(_author, work.authors))
        lines.append(f"  author = {{{names}}},")
    if work.title:
        # The second pair of braces preserves capitals.
        lines.append(f"  title = {{{{{tex(work.title)}}}}},")
    for name in _FIELDS:
        if name in work.fields:
            value = work.fields[name]
            lines.append(f"  {name} = {{{value if name in ('doi', 'url') else tex(value)}}},")
    return "\n".join([*lines, "}"]) + "\n"


def _author(name: str) -> str:
    """A name in BibTeX; the name of a group keeps its braces."""
    return f"{{{tex(_bare(name))}}}" if name.startswith("{") else tex(name)


def _sentence(text: str) -> str:
    """A text that ends in a punctuation mark."""
    return text if not text or text[-1] in "?!." else f"{text}."


def _family(author: str) -> str:
    return _bare(author) if author.startswith("{") else author.partition(",")[0]


def _bare(author: str) -> str:
    return author.removeprefix("{").removesuffix("}")


def _ascii(text: str) -> str:
    import unicodedata

    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
