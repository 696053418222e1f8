"""Dictionaries and rules behind one interface: all readings, features of Universal Dependencies."""

from __future__ import annotations

import itertools
import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError, UsageError, open_morphology
from cimento.corpus.morphology import (
    format_features,
    from_delaf,
    from_unimorph,
    parse_features,
    rules,
    sister_forms,
)
from cimento.corpus.morphology.dictionaries import open_dictionary_file, split_tags
from cimento.corpus.morphology.index import (
    DictionaryEntry,
    DictionaryIndex,
    build_index,
    parse_delaf,
    parse_unimorph,
)
from cimento.corpus.morphology.rules import Rules
from cimento.errors import MissingDependencyError

DELAF = r"""brancas,branco.A:fp
branco,.A:ms
branca,branco.A:fs
brancos,branco.A:mp
casa,.N:fs
casas,casa.N:fp
casa,casar.V:P3s:Y2s
casas,casar.V:P2s
Brasil,.N+Pr:ms
o,.DET+Art+Def:ms
3\,14,.N:ms
"""


def forms(readings):
    return [reading.form for reading in readings]


@pytest.fixture
def delaf(tmp_path):
    path = tmp_path / "small.dic"
    path.write_text(DELAF, encoding="utf-8")
    return open_dictionary_file(path, format="delaf")


def test_every_reading_of_a_form_is_kept_whatever_its_case(delaf):
    assert [(reading.lemma, reading.pos, reading.tag) for reading in delaf.analyze("CASA")] == [
        ("casa", "NOUN", "N:fs"),
        ("casar", "VERB", "V:P3s"),
        ("casar", "VERB", "V:Y2s"),
    ]
    assert delaf.analyze("brasil")[0].pos == "PROPN"
    assert forms(delaf.analyze("3,14")) == ["3,14"]
    assert delaf.analyze("sonho") == ()


def test_a_lemma_is_inflected_by_features_of_ud(delaf):
    assert forms(delaf.inflect("branco", {"Gender": "Fem"})) == ["brancas", "branca"]
    assert forms(delaf.inflect("casar", {"Person": "2", "Mood": "Ind"}, pos="VERB")) == ["casas"]
    assert delaf.inflect("casa", {"Gender": "Masc"}) == ()


def test_the_sister_of_a_form_differs_in_what_is_asked_alone(delaf):
    sisters = sister_forms(delaf, "branco", {"Gender": "Fem", "Number": "Plur"}, pos="ADJ")
    assert forms(sisters) == ["brancas"]
    # A noun has no other gender to change to, a verb no gender at all.
    assert forms(sister_forms(delaf, "casas", {"Number": "Sing"}, pos="NOUN")) == ["casa"]
    assert sister_forms(delaf, "casas", {"Gender": "Masc"}, pos="VERB") == ()


def test_lines_that_cannot_be_read_are_reported_with_their_numbers(tmp_path):
    path = tmp_path / "faulty.dic"
    path.write_text("casa,.N:fs\nno comma here\n/ a remark\n\nx,y.\n,z.N:ms\n", encoding="utf-8")
    dictionary = open_dictionary_file(path, format="delaf")
    assert [fault.line for fault in dictionary.faults] == [2, 5, 6]
    assert "line 2" in str(dictionary.faults[0])
    assert dictionary.faulty_lines == 3


def test_a_dictionary_of_nothing_but_faults_is_refused(tmp_path):
    path = tmp_path / "wrong.dic"
    path.write_text("lemma form tag\n" * 3, encoding="utf-8")
    with pytest.raises(InputError, match="no entry that can be read"):
        open_dictionary_file(path, format="delaf")
    assert list(tmp_path.iterdir()) == [path]


