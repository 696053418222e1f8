"""Templates built by inflection and by a model; generated and reviewed lists compared."""

from __future__ import annotations

import json
import math

import pytest

from cimento import InputError, SuiteError, UsageError
from cimento.cli.main import invoke
from cimento.corpus.morphology.dictionaries import open_dictionary_file
from cimento.corpus.morphology.rules import Rules, with_article
from cimento.models.questions import FillCandidate
from cimento.paradigms.cloze.building import compare_forms, generate, read_description
from cimento.paradigms.cloze.files import load_cloze
from cimento.paradigms.cloze.judgments import expectations
from cimento.paradigms.cloze.seeds import generated_seeds
from cimento.suites.cloze import expand_suite

META = '[meta]\nname = "pt-chegar"\nlanguage = "pt"\n'
VERBS = (
    'dictionary = "rules:pt"\ncluster = "template"\n'
    + META
    + """
[[template]]
id = "sujeito_1"
sentences = ["Ontem à noite ___ <SEED> muito tarde.", "Na festa, ___ <SEED> sem os filhos."]
columns = {dimension = "subject", expected = "PRON Person={person}|Number={number}"}
[[template.seeds]]
kind = "verb"
lemmas = ["chegar"]
tenses = ["J", "Mood=Ind|Tense=Imp"]
persons = ["1s", "3s", "1p", "3p"]
"""
)
NOUNS = (
    META
    + """
[[template]]
id = "passiva_1"
sentences = ["<SEED> foi ___ pelos vizinhos.", "<SEED> será ___ amanhã."]
[[template.seeds]]
kind = "noun"
lemmas = ["carta", "casa"]
gender = "Fem"
numbers = ["Sing"]
article = "definite"
[[template.seeds]]
kind = "forms"
forms = {m_pl = ["os livros"]}
columns = {m_pl = {gender = "Masc", number = "Plur"}}
"""
)


def described(tmp_path, text):
    path = tmp_path / "templates.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_verbs_are_put_into_tenses_and_persons(tmp_path, capsys):
    folder = tmp_path / "suite"
    path = described(tmp_path, VERBS)
    assert invoke(["suites", "build", "templates", str(path), "-o", str(folder)]) == 0
    assert "sujeito_1  8          8     0        0      8" in capsys.readouterr().out
    items = expand_suite(load_cloze(folder)).items
    # chegava is the first and the third person: one item for both.
    assert len(items) == 2 * 7
    by_seed = {item.columns["seed"]: item for item in items if item.columns["sentence"] == "1"}
    assert list(by_seed) == [
        "cheguei", "chegou", "chegamos", "chegaram", "chegava", "chegávamos", "chegavam",
    ]  # fmt: skip
    assert by_seed["cheguei"].text == "Ontem à noite ___ cheguei muito tarde."
    assert by_seed["cheguei"].columns["person"] == "1"
    assert by_seed["chegaram"].columns["number"] == "Plur"
    expected = expectations({item.id: item.columns for item in items})
    first, third = ({"Person": person, "Number": "Sing"} for person in "13")
    assert [
        alternative.features for alternative in expected[by_seed["chegava"].id].alternatives
    ] == [
        first,
        third,
    ]
    assert [
        alternative.features for alternative in expected[by_seed["chegou"].id].alternatives
    ] == [third]
    assert by_seed["chegava"].columns["category"] == (
        "Mood=Ind|Tense=Imp 1s; Mood=Ind|Tense=Imp 3s"
    )


def test_nouns_have_their_article_and_a_capital_where_they_begin(tmp_path):
    seeds = generate(read_description(described(tmp_path, NOUNS)), dictionary=Rules("pt"), ask=None)
    assert [(seed.category, seed.form) for seed in seeds["passiva_1"]] == [
        ("f_sg", "A carta"), ("f_sg", "A casa"), ("m_pl", "Os livros"),
    ]  # fmt: skip
    assert seeds["passiva_1"][0].columns["gender"] == "Fem"
    assert seeds["passiva_1"][0].note == "made by rule"


