"""More small files for the fuzzers: corpora, judgments, studies, models and runs of every kind."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzzing import seeds_more as m
from tests.fuzzing.seeds import jsonl, lines

if TYPE_CHECKING:
    import polars as pl

# --- Corpora

CONCORDANCE = lines(
    ["Corpus", "prova"],
    ["reference", "left", "kwic", "right"],
    ["doc#1", "Fa freddo. Non esco", "perché", "piove da stamattina. Domani si vede."],
    ["doc#2", "<s> Resto a casa", "quindi", "leggo un libro. </s>"],
)
CONCORDANCE_XML = """<?xml version="1.0" encoding="UTF-8"?>
<concordance>
  <line refs="doc#1"><left>Fa freddo. Non esco</left><kwic>perché</kwic>
    <right>piove da stamattina. Domani si vede.</right></line>
</concordance>
""".encode()
MESSAGES = jsonl(
    {"id": "1", "text": "Non esco xké piove #pioggia http://x.test"},
    {"id": "2", "text": "RT @lia: resto a casa, quindi leggo"},
)
MESSAGES_TABLE = lines(["tweet_id", "testo"], ["7", "Piove, quindi @lia resta a casa!"])
WORDING = """language = "it"
prompt = "Premessa: {premise} Ipotesi: {hypothesis} È {blank}."
neutral = ["Si dice spesso: «{first}»."]

[labels]
entailment = "vera"
neutral = "incerta"
contradiction = "falsa"

[senses."Contingency.Condition"]
entailment = "«{first}» dipende da una condizione: «{second}»."
contradiction = "«{first}» vale in ogni caso, anche senza «{second}»."
""".encode()
README = b"# A treebank\n\n=== Machine-readable metadata\nLicense: CC BY-SA 4.0\nGenre: fiction\n"
DECISIONS = lines(
    ["id", "corpus", "license", "file", "sha256", "sent_id", "token_id", "joined", "edit",
     "candidates", "replacement", "grammaticality", "drop", "reason"],
    ["quindi 1", "it_prova", "CC BY 4.0", "it_prova-ud-test.conllu",
     hashlib.sha256(m.CONLLU).hexdigest(), "s2", "3", "", "", "", "perché", "yes", "", ""],
)  # fmt: skip

# --- People


def sheet_of_a_review() -> tuple[bytes, ...]:
    """A sheet as a reviewer sends it back."""
    from cimento.people.annotate.spreadsheets import export_review
    from tests.helpers.suites_on_disk import write_folder

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "sheet.tsv"
        export_review([write_folder(Path(name) / "suite")], path)
        text = path.read_text(encoding="utf-8")
    first, *rest = text.removesuffix("\n").split("\n")
    said = [f"{line.rstrip()}\tok\t" for line in rest[:1]]
    return (text.encode(), "\n".join([first, *said, *rest[1:]]).encode())


JUDGED = lines(
    ["item", "candidate", "sentence", "fits", "remarks"],
    ["1", "quindi", "Piove, quindi esco.", "yes", "formale"],
)
JOURNAL = jsonl(
    {"item": "1", "candidate": "quindi", "fits": "yes", "remarks": ["formale"], "at": "2026-02-02"},
    {"item": "1", "candidate": "ma", "fits": None, "remarks": [], "at": ""},
)
STORED_JUDGMENTS = lines(
    [
        "suite",
        "item",
        "condition",
        "candidate",
        "annotator",
        "question",
        "value",
        "remark",
        "at",
        "position",
        "seconds",
    ],
    ["lampade", "1", "match", "", "p1", "acceptability", "5", "", "", "2", "3.5"],
    separator=",",
)
ANSWERS_LONG = lines(
    ["item", "condition", "participant", "answer", "rt"],
    ["1", "match", "p1", "5", "900"],
    ["2", "mismatch", "p1", "1", ""],
    separator=",",
)
ANSWERS_WIDE = lines(
    ["participant", "Quanto suona bene? [1/match]", "2/mismatch"],
    ["p1", "5", "1"],
    ["p2", "4", ""],
    separator=",",
)


def parquet(**columns: list[object] | pl.Series) -> bytes:
    """A Parquet file."""
    import polars as pl

    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


def judgments_parquet() -> bytes:
    """A judgments table as Parquet."""
    return _written(lambda path: _judgments().write_parquet(path))


def _judgments() -> pl.DataFrame:
    from cimento.judgments import read_judgments

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "judgments.csv"
        path.write_bytes(STORED_JUDGMENTS)
        return read_judgments(path)


@functools.cache
def survey_file() -> bytes:
    """The file of a survey server, with one participant who has answered."""
    from cimento.people.surveys import parse_design, storage

    def make(path: Path) -> None:
        storage.prepare(path, parse_design(m.DESIGN, where="design.json"))
        with contextlib.closing(storage.open_database(path)) as connection:
            now = "2026-02-02T10:00:00+00:00"
            person = ("p1", "hash", "a", now, None, now, None, '["q1"]', now)
            places = ", ".join("?" * len(person))
            connection.execute(f"INSERT INTO participants VALUES ({places})", person)  # noqa: S608  # question marks
            connection.execute("INSERT INTO background VALUES ('p1', 'region', 'Toscana')")
            answer = ("p1", "q1", "rating", "2", "", now, 2.5)
            connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", answer)

    return _written(make)


# --- Studies

STUDY_CLOZE = lines(
    ["id", "sentence", "target", "plausible", "implausible", "choices"],
    ["se 23cl", "Esco ... smette.", "se", "quando", "ma, però, infatti", "se=18, none=2"],
)
COMPLETIONS = lines(["id", "rank", "completion"], ["se 23cl", "1", "se"], ["se 23cl", "2", "ma"])
EXPECTED = json.dumps({"sentences": {"n": 3, "mean": 4.5, "by": ["a", 1]}}).encode()
MODELS_TABLE = lines(["model", "parameters", "citation"], ["demo-causal", "1M", "x"])
JUDGED_SHEET = lines(
    ["voz passiva_1", "menino", "O bolo foi [MASK] .", "v", "comido", "0.5", "s", ""],
    ["voz passiva_1", "menino", "O bolo foi [MASK] .", "v", '"', "0.25", "n", "outro"],
)

# --- Models

REPLY = json.dumps(
    {"choices": [{"message": {"role": "assistant", "content": "<think>Uhm.</think> Vero."},
                  "text": "Frasi 1 e 3", "finish_reason": "stop"}]}
).encode()  # fmt: skip
NEAR_ADAPTER = json.dumps({"peft_type": "LORA", "base_model_name_or_path": "base"}).encode()
CONFIG = json.dumps({"architectures": ["GPT2LMHeadModel"], "vocab_size": 300}).encode()


@functools.cache
def model_files() -> Mapping[str, bytes]:
    """The files of a tiny model, without its weights' numbers."""
    from tests.helpers import zoo

    with tempfile.TemporaryDirectory() as name:
        folder = zoo.save("gpt2", Path(name) / "model")
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@functools.cache
def dictionary_index() -> bytes:
    """The index of a small dictionary."""
    from cimento.corpus.morphology.index import build_index, parse_unimorph

    def make(path: Path) -> None:
        dictionary = path.with_name("it.tsv")
        dictionary.write_bytes(m.UNIMORPH)
        build_index(dictionary, path, parse=parse_unimorph, facts={})

    return _written(make)


