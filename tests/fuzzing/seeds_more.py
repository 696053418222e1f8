"""Small files for the fuzzers, of treebanks, lexicons, grammars, stories, judgments and runs."""

from __future__ import annotations

import functools
import json
import tempfile
from pathlib import Path

from tests.fuzzing.seeds import jsonl, lines

# --- Treebanks and lexicons

CONLLU = b"""# newdoc id = d1
# sent_id = s1
# text = Dorme nel letto.
1\tDorme\tdormire\tVERB\tV\tMood=Ind\t0\troot\t_\t_
2-3\tnel\t_\t_\t_\t_\t_\t_\t_\t_
2\tin\tin\tADP\tE\t_\t4\tcase\t_\t_
3\til\til\tDET\tRD\t_\t4\tdet\t_\t_
4\tletto\tletto\tNOUN\tS\tNumber=Sing\t1\tobl\t1:obl\tSpaceAfter=No
4.1\tdorme\tdormire\tVERB\t_\t_\t_\t_\t1:conj\t_
5\t.\t.\tPUNCT\tFS\t_\t1\tpunct\t_\t_

# sent_id = s2
# text = Piove, quindi esco.
1\tPiove\tpiovere\tVERB\tV\t_\t0\troot\t_\tSpaceAfter=No
2\t,\t,\tPUNCT\tFF\t_\t4\tpunct\t_\t_
3\tquindi\tquindi\tADV\tB\t_\t4\tadvmod\t_\t_
4\tesco\tuscire\tVERB\tV\t_\t1\tconj\t_\tSpaceAfter=No
5\t.\t.\tPUNCT\tFS\t_\t1\tpunct\t_\t_

"""
INVENTORY = """name = "prova"
language = "it"

[[connectives]]
name = "perché"
spellings = ["perche'", "sia ... sia"]
category = "SCONJ"
senses = ["Contingency.Cause.Reason"]
interrogative = true

[[connectives]]
name = "e"
euphonic = "ed"
euphonic_before = ["e"]
""".encode()
INVENTORY_TABLE = lines(
    ["entry_id", "connective", "category", "senses", "spellings"],
    ["1", "però", "ADV", "Comparison.Contrast", "pero'|però"],
    ["1", "pero'", "ADV", "", ""],
    ["2", "sia ... sia", "CCONJ", "Expansion.Conjunction; Comparison", ""],
)
DIMLEX = """<?xml version="1.0" encoding="UTF-8"?>
<dimlex>
  <entry id="1" word="però"><orths><orth type="cont"><part type="single">però</part></orth></orths>
    <syn><cat>adv</cat><sem><pdtb3_relation sense="Comparison.Contrast"/></sem></syn></entry>
</dimlex>
""".encode()
LEXCONN = b"""<liste><connecteur id="c1" cat="adv" relations="cause, but">
<forme>donc</forme><forme>ainsi</forme></connecteur></liste>
"""
NVDB = json.dumps(
    {
        "anche": [{"cat": "FO", "features": "avv. , cong."}],
        "casa": [{"cat": "FO", "features": "s.f."}],
    }
).encode()
CONNECTIVE_LINES = "però / pero' # avversativa\nsia ... sia\n".encode()
RULE = b"""comment = "all"
upos = ["ADV", "CCONJ"]
"""
PUBLISHED = lines(
    ["connective", "corpus", "count", "percent", "size"],
    ["e", "isdt", "8000", "2.9", "278460"],
    ["ma", "isdt", "1200", "0.43", "278460"],
)
UNIMORPH = lines(["dormire", "dormo", "V;IND;PRS;1;SG"], ["gatto", "gatti", "N;MASC;PL"])
DELAF = b"dormo,dormir.V:P1s\ngatos,gato.N:mp\nruas\\,de,rua.N+x:fp/remark\n"

# --- Grammars and variants

