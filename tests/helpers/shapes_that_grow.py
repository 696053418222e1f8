"""Hostile files that come to more than they are: templates, patterns, archives, workbooks."""

from __future__ import annotations

import json

import polars as pl

from tests.fuzzing import readers, readers_more, seeds, seeds_files
from tests.fuzzing.seeds import workbook, zipped
from tests.helpers.shapes import (
    LAUGHS_16,
    Shape,
    archive,
    entities,
    filled,
    shared,
    styled,
)
from tests.security.test_hostile_files import sheet_xml

SHAPES: dict[str, Shape] = {
    # --- Few rows that make many items
    "marked words of an expression": (
        "a.tsv",
        lambda: b"item\ttext\n1\t" + b"{a} " * 240_000,
        readers.cloze,
    ),
    "words of an expression": (
        "m.ipynb",
        lambda: seeds.NOTEBOOK.replace(b"Ele ", b"a " * 200_000),
        readers.notebooks,
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
    "a workbook of two corners": (
        "a.xlsx",
        lambda: workbook(
            sheet_xml(b'<row r="1"><c r="A1"><v>1</v></c></row>', 1).replace(
                b"</sheetData>",
                b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>',
            )
        ),
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
