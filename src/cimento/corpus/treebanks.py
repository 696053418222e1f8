"""Treebank files: which there are, of which corpus, what they hold and on which terms."""

from __future__ import annotations

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.corpus.conllu import SUFFIXES, Problem, read_sentences
from cimento.corpus.records import Sentence
from cimento.errors import InputError

UNKNOWN = "unknown"
SAMPLE = "it_sample"
"""The name of the treebank that comes with cimento."""

_DATA = Path(__file__).parents[1] / "data" / "corpus"
_UD_NAME = re.compile(r"(?P<corpus>[a-z]{2,3}_\w+)-ud-(?P<split>train|dev|test)\b")
_README_LICENCE = re.compile(r"^License:(.*\S.*)$", re.MULTILINE)
_OPEN = re.compile(r"CC0|CC[ -]BY(?:[ -]SA)?(?:[ -]\d(?:\.\d)?)?$|public domain", re.IGNORECASE)
_MASKED = re.compile(r"https?://\S+|@\w+|[^\w\s#]+")


@dataclass(frozen=True, slots=True)
class TreebankFile:
    """A file of a treebank.

    Attributes:
        path: where it is.
        sha256: of its bytes, hexadecimal.
        corpus: the treebank's name, ``it_isdt`` for ``it_isdt-ud-test.conllu``.
        split: ``train``, ``dev``, ``test``, or empty.
        licence: of the treebank; ``unknown`` where nothing says it.
    """

    path: Path
    sha256: str
    corpus: str
    split: str
    licence: str

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    def sentences(self, *, skipped: list[Problem] | None = None) -> Iterator[Sentence]:
        """Its sentences; see `cimento.corpus.conllu.read_sentences`."""
        return read_sentences(self.path, skipped=skipped)


def open_treebanks(paths: Sequence[Path], *, licence: str = "") -> tuple[TreebankFile, ...]:
    """The files of treebanks, each once, in the order given.

    Args:
        paths: files, or folders of which every ``.conllu`` and ``.conllu.gz`` is taken; or
            ``it_sample``, the treebank that comes with cimento.
        licence: of them all; empty for what is known of a Universal Dependencies treebank of that
            name, or else what the README beside it says.

    Raises:
        InputError: there is no such file, or a folder has none.
    """
    found = dict.fromkeys(each for path in paths for each in _files(path))
    return tuple(_open(path, licence) for path in found)


def may_show(licence: str) -> bool:
    """Whether sentences may be passed on to anybody: CC0, CC BY, CC BY-SA.

    An unknown licence is taken for one that does not allow it.
    """
    return bool(_OPEN.match(licence.strip()))


def licences_of(files: Iterable[TreebankFile]) -> dict[str, str]:
    """The licence of each corpus, in order."""
    return {each.corpus: each.licence for each in files}


def fingerprint(text: str) -> bytes:
    """A short hash that texts share which differ in case, marks, mentions and addresses only."""
    plain = _MASKED.sub(" ", unicodedata.normalize("NFC", text).casefold())
    return hashlib.blake2b(" ".join(plain.split()).encode(), digest_size=12).digest()


def _files(path: Path) -> list[Path]:
    if str(path) == SAMPLE and not path.exists():
        path = _DATA / "sample"
    if path.is_dir():
        found = sorted(each for each in path.iterdir() if each.name.endswith(SUFFIXES))
        if not found:
            raise InputError(
                where=str(path), seen="the folder has no .conllu file", todo="Check the path."
            )
        return found
    if not path.is_file():
        raise InputError(where=str(path), seen="there is no such file", todo="Check the path.")
    return [path]


def _open(path: Path, licence: str) -> TreebankFile:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(
            where=str(path),
            seen=f"cannot be read ({error.strerror or error})",
            todo="Check its permissions.",
        ) from error
    found = _UD_NAME.match(path.name)
    corpus = found["corpus"] if found else path.name.partition(".")[0]
    split = found["split"] if found else ""
    return TreebankFile(path, digest, corpus, split, licence or _licence(path, corpus))


def _licence(path: Path, corpus: str) -> str:
    known = tomllib.loads((_DATA / "licences.toml").read_text(encoding="utf-8"))["licences"]
    if corpus in known:
        return str(known[corpus])
    readme = path.parent / "README.md"
    if readme.is_file():
        said = _README_LICENCE.search(readme.read_text(encoding="utf-8", errors="replace"))
        if said:
            return said[1].strip()
    return UNKNOWN
