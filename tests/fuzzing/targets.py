"""Every reader of files of strangers, with files that it can read: name to target."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzzing import readers
from tests.fuzzing import readers_more as more
from tests.fuzzing import seeds as s
from tests.fuzzing import seeds_files as f
from tests.fuzzing import seeds_more as m


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A reader.

    Attributes:
        file: name of the file that is mutated.
        seeds: what it holds; whatever is made of them must be read or refused.
        read: reads the file, or the folder that it is in.
        beside: other files of the folder, by their paths.
        wrap: puts the content into what is written, such as an archive.
        folder: whether the folder is read.
    """

    file: str
    seeds: Callable[[], tuple[bytes, ...]]
    read: Callable[[Path], object]
    beside: Callable[[], Mapping[str, bytes]] = field(default=dict)
    wrap: Callable[[bytes], bytes] = bytes
    folder: bool = False

    def write(self, content: bytes, folder: Path) -> Path:
        """Write the file, and return what is to be read."""
        for name, other in {**self.beside(), self.file: self.wrap(content)}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(other)
        return folder if self.folder else folder / self.file


def _file(file: str, read: Callable[[Path], object], *seeds: bytes) -> Target:
    return Target(file=file, seeds=lambda: seeds, read=read)


def _in_folder(file: str, read: Callable[[Path], object], *seeds: bytes, **beside: bytes) -> Target:
    """A file of a folder; others are named with ``__`` for the point."""
    others = {name.replace("__", "."): content for name, content in beside.items()}
    return Target(file=file, seeds=lambda: seeds, read=read, beside=lambda: others, folder=True)


def _in_run(file: str, read: Callable[[Path], object]) -> Target:
    return Target(
        file=file,
        seeds=lambda: (m.run_files()[file],),
        read=read,
        beside=m.run_files_unchecked,
        folder=True,
    )


def _in_a_run(suite: str, file: str, read: Callable[[Path], object]) -> Target:
    """A file of the run of a suite that comes with cimento."""
    return Target(
        file=file, seeds=f.run_file(suite, file), read=read, beside=f.a_run(suite), folder=True
    )


def _in_model(file: str) -> Target:
    """A file of a model folder."""
    return Target(
        file=file,
        seeds=lambda: (f.model_files()[file],),
        read=more.model_files,
        beside=f.model_files,
        folder=True,
    )


SUITES = {
    "native suite.toml": _in_folder(
        "suite.toml", readers.suite, s.NATIVE_TOML, items__tsv=s.NATIVE_ITEMS
    ),
    "native items.tsv": _in_folder(
        "items.tsv", readers.suite, s.NATIVE_ITEMS, s.NATIVE_WITH_EXTRA, suite__toml=s.NATIVE_TOML
    ),
    "native items.csv": _in_folder(
        "items.csv", readers.suite, s.PAIR_TABLE, suite__toml=s.PAIRS_TOML
    ),
    "syntaxgym": _file("lampade.json", readers.suite, s.SYNTAXGYM, s.SYNTAXGYM_OLDER),
    "syntaxgym rows": _file("rows.jsonl", readers.suite, s.SYNTAXGYM_ROWS),
    "syntaxgym csv": _file("suite.csv", readers.suite, s.SYNTAXGYM_CSV),
    "blimp": _file("pairs.jsonl", readers.suite, s.BLIMP),
    "choices": _file("pairs.jsonl", readers.suite, s.CHOICES),
    "pairs csv": _file("pairs.csv", readers.suite, s.PAIR_TABLE),
    "labeled": _file("pairs.tab", readers.suite, s.LABELED),
    "clams": _file("simple_agrmt.txt", readers.suite, s.CLAMS),
    "zorro": _file("pairs.txt", readers.zorro, s.ZORRO),
    "lm-eval task": _in_folder("task.yaml", readers.lm_eval, s.LM_EVAL, data__jsonl=s.BLIMP),
    "lm-eval data": _in_folder("data.jsonl", readers.lm_eval, s.BLIMP, task__yaml=s.LM_EVAL),
    "factorial": _file("items.jsonl", readers.suite, s.FACTORIAL),
    "factorial json": _file("items.json", readers.suite, s.FACTORIAL_JSON),
    "factorial table": _file("items.tsv", readers.suite, s.FACTORIAL_TABLE),
    "words": _file("words.csv", readers.suite, s.WORDS),
    "words gz": Target(
        file="words.csv.gz", seeds=lambda: (s.WORDS,), read=readers.suite, wrap=gzip.compress
    ),
    "gzip": _file("words.csv.gz", readers.suite, gzip.compress(s.WORDS, mtime=0)),
    "xlsx": _file("pairs.xlsx", readers.suite, s.workbook(s.SHEET)),
    "xlsx sheet": Target(
        file="pairs.xlsx", seeds=lambda: (s.SHEET,), read=readers.suite, wrap=s.workbook
    ),
    "zip": _file(
        "suites.zip",
        readers.suite,
        s.zipped({"a/suite.json": s.SYNTAXGYM, "a/pairs.jsonl": s.BLIMP}),
        s.zipped({"it/suite.toml": s.NATIVE_TOML, "it/items.tsv": s.NATIVE_ITEMS}),
    ),
    "rated suite": _in_folder("items.tsv", readers.rated, s.RATED_ITEMS, suite__toml=s.RATED_TOML),
    "rated suite.toml": _in_folder(
        "suite.toml", readers.rated, s.RATED_TOML, items__tsv=s.RATED_ITEMS
    ),
    "rated tables": _file("rated.tsv", readers.rated, *s.RATED.values()),
    "forced choices": _file("choices.csv", readers.forced_choices, s.BLIMP_HUMAN),
    "variants": _file("variants.toml", readers.variants, m.VARIANTS),
    "formula": _file(
        "formula.txt",
        readers.formula,
        b"(2;%match%) < (2;%mismatch%)",
        b"[((6;%a%)-(5;%a%))+1.5e0 > (*;%b-c%)] & (1;%d%)=(2;%e%) | (1;%d%) < 2",
    ),
}