# --- Runs


@functools.cache
def runs_of_every_kind() -> Mapping[str, Mapping[str, bytes]]:
    """Kind to the files of a small run, by their paths; what they held is not checked."""
    from cimento.cli.main import invoke

    suites = ("it-acceptability", "es-agreement-templates", "es-stories")
    by_suite: dict[str, dict[str, bytes]] = {}
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        earlier = os.environ.get("CIMENTO_CACHE_DIR")
        os.environ["CIMENTO_CACHE_DIR"] = str(out / "cache")
        try:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                asked = ["run", *suites, "-m", "demo-causal", "--limit", "2"]
                assert invoke([*asked, "-o", str(out / "runs")]) == 0
        finally:
            os.environ.pop("CIMENTO_CACHE_DIR")
            if earlier is not None:
                os.environ["CIMENTO_CACHE_DIR"] = earlier
        for suite in suites:
            [manifest] = (out / "runs" / suite).rglob("manifest.json")
            files = {
                str(path.relative_to(manifest.parent)): path.read_bytes()
                for path in sorted(manifest.parent.rglob("*"))
                if path.is_file()
            }
            by_suite[suite] = {**files, "manifest.json": _unchecked(files["manifest.json"])}
    return by_suite


def a_run(suite: str) -> Callable[[], Mapping[str, bytes]]:
    """The files of the run of a suite."""
    return lambda: runs_of_every_kind()[suite]


def _unchecked(manifest: bytes) -> bytes:
    """A manifest that does not tell what files held."""
    record = json.loads(manifest)
    record["files"] = {}
    return json.dumps(record).encode()


def run_file(suite: str, name: str) -> Callable[[], tuple[bytes, ...]]:
    """One of them, as what is mutated."""
    return lambda: (runs_of_every_kind()[suite][name],)


@functools.cache
def unit_body() -> bytes:
    """The result of a unit, unsealed."""
    from cimento.engine.requests import Answers
    from cimento.engine.units import UnitResult, write_result
    from cimento.io.tables import TOKENS, scan_table
    from cimento.models.base import ModelCard

    def make(path: Path) -> None:
        folder = path.with_name("run")
        for name, content in m.run_files().items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        card = ModelCard(name="m", kind="causal", revision="0" * 40, tokenizer="words")
        answers = Answers(tables={"tokens": scan_table(TOKENS, folder)}, n=8, model=card)
        write_result(UnitResult(answers, 0.5), path)

    return _written(make).split(b"\n", 1)[1]


def sealed(body: bytes) -> bytes:
    """A file of a unit, with a seal that fits: what is in it may still be anything."""
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _written(make: Callable[[Path], object]) -> bytes:
    """The content of a file that is made."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "made"
        make(path)
        return path.read_bytes()


QUERIES = (
    b'pattern { V [upos=VERB, form=re".*are"]; V -[nsubj|csubj]-> N; N << V } without { V [Mood] }',
    'pattern { A [lemma="quindi"|"però", form=/è/i]; B [upos<>PUNCT]; B < A }'.encode(),
    b"pattern { e: H -> D; H [Tense=Past]; D [!Case]; H ->> D }",
)
CHANGES = (b"V.Number", b"V.Number = Plur", b"N.form = x")
RUN_FILE = b"""\
suites = ["it-islands", "it-subject-verb"]
models = ["demo-causal"]
limit = 3
seed = 7
bos = "none"
output = "runs"

[set]
measure = "lp"
"""