def test_the_reviewed_list_is_left_alone_and_compared(tmp_path, capsys):
    folder = tmp_path / "suite"
    path = described(tmp_path, VERBS)
    arguments = ["suites", "build", "templates", str(path), "-o", str(folder), "--json"]
    assert invoke(arguments) == 0
    seeds = folder / "seeds.tsv"
    lines = seeds.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if "\tchegávamos" not in line]
    added = kept[1].replace("\tcheguei", "\ttinha chegado")
    seeds.write_text("\n".join([*kept, added]) + "\n", encoding="utf-8")
    reviewed = seeds.read_bytes()
    capsys.readouterr()
    assert invoke(arguments) == 0
    made = json.loads(capsys.readouterr().out)["sujeito_1"]
    assert (made["generated"], made["kept"], made["reviewed"]) == (8, 7, 8)
    assert made["removed"] == [["Mood=Ind|Tense=Imp 1p", "chegávamos"]]
    assert made["added"] == [["J 1s", "tinha chegado"]]
    assert set(seeds.read_text(encoding="utf-8").splitlines()) == set(
        reviewed.decode().splitlines()
    )
    assert "chegávamos" in (folder / "generated.tsv").read_text(encoding="utf-8")
    seeds_asked = {item.columns["seed"] for item in expand_suite(load_cloze(folder)).items}
    assert "tinha chegado" in seeds_asked
    assert "chegávamos" not in seeds_asked


def test_lines_of_a_dictionary_that_cannot_be_read_are_told(tmp_path, capsys):
    dictionary = tmp_path / "d.dic"
    faulty = "casas,casa N:fp\n" * 4
    dictionary.write_text(f"carta,.N:fs\n{faulty}casa,.N:fs\n", encoding="utf-8")
    path = described(tmp_path, NOUNS)
    arguments = ["suites", "build", "templates", str(path), "-o", str(tmp_path / "suite")]
    assert invoke([*arguments, "--dictionary", f"delaf:{dictionary}"]) == 0
    printed = capsys.readouterr().err
    assert "delaf:d.dic: lines that cannot be read, left out (4): line 2: " in printed
    assert "line 4: " in printed
    assert "line 5: " not in printed
    assert "; 1 more" in printed


MODEL = (
    META
    + """
[[template]]
id = "nominal_1"
sentences = ["Vimos <SEED> ___ na praça."]
[[template.seeds]]
kind = "model"
minimum = 0.001
top = 4
expand = true
pos = "NOUN"
sources = [
  {category = "m_sg", text = "Vimos o ___ velho.", prefix = "o ", columns = {number = "Sing"}},
  {category = "m_pl", text = "Vimos os ___ velhos.", prefix = "os ", columns = {number = "Plur"}},
]
"""
)


def fill(text, probability, kind="word"):
    return FillCandidate(text, math.log(probability), 1, kind, "words")


def test_a_model_proposes_seeds_and_the_dictionary_inflects_them(tmp_path):
    asked = []

    def ask(texts, k):
        asked.append((list(texts), k))
        return [
            [fill("carro", 0.3), fill("##ro", 0.2, "piece"), fill(",", 0.1, "punctuation")],
            [fill("Alpes", 0.01), fill("gatos", 0.0005), fill("carros", 0.4)],
        ]

    description = read_description(described(tmp_path, MODEL))
    [seeds] = description.template[0].seeds
    rules = Rules("pt", lemmas={"NOUN": ["carro", "gato"]})
    generated = generated_seeds(seeds, ask, model="m", dictionary=rules)
    assert asked == [(["Vimos o ___ velho.", "Vimos os ___ velhos."], 4)]
    assert {(seed.category, seed.form, seed.origin) for seed in generated} == {
        ("m_sg", "o carro", "m"),
        ("m_pl", "os carros", "rules:pt"),
        ("m_pl", "os Alpes", "m"),
    }
    assert generated[0].probability == pytest.approx(0.3)


def nothing(texts, k):  # noqa: ARG001  # as a model is asked
    return [[] for _ in texts]


@pytest.mark.parametrize(
    ("changed", "dictionary", "seen"),
    [
        (MODEL, None, "there is no dictionary"),
        (MODEL.replace('"Plur"', '"Sing"'), Rules("pt"), "no two sources of different gender"),
    ],
)
def test_nothing_to_expand_is_said(changed, dictionary, seen, tmp_path):
    [seeds] = read_description(described(tmp_path, changed)).template[0].seeds
    with pytest.raises(InputError, match=seen):
        generated_seeds(seeds, nothing, model="m", dictionary=dictionary)