def test_other_encodings_are_read_or_refused(tmp_path):
    path = tmp_path / "unitex.dic"
    path.write_text(DELAF, encoding="utf-16")
    assert len(open_dictionary_file(path, format="delaf").analyze("casa")) == 3
    path.write_bytes("maçã,.N:fs\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        open_dictionary_file(path, format="delaf")


def test_the_index_is_made_again_when_the_file_changes_and_only_then(tmp_path):
    path = tmp_path / "d.dic"
    path.write_text("casa,.N:fs\n", encoding="utf-8")
    open_dictionary_file(path, format="delaf", index_folder=tmp_path / "indices").close()
    [index] = (tmp_path / "indices").iterdir()
    made = index.stat().st_mtime_ns
    open_dictionary_file(path, format="delaf", index_folder=tmp_path / "indices").close()
    assert index.stat().st_mtime_ns == made
    path.write_text("casas,casa.N:fp\n", encoding="utf-8")
    again = open_dictionary_file(path, format="delaf", index_folder=tmp_path / "indices")
    assert again.analyze("casa") == ()
    assert forms(again.analyze("casas")) == ["casas"]


def test_a_damaged_index_is_made_again(tmp_path):
    path = tmp_path / "d.dic"
    path.write_text("casa,.N:fs\n", encoding="utf-8")
    open_dictionary_file(path, format="delaf").close()
    [index] = tmp_path.glob("*.index")
    index.write_bytes(b"not a database at all")
    assert forms(open_dictionary_file(path, format="delaf").analyze("casa")) == ["casa"]
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE facts SET value = '0' WHERE name = 'version'")
    connection.close()
    assert forms(open_dictionary_file(path, format="delaf").analyze("casa")) == ["casa"]


def test_an_index_that_nobody_holds_is_closed(tmp_path):
    path = tmp_path / "d.dic"
    path.write_text("casa,.N:fs\n", encoding="utf-8")
    build_index(path, tmp_path / "d.index", parse=parse_delaf, facts={})
    index = DictionaryIndex(tmp_path / "d.index")
    assert index.find("form", "casa")
    connection = index._connection
    del index
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("SELECT 1")


WORDS = st.text("aàbcçdeéё", min_size=1, max_size=3)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=600))
@settings(deadline=None)
def test_the_index_finds_what_a_mapping_finds(tmp_path_factory, pairs):
    path = tmp_path_factory.mktemp("index") / "d.tsv"
    path.write_text("".join(f"{lemma}\t{form}\tN;SG\n" for form, lemma in pairs), encoding="utf-8")
    dictionary = open_dictionary_file(path, format="unimorph")
    for word in {word for pair in pairs for word in pair}:
        expected = dict.fromkeys((f, w) for f, w in pairs if f == word)
        assert [(r.form, r.lemma) for r in dictionary.analyze(word)] == list(expected)
        expected = dict.fromkeys((f, w) for f, w in pairs if w == word)
        assert [(r.form, r.lemma) for r in dictionary.inflect(word)] == list(expected)
    dictionary.close()


def test_unimorph_files_are_read(tmp_path):
    path = tmp_path / "por"
    path.write_text(
        "casar\tcasava\tV;IND;PST;1/3;SG;IPFV\ncasar\tcasou\tV;IND;PST;3;SG;PFV\n"
        "bello\tbelle\tADJ;FEM;PL\tbell|e\nbroken line\n",
        encoding="utf-8",
    )
    dictionary = open_morphology(f"unimorph:{path}", language="pt")
    assert [reading.feats for reading in dictionary.analyze("casava")] == [
        "Mood=Ind|Number=Sing|Person=1|Tense=Imp|VerbForm=Fin",
        "Mood=Ind|Number=Sing|Person=3|Tense=Imp|VerbForm=Fin",
    ]
    assert forms(dictionary.inflect("casar", {"Tense": "Past", "Person": "3"})) == ["casou"]
    assert forms(dictionary.inflect("bello", {"Gender": "Fem", "Number": "Plur"})) == ["belle"]
    assert [fault.line for fault in dictionary.faults] == [4]


@pytest.mark.parametrize(
    ("line", "entry"),
    [
        (r"a\,b,c\.d.N+Hum:ms/note", DictionaryEntry("a,b", "c.d", "N+Hum:ms")),
        ("ser,.V:W:W1s:W3s", DictionaryEntry("ser", "ser", "V:W:W1s:W3s")),
        ("já,.ADV", DictionaryEntry("já", "já", "ADV")),
    ],
)
def test_lines_of_delaf(line, entry):
    assert parse_delaf(line) == entry