CLOZES = {
    "cloze suite.toml": _in_folder(
        "suite.toml", readers.cloze, s.CLOZE_TOML, items__tsv=s.CLOZE_ITEMS
    ),
    "cloze items": _in_folder("items.tsv", readers.cloze, s.CLOZE_ITEMS, suite__toml=s.CLOZE_TOML),
    "cloze table": _file("items.csv", readers.cloze, s.CLOZE_ITEMS),
    "templates": _in_folder(
        "items.tsv",
        readers.cloze,
        s.TEMPLATE_ITEMS,
        suite__toml=s.TEMPLATES_TOML,
        seeds__tsv=s.SEEDS,
    ),
    "seeds": _in_folder(
        "seeds.tsv",
        readers.cloze,
        s.SEEDS,
        suite__toml=s.TEMPLATES_TOML,
        items__tsv=s.TEMPLATE_ITEMS,
    ),
    "candidates": _file("candidates.tsv", readers.candidates, s.CANDIDATES),
    "templates to build": _file("description.toml", readers.description, s.DESCRIPTION),
    "choices of people": _file("counts.tsv", readers.choices_of_people, s.COUNTS),
    "lm-eval log": _file("samples_t_2024-09-10T14-20-57.8.jsonl", readers.lm_eval_log, s.SAMPLES),
    "study workbook": Target(
        file="all-eval.xlsx", seeds=lambda: (s.SNAPSHOT,), read=readers.snapshot, wrap=s.workbook
    ),
    "study notebook": _file("BertMaskMWE.ipynb", readers.notebooks, s.NOTEBOOK),
    "recorded predictions": _file("predictions.jsonl", readers.fills, s.PREDICTIONS),
    "recorded fills": _file("fills.tsv", readers.fills, s.FILLS),
}