def test_the_generator_is_a_model_like_any_other(tmp_path, capsys):
    text = MODEL.replace("expand = true\n", "").replace("minimum = 0.001", "minimum = 0.0")
    folder = tmp_path / "suite"
    path = described(tmp_path, text)
    arguments = ["suites", "build", "templates", str(path), "-o", str(folder)]
    assert invoke([*arguments, "--generator", "demo-masked", "--device", "cpu"]) == 0
    rows = (folder / "generated.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert len(rows) == 8
    assert {row.split("\t")[3] for row in rows} == {"demo-masked"}
    assert all(0 < float(row.split("\t")[4]) < 1 for row in rows)
    assert "nominal_1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("form", "gender", "number", "article", "language", "expected"),
    [
        ("amico", "Masc", "Sing", "definite", "it", "l'amico"),
        ("zaino", "Masc", "Sing", "definite", "it", "lo zaino"),
        ("studenti", "Masc", "Plur", "definite", "it", "gli studenti"),
        ("sasso", "Masc", "Sing", "definite", "it", "il sasso"),
        ("amica", "Fem", "Sing", "indefinite", "it", "un'amica"),
        ("psicologo", "Masc", "Sing", "indefinite", "it", "uno psicologo"),
        ("amico", "Masc", "Sing", "indefinite", "it", "un amico"),
        ("agua", "Fem", "Sing", "definite", "es", "el agua"),
        ("aguas", "Fem", "Plur", "definite", "es", "las aguas"),
        ("casas", "Fem", "Plur", "definite", "pt", "as casas"),
        ("livro", "Masc", "Sing", "indefinite", "pt", "um livro"),
    ],
)
def test_articles(form, gender, number, article, language, expected):
    features = {"Gender": gender, "Number": number}
    assert with_article(form, features, language=language, article=article) == expected


def test_articles_that_cannot_be_known_are_refused():
    with pytest.raises(UsageError, match="'ru'"):
        with_article("дом", {"Gender": "Masc", "Number": "Sing"}, language="ru", article="definite")
    with pytest.raises(UsageError, match="not known"):
        with_article("casa", {"Number": "Sing"}, language="it", article="definite")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"1s"', '"4s"', "'4s' is not a person"),
        ('"J"', '"X"', "'X' is not a tense"),
        ('"chegar"', '"chegxx"', "no form of 'chegxx'"),
        ("___ <SEED> muito", "<SEED> muito", "no blank"),
        ('dictionary = "rules:pt"', "", "need a dictionary"),
        ("tenses", "tences", "tences"),
        ('kind = "verb"', 'kind = "adverb"', "adverb"),
        ("[[template]]", "[[template", "TOML"),
    ],
)
def test_descriptions_that_cannot_be_used_are_refused(old, new, said, tmp_path, capsys):
    path = described(tmp_path, VERBS.replace(old, new, 1))
    arguments = ["suites", "build", "templates", str(path), "-o", str(tmp_path / "suite")]
    assert invoke(arguments) == 2
    assert said in capsys.readouterr().err


def test_the_gender_of_a_noun_comes_from_the_dictionary(tmp_path):
    (tmp_path / "d.dic").write_text("carta,.N:fs\ncasa,.N:fs\n", encoding="utf-8")
    dictionary = open_dictionary_file(tmp_path / "d.dic", format="delaf")
    text = NOUNS.replace('gender = "Fem"\n', "", 1)
    description = read_description(described(tmp_path, text))
    seeds = generate(description, dictionary=dictionary, ask=None)
    assert [seed.form for seed in seeds["passiva_1"]][:2] == ["A carta", "A casa"]
    with pytest.raises(InputError, match="the gender of 'carta' is not known"):
        generate(description, dictionary=Rules("pt"), ask=None)
    with pytest.raises(SuiteError):
        read_description(described(tmp_path, "x = 1"))


@pytest.mark.golden
def test_the_review_of_the_brazilian_study_is_counted(shared):
    """generated, reviewed, removed, added of spec/portuguese.md section 1: distinct forms of a
    category."""
    expected = {
        "subject_agreement": (298, 292, 9, 3),
        "nominal_agreement": (264, 164, 126, 26),
        "verb_agreement": (749, 508, 271, 30),
        "impersonal_verbs": (126, 73, 53, 0),
        "passive": (175, 175, 2, 2),
        "connectors": (12, 12, 0, 0),
    }
    lines = (shared / "golden/portuguese/grammar_templates.jsonl").read_text(encoding="utf-8")
    tallies: dict[str, list[int]] = {}
    for line in lines.splitlines():
        record = json.loads(line)
        lists = [
            [(category, form) for category, forms in record[name].items() for form in forms]
            for name in ("seeds_generated", "seeds")
        ]
        made = compare_forms(*lists)
        tally = tallies.setdefault(record["dimension"], [0, 0, 0, 0])
        counts = (made.generated, made.reviewed, len(made.removed), len(made.added))
        for place, count in enumerate(counts):
            tally[place] += count
    assert {name: tuple(tallies[name]) for name in expected} == expected
