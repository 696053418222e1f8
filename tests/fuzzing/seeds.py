"""Small files of every format, written for the fuzzers: each is read without a fault."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

from tests.helpers.rated import mturk
from tests.helpers.suites_on_disk import PAIRS, TOML, syntaxgym


def lines(*rows: Sequence[str], separator: str = "\t") -> bytes:
    """A table without quoting."""
    return "".join(separator.join(row) + "\n" for row in rows).encode()


def jsonl(*records: object) -> bytes:
    """JSON Lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def workbook(sheet: bytes) -> bytes:
    """The smallest workbook around the XML of its one sheet."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels"'
        ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1"'
        f' Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="items" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
    }
    parts = {name: content.encode() for name, content in files.items()}
    return zipped({**parts, "xl/worksheets/sheet1.xml": sheet})


def sheet(rows: Sequence[Sequence[str]]) -> bytes:
    """The XML of a sheet of texts."""
    cells = (
        "".join(f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>' for cell in row)
        for row in rows
    )
    body = "".join(f"<row>{row}</row>" for row in cells)
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    return f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>'.encode()


# --- Suites of regions

NATIVE_TOML = (
    TOML.encode()
    + b"""
[options]
metric = "sum"
join = "detok"
cluster = "verb"

[factors]
number = ["singular", "plural"]
"""
)
NATIVE_ITEMS = lines(
    ["item", "condition", "text", "number", "verb"],
    ["1", "match", "Le lampade | sono | accese.", "plural", "essere"],
    ["1", "mismatch", "Le lampade | è | accese.", "plural", "essere"],
    ["2", "match", "Il cane | dorme | in giardino.", "singular", "dormire"],
    ["2", "mismatch", "Il cane | dormono | in giardino.", "singular", "dormire"],
)
PAIRS_TOML = b'[meta]\nname = "coppie"\nlanguage = "it"\n'
NATIVE_WITH_EXTRA = lines(
    ["item", "condition", "text", "number", "verb", "_extra"],
    [
        "1",
        "match",
        "Le lampade | sono | accese.",
        "plural",
        "essere",
        '{"item": {"note": [1, null]}}',
    ],
    ["1", "mismatch", "Le lampade | è | accese.", "plural", "essere", '{"columns": {"a": "b"}}'],
)
PAIR_TABLE = PAIRS.encode()
SYNTAXGYM = syntaxgym().encode()
SYNTAXGYM_OLDER = syntaxgym(
    predictions=[
        {"relation": "lessthan", "region_number": 2, "l_operand": "match", "r_operand": "mismatch"}
    ]
).encode()
_SUITE = json.loads(SYNTAXGYM)
SYNTAXGYM_ROWS = jsonl(
    {
        "suite_name": "lampade",
        "item_number": 2,
        "conditions": _SUITE["items"][0]["conditions"],
        "predictions": ["(2;%match%) < (2;%mismatch%)"],
    },
)
SYNTAXGYM_CSV = lines(
    ["item_number", "condition_name", "region_number", "region_name", "content"],
    ["1", "match", "1", "subject", "Le lampade"],
    ["1", "match", "2", "verb", "sono"],
    ["1", "mismatch", "1", "subject", "Le lampade"],
    ["1", "mismatch", "2", "verb", "è"],
    separator=",",
)
BLIMP = jsonl(
    {
        "sentence_good": "Il cane dorme in giardino.",
        "sentence_bad": "Il cane dormono in giardino.",
        "UID": "verbo",
        "linguistics_term": "agreement",
        "pairID": "0",
        "simple_LM_method": True,
        "tokens": [1, 2],
    },
    {"sentence_good": "Le chiavi sono qui.", "sentence_bad": "Le chiavi è qui.", "pairID": "1"},
)
CHOICES = jsonl(
    {"sentence_a": "Les chats dorment.", "sentence_b": "Les chats dort.", "label": 0, "id": 7},
    {"sentence_a": "Il faut que tu viens.", "sentence_b": "Il faut que tu viennes.", "label": 1},
)
LABELED = lines(
    ["pattern", "constr_id", "sent_id", "class", "sent", "prefix", "form"],
    ["agr", "3", "1", "correct", "le porte che vedo sono", "le porte che vedo", "sono"],
    ["agr", "3", "1", "wrong", "le porte che vedo è", "le porte che vedo", "è"],
)
CLAMS = b"True\tthe authors laugh .\nFalse\tthe authors laughs .\n"
ZORRO = b"the dogs sleeps .\nthe dogs sleep .\nwhere is the keys ?\nwhere are the keys ?\n"
LM_EVAL = b"""task: lampade
dataset_path: json
dataset_kwargs:
  data_files: data.jsonl
output_type: multiple_choice
test_split: train
doc_to_text: ""
doc_to_target: 0
doc_to_choice: "{{[sentence_good, sentence_bad]}}"
metadata:
  version: 1.0
