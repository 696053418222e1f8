"""Hostile files of very many rows, or nested, wide and many in other ways."""

from __future__ import annotations

import gzip
import json

from tests.fuzzing import readers, readers_more, seeds_more
from tests.helpers.shapes import (
    MOST,
    Shape,
    answers_to_whatever,
    counted,
    factorial,
    filled,
    many_conditions,
)

SHAPES: dict[str, Shape] = {
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
            header="id\tcorpus\tlicense\tfile\tsha256\tsent_id\ttoken_id\tjoined\tedit\tcandidates"
            "\treplacement\tgrammaticality\tdrop\treason",
        ),
        readers_more.decisions,
    ),
}