GRAMMAR = b"""name = "prova"
language = "it"
regions = ["subject", "verb"]

[features]
number = ["sg", "pl"]

[parts.noun]
inflects = ["number"]

[parts.verb]
inflects = ["number"]

[[templates]]
name = "plain"
text = "{S} | {V}."

[templates.slots.S]
pos = "noun"
vary = ["number"]

[templates.slots.V]
pos = "verb"
agrees_with = "S"
features = ["number"]
target = true
"""
LEXICON = lines(
    ["pos", "lemma", "role", "form:sg", "form:pl"],
    ["noun", "fornaio", "person", "il fornaio", "i fornai"],
    ["verb", "dormire", "", "dorme", "dormono"],
)
VARIANTS = b"""[slots]
who = { noun = "Gianni", verb = "dorme" }

[[variants]]
name = "gianni"
comment = "Another subject."
replace = { "lampade" = "porte" }
conditions = ["match"]
items = ["1"]
"""

# --- Stories and judgments

_TRIPLES = Path(__file__).parents[1] / "data" / "stories" / "triples.jsonl"
STORIES = b"\n".join(_TRIPLES.read_bytes().split(b"\n")[:3]) + b"\n"
_FIRST = json.loads(STORIES.split(b"\n")[1])
STORY_BLOCK = {"wet": [["lettera", 1]], "location": []}
STORIES_V1 = json.dumps(
    {"test": {"1-O0": {**_FIRST, "states": [STORY_BLOCK] * 5, "confl_pairs": [[1, 2]]}}}
).encode()
STORIES_TOML = b'kind = "stories"\n\n[meta]\nname = "storie"\nlanguage = "it"\n'
RESPONSES = jsonl(
    {"doc": 0, "task": "story_class", "ll": [-1.0, None], "shots": [1, 2]},
    {"doc": 1, "task": "conflict_detec", "label": "0 and 1", "reply": "0 and 1"},
    {"doc": 1, "task": "physical_state", "correct": 1, "reason": "x"},
)
SECOND = jsonl({"row": 1, "annotator": "lc", "plausible": False, "pair": "1 and 2", "seconds": 3.5})
_SENTENCES = "Marco entra. | Marco prende una tazza. | Marco beve. | Marco la lava. | Marco esce."
_FIELDS = (
    "actor", "objects", "story_number", "story_id", "worker_id", "type", "idx", "aug", "location",
    "sentences", "length", "example_id", "plausible", "breakpoint", "confl_sents",
)  # fmt: skip
_TYPED = {"actor": "Marco", "objects": "tazza, acqua", "story_number": "7", "worker_id": "lc",
          "location": "cucina", "sentences": _SENTENCES}  # fmt: skip
DIALOGUES = json.dumps(
    {"uno": {"typed": [[name, _TYPED.get(name, "")] for name in _FIELDS]}}
).encode()
ISLAND_ROWS = lines(
    ["participant", "experiment", "dependency", "island", "condition", "item_number", "judgment",
     "zscore_published"],
    ["p1", "e1", "wh", "whether", "short_island", "1", "6", "1.1"],
    ["p1", "e1", "wh", "whether", "long_island", "2", "2", "-0.9"],
    ["p1", "e1", "wh", "filler", "long_nonisland", "3", "7", ""],
    separator=",",
)  # fmt: skip

# --- Answers of people, and reading times

