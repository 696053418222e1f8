"""Trees in a compact notation: a line for each word, ``id form lemma upos feats head deprel``."""

from __future__ import annotations

from pathlib import Path

from cimento.corpus.morphology import WordReading, chosen
from cimento.corpus.treebanks import TreebankFile, open_treebanks


def conllu(rows: list[str], text: str, *, name: str) -> str:
    """A sentence in CoNLL-U; what follows what without a blank is read off the text."""
    lines = [f"# sent_id = {name}", f"# text = {text}"]
    at, end = 0, 0
    for row in rows:
        cells = row.split(" ")
        number, form = cells[0], cells[1]
        misc = "_"
        if "-" in number or int(number) > end:
            at = text.index(form, at) + len(form)
            misc = "_" if text[at : at + 1] in ("", " ") else "SpaceAfter=No"
        if "-" in number:
            end = int(number.partition("-")[2])
            lines.append("\t".join((number, form, *"_______", misc)))
            continue
        _, form, lemma, upos, feats, head, deprel = cells
        lines.append("\t".join((number, form, lemma, upos, "_", feats, head, deprel, "_", misc)))
    return "\n".join(lines) + "\n\n"


def treebank(folder: Path, *sentences: tuple[str, list[str]]) -> tuple[TreebankFile, ...]:
    """A treebank of sentences, each a text with the lines of its words."""
    folder.mkdir(exist_ok=True, parents=True)
    parts = [conllu(rows, text, name=f"s-{n}") for n, (text, rows) in enumerate(sentences, 1)]
    (folder / "xx_own-ud-test.conllu").write_text("".join(parts), encoding="utf-8")
    return open_treebanks([folder], terms="CC BY 4.0")


class FewForms:
    """A dictionary of a few readings: form, lemma, part of speech, features."""

    name = "few"

    def __init__(self, *rows: tuple[str, str, str, str]) -> None:
        self._rows = tuple(WordReading(*row, tag="") for row in rows)

    def analyze(self, form: str) -> tuple[WordReading, ...]:
        return tuple(row for row in self._rows if row.form == form.lower())

    def inflect(self, lemma, features=None, *, pos=""):
        rows = (row for row in self._rows if row.lemma == lemma.lower())
        return chosen(rows, features, pos=pos)