"""
FACTORIAL = jsonl(
    {
        "conditions": ["short_nonisland", "short_island", "long_nonisland", "long_island"],
        "factorial_properties_and_levels": {
            "distance": ["short", "long"],
            "structure": ["nonisland", "island"],
        },
        "phenomenon_properties": {"name": "whether islands", "language": "it"},
    },
    {
        "item": 1,
        "short_nonisland": "Chi pensa che Piero legga il giornale?",
        "short_island": "Chi si chiede se Piero legga il giornale?",
        "long_nonisland": "Che cosa pensi che Piero legga?",
        "long_island": "Che cosa ti chiedi se Piero legga?",
    },
)
FACTORIAL_JSON = json.dumps({"sentences": [json.loads(FACTORIAL.split(b"\n")[1])]}).encode()
FACTORIAL_TABLE = lines(
    ["item", "condition", "sentence"],
    ["1", "short_nonisland", "Chi pensa che Piero legga il giornale?"],
    ["1", "short_island", "Chi si chiede se Piero legga il giornale?"],
    ["1", "long_nonisland", "Che cosa pensi che Piero legga?"],
    ["1", "long_island", "Che cosa ti chiedi se Piero legga?"],
)
WORDS = lines(
    ["sent_index", "word_index", "word", "region", "condition", "language"],
    ["1", "0", "Sappiamo", "prefix", "that", "it"],
    ["1", "1", "che", "comp", "that", "it"],
    ["1", "2", "dorme.", "verb", "that", "it"],
    ["1", "0", "Sappiamo", "prefix", "who", "it"],
    ["1", "1", "chi", "comp", "who", "it"],
    ["1", "2", "dorme.", "verb", "who", "it"],
    separator=",",
)
SHEET = sheet(
    [["item", "good", "bad"], ["1", "Le chiavi sono qui.", "Le chiavi è qui."], ["2", "Sì.", "So."]]
)
SNAPSHOT = sheet(
    [
        ["template", "seed", "sentence", "all_pos", "token_str", "token_score", "evaluation",
         "comment", "case name (original)", "case name", "case name aternative", "top 1"],
        ["voz passiva_1a", "as", "[MASK] x.", "A", "casas", "0.5", "s", "", "f", "f", "f", "TRUE"],
    ]
)  # fmt: skip
RATED_TOML = b"""kind = "acceptability"

[meta]
name = "giudizi"
language = "it"

[ratings]
low = 1
high = 5
"""
RATED_ITEMS = lines(
    ["item", "condition", "text", "rating", "ratings", "participants"],
    ["1", "acceptable", "Le chiavi sono qui.", "4.5", "4, 5", "p1, p2"],
    ["1", "unacceptable", "Le chiavi è qui.", "1.5", "1, 2", "p1, p2"],
)

# --- Rated sentences as they are published

RATED = {
    "accomplit": lines(
        ["id", "N", "mean", "sd", "se", "sentence", "task", "reference"],
        ["a1", "16", "6.2", "0.9", "0.2", "Il gatto dorme.", "training", "b1"],
        ["a2", "16", "2.0", "1.1", "0.3", "Il gatto dormono.", "training", "b1"],
    ),
    "discotex": lines(
        ["ID", "TEXT", "SCORE"], ["1", "Piove. Prendo l'ombrello.", "4.6"], ["2", "Sì.", "3"]
    ),
    "lau2020": lines(
        ["ID", "translated", "source-language", "sentence", "context", "full-ratings",
         "mean-ratings"],
        ["1", "1", "it", "The keys are here.", "", "4,4,3.0", "3.667"],
        ["2", "0", "", "The keys is here.", "Look around.", "1,2,1", "1.333"],
    ),
    "itacola": lines(
        ["UniqueIndexID", "Source", "Acceptability", "Sentence", "Split"],
        ["1", "S1", "1", "Maria legge il libro.", "train"],
        ["2", "S1", "0", "Maria libro il legge.", "test"],
    ),
    "itacola-players": lines(
        ["UniqueIndexID_ItaCoLA", "Sentence", "ExpertAcceptability", "PlayersAcceptability",
         "NumAnnotations", "DisaggragatedAnnotations", "PlayersID"],
        ["1", "Maria legge.", "1", "1", "3", "1,1,0", "7,8,9"],
    ),
    "escola": lines(
        ["ID", "Label", "Sentence", "Human_annotation_median", "Annotator_1", "Annotator_2"],
        ["EsCoLA_1", "1", "La casa es blanca.", "1", "1", "1"],
        ["EsCoLA_2", "0", "La casa son blanca.", "0", "0", "1"],
    ),
    "connectives": lines(
        ["id", "sentence", "grammaticality", "replacement", "ratings"],
        ["fiaba e 1A", "Mangia e beve.", "yes", "", "5 4 5"],
        ["fiaba e 1NA", "Mangia se beve.", "no", "se", "1 2 2"],
    ),
}  # fmt: skip
BLIMP_HUMAN = mturk(
    ("a1", "12.5", [("agreement_1ans1", "The keys are here.", "The keys is here.", "1. The")]),
    ("a2", "NA", [("attnchkans2", "She sleep.", "She sleeps.", "{}")]),
).encode()

# --- Clozes and templates

CLOZE_TOML = b"""kind = "cloze"