@pytest.mark.parametrize("line", ["casa", "casa,.", "casa,N:fs", "casa\tcasa,.N:fs", "casa,.N:"])
def test_lines_that_are_none_of_delaf(line):
    assert isinstance(parse_delaf(line), str)


def test_lines_that_are_none_of_unimorph():
    assert isinstance(parse_unimorph("a b c"), str)
    assert isinstance(parse_unimorph("a\t\tN"), str)
    assert parse_unimorph("# remark") is None


def test_codes_of_a_line_are_tags_of_their_own():
    assert split_tags("V:P3s:Y2s") == ["V:P3s", "V:Y2s"]
    assert split_tags("ADV") == ["ADV"]


def _codes():
    persons = ["", *(f"{p}{n}" for p, n in itertools.product("123", "sp"))]
    yield from (f"V:{tense}{person}" for tense, person in itertools.product("WPIJQFCSTUY", persons))
    genders = [f"{g}{n}" for g, n in itertools.product("mf", "sp")]
    yield from (f"V:K{gender}" for gender in genders)
    yield from (f"{head}:{d}{g}" for head, d, g in itertools.product("NA", ["", *"ADS"], genders))
    yield from ("V:G", "ADV", "PREP", "N+Pr:fs")


def test_no_two_tags_of_delaf_say_the_same():
    tags = list(_codes())
    assert len(tags) == 11 * 7 + 4 + 2 * 4 * 4 + 4
    said = [from_delaf(tag) for tag in tags]
    assert all(said.count(meaning) == 1 for meaning in said)


@pytest.mark.parametrize(
    ("tense", "tag"),
    [
        ("W", "V;NFIN;3;SG"),
        ("G", "V.CVB;3;SG"),
        ("K", "V.PTCP;3;SG"),
        ("P", "V;IND;PRS;3;SG"),
        ("I", "V;IND;PST;IPFV;3;SG"),
        ("J", "V;IND;PST;PFV;3;SG"),
        ("F", "V;IND;FUT;3;SG"),
        ("C", "V;COND;3;SG"),
        ("S", "V;SBJV;PRS;3;SG"),
        ("T", "V;SBJV;PST;3;SG"),
        ("U", "V;SBJV;FUT;3;SG"),
        ("Y", "V;IMP;3;SG"),
    ],
)
def test_tenses_agree_between_the_schemes(tense, tag):
    assert from_unimorph(tag, language="pt") == [from_delaf(f"V:{tense}3s")]


def test_ud_features_of_known_tags():
    # https://universaldependencies.org/pt/feat/Tense.html, /u/feat/Mood.html
    assert from_delaf("V:Q1p") == (
        "VERB",
        {"VerbForm": "Fin", "Mood": "Ind", "Tense": "Pqp", "Person": "1", "Number": "Plur"},
    )
    assert from_delaf("PRO+Pes:A3fs")[1] == {
        "PronType": "Prs", "Case": "Acc", "Person": "3", "Gender": "Fem", "Number": "Sing",
    }  # fmt: skip
    assert from_delaf("DET+Art+Ind:ms")[1]["Definite"] == "Ind"
    assert from_delaf("DET+Num:Cmp") == (
        "NUM",
        {"NumType": "Card", "Gender": "Masc", "Number": "Plur"},
    )
    assert from_unimorph("N;ESS;PL") == [("NOUN", {"Case": "Loc", "Number": "Plur"})]
    assert from_unimorph("V.PTCP;PST;FEM;SG", language="it") == [
        ("VERB", {"VerbForm": "Part", "Tense": "Past", "Gender": "Fem", "Number": "Sing"})
    ]


def test_features_are_written_and_read_as_ud_has_them():
    text = "Gender=Fem|Number=Plur"
    assert format_features({"Number": "Plur", "Gender": "Fem"}) == text
    assert parse_features(text) == {"Gender": "Fem", "Number": "Plur"}
    with pytest.raises(UsageError, match="not a feature"):
        parse_features("Gender")