CORPORA = {
    "conllu": _file("it_prova-ud-test.conllu", readers.treebank, m.CONLLU),
    "conllu gz": Target(
        file="x.conllu.gz", seeds=lambda: (m.CONLLU,), read=readers.treebank, wrap=gzip.compress
    ),
    "inventory": _file("inventory.toml", readers.inventory, m.INVENTORY),
    "inventory table": _file("inventory.tsv", readers.inventory, m.INVENTORY_TABLE),
    "inventory xml": _file("inventory.xml", readers.inventory, m.DIMLEX, m.LEXCONN),
    "inventory json": _file("nvdb.json", readers.inventory, m.NVDB),
    "inventory lines": _file("inventory.txt", readers.inventory, m.CONNECTIVE_LINES),
    "rule": _file("rule.toml", readers.rule, m.RULE),
    "published counts": _file("published.tsv", readers.published, m.PUBLISHED),
    "unimorph": _file("it.tsv", readers.unimorph, m.UNIMORPH),
    "delaf": _file("delaf.dic", readers.delaf, m.DELAF),
    "grammar": _in_folder("grammar.toml", readers.grammar, m.GRAMMAR, lexicon__tsv=m.LEXICON),
    "lexicon": _in_folder("lexicon.tsv", readers.grammar, m.LEXICON, grammar__toml=m.GRAMMAR),
    "island judgments": _file("judgments.csv", readers.island_judgments, m.ISLAND_ROWS),
}

STORIES = {
    "stories": _file("stories.jsonl", readers.stories, m.STORIES),
    "stories v1": _file("stories.json", readers.stories, m.STORIES_V1),
    "stories gz": Target(
        file="stories.json.gz",
        seeds=lambda: (m.STORIES_V1,),
        read=readers.stories,
        wrap=gzip.compress,
    ),
    "stories suite.toml": _in_folder(
        "suite.toml", readers.stories, m.STORIES_TOML, items__jsonl=m.STORIES
    ),
    "responses": _file("responses.jsonl", readers.responses, m.RESPONSES),
    "second judgments": _file("second.jsonl", readers.second_judgments, m.SECOND),
    "dialogues": _file("dialogues.json", readers.dialogues, m.DIALOGUES),
}

PEOPLE = {
    "pcibex": _file("results.csv", readers.pcibex, m.PCIBEX),
    "jspsych": _file("trials.json", readers.jspsych, m.JSPSYCH),
    "prolific": _file("export.csv", readers.prolific, m.PROLIFIC),
    "column map": _file("map.toml", readers.column_map, m.COLUMN_MAP),
    "survey": _file("design.json", readers.survey, m.DESIGN),
    "reading times": _file("times.tsv", readers.observations, m.OBSERVATIONS),
}

MODELS = {
    "recorded surprisals": _file("m.tsv", readers.recording, s.RECORDING),
    "model spec": _file("spec.json", readers.spec, s.SPEC),
    "arpa": _file("m.arpa", readers.arpa, s.ARPA),
    "arpa gz": Target(
        file="m.arpa.gz", seeds=lambda: (s.ARPA,), read=readers.arpa, wrap=gzip.compress
    ),
    "unigrams": _file("counts.tsv", readers.unigrams, s.UNIGRAMS),
    "unigrams json": _file("counts.json", readers.unigrams, b'{"le": 120, "lampade": 3.5}'),
    "adapter": _in_folder("adapter_config.json", readers.adapter, m.ADAPTER),
    "server answer": _file("answer.json", readers.server_answer, s.SERVER_ANSWER),
    "free text": _file("text.txt", readers.free_text, "Le lampade.\nSì.\n".encode()),
    "model args": _file("args.txt", readers.model_args, b'max_memory={"0": "1GB"}\nx=[1, true]'),
}

RUNS = {
    "manifest": _in_run("manifest.json", readers.run),
    "tokens table": _in_run("tokens.parquet", readers.run),
    "requests table": _in_run("requests.parquet", readers.run),
    "suite of a run": _in_run("suite/items.tsv", readers.run),
    "cache": Target(
        file="answers.sqlite3",
        seeds=lambda: (m.cache_file(),),
        read=readers.cache,
        folder=True,
    ),
}

MORE_CORPORA = {
    "concordance": _file("lines.tsv", more.concordance, f.CONCORDANCE),
    "concordance xml": _file("lines.xml", more.concordance, f.CONCORDANCE_XML),
    "messages": _file("messages.jsonl", more.messages, f.MESSAGES),
    "messages table": _file("messages.tsv", more.messages, f.MESSAGES_TABLE),
    "wording of inferences": _file("wording.toml", more.wording, f.WORDING),
    "readme of a treebank": _in_folder(
        "README.md", more.treebank_folder, f.README, prova__conllu=m.CONLLU
    ),
    "decisions": _file("decisions.tsv", more.decisions, f.DECISIONS),
    "dictionary index": Target(
        file="it.index", seeds=lambda: (f.dictionary_index(),), read=more.dictionary_index
    ),
}

