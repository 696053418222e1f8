"""Files that each reader can read, of the shape that takes it longest or fills most memory.

Each has somewhat less than a megabyte: rows as short as they can be, one huge cell, names that are
compared with names, texts that a regular expression goes over again and again, templates that
make many items of few rows, archives and workbooks that grow.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from cimento.judgments.mapping import usual_map
from cimento.judgments.places import Places
from cimento.judgments.tabular import read_wide
from tests.fuzzing import readers, readers_more, seeds, seeds_files, seeds_more
from tests.fuzzing.seeds import workbook, zipped
from tests.fuzzing.watching import attempt, settle
from tests.test_hostile_files import MILLION, rows, sheet_xml

WATCHDOG_S = 60.0
"""Of processor time. What was quadratic took minutes."""

MOST = 990_000


def counted(row: str, *, header: str = "", most: int = MOST) -> bytes:
    """A table of one row over and over; ``{n}`` counts."""
    return rows(header, row, most=most)


def filled(piece: str, *, before: str = "", after: str = "", most: int = MOST) -> bytes:
    """A piece over and over, between two others."""
    return (before + piece * (most // len(piece.encode())) + after).encode()


def factorial(conditions: int, keys: int) -> bytes:
    names = [f"c{n}_x" for n in range(conditions)]
    header = {"conditions": names, "factorial_properties_and_levels": {"f": ["a"], "g": ["x"]}}
    item = {"id": 1, **dict.fromkeys(names, "a"), **{f"k{n}": 1 for n in range(keys)}}
    return "\n".join(map(json.dumps, (header, item))).encode()


def many_conditions() -> bytes:
    header = {"conditions": [f"c{n}" for n in range(40_000)]}
    return json.dumps(header).encode() + b'\n{"id":1,"c1":"a"}' * 30_000


def archive(files: int, row: str, *, most: int) -> bytes:
    """Many tables that shrink well."""
    table = counted(row, header="good\tbad", most=most)
    return zipped({f"a{n}.tsv": table for n in range(files)})


def styled() -> bytes:
    """A workbook with very many styles."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    styles = f'<styleSheet xmlns="{main}"><cellXfs>'.encode() + b"<xf/>" * 600_000
    return with_part("xl/styles.xml", styles + b"</cellXfs></styleSheet>")