# Forms that the Academy's dictionaries and school grammars print, one or two a pattern.
CONJUGATED = [
    ("pt", "pagar", "V:J1s", "paguei"),
    ("pt", "começar", "V:S3p", "comecem"),
    ("pt", "vencer", "V:P1s", "venço"),
    ("pt", "vender", "V:Q1p", "vendêramos"),
    ("pt", "dirigir", "V:S1p", "dirijamos"),
    ("pt", "contribuir", "V:J3s", "contribuiu"),
    ("pt", "contribuir", "V:J2s", "contribuíste"),
    ("pt", "sair", "V:Q3p", "saíram"),
    ("pt", "distinguir", "V:P1s", "distingo"),
    ("pt", "ter", "V:T1p", "tivéssemos"),
    ("it", "cercare", "V:F1s", "cercherò"),
    ("it", "mangiare", "V:C3s", "mangerebbe"),
    ("it", "studiare", "V:S3p", "studino"),
    ("it", "capire", "V:P3p", "capiscono"),
    ("it", "dormire", "V:P3p", "dormono"),
    ("it", "essere", "V:T1s", "fossi"),
    ("it", "andare", "V:Kfp", "andate"),
    ("it", "stare", "V:P3p", "stanno"),
    ("it", "dare", "V:P3s", "dà"),
    ("it", "dire", "V:P1p", "diciamo"),
    ("it", "parere", "V:P3p", "paiono"),
    ("it", "volere", "V:P2s", "vuoi"),
    ("it", "offrire", "V:P3p", "offrono"),
    ("it", "scoprire", "V:Kfs", "scoperta"),
    ("it", "riuscire", "V:P1s", "riesco"),
    ("it", "avvenire", "V:P3p", "avvengono"),
    ("it", "mantenere", "V:F3s", "manterrà"),
    ("it", "rimanere", "V:P3p", "rimangono"),
    ("it", "accogliere", "V:P3p", "accolgono"),
    ("it", "piacere", "V:P3p", "piacciono"),
    ("it", "proporre", "V:J3p", "proposero"),
    ("it", "tradurre", "V:P3s", "traduce"),
    ("it", "attrarre", "V:S3p", "attraggano"),
    ("it", "avvertire", "V:P3p", "avvertono"),
    ("it", "smentire", "V:P3p", "smentiscono"),
    ("it", "impartire", "V:P3p", "impartiscono"),
    ("it", "scomparire", "V:J3s", "scomparve"),
    ("es", "llegar", "V:J1s", "llegué"),
    ("es", "cazar", "V:S1s", "cace"),
    ("es", "coger", "V:P1s", "cojo"),
    ("es", "vivir", "V:T1p", "viviéramos"),
    ("es", "tener", "V:P2s", "tienes"),
    ("es", "hacer", "V:Kms", "hecho"),
]


@pytest.mark.parametrize(("language", "lemma", "tag", "form"), CONJUGATED)
def test_verbs_are_conjugated(language, lemma, tag, form):
    rules = Rules(language)
    pos, features = from_delaf(tag)
    assert form in forms(rules.inflect(lemma, features, pos=pos))
    assert (lemma, tag) in [(reading.lemma, reading.tag) for reading in rules.analyze(form)]


@pytest.mark.parametrize("language", ["pt", "it", "es"])
def test_every_form_of_a_verb_leads_back_to_it(language):
    for verb in rules.verbs_of(language):
        lemma = verb.name if verb.whole else f"parl{verb.name}"
        for reading in rules.conjugate(lemma, language):
            assert lemma in rules.possible_verb_lemmas(reading.form, language), reading