[meta]
name = "connettivi"
language = "it"
"""
CLOZE_ITEMS = lines(
    ["item", "text", "target", "plausible", "implausible", "none", "livello"],
    ["1", "Piove, ___ prendo l'ombrello.", "quindi", "così|perciò", "ma", "", "a"],
    ["2", "Non esco ___ piove.", "perché", "", "dunque", "yes", "b"],
)
TEMPLATES_TOML = b"""kind = "templates"

[meta]
name = "modelli"
language = "it"
"""
TEMPLATE_ITEMS = lines(["item", "text", "seeds"], ["t1", "[SEED] è molto ___.", "nomi"])
SEEDS = lines(["set", "category", "form"], ["nomi", "masc", "il cane"], ["nomi", "fem", "la gatta"])
CANDIDATES = lines(
    ["item", "rank", "candidate", "probability", "fits", "remarks", "tags"],
    ["1", "1", "quindi", "0.6", "yes", "", ""],
    ["1", "2", "ma", "0.1", "no", "strano", "avversativo"],
)
PREDICTIONS = jsonl(
    {"id": "1", "model": "m", "top10": ["quindi", "##ma", "[UNK]"]},
    {"id": "2", "model": "m", "top10": ["perché", "se", "."]},
)
FILLS = lines(
    ["item", "rank", "candidate", "logprob_nats"],
    ["1", "1", "quindi", "-0.5"],
    ["1", "2", "ma", ""],
)
SAMPLES = jsonl(
    {
        "doc_id": 0,
        "doc": {"sentence": "Piove."},
        "arguments": {"gen_args_0": {"arg_0": "", "arg_1": "Piove."}},
        "resps": [[["-7.5", "False"]]],
    }
)
NOTEBOOK = json.dumps(
    {
        "cells": [
            {"source": ['TASKS["pé frio"] = [("Ele é [MASK1] [MASK2].", "pé frio")]']},
            {
                "source": ["p = pipeline('fill-mask',model='bert-base-multilingual-cased')"],
                "outputs": [{"text": ["0 pé frio\n\tW1 pé 0.5 0.4 0.1 \t-\t [1.0]"]}],
            },
            {
                "source": ["TASKS"],
                "outputs": [
                    {"data": {"text/plain": ["{'voz passiva_1a': ({'s': ['as']}, ['[MASK] x'])}"]}}
                ],
            },
        ]
    }
).encode()
DESCRIPTION = b"""[meta]
name = "verbi"
language = "it"

[[template]]
id = "t1"
sentences = ["[SEED] molto ___."]

[[template.seeds]]
kind = "forms"
forms = { presente = ["mangia", "dorme"], passato = ["dormiva"] }
"""
COUNTS = lines(["item", "option", "count"], ["1", "quindi", "12"], ["1", "ma", "3"])

# --- Recordings

RECORDING = lines(
    ["sentence_id", "token_id", "token", "surprisal"],
    ["1", "1", "Le", "0.000"], ["1", "2", "lamp", "9.5"], ["1", "3", "##ade", "1.5"],
    ["1", "4", "sono", "3.2"], ["1", "5", "accese.", "6.0"], ["1", "6", "<eos>", "0.2"],
    ["2", "1", "Le", "0.000"], ["2", "2", "lampade", "9.5"], ["2", "3", "<unk>", "3.2"],
    ["2", "4", "accese.", "nan"], ["2", "5", "<eos>", "0.2"],
)  # fmt: skip
SPEC = json.dumps(
    {
        "name": "m",
        "vocabulary": {"unk_types": ["<unk>"], "suffix_types": ["<eos>"]},
        "tokenizer": {
            "type": "subword",
            "cased": True,
            "sentinel_position": "medial",
            "sentinel_pattern": "##",
            "drop_token_pattern": "x+",
            "behaviors": ["moses"],
        },
    }
).encode()
ARPA = b"""\\data\\
ngram 1=4
ngram 2=2

\\1-grams:
-0.9 <unk>
-0.7 <s> -0.3
-0.7 </s>
-0.5 acqua -0.2

\\2-grams:
-0.2 <s> acqua
-0.4 acqua </s>

\\end\\
"""
UNIGRAMS = b"le\t120\nlampade\t3\nsono\t88.5\n"
SERVER_ANSWER = json.dumps(
    {
        "choices": [
            {
                "text": "Le lampade",
                "logprobs": {
                    "tokens": ["Le", " lamp", "ade"],
                    "token_logprobs": [None, -4.5, -0.5],
                    "text_offset": [0, 2, 7],
                },
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 0},
    }
).encode()
