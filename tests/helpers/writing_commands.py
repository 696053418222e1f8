"""Every command that writes, with arguments, and those that do not or are tried elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tests.fuzzing.seeds_files import CONCORDANCE, DECISIONS
from tests.fuzzing.seeds_more import CONLLU

SENTENCES = "Il cane dorme.\nLe ragazze ridono.\nIl gatto mangia.\n"
PAIRS = "good,bad\nIl cane dorme.,Il cane dormono.\nLe ragazze ridono.,Le ragazze ride.\n"
TEMPLATES = """
[meta]
name = "prova"
language = "pt"

[[template]]
id = "uma"
sentences = ["<SEED> foi ___ ontem."]
[[template.seeds]]
kind = "forms"
forms = {f_sg = ["a carta", "a casa"]}
columns = {f_sg = {gender = "Fem", number = "Sing"}}
"""

FILES: Mapping[str, str] = {
    "text.txt": SENTENCES,
    "blanks.txt": "Il cane ___ .\n",
    "pairs.csv": PAIRS,
    "more.csv": PAIRS.replace("cane", "gatto").replace("ragazze", "donne"),
    "times.csv": "text,position,word,note\n1,1,Il,a\n1,2,cane,b\n",
    "read.csv": "text,position,word,rt\n1,1,Il,300\n1,2,cane,320\n2,1,La,310\n2,2,notte,350\n",
    "answers.csv": "participant,suite,item,condition,rating\n"
    + "".join(
        f"p{p},mine,{i},{c},{1 + (p + i) % 5}\n"
        for p in (1, 2, 3)
        for i in (1, 2)
        for c in ("good", "bad")
    ),
    "decisions.tsv": DECISIONS.decode(),
    "it_prova-ud-test.conllu": CONLLU.decode(),
    "concordance.tsv": CONCORDANCE.decode(),
    "run.toml": 'suites = ["pairs.csv"]\nmodels = ["demo-causal"]\nlanguage = "it"\n',
    "messages.jsonl": "".join(
        json.dumps({"text": f"Piove, quindi esco {word}."}) + "\n" for word in ("oggi", "domani")
    ),
    "idioms.tsv": "left\tkeyword\tright\nIeri\tdi punto in bianco\tè partito .\n"
    "<s> Anna\tdi punto in bianco\tha riso . </s>\n",
    "templates.toml": TEMPLATES,
    "variants.toml": '[[variants]]\nname = "cani"\nreplace = { cane = "gatto" }\n',
}
"""What is in the working folder at first."""

SETUP: Sequence[Sequence[str]] = (
    ("run", "it-subject-verb", "-m", "demo-causal", "-m", "demo-masked", "--limit", "4", "-o",
     "runs"),
    ("suites", "convert", "pairs.csv", "--language", "it", "-o", "mine"),
    ("annotate", "survey", "build", "it-islands", "-o", "survey", "--contact", "x@example.org",
     "--limit", "2"),
    ("annotate", "serve", "invite", "survey", "--number", "2"),
    ("annotate", "review", "export", "it-islands", "-o", "sheet.tsv"),
    ("run", "it-connectives-cloze", "-m", "demo-masked", "--limit", "3", "-o", "cloze"),
    ("annotate", "import", "answers.csv", "--form", "long", "--suite", "mine", "--names", "keep",
     "-o", "judgments.csv"),
    ("run", "run.toml", "--share", "0/1", "-o", "parts"),
    ("suites", "convert", "es-stories", "-o", "stories.jsonl", "--to", "gita4calamita"),
)  # fmt: skip
"""The commands that make the rest of it."""

WRITING: Mapping[str, Sequence[str]] = {
    "run": ("it-islands", "-m", "demo-causal", "--limit", "3", "-o", "out"),
    "judge": ("runs", "-o", "out"),
    "rerun": ("runs", "-o", "out"),
    "report": ("runs", "-o", "out.html"),
    "report --site out": ("runs",),
    "report --figure margins": ("runs", "-o", "out.csv"),
    "compare": ("runs", "-o", "out"),
    "analyze items": ("runs", "-o", "out"),
    "cite": ("runs", "-o", "out.bib"),
    "export": ("runs", "--to", "hf-dataset", "-o", "out"),
    "score": ("text.txt", "-m", "demo-causal", "-o", "out.tsv"),
    "fill": ("blanks.txt", "-m", "demo-masked", "-o", "out.tsv"),
    "analyze reading-gains": (
        "read.csv",
        "-m",
        "demo-causal",
        "--before",
        "0",
        "--folds",
        "2",
        "-o",
        "out.csv",
    ),
    "analyze reading-times": ("times.csv", "-m", "demo-causal", "-o", "out.csv"),
    "models ngram": ("--text", "text.txt", "-o", "out.arpa"),
    "analyze exposure": ("runs", "--corpus", "text.txt", "-o", "out.tsv"),
    "suites vary": ("mine", "--variants", "variants.toml", "-o", "out"),
    "suites match": ("mine", "--words", "0", "-o", "out"),
    "suites prime": ("it-islands", "--condition", "short_nonisland", "-o", "out"),
    "suites merge": ("pairs.csv", "more.csv", "--name", "both", "-o", "out"),
    "suites convert": ("pairs.csv", "--language", "it", "-o", "out"),
    "suites publish": ("it-islands", "-o", "out"),
    "suites new": ("pairs", "out"),
    "suites build query": (
        "subject-verb-number",
        "--treebank",
        "it_sample",
        "--language",
        "it",
        "-o",
        "out",
    ),
    "suites build prompted": ("it-subject-verb", "-o", "out"),
    "suites build pairs": ("it-subject-verb", "-o", "out", "--items", "3"),
    "suites build templates": ("templates.toml", "-o", "out"),
    "suites build expressions": ("idioms.tsv", "--language", "it", "-o", "out"),
    "suites build stories": ("stories.jsonl", "-o", "out.jsonl"),
    "corpus inventory": ("it-connectives", "-o", "out.toml"),
    "corpus tags": ("it_sample", "--train", "it_sample", "-o", "out.tsv"),
    "corpus select": ("it_sample", "-o", "out.toml"),
    "corpus pairs": ("it_sample", "--per", "1", "--fewer", "-o", "out.tsv"),
    "corpus finish": ("decisions.tsv", "it_prova-ud-test.conllu", "-o", "out"),
    "corpus search": ("it_sample", "-o", "out.tsv"),
    "corpus query": ("subject-verb-number", "it_sample", "-o", "out.tsv"),
    "corpus nli": ("it-connectives", "-o", "out"),
    "corpus tweets": ("messages.jsonl", "-o", "out.conllu"),
    "corpus concordance": ("concordance.tsv", "-o", "out.conllu"),
    "suites convert --to gita4calamita": ("es-stories", "-o", "out.jsonl"),
    "analyze attribution": ("runs/it-subject-verb/demo-causal*", "-o", "out"),
    "analyze profile": ("cloze", "-o", "out.csv"),
    "annotate import": (
        "answers.csv",
        "--form",
        "long",
        "--suite",
        "mine",
        "--names",
        "keep",
        "-o",
        "out.csv",
    ),
    "annotate filter": ("judgments.csv", "--answered", "0.5", "-o", "out.csv"),
    "annotate apply": ("mine", "judgments.csv", "--scale", "1,5", "-o", "out"),
    "annotate review export": ("it-islands", "-o", "out.xlsx"),
    "annotate review import": ("it-islands", "sheet.tsv", "--reviewer", "A", "-o", "out"),
    "annotate survey build": ("it-islands", "-o", "out", "--contact", "x@example.org"),
    "annotate survey export": ("survey", "-o", "out"),
    "annotate serve export": ("survey", "-o", "out.csv"),
    "cluster slurm": ("run.toml", "--jobs", "2", "-o", "out"),
    "cluster collect": ("run.toml", "-o", "parts"),
}

ELSEWHERE: Mapping[str, str] = {
    "app": "serves; its queue is in tests/app/test_jobs.py",
    "demo": "runs what run and report do",
    "annotate adjudicate": "a dialogue; answers are appended and synced one by one",
    "annotate candidates": "a dialogue, as above",
    "annotate pairs": "a dialogue, as above",
    "annotate second": "a dialogue, as above",
    "annotate stories": "a dialogue, as above",
    "annotate survey distractors": "one table, written as that of review export",
    "annotate times": "one table with its log, written as those of annotate filter",
    "annotate serve start": "serves; tests/people/surveys/test_survey_storage.py",
    "annotate serve invite": "SQLite's own transactions, and links that are new each time",
    "annotate serve delete": "SQLite's own transactions",
    "annotate serve expire": "SQLite's own transactions",
    "models cache clear": "removes one file",
    "cluster prefetch": "downloads: tests/suites/test_fetching.py",
    "suites get": "downloads: tests/suites/test_fetching.py",
    "study agreement": "data of others; its tables are written as those of report",
    "study connectives": "as above",
    "study islands": "as above",
    "study portuguese": "as above",
    "study stories": "as above",
}
"""Commands that write and are not killed here, and why."""

READING = frozenset({
    "analyze power", "analyze probe", "analyze variation", "annotate agreement",
    "annotate pseudonym", "corpus check",
    "corpus connectives", "corpus queries", "models cache info", "models cache verify",
    "models check", "models list", "models measures", "plan", "show", "suites audit",
    "suites check", "suites list", "suites prompts", "suites show",
})  # fmt: skip
"""Commands that write no file but the cache."""

REFUSING = ("exists already", "is there already", "there are files already")
"""What a command says that would replace something: where it was killed, it had finished."""
