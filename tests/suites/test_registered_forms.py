"""Files in the forms of registered data sets, in rows of our own: what they are read as."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from cimento.kinds.registry import load_suite

HUNGARIAN = [
    {"id": "0", "Sent": "A kutya alszik.", "label": "1"},
    {"id": "1", "Sent": "A kutya alszanak.", "label": "0"},
    {"id": "2", "Sent": "Olvasok egy könyvet.", "label": "1"},
    {"id": "3", "Sent": "Olvasok egy könyvnek.", "label": "0"},
]
INDONESIAN = [
    {"id": 0, "linguistic_phenomenon": "morphology", "category": "passive", "subcategory": None,
     "correct": "Surat itu ditulis Ani.", "wrong": "Surat itu menulis Ani."},
    {"id": 1, "linguistic_phenomenon": "morphology", "category": "passive", "subcategory": None,
     "correct": "Nasi itu dimakan Budi.", "wrong": "Nasi itu memakan Budi."},
]  # fmt: skip
FILES = {
    "cola": (
        "c.tsv",
        (
            "xx01\t1\t\tThe cat sleeps on the mat.\nxx01\t0\t*\tThe cat sleep on the mat.\n"
            "xx02\t1\t\tWho did she see?\nxx02\t0\t*\tWho did see she?\n"
        ),
    ),
    "rucola": (
        "r.csv",
        (
            "id,sentence,acceptable,error_type,detailed_source\n"
            "0,Мама мыла раму.,1,0,A2020\n1,Мама мыли раму.,0,Syntax,A2020\n"
            "2,Он пришёл домой.,1,0,A2020\n3,Он пришли домой.,0,Syntax,A2020\n"
        ),
    ),
    "jcola": (
        "j.tsv",
        (
            "uid\tsource\tlabel\tdiacritic\tsentence\toriginal\n"
            "0\tA2020\t1\t\t猫が庭で寝ている。\t猫が庭で寝ている。\n"
            "1\tA2020\t0\t*\t猫を庭で寝ている。\t*猫を庭で寝ている。\n"
            "2\tA2020\t1\t\t太郎が本を読んだ。\t太郎が本を読んだ。\n"
            "3\tA2020\t0\t*\t太郎に本が読んだ。\t*太郎に本が読んだ。\n"
        ),
    ),
    "nocola": (
        "n.txt",
        (
            "Ungrammatical:\nKatten sove på matten.\tF\nHun har kjøpe et bok.\tF\n"
            "Grammatical:\nKatten sover på matten.\tF\nHun har kjøpt en bok.\tF\n"
        ),
    ),
    "hucola": ("h.json", json.dumps(HUNGARIAN)),
    "lindsea": ("l.jsonl", "".join(json.dumps(row) + "\n" for row in INDONESIAN)),
    "mela": (
        "test.csv",
        (
            "sentence,label\nDer Hund schläft im Garten.,1\nDer Hund schlafen im Garten.,0\n"
            "Sie hat einen Brief geschrieben.,1\nSie hat einen Brief schreiben.,0\n"
        ),
    ),
    "kontrast": (
        "k.csv",
        (
            "id,sentence_A,sentence_B,gold_label\n1,나는 밥을 먹었다.,나는 밥이 먹었다.,A\n"
            "2,동생이 책에 읽는다.,동생이 책을 읽는다.,B\n"
        ),
    ),
    "mandarin-syntax": (
        "m.csv",
        (
            "ID,Grammatical,Ungrammatical\n1,他买了一本书。,他买了一只书。\n"
            "2,她养了一只猫。,她养了一本猫。\n"
        ),
    ),
    "climp": (
        "climp.jsonl",
        (
            '{"sentence_good":"他把书卖了","sentence_bad":"他被书卖了","category":"ba_construction_1000"}\n'
            '{"sentence_good":"她买了三本书","sentence_bad":"她买了三只书","category":"lassifier_1000"}\n'
        ),
    ),
    "bl2mp": (
        "bl2mp.jsonl",
        (
            '{"sentence_good": "Ni etxera noa.", "sentence_bad": "Ni etxera doa.", '
            '"type": "E2: Aditza", "level": "A"}\n'
            '{"sentence_good": "Liburua irakurri dut.", "sentence_bad": "Liburuak irakurri dut.", '
            '"type": "E1: Deklinabidea", "level": "B"}\n'
        ),
    ),
    "discourse-entities": (
        "d.jsonl",
        (
            '{"id": "1", "exp_sentence": "Ann has no car but a boat. Her boat leaks.", '
            '"unexp_sentence": "Ann has no car but a boat. Her car leaks.", '
            '"prompt": "Ann has no car but a boat.", "exp_continuation": "Her boat leaks.", '
            '"unexp_continuation": "Her car leaks.", "type": "negation_affirmative", "order": 1}\n'
        ),
    ),
    "event-knowledge": (
        "e.csv",
        (
            '"ItemNum","Sentence","Plausibility","Voice"\n'
            '"1","The baker kneaded the dough.","Plausible","active"\n'
            '"1","The baker kneaded the cloud.","Implausible","active"\n'
            '"2","The judge read the verdict.","Plausible","active"\n'
            '"2","The judge read the carrot.","Implausible","active"\n'
        ),
    ),
}
"""The name and content of a file in the form of each registered data set."""

GOOD = {
    "cola": "The cat sleeps on the mat.",
    "rucola": "Мама мыла раму.",
    "jcola": "猫が庭で寝ている。",
    "nocola": "Katten sover på matten.",
    "hucola": "A kutya alszik.",
    "mela": "Der Hund schläft im Garten.",
    "scala": "Katten sover i haven.",
}
PAIRS = {
    "lindsea": ("Surat itu ditulis Ani.", "Surat itu menulis Ani."),
    "kontrast": ("동생이 책을 읽는다.", "동생이 책에 읽는다."),
    "mandarin-syntax": ("他买了一本书。", "他买了一只书。"),
    "climp": ("他把书卖了", "他被书卖了"),
    "bl2mp": ("Liburua irakurri dut.", "Liburuak irakurri dut."),
    "discourse-entities": (
        "Ann has no car but a boat. Her boat leaks.",
        "Ann has no car but a boat. Her car leaks.",
    ),
    "event-knowledge": ("The judge read the verdict.", "The judge read the carrot."),
}


def _written(name: str, folder: Path) -> Path:
    if name == "scala":
        rows = {
            "text": ["Katten sover i haven.", "Katten i haven.", "Hun læser bøger.", "Hun bøger."],
            "corruption_type": [None, "delete", None, "delete"],
            "label": ["correct", "incorrect", "correct", "incorrect"],
        }
        pl.DataFrame(rows).write_parquet(folder / "s.parquet")
        return folder / "s.parquet"
    file, text = FILES[name]
    (folder / file).write_text(text, encoding="utf-8")
    return folder / file


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_are_read_with_the_good_sentence_as_good(name: str, tmp_path: Path) -> None:
    suite = load_suite(_written(name, tmp_path)).suite
    pairs = [
        tuple("".join(region.text for region in condition.regions) for condition in item.conditions)
        for item in suite.items
    ]
    assert PAIRS[name] in pairs


@pytest.mark.parametrize("name", GOOD)
def test_labels_say_which_sentences_are_acceptable(name: str, tmp_path: Path) -> None:
    suite = load_suite(_written(name, tmp_path)).suite
    conditions = [condition for item in suite.items for condition in item.conditions]
    rated = {one.regions[0].text: float(one.columns["rating"]) for one in conditions}
    assert rated[GOOD[name]] == 1
    assert sorted(rated.values()) == [0, 0, 1, 1]
