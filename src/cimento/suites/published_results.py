"""Results that authors released for sets of the registry: figures, and which items were right.

``published_results.toml`` says what is released, where it was read and how models were scored;
``published_results.tsv`` has the figures. A file of a set is known by its sha256 in the registry,
so that no figure is shown beside other items than those it is of.
"""

from __future__ import annotations

import csv
import functools
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources

from cimento.io.values import grouped
from cimento.suites.phenomena import phenomenon_of
from cimento.suites.published import GITHUB, published

PEOPLE = "people"
"""The name of people among the models."""
BLIMP = "blimp"
BLIMP_MODELS = ("ngram", "lstm", "transformer-xl", "gpt2", PEOPLE)
"""The models of BLiMP's paper, as tables show them, and people."""
_LINES, _ARCHIVE = ".jsonl", ".tar.gz"
_BITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSource:
    """A release of results.

    Attributes:
        set: the set, as the registry names it.
        citation: how to cite it.
        repository: owner and name of the repository on GitHub.
        commit: at which its files were read.
        files: their paths; ``*`` stands for any text.
        scored: how models were scored, in words.
        measure: the measure of whole sentences by which a run is scored likewise, ``regions`` for
            predictions about regions; empty where there is none, or where it is not known.
        people: what people were asked, in words; empty without figures of people.
        copy: the copy of the set that was asked about, where it is not the files of the registry;
            empty where it is.
        models: full names of models, by the name in the figures.
        items: ids of the items of a file in its order, separated by blanks, where they are not the
            numbers from 1.
    """

    set: str
    citation: str
    repository: str
    commit: str
    files: tuple[str, ...]
    scored: str = ""
    measure: str = ""
    people: str = ""
    copy: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The address of the repository at the commit."""
        return f"{GITHUB}/{self.repository}/tree/{self.commit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedResult:
    """A released result of one model on a file of a set, or on the items of it with one label.

    Attributes:
        source: where it is from.
        file: path of the file in the set; empty for the mean over all its files.
        label: the set's own label of the items; empty for all items of the file.
        model: name of the model, or `PEOPLE`.
        n: number of items; of people, of answers or pairs as the source counts them.
        stated: the accuracy; None where the items say it.
        bits: whether each item was right, in hexadecimal, the first item in the highest bit; empty
            where it was not released.
    """

    source: ResultSource
    file: str
    label: str
    model: str
    n: int
    stated: float | None = None
    bits: str = ""

    @property
    def right(self) -> Mapping[str, bool]:
        """Whether each item of the file was right, by its id; empty if that was not released."""
        if not self.bits:
            return {}
        digits = f"{int(self.bits, 16):0{_BITS * len(self.bits)}b}"
        stated = self.source.items.get(self.file, "").split()
        ids = stated or map(str, range(1, self.n + 1))
        return {item: digit == "1" for item, digit in zip(ids, digits, strict=False)}

    @property
    def accuracy(self) -> float:
        """The accuracy, as stated or as the items say it."""
        return sum(self.right.values()) / self.n if self.stated is None else self.stated


@functools.cache
def published_results() -> tuple[PublishedResult, ...]:
    """All released results, in the order of their file."""
    data = resources.files("cimento") / "data"
    stated = tomllib.loads((data / "published_results.toml").read_text(encoding="utf-8"))
    sources = {
        name: ResultSource(**{**entry, "files": tuple(entry["files"])})
        for name, entry in stated.items()
    }
    rows = csv.DictReader(_lines(), delimiter="\t")
    return tuple(
        PublishedResult(
            source=sources[row["source"]],
            file=row["file"],
            label=row["label"],
            model=row["model"],
            n=int(row["n"]),
            stated=float(row["accuracy"]) if row["accuracy"] else None,
            bits=row["right"],
        )
        for row in rows
    )


def _lines() -> list[str]:
    file = resources.files("cimento") / "data" / "published_results.tsv"
    return file.read_text(encoding="utf-8").splitlines()


@functools.cache
def sets_with_results() -> tuple[str, ...]:
    """The names of the sets of the registry that results were released on."""
    return tuple(dict.fromkeys(one.source.set for one in published_results()))


@functools.cache
def files_of_whole_sets() -> Mapping[str, str]:
    """The files of the sets that results were released on as wholes: sha256 to the set's name."""
    names = dict.fromkeys(one.source.set for one in published_results() if not one.file)
    return {
        digest: name
        for name in names
        for file, digest in published()[name].sha256.items()
        if not file.endswith(_ARCHIVE)
    }


def _by_digest() -> Mapping[str, Sequence[PublishedResult]]:
    by_file = grouped(((one.source.set, one.file), one) for one in published_results() if one.file)
    digests = {key: published()[key[0]].sha256[key[1]] for key in by_file}
    return {digests[key]: results for key, results in by_file.items()}


def results_on(sha256: str) -> Sequence[PublishedResult]:
    """The released results on a file of a set.

    Args:
        sha256: of the file, in hexadecimal.
    """
    return _by_digest().get(sha256, ())


def results_on_all(name: str, digests: Collection[str]) -> Sequence[PublishedResult]:
    """The released results on a whole set, if all of it was asked about.

    Args:
        name: of the set in the registry.
        digests: the sha256 of each file that was asked about, in hexadecimal.
    """
    entry = published().get(name)
    files = {} if entry is None else entry.sha256
    suites = {digest for file, digest in files.items() if not file.endswith(_ARCHIVE)}
    if not suites or not suites <= set(digests):
        return ()
    return [one for one in published_results() if one.source.set == name and not one.file]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset of BLiMP.

    Attributes:
        phenomenon: its phenomenon.
        published: published accuracies, by model; also that of people.
    """

    phenomenon: str
    published: Mapping[str, float]


@functools.cache
def blimp_names() -> frozenset[str]:
    """The names of BLiMP's datasets, which every run looks for; the figures are not read."""
    files = (line.split("\t", 2)[1] for line in _lines() if line.startswith(f"{BLIMP}\t"))
    return frozenset(file.removesuffix(_LINES) for file in files)


@functools.cache
def blimp_datasets() -> Mapping[str, Dataset]:
    """The datasets of BLiMP, by name."""
    by_name = grouped(
        (one.file.removesuffix(_LINES), one)
        for one in published_results()
        if one.source.set == BLIMP and one.model in BLIMP_MODELS
    )
    return {
        name: Dataset(
            phenomenon_of(suite=BLIMP, label=name) or "", {one.model: one.accuracy for one in found}
        )
        for name, found in by_name.items()
    }
