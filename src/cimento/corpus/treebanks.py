"""Treebanks: files, corpora and licenses."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cimento.corpus import (
    TreebankSentence,
)
from cimento.corpus.conllu import ReadingProblem, read_sentences
from cimento.errors import InputError
from cimento.intake.decoding import open_text
from cimento.io.files import reading
from cimento.io.values import NOT_STATED
from cimento.suites.letters import one_spelling

SUFFIXES = (".conllu", ".conllu.gz")


SAMPLE = "it_sample"
"""The name of the built-in treebank."""

_DATA = Path(__file__).parents[1] / "data" / "corpus"
_UD_NAME = re.compile(r"(?P<corpus>[a-z]{2,3}_\w+)-ud-(?P<split>train|dev|test)\b")
_README_LICENSE = re.compile(r"^License:(.*\S.*)$", re.MULTILINE)
_OPEN = re.compile(r"CC0|CC[ -]BY(?:[ -]SA)?(?:[ -]\d(?:\.\d)?)?$|public domain", re.IGNORECASE)
_MASKED = re.compile(r"https?://\S+|@\w+|[^\w\s#]+")


@dataclass(frozen=True, slots=True)
class TreebankFile:
    """A file of a treebank.

    Attributes:
        path: path of the file.
        sha256: hash of its bytes, in hexadecimal.
        corpus: the treebank's name, ``it_isdt`` for ``it_isdt-ud-test.conllu``.
        split: ``train``, ``dev``, ``test``, or empty.
        license: license of the treebank; ``not stated`` where its README does not say it.
    """

    path: Path
    sha256: str
    corpus: str
    split: str
    license: str

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    def sentences(
        self, *, skipped: list[ReadingProblem] | None = None
    ) -> Iterator[TreebankSentence]:
        """The sentences of the file; see `cimento.corpus.conllu.read_sentences`."""
        return read_sentences(self.path, skipped=skipped)


def open_treebanks(paths: Sequence[Path], *, terms: str = "") -> tuple[TreebankFile, ...]:
    """The files of treebanks, without repeats, in the order given.

    Args:
        paths: files, folders of which every ``.conllu`` and ``.conllu.gz`` is taken, or
            ``it_sample``, the built-in treebank.
        terms: license of all files; if empty, the known license of the Universal Dependencies
            treebank of that name, or else that in the README of its folder.

    Raises:
        InputError: a file does not exist, or a folder has no treebank.
    """
    files = dict.fromkeys(file for path in paths for file in _files(path))
    return tuple(_open(path, terms) for path in files)


def may_show(terms: str) -> bool:
    """Whether a license allows sentences to be passed on to anybody: CC0, CC BY, CC BY-SA.

    An unknown license is assumed not to allow it.
    """
    return bool(_OPEN.match(terms.strip()))


def licenses_of(files: Iterable[TreebankFile]) -> dict[str, str]:
    """The license of each corpus, in order."""
    return {file.corpus: file.license for file in files}


def fingerprint(text: str) -> bytes:
    """A short hash of a text, ignoring case, marks, mentions and addresses."""
    plain = _MASKED.sub(" ", one_spelling(text).casefold())
    return hashlib.blake2b(" ".join(plain.split()).encode(), digest_size=12).digest()


def _files(path: Path) -> list[Path]:
    if str(path) == SAMPLE and not path.exists():
        path = _DATA / "sample"
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.name.endswith(SUFFIXES))
        if not files:
            raise InputError(
                where=str(path), seen="the folder has no .conllu file", todo="Check the path."
            )
        return files
    if not path.is_file():
        raise InputError(where=str(path), seen="there is no such file", todo="Check the path.")
    return [path]


def _open(path: Path, terms: str) -> TreebankFile:
    with reading(path, todo="Check its permissions."), path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    match = _UD_NAME.match(path.name)
    corpus = match["corpus"] if match else path.name.partition(".")[0]
    split = match["split"] if match else ""
    return TreebankFile(path, digest, corpus, split, terms or _license(path, corpus))


def _license(path: Path, corpus: str) -> str:
    known = tomllib.loads((_DATA / "licenses.toml").read_text(encoding="utf-8"))["licenses"]
    if corpus in known:
        return str(known[corpus])
    readme = path.parent / "README.md"
    if readme.is_file():
        match = _README_LICENSE.search(readme.read_text(encoding="utf-8", errors="replace"))
        if match:
            return match[1].strip()
    return NOT_STATED


def text_lines(path: Path) -> Iterator[str]:
    """The sentences of a treebank, or the lines of a text.

    Raises:
        InputError: the file cannot be read.
    """
    if path.name.endswith(SUFFIXES):
        return (sentence.text for sentence in read_sentences(path))
    return iter(open_text(path).splitlines())