LANGUAGES = {
    "query": _file("query.req", more.query, *f.QUERIES),
    "change of a query": _file("change.txt", more.change, *f.CHANGES),
    "run file": _file("run.toml", more.run_file, f.RUN_FILE),
}

MORE_PEOPLE = {
    "sheet of a review": Target(file="sheet.tsv", seeds=f.sheet_of_a_review, read=more.review),
    "judged candidates": _file("judged.tsv", more.judged, f.JUDGED),
    "decision journal": _in_folder("annotations/anna.jsonl", more.journal, f.JOURNAL),
    "stored judgments": _file("judgments.csv", more.stored_judgments, f.STORED_JUDGMENTS),
    "judgments parquet": Target(
        file="judgments.parquet",
        seeds=lambda: (f.judgments_parquet(),),
        read=more.stored_judgments,
    ),
    "answers long": _file("answers.csv", more.answers_long, f.ANSWERS_LONG),
    "answers wide": _file("answers.csv", more.answers_wide, f.ANSWERS_WIDE),
    "answers pcibex": _file("results.csv", more.answers_pcibex, m.PCIBEX),
    "answers jspsych": _file("trials.json", more.answers_jspsych, m.JSPSYCH),
    "answers labjs": _file("trials.json", more.answers_of_contents, m.LABJS),
    "answers gorilla": _file("answers.csv", more.answers_of_contents, m.GORILLA),
    "survey answers": Target(
        file="answers.sqlite3", seeds=lambda: (f.survey_file(),), read=more.survey_answers
    ),
    "reading times parquet": Target(
        file="times.parquet",
        seeds=lambda: (f.parquet(text=["1", "1"], word=["Le", "lampade"], rt=[210, 305]),),
        read=readers.observations,
    ),
}

STUDIES = {
    "study cloze": _file("cloze.tsv", more.cloze_of_a_study, f.STUDY_CLOZE),
    "study completions": _file("completions.tsv", more.completions, f.COMPLETIONS),
    "study expected": _file("expected.json", more.expected, f.EXPECTED),
    "study models": _file("models.tsv", more.models_table, f.MODELS_TABLE),
    "study sheet": _file("all-eval.tsv", more.judged_sheet, f.JUDGED_SHEET),
}

MORE_MODELS = {
    "reply of a server": _file("answer.json", more.reply, f.REPLY),
    "contexts": _file("contexts.txt", more.contexts, b"Fa freddo.\n\n"),
    "near adapter": Target(
        file="adapter_config.json",
        seeds=lambda: (f.NEAR_ADAPTER,),
        read=more.adapted,
        beside=lambda: {"base/config.json": f.CONFIG},
        folder=True,
    ),
    "model config": _in_model("config.json"),
    "model tokenizer": _in_model("tokenizer.json"),
    "model weights": _in_model("model.safetensors"),
}

MORE_RUNS = {
    "summary of a run": Target(
        file="summary.json",
        seeds=lambda: (m.run_files()["summary.json"],),
        read=more.summary,
    ),
    "acceptability manifest": _in_a_run("it-acceptability", "manifest.json", more.run),
    "acceptability tokens": _in_a_run("it-acceptability", "tokens.parquet", more.run),
    "cloze manifest": _in_a_run("es-agreement-templates", "manifest.json", more.cloze_run),
    "cloze fills": _in_a_run("es-agreement-templates", "fills.parquet", more.cloze_run),
    "stories manifest": _in_a_run("es-stories", "manifest.json", more.run),
    "stories choices": _in_a_run("es-stories", "choices.parquet", more.run),
    "unit": Target(file="unit", seeds=lambda: (f.unit_body(),), read=more.unit, wrap=f.sealed),
}

TARGETS: Mapping[str, Target] = {
    **SUITES,
    **CLOZES,
    **CORPORA,
    **STORIES,
    **PEOPLE,
    **MODELS,
    **RUNS,
    **MORE_CORPORA,
    **LANGUAGES,
    **MORE_PEOPLE,
    **STUDIES,
    **MORE_MODELS,
    **MORE_RUNS,
}