PCIBEX = b"""# Results on Monday, 2 February 2026 10:00:00 UTC
# 1. Results reception time.
# 2. MD5 hash of participant's IP address.
# 3. Controller name.
# 4. Order number of item.
# 5. Inner element number.
# 6. Label.
# 7. PennElementType.
# 8. PennElementName.
# 9. Parameter.
# 10. Value.
# 11. EventTime.
# 12. Item.
# 13. Condition.
1770026400,ab12,PennController,1,0,trial,PennController,0,_Trial_,Start,1770026300000,1,match
1770026400,ab12,PennController,1,0,trial,Scale,rating,Choice,4,1770026304000,1,match
"""
JSPSYCH = json.dumps(
    [
        {"trial_type": "html-keyboard-response", "rt": 120, "response": " "},
        {"trial_type": "survey-likert", "item": "1", "condition": "match", "rt": 900,
         "response": {"Q0": 3}},
    ]
).encode()  # fmt: skip
LABJS = json.dumps(
    [
        {"sender": "Rating", "sender_type": "html.Screen", "sender_id": "1_0", "time_run": 10.5,
         "ended_on": "response", "item": "1", "condition": "match", "response": "4"},
        {"sender": "Loop", "sender_type": "flow.Loop", "sender_id": "1", "ended_on": "completion"},
    ]
).encode()  # fmt: skip
GORILLA = lines(
    ["Event Index", "Participant Private ID", "Tree Node Key", "Zone Type", "Response", "item",
     "condition"],
    ["1", "508753", "task-a", "content_text", "", "1", "match"],
    ["2", "508753", "task-a", "response_rating_scale_likert", "4", "1", "match"],
    ["END OF FILE", "", "", "", "", "", ""],
    separator=",",
)  # fmt: skip
PROLIFIC = lines(
    ["Submission id", "Participant id", "Status", "Time taken", "Age"],
    ["s1", "p1", "APPROVED", "300", "31"],
    ["s2", "p1", "RETURNED", "", ""],
    separator=",",
)
COLUMN_MAP = b"""[columns]
item = "Item"
participant = "Name"

[fixed]
question = "rating"

[values]
"si" = "yes"
"""
OBSERVATIONS = lines(["text", "word", "rt"], ["1", "Le", "210"], ["1", "lampade", "305"])
DESIGN = json.dumps(
    {
        "cimento_survey": 3, "title": "Frasi", "language": "it", "task": "likert", "seed": 7,
        "source": {"suite": "lampade"}, "consent": ["Va bene?"], "guidelines": ["Leggi."],
        "fields": [{"name": "rating", "prompt": "Come suona?",
                    "choices": [{"value": "1", "label": "male"}, {"value": "2", "label": "bene"}]}],
        "questions": [{"id": "q1", "item": "1", "lines": ["Le lampade sono accese."]}],
        "surveys": [{"name": "a", "questions": ["q1"]}],
    }
).encode()  # fmt: skip
# --- Models and runs

ADAPTER = json.dumps({"peft_type": "LORA", "base_model_name_or_path": "org/name"}).encode()


@functools.cache
def run_files() -> dict[str, bytes]:
    """The files of a stored run, by their paths in its folder."""
    from cimento.evaluation import evaluate
    from cimento.testing.models import FakeScorer
    from tests.helpers.suites_on_disk import write_folder

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scorer = FakeScorer(lambda tokens, index: -float(len(tokens[index])))
        suite = write_folder(folder / "suite")
        evaluate(suite, scorer, output=folder / "out")
        [manifest] = (folder / "out").rglob("manifest.json")
        run = manifest.parent
        return {
            str(path.relative_to(run)): path.read_bytes()
            for path in sorted(run.rglob("*"))
            if path.is_file()
        }


@functools.cache
def run_files_unchecked() -> dict[str, bytes]:
    """The same with a manifest that does not tell what files held."""
    manifest = json.loads(run_files()["manifest.json"])
    manifest["files"] = {}
    return {**run_files(), "manifest.json": json.dumps(manifest).encode()}


@functools.cache
def cache_file() -> bytes:
    """A cache with some entries, closed."""
    from cimento.engine.cache import FileCache, put_scores

    with tempfile.TemporaryDirectory() as name:
        cache = FileCache(Path(name))
        put_scores(cache, {key: {0: -1.0, 1: -2.5} for key in CACHE_KEYS})
        cache.close()
        return cache.path.read_bytes()


CACHE_KEYS = [bytes([number]) * 32 for number in range(8)]
