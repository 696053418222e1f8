"""The files that a host of data sets wants beside a suite: card, citation, licence, record.

The card follows the Hugging Face hub (https://huggingface.co/docs/hub/datasets-cards), the citation
the Citation File Format 1.2.0 (doi:10.5281/zenodo.5171937), and ``.zenodo.json`` the fields that
Zenodo reads from a repository on GitHub.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from cimento.errors import Fault, SuiteError
from cimento.io.files import write_text
from cimento.suites.model import Meta
from cimento.suites.published import NAMES

CARD, CITATION, LICENCE, RECORD = "README.md", "CITATION.cff", "LICENSE", ".zenodo.json"

_NEEDED: Mapping[str, str] = {
    "author": 'the names of the authors: author = "Ada Bianchi; Luis Sosa"',
    "licence": 'the SPDX identifier of a licence: licence = "CC-BY-4.0"',
    "version": 'a version: version = "1.0.0"',
    "language": 'its ISO 639-1 code: language = "it"',
}
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"))
_LARGEST = "100K<n<1M"
_BETWEEN_AUTHORS = re.compile(r"\s*;\s*|\s+and\s+")
_TITLE = re.compile(r"\A\s*# .*\n")
_CODES = {
    "ca": "cat",
    "de": "deu",
    "en": "eng",
    "es": "spa",
    "eu": "eus",
    "fr": "fra",
    "he": "heb",
    "hi": "hin",
    "it": "ita",
    "ja": "jpn",
    "nl": "nld",
    "pt": "por",
    "ru": "rus",
    "sw": "swa",
    "tr": "tur",
    "zh": "zho",
}
"""ISO 639-3 codes, which Zenodo wants, by ISO 639-1 code."""


def refuse_incomplete(meta: Meta) -> None:
    """Refuse to publish a suite whose description lacks what every host asks for.

    Raises:
        SuiteError: a field is empty; the error names all of them.
    """
    faults = tuple(
        Fault("CIM-S003", "error", "suite.toml", f"[meta] has no {name}.", f"Write {advice}.")
        for name, advice in _NEEDED.items()
        if not getattr(meta, name)
    )
    if faults:
        raise SuiteError(where=f"suite {meta.name}", faults=faults)


def write_publication(folder: Path, meta: Meta, *, description: str, readme: str) -> list[Path]:
    """Write card, citation, licence and record beside the files of a suite.

    Args:
        folder: the folder of the suite.
        meta: its metadata, complete.
        description: predictions and first items, as ``cimento suites show`` prints them.
        readme: what its authors wrote about it; empty for nothing.

    Returns:
        The files written.
    """
    table = next(path for path in sorted(folder.glob("items.*")))
    lines = table.read_text(encoding="utf-8").splitlines()
    rows = sum(map(bool, map(str.strip, lines))) - (table.suffix == ".tsv")
    texts = {
        CARD: card(meta, table=table.name, rows=rows, description=description, readme=readme),
        CITATION: citation(meta),
        LICENCE: f"{meta.name} is licensed under {meta.licence}:\n"
        f"https://spdx.org/licenses/{meta.licence}.html\n",
        RECORD: json.dumps(record(meta), ensure_ascii=False, indent=2) + "\n",
    }
    return [write_text(text, folder / name) for name, text in texts.items()]


def authors(meta: Meta) -> list[str]:
    """The names of the authors, which semicolons or *and* separate."""
    return [name for name in _BETWEEN_AUTHORS.split(meta.author) if name]


def title(meta: Meta) -> str:
    """The title of a suite: its name, and its phenomenon if it has one."""
    return f"{meta.name}: {meta.phenomenon}" if meta.phenomenon else meta.name


def card(meta: Meta, *, table: str, rows: int, description: str, readme: str) -> str:
    """The card of a suite: fields for the host, then a page for people.

    Args:
        meta: its metadata.
        table: name of the file with the items.
        rows: number of rows in it.
        description: as for `write_publication`.
        readme: as for `write_publication`.
    """
    size = next((name for most, name in _SIZES if rows < most), _LARGEST)
    text = _TITLE.sub("", readme, count=1).strip()
    tags = dict.fromkeys(("linguistics", "language-model-evaluation", "cimento", *meta.tags))
    fields = [
        ("language", [meta.language]),
        ("license", meta.licence.lower()),
        ("pretty_name", title(meta)),
        ("size_categories", [size]),
        ("tags", list(tags)),
        # A field that contains a tab or a quotation mark is valid YAML as a JSON text.
        ("configs", [{"config_name": "default", "data_files": table, **_separator(table)}]),
    ]
    front = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields)
    facts = [
        ("language", NAMES.get(meta.language, meta.language)),
        ("version", meta.version),
        ("authors", ", ".join(authors(meta))),
        ("licence", meta.licence),
        ("review", meta.status),
        ("origin", meta.reference),
        ("cite as", meta.citation),
        ("remark", meta.comment),
    ]
    listed = "".join(f"| {name} | {value.replace('|', '/')} |\n" for name, value in facts if value)
    parts = [
        f"---\n{front}---\n\n# {title(meta)}\n\nA test suite for language models.\n",
        f"| | |\n|---|---|\n{listed}",
        f"## Predictions and items\n\n````text\n{description.strip()}\n````\n",
        (
            "## Running it\n\nWith cimento, from the commit of"
            " this page:\n\n```\ncimento run hf:ORG/NAME@COMMIT -m gpt2\n```\n"
        ),
        f"## From its authors\n\n{text}\n" if text else "",
    ]
    return "\n".join(part for part in parts if part)


def _separator(table: str) -> dict[str, str]:
    return {"sep": "\t"} if table.endswith(".tsv") else {}


def citation(meta: Meta) -> str:
    """The citation of a suite in the Citation File Format."""
    fields: list[tuple[str, object]] = [
        ("cff-version", "1.2.0"),
        ("message", meta.citation or "If you use this suite, please cite it."),
        ("type", "dataset"),
        ("title", title(meta)),
        ("version", meta.version),
        ("license", meta.licence),
        ("authors", [{"name": name} for name in authors(meta)]),
        ("keywords", list(dict.fromkeys(("linguistics", *meta.tags)))),
    ]
    return "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields)


def record(meta: Meta) -> dict[str, object]:
    """The description of a suite for Zenodo."""
    about = " ".join(filter(None, (meta.comment, meta.reference)))
    return {
        "upload_type": "dataset",
        "title": title(meta),
        "description": about or f"A test suite for language models: {title(meta)}.",
        "creators": [{"name": name} for name in authors(meta)],
        "license": meta.licence,
        "version": meta.version,
        "keywords": list(dict.fromkeys(("linguistics", "language models", *meta.tags))),
        **({"language": _CODES[meta.language]} if meta.language in _CODES else {}),
    }