DECLINED = [
    ("pt", "papel", "papéis"), ("pt", "nível", "níveis"), ("pt", "fácil", "fáceis"),
    ("pt", "gentil", "gentis"), ("pt", "homem", "homens"), ("pt", "lápis", "lápis"),
    ("pt", "país", "países"), ("pt", "nação", "nações"), ("pt", "irmão", "irmãos"),
    ("pt", "cão", "cães"), ("pt", "luz", "luzes"), ("pt", "azul", "azuis"), ("pt", "mês", "meses"),
    ("it", "lago", "laghi"), ("it", "amico", "amici"), ("it", "medico", "medici"),
    ("it", "banca", "banche"), ("it", "arancia", "arance"), ("it", "città", "città"),
    ("it", "figlio", "figli"), ("it", "artista", "artisti"), ("it", "zio", "zii"),
    ("es", "lápiz", "lápices"), ("es", "canción", "canciones"), ("es", "crisis", "crisis"),
    ("es", "árbol", "árboles"), ("es", "mes", "meses"), ("es", "rubí", "rubíes"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "singular", "plural"), DECLINED)
def test_plurals(language, singular, plural):
    rules = Rules(language)
    assert forms(rules.inflect(singular, {"Number": "Plur"}, pos="NOUN")) == [plural]
    assert singular in [reading.lemma for reading in rules.analyze(plural)]


@pytest.mark.parametrize(
    ("language", "lemma", "expected"),
    [
        ("pt", "português", ["português", "portuguesa", "portugueses", "portuguesas"]),
        ("pt", "europeu", ["europeu", "europeia", "europeus", "europeias"]),
        ("pt", "feliz", ["feliz", "feliz", "felizes", "felizes"]),
        ("it", "bianco", ["bianco", "bianca", "bianchi", "bianche"]),
        ("it", "verde", ["verde", "verde", "verdi", "verdi"]),
        ("es", "español", ["español", "española", "españoles", "españolas"]),
        ("es", "mejor", ["mejor", "mejor", "mejores", "mejores"]),
    ],
)
def test_adjectives(language, lemma, expected):
    assert forms(Rules(language).inflect(lemma, pos="ADJ")) == expected


def test_rules_say_that_they_guess_and_keep_to_a_list_of_lemmas():
    free = Rules("it").analyze("banche")
    assert {reading.lemma for reading in free} > {"banca"}
    assert all(reading.guessed for reading in free)
    bound = Rules("it", lemmas={"NOUN": ["banca"], "VERB": ["parlare"]})
    assert [(reading.lemma, reading.tag) for reading in bound.analyze("Banche")] == [
        ("banca", "N:p")
    ]
    assert bound.analyze("case") == ()
    assert bound.inflect("cantare") == ()
    assert forms(bound.inflect("parlare", {"Mood": "Cnd", "Person": "1", "Number": "Plur"})) == [
        "parleremmo"
    ]


def test_what_there_is_not_is_said():
    with pytest.raises(UsageError, match="language 'de'"):
        Rules("de")
    with pytest.raises(UsageError, match="NOUM"):
        Rules("it", lemmas={"NOUM": []})
    for name in ("delaf", "rules", "wordnet:x", "pymorphy3:x"):
        with pytest.raises(UsageError, match="dictionary"):
            open_morphology(name)
    with pytest.raises(InputError, match="cannot be read"):
        open_morphology("delaf:/nowhere/at/all.dic")


def test_a_treebank_is_a_dictionary_of_the_forms_that_are_in_it(tmp_path):
    path = tmp_path / "mini.conllu"
    words = [
        "1\tAs\to\tDET\t_\tGender=Fem|Number=Plur\t2\tdet\t_\t_",
        "2\tchuvas\tchuva\tNOUN\t_\tGender=Fem|Number=Plur\t3\tnsubj\t_\t_",
        "3\tvoltaram\tvoltar\tVERB\t_\tNumber=Plur|Person=3|VerbForm=Fin\t0\troot\t_\t_",
    ]
    path.write_text("# sent_id = 1\n" + "\n".join(words) + "\n\n", encoding="utf-8")
    for name in (path, tmp_path):
        treebank = open_morphology(f"treebank:{name}")
        [reading] = treebank.analyze("Chuvas")
        assert (reading.lemma, reading.pos) == ("chuva", "NOUN")
        assert reading.features == {"Gender": "Fem", "Number": "Plur"}
        assert treebank.analyze("chuva") == ()
        assert forms(treebank.inflect("voltar", {"Number": "Plur"})) == ["voltaram"]
    assert open_morphology(f"treebank:{path}").name == "treebank:mini.conllu"
    with pytest.raises(InputError, match="nowhere"):
        open_morphology(f"treebank:{tmp_path}/nowhere.conllu")


