"""Files made to exhaust the memory, the stack or the time of who reads them."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fuzzing import readers
from tests.fuzzing.seeds import LM_EVAL, NATIVE_ITEMS, NATIVE_TOML, workbook
from tests.fuzzing.watching import attempt, settle

MILLION = 1_000_000
WATCHDOG_S = 120.0


def rows(header: str, row: str, *, most: int = 900_000) -> bytes:
    """A table of one row over and over; ``{n}`` counts."""
    lines = [header]
    size = len(header)
    number = 0
    while size < most:
        number += 1
        lines.append(row.replace("{n}", str(number)))
        size += len(lines[-1]) + 1
    return "\n".join(lines).encode()


def wide(separator: str) -> bytes:
    """A header of very many columns, and very many rows with one cell."""
    header = separator.join(f"c{n}" for n in range(40_000))
    return header.encode() + b"\nx" * 300_000


def laughs() -> bytes:
    """Nine lists, each of which holds the one before ten times."""
    names = "abcdefghi"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for before, name in itertools.pairwise(names):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]")
    return ("\n".join(lines) + "\ndoc_to_choice: *i\ntask: *i\n").encode()


def merged() -> bytes:
    """The same with mappings that are merged."""
    lines = ["a: &a {x: 1, y: 2}"]
    for number in range(1, 30):
        before = chr(ord("a") + number - 1) if number < 26 else f"z{number - 1}"
        name = chr(ord("a") + number) if number < 26 else f"z{number}"
        lines.append(f"{name}: &{name} {{<<: [*{before}, *{before}]}}")
    return "\n".join(lines).encode()


def sheet_xml(row: bytes, times: int) -> bytes:
    main = b"http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return (
        b'<worksheet xmlns="' + main + b'"><sheetData>' + row * times + b"</sheetData></worksheet>"
    )


ENTITIES = b"""<?xml version="1.0"?>
<!DOCTYPE l [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]>
<dimlex><entry word="&d;"/></dimlex>"""

ENDLESS_SPEC = b"""{"vocabulary": {}, "tokenizer": {"type": "subword", "cased": true,
  "drop_token_pattern": "(a|aa|L|Le|l|lamp|a|mp)*x"}}"""

FILES: dict[str, tuple[str, bytes, Callable[[Path], object]]] = {
    "deep JSON": ("a.json", b"[" * 400_000 + b"]" * 400_000, readers.suite),
    "deep JSON objects": ("a.json", b'{"a":' * 90_000 + b"1" + b"}" * 90_000, readers.suite),
    "deep JSON lines": ("a.jsonl", b'{"sentence_good": ' + b"[" * 50_000, readers.suite),
    "a number of a million digits": ("a.jsonl", b'{"pairID": ' + b"9" * MILLION, readers.suite),
    "half of a surrogate pair": (
        "a.jsonl",
        b'{"sentence_good": "\\ud800", "sentence_bad": "b"}',
        readers.suite,
    ),
    "zero bytes": ("a.json", b"\0" * MILLION, readers.suite),
    "one endless line": ("a.csv", b"a" * MILLION, readers.suite),
    "one endless word that is not UTF-8": ("a.csv", b"a" * MILLION + b"\xe8", readers.suite),
    "an open quotation mark": ("a.csv", b'good,bad\n"' + b"a\n" * 450_000, readers.suite),
    "very many columns": ("a.tsv", wide("\t"), readers.suite),
    "very many columns, quoted": ("a.csv", wide(","), readers.suite),
    "very many wrong rows": ("a.tsv", b"good\tbad\n" + b"a\tb\tc\n" * 100_000, readers.suite),
    "very many wrong lines": ("a.jsonl", b"{}\n" * 50_000, readers.suite),
    "very many small pairs": ("a.tsv", rows("good\tbad", "a{n}\tb", most=150_000), readers.suite),
    "very many regions": (
        "a.tsv",
        b"good\tbad\n" + b"a | " * 120_000 + b"a\t" + b"b | " * 100_000 + b"b\n",
        readers.suite,
    ),
    "every word a region of its own": (
        "a.csv",
        rows("sent_index,word_index,word,region,condition", "{n},0,a,r{n},c"),
        readers.suite,
    ),
    "every word a condition of its own": (
        "a.csv",
        rows("sent_index,word_index,word,region,condition", "1,0,a,r{n},c{n}"),
        readers.suite,
    ),
    "a gzip bomb": ("a.csv.gz", lambda: gzip.compress(b"a" * 300 * MILLION), readers.suite),
    "a bomb in a workbook": (
        "a.xlsx",
        lambda: workbook(sheet_xml(b"<row><c><v>1</v></c></row>", 20 * MILLION // 10)),
        readers.suite,
    ),
    "a workbook as wide as can be": (
        "a.xlsx",
        workbook(sheet_xml(b'<row><c r="XFD1"><v>1</v></c></row>', 20_000)),
        readers.suite,
    ),
    "entities in a workbook": ("a.xlsx", workbook(ENTITIES), readers.suite),
    "entities in XML": ("a.xml", ENTITIES, readers.inventory),
    "deep XML": ("a.xml", b"<a>" * 130_000 + b"</a>" * 130_000, readers.inventory),
    "YAML that grows": ("task.yaml", LM_EVAL + laughs(), readers.suite),
    "YAML that grows by merging": ("task.yaml", LM_EVAL + merged(), readers.suite),
    "deep YAML": ("task.yaml", b"a: " + b"[" * 100_000, readers.suite),
    "a megabyte of YAML": ("task.yaml", b"- a\n" * 240_000, readers.suite),
    "deep TOML": ("v.toml", b"a = " + b"[" * 400_000, readers.variants),
    "dotted TOML": ("v.toml", b"a." * 5_000 + b"a = 1\n", readers.variants),
    "a megabyte of dots in TOML": ("v.toml", b"a." * 450_000 + b"a = 1\n", readers.variants),
    "a formula of brackets": ("f.txt", b"(" * 500_000, readers.formula),
    "a formula of sums": ("f.txt", b"(1;%a%)+" * 100_000 + b"1<2", readers.formula),
    "a formula of blanks": ("f.txt", b"(1;%a" + b" " * 900_000, readers.formula),
    "a formula of numbers": ("f.txt", b"1" * 900_000 + b"x", readers.formula),
    "a treebank without ends": ("a.conllu", b"1\ta\t" * 200_000, readers.treebank),
    "a treebank of one word": ("a.conllu", b"1\ta\n" * 200_000, readers.treebank),
    "a treebank bomb": (
        "a.conllu.gz",
        lambda: gzip.compress(b"\n" * 30 * MILLION),
        readers.treebank,
    ),
    "a treebank line bomb": (
        "a.conllu.gz",
        lambda: gzip.compress(b"a" * 300 * MILLION),
        readers.treebank,
    ),
    "very many equal connectives": ("a.txt", b"a\n" * 80_000, readers.inventory),
    "very many connectives": ("a.txt", rows("a", "b{n}"), readers.inventory),
    "an endless recording": (
        "m.tsv",
        rows("sentence_id\ttoken_id\ttoken\tsurprisal", "1\t{n}\ta\t1"),
        readers.recording,
    ),
    "a spec that searches for ever": ("spec.json", ENDLESS_SPEC, readers.spec),
    "an n-gram bomb": ("m.arpa.gz", lambda: gzip.compress(b"a" * 300 * MILLION), readers.arpa),
    "a huge number of counts": ("c.json", b'{"a": 1' + b"0" * 900_000 + b"}", readers.unigrams),
    "very many stories": (
        "a.jsonl",
        b'{"plausible": 1, "sentences": []}\n' * 25_000,
        readers.stories,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_made_to_exhaust_is_refused_or_read_in_little_memory(tmp_path, name):
    file, content, read = FILES[name]
    content = content() if callable(content) else content
    assert len(content) <= MILLION * 1.01
    path = tmp_path / file
    path.write_bytes(content)

    settle()
    attempt(read, path, seconds=WATCHDOG_S)


def test_very_many_regions_in_a_folder(tmp_path):
    toml = NATIVE_TOML + b"x = " + b"[" * 300_000
    (tmp_path / "suite.toml").write_bytes(toml)
    (tmp_path / "items.tsv").write_bytes(NATIVE_ITEMS)

    attempt(readers.suite, tmp_path, seconds=WATCHDOG_S)
