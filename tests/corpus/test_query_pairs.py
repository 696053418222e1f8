"""Pairs from the matches of a query: forms, agreement inside phrases, attractors, twins, suites."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import cimento
from cimento import Meta, UsageError
from cimento.corpus.conllu import read_sentences
from cimento.corpus.edits import Editor, parse_change
from cimento.corpus.forms import Contexts, TreebankMorphology
from cimento.corpus.morphology.rules import Rules
from cimento.corpus.queries import TreebankIndex
from cimento.corpus.queries.parsing import parse_request, stored_queries
from cimento.corpus.query_pairs import (
    Drafts,
    PairQuery,
    as_ids,
    as_trees,
    draw_pairs,
    make_pairs,
    matched_pairs,
    mean_zipf_apart,
    pair_suite,
)
from cimento.corpus.treebanks import open_treebanks
from cimento.suites.stimuli import stimulus_text
from tests.helpers.trees import FewForms, treebank

SAMPLE = Path(cimento.__file__).parent / "data" / "corpus" / "sample"
SUBJECT = "pattern { V [VerbForm=Fin]; V -[nsubj]-> S; S.Number = V.Number }"
SINGS = "Mood=Ind|Number={}|Person=3|Tense=Pres|VerbForm=Fin"
FORMS = (
    ("canta", "cantare", "VERB", SINGS.format("Sing")),
    ("cantano", "cantare", "VERB", SINGS.format("Plur")),
)
CAT = [
    "1 Il il DET Definite=Def|Gender=Masc|Number=Sing|PronType=Art 2 det",
    "2 gatto gatto NOUN Gender=Masc|Number=Sing 3 nsubj",
    f"3 canta cantare VERB {SINGS.format('Sing')} 0 root",
]
NEIGHBOR = [
    "1 Il il DET Definite=Def|Gender=Masc|Number=Sing|PronType=Art 2 det",
    "2 gatto gatto NOUN Gender=Masc|Number=Sing 7 nsubj",
    "3-4 della",
    "3 di di ADP _ 5 case",
    "4 la il DET Definite=Def|Gender=Fem|Number=Sing|PronType=Art 5 det",
    "5 nonna nonna NOUN Gender=Fem|Number=Sing 2 nmod",
    "6 non non ADV PronType=Neg 7 advmod",
    f"7 canta cantare VERB {SINGS.format('Sing')} 0 root",
]
NEIGHBORS = [
    "1 Le il DET Definite=Def|Gender=Fem|Number=Plur|PronType=Art 2 det",
    "2 case casa NOUN Gender=Fem|Number=Plur 0 root",
    "3-4 delle",
    "3 di di ADP _ 5 case",
    "4 le il DET Definite=Def|Gender=Fem|Number=Plur|PronType=Art 5 det",
    "5 nonne nonna NOUN Gender=Fem|Number=Plur 2 nmod",
]


def drafts_of(files, *rows, pattern=SUBJECT, change="V.Number", controller="S", **more):
    index = TreebankIndex(files)
    request = parse_request(pattern)
    query = PairQuery(
        name="",
        requests=(request,),
        change=parse_change(change, request.nodes),
        controller=controller,
        **more,
    )
    editor = Editor([FewForms(*rows), TreebankMorphology(index)], Contexts(index))
    return index, query, make_pairs(index, query, editor)


def test_the_verb_takes_the_form_of_the_other_number(tmp_path):
    files = treebank(tmp_path, ("Il gatto canta", CAT))
    _, _, drafts = drafts_of(files, *FORMS)
    (pair,) = drafts.pairs
    assert (pair.good.marked, pair.bad.marked) == ("Il gatto [[canta]]", "Il gatto [[cantano]]")
    assert (pair.controller, pair.distance, pair.attractors) == ("gatto", 1, 0)
    assert (pair.words, pair.lemma, pair.value) == ({"V": 3, "S": 2}, "cantare", "Sing")
    assert (drafts.matches, drafts.reasons) == (1, Counter())


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ([("cantano", "cantare", "VERB", SINGS.format("Sing"))], "a form is ambiguous"),
        (
            [("cantan", "cantare", "VERB", SINGS.format("Plur"))],
            "there is more than one other form",
        ),
        ([("cantano", "cantanare", "VERB", SINGS.format("Sing"))], "a form is ambiguous"),
    ],
)
def test_forms_that_leave_a_doubt_are_left_out_and_counted(tmp_path, more, reason):
    files = treebank(tmp_path, ("Il gatto canta", CAT))
    _, _, drafts = drafts_of(files, *FORMS, *more)
    assert (drafts.pairs, drafts.reasons) == ((), Counter({reason: 1}))


def test_without_a_dictionary_the_treebank_gives_the_form_if_it_has_one(tmp_path):
    _, _, drafts = drafts_of(treebank(tmp_path / "one", ("Il gatto canta", CAT)))
    assert drafts.reasons == Counter({"there is no other form": 1})
    plural = [
        "1 Loro loro PRON Number=Plur|Person=3|PronType=Prs 2 nsubj",
        f"2 cantano cantare VERB {SINGS.format('Plur')} 0 root",
    ]
    files = treebank(tmp_path / "two", ("Il gatto canta", CAT), ("Loro cantano", plural))
    _, _, drafts = drafts_of(files)
    assert [pair.bad.text for pair in drafts.pairs] == ["Il gatto cantano", "Loro canta"]


def test_a_form_of_another_person_is_no_reason_to_leave_a_pair_out(tmp_path):
    """*sono* is also a first person, which a noun is not."""
    rows = [*CAT[:2], f"3 è essere AUX {SINGS.format('Sing')} 0 root"]
    first = SINGS.format("Sing").replace("Person=3", "Person=1")
    forms = (
        ("è", "essere", "VERB", SINGS.format("Sing")),
        ("sono", "essere", "VERB", SINGS.format("Plur")),
        ("sono", "essere", "VERB", first),
    )
    _, _, drafts = drafts_of(treebank(tmp_path, ("Il gatto è", rows)), *forms)
    assert [pair.bad.text for pair in drafts.pairs] == ["Il gatto sono"]


def test_words_that_agree_inside_the_phrase_are_kept_or_broken_as_asked(tmp_path):
    """The noun changes: *il gatto* becomes *i gatti* or *il gatti*; *i*, not *gli*, before g."""
    article = "Definite=Def|Gender=Masc|Number=Plur|PronType=Art"
    others = [
        f"1 I il DET {article} 2 det",
        "2 gatti gatto NOUN Gender=Masc|Number=Plur 0 root",
        "3 e e CCONJ _ 5 cc",
        f"4 gli il DET {article} 5 det",
        "5 asini asino NOUN Gender=Masc|Number=Plur 2 conj",
    ]
    files = treebank(tmp_path, ("Il gatto canta", CAT), ("I gatti e gli asini", others))
    more = {"pattern": SUBJECT, "change": "S.Number", "controller": "V"}
    _, _, broken = drafts_of(files, **more)
    assert [pair.bad.marked for pair in broken.pairs] == ["Il [[gatti]] canta"]
    _, _, kept = drafts_of(files, **more, dependents="keep")
    assert [pair.bad.marked for pair in kept.pairs] == ["[[I gatti]] canta"]


def test_a_noun_between_is_made_an_attractor_with_its_contracted_article(tmp_path):
    files = treebank(
        tmp_path,
        ("Il gatto della nonna non canta", NEIGHBOR),
        ("Le case delle nonne", NEIGHBORS),
    )
    _, _, drafts = drafts_of(files, *FORMS)
    (pair,) = drafts.pairs
    assert (pair.distance, pair.attractors) == (5, 0)
    assert pair.twin is not None
    assert pair.twin.good.text == "Il gatto delle nonne non canta"
    assert pair.twin.bad.text == "Il gatto delle nonne non cantano"
    assert pair.twin.attractors == 1
    _, _, plain = drafts_of(files, *FORMS, twin=False)
    assert [(pair.twin, pair.twinless) for pair in plain.pairs] == [(None, "")]


def test_an_attractor_that_is_there_is_counted_and_none_is_made(tmp_path):
    rows = [
        *NEIGHBOR[:2],
        *NEIGHBORS[2:5],
        "5 nonne nonna NOUN Gender=Fem|Number=Plur 2 nmod",
        *NEIGHBOR[6:],
    ]
    _, _, drafts = drafts_of(treebank(tmp_path, ("Il gatto delle nonne non canta", rows)), *FORMS)
    (pair,) = drafts.pairs
    assert (pair.attractors, pair.twin) == (1, None)
    assert pair.twinless == "there is an attractor already"


@pytest.mark.parametrize(
    ("change", "bad"),
    [
        ("V.form=dorme", "Il gatto della nonna non [[dorme]]"),
        ("del_node N", "Il gatto della nonna [[]]canta"),
        ("swap N V", "Il gatto della nonna [[canta non]]"),
        ('add_before V "mai"', "Il gatto della nonna [[non mai]] canta"),
        ("S.Number=Plur", "Il [[gatti]] della nonna non canta"),
        ("S.lemma=cane", "Il [[cane]] della nonna non canta"),
    ],
)
def test_every_kind_of_change_is_made(tmp_path, change, bad):
    files = treebank(tmp_path, ("Il gatto della nonna non canta", NEIGHBOR))
    pattern = "pattern { V -[nsubj]-> S; V -[advmod]-> N }"
    nouns = [
        (form, lemma, "NOUN", f"Gender=Masc|Number={number}")
        for form, lemma, number in (
            ("gatto", "gatto", "Sing"),
            ("gatti", "gatto", "Plur"),
            ("cane", "cane", "Sing"),
            ("cani", "cane", "Plur"),
        )
    ]
    _, _, drafts = drafts_of(files, *nouns, pattern=pattern, change=change, controller="")
    assert [pair.bad.marked for pair in drafts.pairs] == [bad]


def test_capitals_stay_at_the_beginning_of_the_sentence(tmp_path):
    rows = [
        "1 Non non ADV PronType=Neg 2 advmod",
        f"2 canta cantare VERB {SINGS.format('Sing')} 0 root",
    ]
    files = treebank(tmp_path, ("Non canta", rows))
    pattern = "pattern { V -[advmod]-> N }"
    for change, bad in (
        ("swap N V", "Canta non"),
        ("del_node N", "Canta"),
        ('add_before N "mai"', "Mai non canta"),
    ):
        _, _, drafts = drafts_of(files, pattern=pattern, change=change, controller="")
        assert [pair.bad.text for pair in drafts.pairs] == [bad]


def test_capitals_stay_after_a_full_stop_inside_a_text(tmp_path):
    rows = [
        "1 Piove piovere VERB _ 0 root",
        "2 . . PUNCT _ 1 punct",
        "3 Non non ADV _ 4 advmod",
        "4 esce uscire VERB _ 1 parataxis",
    ]
    files = treebank(tmp_path, ("Piove. Non esce", rows))
    pattern = "pattern { V -[advmod]-> N }"
    _, _, drafts = drafts_of(files, pattern=pattern, change="swap N V", controller="")
    assert [pair.bad.text for pair in drafts.pairs] == ["Piove. Esce non"]


def test_sentences_with_a_word_more_are_compared_by_what_follows(tmp_path):
    files = treebank(tmp_path, ("Il gatto della nonna non canta", NEIGHBOR))
    more = {"pattern": "pattern { V -[advmod]-> N }", "controller": ""}
    index, query, drafts = drafts_of(files, **more, change="del_node N")
    suite = pair_suite(index, query, {"1": drafts.pairs[0]}, meta=Meta("mine"))
    assert [prediction.formula for prediction in suite.predictions] == ["(3;%good%) < (3;%bad%)"]
    index, query, drafts = drafts_of(files, **more, change="swap N V")
    suite = pair_suite(index, query, {"1": drafts.pairs[0]}, meta=Meta("mine"))
    assert [prediction.formula for prediction in suite.predictions] == ["(*;%good%) < (*;%bad%)"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("V.Tense", "does not say the new value"),
        ("W.Number", "names 'W', which the pattern does not have"),
        ("Number", "got 'Number'"),
        ("swap V", "got 'swap V'"),
        ("swap V W", "names 'W'"),
        ("add_before V", "got 'add_before V'"),
    ],
)
def test_a_change_that_is_none_is_refused(text, message):
    with pytest.raises(UsageError, match=message):
        parse_change(text, ("V", "S"))


# --- The built-in treebank


def sample_drafts(name="subject-verb-number"):
    stored = stored_queries()[name]
    index = TreebankIndex(open_treebanks([SAMPLE]))
    query = PairQuery(
        name=name,
        requests=stored.requests,
        change=parse_change(stored.change, stored.requests[0].nodes),
        controller=stored.controller,
    )
    editor = Editor([Rules("it"), TreebankMorphology(index)], Contexts(index))
    return index, query, make_pairs(index, query, editor)


def test_the_sample_gives_pairs_that_differ_in_one_word():
    index, query, drafts = sample_drafts()
    wrong = {
        (index.entries[pair.sentence].id, pair.forms[0]): pair.forms[1] for pair in drafts.pairs
    }
    assert wrong["cucina-3", "apparecchiano"] == "apparecchia"
    assert wrong["treno-4", "ha"] == "hanno"
    assert wrong["treno-4", "fossero"] == "fosse"
    pairs = {str(number): pair for number, pair in enumerate(drafts.pairs, start=1)}
    suite = pair_suite(index, query, pairs, meta=Meta("mine"))
    for item in suite.items:
        good, bad = (
            stimulus_text(condition, rule=suite.join).split() for condition in item.conditions
        )
        assert sum(a != b for a, b in zip(good, bad, strict=True)) == 1


def test_the_draw_takes_values_in_turn_and_no_lemma_too_often():
    _, _, drafts = sample_drafts()
    drawn = draw_pairs(drafts.pairs, n=10, per_lemma=2, seed=1)
    assert drawn == draw_pairs(drafts.pairs, n=10, per_lemma=2, seed=1)
    assert [pair.value for pair in drawn] == ["Plur", "Sing"] * 5
    assert max(Counter(pair.lemma for pair in drawn).values()) <= 2
    assert len({pair.sentence for pair in drawn}) == 10
    every = draw_pairs(drafts.pairs, n=None, per_lemma=2, seed=1)
    assert draw_pairs(drafts.pairs, n=999, per_lemma=2, seed=1) == every


def test_pairs_that_are_not_drawn_are_counted_by_reason():
    _, _, drafts = sample_drafts()
    first = replace(drafts.pairs[0], lemma="cantare", sentence=1)
    other_lemma = replace(first, lemma="dormire")
    other_sentence = replace(first, sentence=2)
    apart = replace(first, lemma="dormire", sentence=2)

    def reasons(*pairs, n=None):
        drawn = draw_pairs(pairs, n=n, per_lemma=1, seed=1)
        assert len(drawn) == 1
        return Drafts(pairs, len(pairs), Counter()).not_drawn(drawn, per_lemma=1)

    assert reasons(first, other_lemma) == {"a sentence is used only once": 1}
    assert reasons(first, other_sentence) == {"a lemma has at most 1 pair (--per-lemma)": 1}
    assert reasons(first, apart, n=1) == {"--items was reached": 1}


def test_matched_pairs_have_forms_that_are_about_equally_frequent():
    _, _, drafts = sample_drafts()
    pairs = {str(number): pair for number, pair in enumerate(drafts.pairs)}
    lengths = {form: float(len(form)) for pair in drafts.pairs for form in pair.forms}
    lengths |= {form.lower(): value for form, value in lengths.items()}
    kept = matched_pairs(pairs, lengths.__getitem__, most=1.0)
    expected = [n for n, p in pairs.items() if abs(len(p.forms[0]) - len(p.forms[1])) <= 1]
    assert list(kept) == expected
    assert 0 < len(kept) < len(pairs)
    mean = sum(len(p.forms[0]) - len(p.forms[1]) for p in kept.values()) / len(kept)
    assert mean_zipf_apart(kept.values(), lengths.__getitem__) == pytest.approx(mean)
    assert mean_zipf_apart([], lengths.__getitem__) is None


def test_every_item_names_its_tree_and_the_words_of_the_pattern(tmp_path):
    index, _, drafts = sample_drafts()
    pairs = {"1": drafts.pairs[0], "2": drafts.pairs[-1]}
    path = tmp_path / "trees.conllu"
    path.write_text(as_trees(index, pairs), encoding="utf-8")
    sentences = list(read_sentences(path))
    original = {s.id: s for file in index.files for s in file.sentences()}
    for sentence, pair in zip(sentences, pairs.values(), strict=True):
        known = original[sentence.id]
        assert (sentence.words, sentence.text) == (known.words, pair.good.text)
        assert sentence.multiwords == known.multiwords
    header, *rows = as_ids(index, pairs).splitlines()
    assert header.split("\t")[:6] == ["item", "license", "file", "sha256", "sent_id", "words"]
    assert [row.split("\t")[4] for row in rows] == [sentence.id for sentence in sentences]
    assert rows[0].split("\t")[5] == " ".join(f"{k}={v}" for k, v in pairs["1"].words.items())
