"""Hits as tables and JSON, with the licences of the treebanks they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from cimento.corpus.records import Sentence
from cimento.corpus.search import Hit
from cimento.corpus.treebanks import TreebankFile, licences_of

COLUMNS = (
    "connective", "corpus", "licence", "file", "sha256", "sent_id", "token_id", "form", "upos",
    "deprel", "head_id", "head_upos", "head_has_cop", "initial", "question",
)  # fmt: skip

Found = Iterable[tuple[Hit, Sentence]]


def hit_rows(found: Found, files: Sequence[TreebankFile], *, with_text: bool) -> Iterator[str]:
    """The lines of a TSV without quoting, the header first.

    Args:
        found: hits with their sentences.
        files: that they were found in.
        with_text: whether the sentence is a column too.
    """
    licences = licences_of(files)
    yield "\t".join((*COLUMNS, "text") if with_text else COLUMNS) + "\n"
    for hit, sentence in found:
        cells = [
            hit.connective, hit.corpus, licences[hit.corpus], hit.file, hit.sha256,
            hit.sentence_id, ",".join(map(str, hit.token_ids)), hit.form, hit.upos, hit.deprel,
            str(hit.head_id), hit.head_upos or "_", _yes(hit.head_has_cop), _yes(hit.initial),
            _yes(hit.question),
        ]  # fmt: skip
        if with_text:
            cells.append(sentence.text)
        yield "\t".join(" ".join(cell.split("\t")) for cell in cells) + "\n"


def hits_as_json(
    found: Found, files: Sequence[TreebankFile], *, with_text: bool
) -> dict[str, object]:
    """Hits for programs; see `hit_rows`."""
    return {
        "licences": licences_of(files),
        "files": {file.name: file.sha256 for file in files},
        "hits": [
            {**asdict(hit), **({"text": sentence.text} if with_text else {})}
            for hit, sentence in found
        ],
    }


def _yes(value: bool) -> str:  # noqa: FBT001  # a cell
    return "1" if value else "0"