def with_part(name: str, content: bytes, sheet: bytes = b"") -> bytes:
    """A workbook with one more part, which its relations name."""
    import io

    base = workbook(sheet or sheet_xml(b"<row><c><v>1</v></c></row>", 1))
    file = io.BytesIO()
    kind = "styles" if "styles" in name else "sharedStrings"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    with (
        zipfile.ZipFile(io.BytesIO(base)) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for each in old.namelist():
            data = old.read(each)
            if each == "[Content_Types].xml":
                more = f'<Override PartName="/{name}" ContentType="{spreadsheet}.{kind}+xml"/>'
                data = data.replace(b"</Types>", more.encode() + b"</Types>")
            if each.endswith("workbook.xml.rels"):
                target = name.removeprefix("xl/")
                more = f'<Relationship Id="r9" Type="{office}/{kind}" Target="{target}"/>'
                data = data.replace(b"</Relationships>", more.encode() + b"</Relationships>")
            new.writestr(each, data)
        new.writestr(name, content)
    return file.getvalue()


def shared() -> bytes:
    """Very many cells that share one long text."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    strings = f'<sst xmlns="{main}"><si><t>good</t></si><si><t>bad</t></si><si><t>'
    sheet = sheet_xml(
        b'<row><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>'
        + b'<row><c t="s"><v>2</v></c><c t="s"><v>2</v></c></row>' * 15_000,
        1,
    )
    content = strings.encode() + b"a" * 2_000_000 + b"</t></si></sst>"
    return with_part("xl/sharedStrings.xml", content, sheet)


def answers_to_whatever(path: Path) -> object:
    """A wide table where no suite is known: every column is an item."""
    return read_wide(path, usual_map(), Places(())).rows


def entities(data: bytes) -> bytes:
    """A workbook whose sheet declares an entity and names it very often."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    text = "a" * 20_000
    declared = f'<!DOCTYPE x [<!ENTITY a "{text}">]><worksheet xmlns="{main}"><sheetData>'
    return workbook(declared.encode() + data * 20_000 + b"</sheetData></worksheet>")


LAUGHS_16 = (
    '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE l [<!ENTITY a "'
    + "ha" * 5_000
    + '">]><dimlex><entry word="'
    + "&a;" * 8_000
    + '"/></dimlex>'
).encode("utf-16")

SHAPES: dict[str, tuple[str, Callable[[], bytes], Callable[[Path], object]]] = {
    # --- Rows as short as they can be
    "short pairs, tsv": ("a.tsv", lambda: counted("a\tb", header="good\tbad"), readers.suite),
    "short pairs, csv": ("a.csv", lambda: counted("a,b", header="good,bad"), readers.suite),
    "short pairs, jsonl": (
        "a.jsonl",
        lambda: counted('{"sentence_good":"a","sentence_bad":"b"}'),
        readers.suite,
    ),
    "short pairs, lines": ("a.txt", lambda: counted("True\ta\nFalse\tb"), readers.suite),
    "short words": (
        "a.csv",
        lambda: counted("{n},0,a,r,c", header="sent_index,word_index,word,region,condition"),
        readers.suite,
    ),
    "natural words, packed": (
        "a.csv.gz",
        lambda: gzip.compress(
            counted(
                "{n},1,lampade accese {n},prefix{n},wh,main{n},subj,12.{n}",
                header="sent_index,word_index,word,x,region,y,condition,z",
                most=4_000_000,
            )
        ),
        readers.suite,
    ),
    "short words, packed": (
        "a.csv.gz",
        lambda: gzip.compress(
            counted(
                "1,0,a,r,c",
                header="sent_index,word_index,word,region,condition",
                most=3_900_000,
            )
        ),
        readers.suite,
    ),
    "regions that sentences lack": (
        "a.csv",
        lambda: (
            counted(
                "{n},0,a,r{n},c", header="sent_index,word_index,word,region,condition", most=3_000
            )
            + b"\n"
            + counted("x{n},0,a,r1,c")
        ),
        readers.suite,
    ),
    "every word a region of one sentence": (
        "a.csv",
        lambda: counted("1,0,a,r{n},c", header="sent_index,word_index,word,region,condition"),
        readers.suite,
    ),
    "short rated sentences": (
        "a.tsv",
        lambda: counted("a\t1", header="sentence\trating"),
        readers.rated,
    ),
    "short cloze items": (
        "a.tsv",
        lambda: counted("{n}\t___", header="item\ttext"),
        readers.cloze,
    ),
    "short observations": (
        "a.csv",
        lambda: counted("1,a", header="text,word"),
        readers.observations,
    ),
    "short answers": (
        "a.csv",
        lambda: counted("1,match,p,5", header="item,condition,participant,answer"),
        readers_more.answers_long,
    ),
    "short recorded fills": (
        "a.tsv",
        lambda: counted("1\t{n}\ta", header="item\trank\tcandidate"),
        readers.fills,
    ),
    "short recorded surprisals": (
        "m.tsv",
        lambda: counted("{n}\t1\ta\t1", header="sentence_id\ttoken_id\ttoken\tsurprisal"),
        readers.recording,
    ),
    "short stories": ("a.jsonl", lambda: filled('{"sentences":[]}\n'), readers.stories),
    "short responses": (
        "a.jsonl",
        lambda: counted('{"doc":0,"task":"story_class","label":"true"}'),
        readers.responses,
    ),
    "short judgments": (
        "a.csv",
        lambda: counted(
            "a,{n},,,p,q,1,,",
            header="suite,item,condition,candidate,annotator,question,value,remark,at",
        ),
        readers_more.stored_judgments,
    ),
    "short n-grams, packed": (
        "m.arpa.gz",
        lambda: gzip.compress(
            b"\\data\\\nngram 1=999\n\n\\1-grams:\n" + counted("-1 w{n} -1", most=12_000_000)
        )[:MOST],
        readers.arpa,
    ),
    "short counts": ("a.tsv", lambda: counted("a{n}\t1"), readers.unigrams),
    "short forms": ("it.tsv", lambda: counted("a\tb\tN"), readers.unimorph),
    "short sentences of a treebank": (
        "a.conllu",
        lambda: filled("1\ta\t_\t_\t_\t_\t0\t_\t_\t_\n\n"),
        readers.treebank,
    ),
    "short lines of a concordance": (
        "a.tsv",
        lambda: counted("a\tb\tc.", header="left\tkwic\tright"),
        readers_more.concordance,
    ),
    "short messages": ("a.txt", lambda: counted("a{n}"), readers_more.messages),
    # --- Nested, wide, many
    "tables of TOML": ("v.toml", lambda: counted("[a{n}]"), readers.variants),
    "dotted keys of TOML": ("v.toml", lambda: counted("a{n}.b=1"), readers.variants),
    "small values of JSON": ("a.json", lambda: b"[" + b"[]," * 330_000 + b"[]]", readers.suite),
    "very many faults of one document": (
        "a.json",
        lambda: (
            b'{"meta":{"name":"a","metric":"sum"},"region_meta":{},"predictions":[],"items":['
            + b"1," * 450_000
            + b"1]}"
        ),
        readers.suite,
    ),
    "very many empty items": (
        "a.json",
        lambda: (
            b'{"meta":{"name":"a","metric":"sum"},"region_meta":{},"predictions":[],"items":['
            + b"{}," * 300_000
            + b"{}]}"
        ),
        readers.suite,
    ),
    "very many empty conditions": (
        "a.json",
        lambda: (
            b'{"meta":{"name":"a","metric":"sum"},"region_meta":{},"predictions":[],"items":['
            b'{"item_number":1,"conditions":[' + b"{}," * 300_000 + b"{}]}]}"
        ),
        readers.suite,
    ),
    "very many empty questions": (
        "design.json",
        lambda: b'{"questions":[' + b"{}," * 300_000 + b"{}]}",
        readers.survey,
    ),
    "one question of very many lines": (
        "design.json",
        lambda: b'{"questions":[{"lines":[' + b"1," * 450_000 + b"1]}]}",
        readers.survey,
    ),
    "sentences of a story": (
        "a.jsonl",
        lambda: b'{"sentences":[' + b"1," * 450_000 + b"1]}",
        readers.stories,
    ),
    "very many faults of a survey": (
        "design.json",
        lambda: b'{"questions":[' + b"1," * 450_000 + b"1]}",
        readers.survey,
    ),
    "very many faults of a spec": (
        "spec.json",
        lambda: b'{"vocabulary":{"unk_types":[' + b"1," * 450_000 + b"1]}}",
        readers.spec,
    ),
    "a survey of many answers": (
        "design.json",
        lambda: json.dumps(
            {
                **json.loads(seeds_more.DESIGN),
                "fields": [
                    {
                        "name": "rating",
                        "prompt": "?",
                        "choices": [{"value": str(n), "label": ""} for n in range(13_000)],
                    }
                ],
                "questions": [{"id": str(n), "item": "1", "lines": []} for n in range(11_000)],
            }
        ).encode(),
        readers.survey,
    ),
    "conditions that items lack": ("a.jsonl", many_conditions, readers.suite),
    "conditions with other keys": ("a.jsonl", lambda: factorial(20_000, 30_000), readers.suite),
    "answers of one person to many items": (
        "a.csv",
        lambda: (
            b",".join([b"participant", *(b"i%d" % n for n in range(16_000))])
            + b"\n"
            + b"\n".join(b"p" + b",1" * 16_000 for _ in range(25))
        ),
        answers_to_whatever,
    ),
    "a sentence of a treebank": (
        "a.conllu",
        lambda: (
            b"\n".join(
                b"%d\ta\t_\t_\t_\t_\t%d\t_\t_\t_" % (n, n + 1 if n < 30_000 else 0)
                for n in range(1, 30_001)
            )
            + b"\n\n"
        ),
        readers.treebank,
    ),
    "rows of a CSV that lack cells": (
        "judgments.csv",
        lambda: (",".join(f"c{n}" for n in range(30_000))).encode() + b"\nx" * 300_000,
        readers.island_judgments,
    ),
    "entries of one name": (
        "a.xml",
        lambda: (
            b"<liste>"
            + counted('<connecteur cat="c{n}"><forme>e</forme><forme>f{n}</forme></connecteur>')
            + b"</liste>"
        ),
        readers.inventory,
    ),
    "entries in entries": (
        "a.xml",
        lambda: b"<dimlex>" + b"<entry>" * 60_000 + b"</entry>" * 60_000 + b"</dimlex>",
        readers.inventory,
    ),
    "numbers of decisions": (
        "decisions.tsv",
        lambda: counted(
            "e {n}" + "\t" * 13,
            header="id\tcorpus\tlicence\tfile\tsha256\tsent_id\ttoken_id\tjoined\tedit\tcandidates"
            "\treplacement\tgrammaticality\tdrop\treason",
        ),
        readers_more.decisions,
    ),
    # --- Few rows that make many items
    "marked words of an expression": (
        "a.tsv",
        lambda: b"item\ttext\n1\t" + b"{a} " * 240_000,
        readers.cloze,
    ),
    "words of an expression": (
        "m.jsonl",
        lambda: json.dumps(
            {
                **json.loads(seeds.MULTIWORD),
                "surface": "a " * 200_000,
                "sentence_template": "b " * 200_000,
            }
        ).encode(),
        readers.portuguese,
    ),
    "an expectation that grows": (
        "a.tsv",
        lambda: b"item\ttext\texpected\ta\n1\t___\t" + b"{a}" * 150_000 + b"\t" + b"b" * 400_000,
        readers.cloze,
    ),
    "an expectation with a width": (
        "a.csv",
        lambda: b"item,text,expected,a\n1,___,{a:>900000000},b\n",
        readers.cloze,
    ),
    # --- Texts that a regular expression goes over again and again
    "blanks in a sentence": (
        "a.tsv",
        lambda: (
            b"sent_index\tword_index\tword\tregion\tcondition\n1\t0\ta"
            + b" " * 900_000
            + b"b\tr\tc\n"
        ),
        readers.suite,
    ),
    "blanks in a connective": (
        "a.txt",
        lambda: filled(" ", before="a", after="b"),
        readers.inventory,
    ),
    "points of a concordance": (
        "a.tsv",
        lambda: b"left\tkwic\tright\na\tb\t" + b"." * 900_000 + b"c\n",
        readers_more.concordance,
    ),
    "blanks of a concordance": (
        "a.tsv",
        lambda: b"left\tkwic\tright\na.\t" + b" " * 400_000 + b"b\t" + b"( " * 200_000 + b"c\n",
        readers_more.concordance,
    ),
    "blanks in a readme": (
        "README.md",
        lambda: filled(" ", before="License: a", after="b"),
        readers_more.treebank_folder,
    ),
    "document types": ("a.xml", lambda: filled("<!DOCTYPE "), readers.inventory),
    "blanks in a comment of PCIbex": (
        "a.csv",
        lambda: filled(" ", before="# 1. a", after="b\n1,2\n"),
        readers.pcibex,
    ),
    "thoughts without end": (
        "a.json",
        lambda: json.dumps(
            {"choices": [{"message": {"content": "<think>" * 130_000}, "text": "a"}]}
        ).encode(),
        readers_more.reply,
    ),
    "verdicts without end": (
        "a.json",
        lambda: json.dumps({"choices": [{"text": "non è " * 90_000}]}).encode(),
        readers_more.reply,
    ),
    "tags without end": (
        "a.tsv",
        lambda: b"item\tparticipant\tanswer\tsentence\n\tp\t5\t" + b"<" * 900_000 + b"\n",
        readers_more.answers_long,
    ),
    "brackets of an item": (
        "a.tsv",
        lambda: b"participant\t" + b"[" * 900_000 + b"\np\t5\n",
        readers_more.answers_wide,
    ),
    "a form of a dictionary": ("a.dic", lambda: filled("a", after=",b.N"), readers.delaf),
    "a form without a lemma": ("a.dic", lambda: filled("\\,", after="b"), readers.delaf),
    "a message of one mention": ("a.txt", lambda: filled("@"), readers_more.messages),
    "a message of one word": ("a.txt", lambda: filled("a'"), readers_more.messages),
    "a word with marks": (
        "a.tsv",
        lambda: b"good\tbad\n" + b"a." * 200_000 + b"\t" + b"''" * 200_000 + b"\n",
        readers.suite,
    ),
    "a slot of a variant": (
        "v.toml",
        lambda: filled("{", before="x = '", after="'"),
        readers.variants,
    ),
    # --- Archives and workbooks that grow
    "an archive of many tables": (
        "a.zip",
        lambda: archive(12, "a\tb", most=316_000),
        readers.suite,
    ),
    "an archive of many sentences": (
        "a.zip",
        lambda: archive(3, "a{n}\tb", most=600_000),
        readers.suite,
    ),
    "an archive of many small suites": (
        "a.zip",
        lambda: zipped({f"a{n}.tsv": b"good\tbad\na\tb\n" for n in range(6_000)}),
        readers.suite,
    ),
    "a workbook of styles": ("a.xlsx", styled, readers.suite),
    "a workbook that shares texts": ("a.xlsx", shared, readers.suite),
    "a workbook of one row": (
        "a.xlsx",
        lambda: workbook(sheet_xml(b"<row>" + b"<c/>" * 900_000 + b"</row>", 1)),
        readers.suite,
    ),
    "a workbook of short rows": (
        "a.xlsx",
        lambda: workbook(sheet_xml(b"<row><c><v>1</v></c></row>", 140_000)),
        readers.suite,
    ),
    "a workbook with a gap": (
        "a.xlsx",
        lambda: workbook(sheet_xml(b'<row r="999999999"><c><v>1</v></c></row>', 1)),
        readers.suite,
    ),
    "a workbook of formats": (
        "a.xlsx",
        lambda: workbook(
            sheet_xml(b"", 1).replace(
                b"</worksheet>", b"<conditionalFormatting/>" * 150_000 + b"</worksheet>"
            )
        ),
        readers.suite,
    ),
    "entities in a sheet": (
        "a.xlsx",
        lambda: entities(b'<row><c t="inlineStr"><is><t>&a;</t></is></c></row>'),
        readers.suite,
    ),
    "entities in UTF-16": ("a.xml", lambda: LAUGHS_16, readers.inventory),
    "many small rows, parquet": (
        "a.parquet",
        lambda: seeds_files.parquet(text=list(range(480_000)), word=["a"] * 480_000),
        readers.observations,
    ),
    "rows of one long text, parquet": (
        "a.parquet",
        lambda: seeds_files.parquet(text=pl.repeat("a" * 1_000, 900_000, eager=True)),
        readers.observations,
    ),
}


SLOW = frozenset({
    "an archive of many small suites", "an archive of many tables", "an archive of many sentences",
    "natural words, packed", "short pairs, lines", "a workbook of short rows", "short words",
    "short messages", "short lines of a concordance", "short answers", "short stories",
    "short n-grams, packed",
})  # fmt: skip
"""Shapes that take some seconds each."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=[pytest.mark.slow] if each in SLOW else []) for each in SHAPES],
)
def test_a_file_is_read_or_refused_in_little_time_and_memory(tmp_path, name):
    file, made, read = SHAPES[name]
    content = made()
    assert len(content) <= MILLION * 1.02
    path = tmp_path / file
    path.write_bytes(content)
    if file == "README.md":
        (tmp_path / "a.conllu").write_bytes(seeds_more.CONLLU)
        path = tmp_path

    settle()
    attempt(read, path, seconds=WATCHDOG_S)


@pytest.mark.parametrize(
    ("sentences", "forms"),
    [(20_000, 40_000), (1, 60_000), (60_000, 1), (3_000, 3_000)],
)
def test_templates_of_few_rows_that_make_many_items(tmp_path, sentences, forms):
    items = "".join(f"t\ta{n} [SEED] ___.\n" for n in range(sentences))
    seeds_table = "".join(f"t\tc\tb{n}\n" for n in range(forms))
    (tmp_path / "suite.toml").write_bytes(seeds.TEMPLATES_TOML)
    (tmp_path / "items.tsv").write_text(f"item\ttext\n{items}")
    (tmp_path / "seeds.tsv").write_text(f"set\tcategory\tform\n{seeds_table}")

    settle()
    attempt(readers.cloze, tmp_path, seconds=WATCHDOG_S)


def test_a_form_that_stands_in_a_sentence_very_often(tmp_path):
    (tmp_path / "suite.toml").write_bytes(seeds.TEMPLATES_TOML)
    (tmp_path / "items.tsv").write_text(f"item\ttext\nt\t{'[SEED] ' * 40_000} ___.\n")
    (tmp_path / "seeds.tsv").write_text(f"set\tcategory\tform\nt\tc\t{'b' * 400_000}\n")

    settle()
    attempt(readers.cloze, tmp_path, seconds=WATCHDOG_S)