FUNCTION_WORDS = [
    ("que", {"PRON", "SCONJ"}), ("porque", {"ADV", "SCONJ"}), ("mas", {"CCONJ"}),
    ("nas", {"ADP"}), ("aquelas", {"DET", "PRON"}), ("para", {"ADP", "VERB"}), ("nunca", {"ADV"}),
]  # fmt: skip


@pytest.mark.parametrize(("form", "classes"), FUNCTION_WORDS)
def test_portuguese_function_words_have_no_other_readings(form, classes):
    readings = Rules("pt").analyze(form.capitalize())
    assert {reading.pos for reading in readings} == classes
    assert not any(reading.guessed for reading in readings)


@pytest.mark.parametrize(
    ("form", "lemma", "feats"),
    [
        ("escritas", "escrever", "Gender=Fem|Number=Plur|VerbForm=Part"),
        ("posto", "pôr", "Gender=Masc|Number=Sing|VerbForm=Part"),
        ("entregues", "entregar", "Gender=Fem|Number=Plur|VerbForm=Part"),
        ("presa", "prender", "Gender=Fem|Number=Sing|VerbForm=Part"),
    ],
)
def test_irregular_participles_are_read_beside_what_their_endings_say(form, lemma, feats):
    readings = Rules("pt").analyze(form)
    assert (lemma, "VERB", feats) in [(one.lemma, one.pos, one.feats) for one in readings]
    assert "NOUN" in {one.pos for one in readings}


def test_a_word_in_mente_may_be_an_adverb():
    assert "ADV" in {reading.pos for reading in Rules("pt").analyze("raramente")}
    assert Rules("pt", lemmas={"ADJ": ["raro"]}).analyze("raramente") == ()


def test_russian_by_pymorphy3(monkeypatch):
    pytest.importorskip("pymorphy3")
    russian = open_morphology("pymorphy3")
    readings = {(reading.lemma, reading.pos) for reading in russian.analyze("стали")}
    assert readings == {("стать", "VERB"), ("сталь", "NOUN")}
    wanted = {"Gender": "Fem", "Case": "Acc", "Number": "Sing"}
    assert "новую" in forms(russian.inflect("новый", wanted, pos="ADJ"))
    assert not russian.analyze("стол")[0].guessed
    assert russian.analyze("стокулярность")[0].guessed
    monkeypatch.setitem(__import__("sys").modules, "pymorphy3", None)
    with pytest.raises(MissingDependencyError, match=r"cimento\[morphology\]"):
        open_morphology("pymorphy3")


TENSE_NAMES = {
    "Condicional Futuro do Pretérito Simples": "C",
    "Indicativo Futuro do Presente Simples": "F",
    "Indicativo Pretérito Mais que Perfeito Simples": "Q",
    "Indicativo presente": "P",
    "Indicativo pretérito imperfeito": "I",
    "Indicativo pretérito perfeito simples": "J",
}


@pytest.mark.golden
def test_the_verb_forms_of_the_brazilian_study_are_made_by_rule(shared):
    rules = Rules("pt")
    made = missing = 0
    released = shared / "golden/portuguese/grammar_templates.jsonl"
    for line in released.read_text(encoding="utf-8").splitlines():
        template = json.loads(line)
        if template["dimension"] != "subject_agreement":
            continue
        lemma = template["template"].rsplit("_", 1)[1]
        for category, seeds in template["seeds"].items():
            tense, number = category.rsplit("_", 1)
            _, features = from_delaf(f"V:{TENSE_NAMES[tense]}{'s' if number == 'sg' else 'p'}")
            inflected = forms(rules.inflect(lemma, features, pos="VERB"))
            made += sum(seed in inflected for seed in seeds)
            missing += sum(seed not in inflected for seed in seeds)
    assert made > 200
    assert missing == 0
