"""Connectives in treebanks: rules, matching, inventories, tables."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from cimento import InputError
from cimento.corpus import Multiword, TreebankSentence, Word
from cimento.corpus.connectives.frequencies import (
    PublishedFrequencies,
    compare_published,
    count_connectives,
    size_remark,
)
from cimento.corpus.connectives.inventories import (
    Connective,
    builtin_inventories,
    make_inventory,
    read_spelling,
)
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.connectives.matching import Finder, builtin_rules, make_rule, open_rule
from cimento.corpus.search import search_treebanks
from cimento.corpus.treebanks import open_treebanks

MORE = ("per", "così", "ancora")
COLUMNS = {
    "any": "any",
    "verb": "verb",
    "verb_cop": "verb-cop",
    "paper": "paper",
    "paper_core": "paper-core",
    "paper_form_ci": "paper-form",
    "paper_form_cs": "paper-form-exact",
}


def sentence(rows, multiwords=(), text=""):
    """A sentence of rows: form, lemma, part of speech, head, relation."""
    words = [
        Word(number, form, lemma, upos, "_", head, deprel, "_")
        for number, (form, lemma, upos, head, deprel) in enumerate(rows, start=1)
    ]
    return TreebankSentence("s", text, tuple(words), tuple(multiwords))


def inventory(*texts):
    return make_inventory(
        [Connective(text[0], tuple(map(read_spelling, text))) for text in texts],
        name="t",
        where="t",
    )


def matches(given, list_, **rule):
    return [
        (match.connective, match.word_ids)
        for match in Finder(list_, make_rule({"name": "r", **rule}, where="r")).find(given)
    ]


EATS = [
    ("Se", "se", "SCONJ", 2, "mark"),
    ("piove", "piovere", "VERB", 4, "advcl"),
    (",", ",", "PUNCT", 2, "punct"),
    ("resto", "restare", "VERB", 0, "root"),
    ("ed", "e", "CCONJ", 6, "cc"),
    ("è", "essere", "AUX", 7, "cop"),
    ("meglio", "bene", "ADV", 4, "conj"),
    (".", ".", "PUNCT", 4, "punct"),
]


def test_lemma_form_and_spelling_are_different_ways_to_match():
    given = sentence(EATS)
    assert matches(given, inventory(["e"], ["se"])) == [("se", (1,)), ("e", (5,))]
    assert matches(given, inventory(["e"], ["se"]), match="form") == [("se", (1,))]
    assert matches(given, inventory(["e"], ["se"]), match="exact") == []
    assert matches(given, inventory(["e", "ed"]), match="form", spellings="all") == [("e", (5,))]


def test_perche_is_found_however_it_is_spelled():
    spelled = ("perchè", "perche'", "xk", "Xké", "perché", "perche’")
    words = [(form, form, "SCONJ", 0 if n == 0 else 1, "mark") for n, form in enumerate(spelled)]
    rule = open_rule("any")
    list_ = open_inventory("it-connectives")
    by_form = Finder(list_, replace(rule, match="form", spellings="all"))
    assert len(by_form.find(sentence(words))) == len(spelled)
    assert len(Finder(list_, rule).find(sentence(words))) == 1


def test_sequences_are_found_among_words_and_among_tokens():
    given = sentence(
        [
            ("a", "a", "ADP", 5, "case"),
            ("causa", "causa", "NOUN", 1, "fixed"),
            ("di", "di", "ADP", 1, "fixed"),
            ("il", "il", "DET", 5, "det"),
            ("vento", "vento", "NOUN", 0, "root"),
            ("di", "di", "ADP", 8, "case"),
            ("il", "il", "DET", 8, "det"),
            ("resto", "resto", "NOUN", 5, "obl"),
        ],
        [Multiword(3, 4, "del", "_"), Multiword(6, 7, "del", "_")],
    )
    list_ = inventory(["a causa di"], ["del resto"], ["causa"])
    assert matches(given, list_) == [("a causa di", (1, 2, 3)), ("del resto", (6, 7, 8))]
    assert matches(given, list_, overlaps="all")[1] == ("causa", (2,))


def test_parts_may_have_other_words_between_them():
    words = ["Sia", "Lia", "sia", "Ugo", "cantano", "sia", "bene", "sia", "male"]
    given = sentence([(w, w, "X", 5 if n != 5 else 0, "dep") for n, w in enumerate(words, 1)])
    assert matches(given, inventory(["sia ... sia"])) == [
        ("sia ... sia", (1, 3)),
        ("sia ... sia", (6, 8)),
    ]


def test_the_head_is_tested_by_part_of_speech_copula_auxiliary_and_after_climbing():
    given = sentence(EATS)
    assert matches(given, inventory(["e"]), head_upos=["VERB"]) == []
    assert matches(given, inventory(["e"]), head_upos=["AUX"]) == [("e", (5,))]
    late = sentence(
        [
            ("quindi", "quindi", "ADV", 3, "advmod"),
            ("è", "essere", "AUX", 3, "cop"),
            ("tardi", "tardi", "ADV", 0, "root"),
        ]
    )
    assert matches(late, inventory(["quindi"]), head_upos=["VERB"]) == []
    assert matches(late, inventory(["quindi"]), head_upos=["VERB"], head_child=["cop"]) != []
    gone = sentence(
        [
            ("visto", "vedere", "VERB", 4, "mark"),
            ("che", "che", "SCONJ", 1, "fixed"),
            ("è", "essere", "AUX", 4, "aux"),
            ("partito", "partire", "VERB", 0, "root"),
        ]
    )
    assert matches(gone, inventory(["che"]), head_child=["aux"]) == []
    assert matches(gone, inventory(["che"]), head_child=["aux"], climb=["fixed"]) == [("che", (2,))]


def test_a_word_without_a_head_passes_only_where_the_head_is_not_tested():
    given = sentence([("Perché", "perché", "SCONJ", 0, "root"), ("?", "?", "PUNCT", 1, "punct")])
    assert matches(given, inventory(["perché"])) == [("perché", (1,))]
    assert matches(given, inventory(["perché"]), head_upos=["VERB"]) == []


def test_relations_stand_for_their_subtypes():
    given = sentence([("o", "o", "CCONJ", 2, "cc:preconj"), ("vengo", "venire", "VERB", 0, "root")])
    assert matches(given, inventory(["o"]), deprel=["cc"]) != []
    assert matches(given, inventory(["o"]), deprel=["cc:preconj"]) != []
    assert matches(given, inventory(["o"]), deprel=["cc:other"]) == []
    assert matches(given, inventory(["o"]), not_deprel=["cc"]) == []


def test_direct_and_indirect_questions_are_told_from_clauses_in_questions():
    direct = [
        ("Quando", "quando", "ADV", 2, "advmod"),
        ("parti", "partire", "VERB", 0, "root"),
        ("?", "?", "PUNCT", 2, "punct"),
    ]
    clause = [
        ("Vieni", "venire", "VERB", 0, "root"),
        ("quando", "quando", "SCONJ", 3, "mark"),
        ("chiamo", "chiamare", "VERB", 1, "advcl"),
        ("?", "?", "PUNCT", 1, "punct"),
    ]
    indirect = [
        ("So", "sapere", "VERB", 0, "root"),
        ("quando", "quando", "ADV", 3, "advmod"),
        ("parti", "partire", "VERB", 1, "ccomp"),
    ]
    list_ = open_inventory("it-connectives")

    def kept(exclude):
        return [bool(matches(sentence(rows), list_, exclude=exclude)) for rows in
                (direct, clause, indirect)]  # fmt: skip

    assert kept([]) == [True, True, True]
    assert kept(["questions"]) == [False, False, True]
    assert kept(["interrogatives"]) == [False, True, True]
    assert kept(["indirect-questions"]) == [True, True, False]


def test_position_and_clauses_on_both_sides():
    given = sentence(EATS)
    list_ = inventory(["e"], ["se"])
    assert matches(given, list_, position="initial") == [("se", (1,))]
    assert matches(given, list_, position="not-initial") == [("e", (5,))]
    assert matches(given, list_, both_clauses=True) == [("se", (1,)), ("e", (5,))]
    nouns = [("pane", "pane", "NOUN", 0, "root"), ("e", "e", "CCONJ", 3, "cc")]
    nouns += [("vino", "vino", "NOUN", 1, "conj")]
    assert matches(sentence(nouns), list_, both_clauses=True) == []


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        ({"head_ups": ["VERB"]}, "the key 'head_ups' is unknown"),
        ({"match": "stem"}, "match is 'stem'"),
        ({"upos": "ADV"}, "upos is 'ADV'"),
        ({"both_clauses": 1}, "both_clauses is 1"),
        ({"exclude": ["verbs"]}, "exclude is"),
        ({"comment": 3}, "comment is 3"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(values, seen):
    with pytest.raises(InputError) as refused:
        make_rule(values, where="my.toml")
    assert seen in str(refused.value)


def test_rules_and_inventories_that_come_with_cimento_open():
    assert "paper" in builtin_rules()
    assert all(open_rule(name).name == name for name in builtin_rules())
    list_ = open_inventory("it-connectives")
    assert builtin_inventories() == ["it-connectives"]
    assert len(list_.connectives) == 18
    assert all(connective.category and connective.senses for connective in list_.connectives)
    with pytest.raises(InputError, match="Did you mean 'paper'"):
        open_rule("papr")


def test_percentages_tell_which_size_they_are_of():
    counts = {"a": 1906, "b": 575, "c": 312}
    percents = {name: f"{100 * number / 298343:.3f}" for name, number in counts.items()}
    assert "298343, two digits swapped?" in size_remark(
        PublishedFrequencies("x", counts, percents, 289343)
    )
    assert size_remark(PublishedFrequencies("x", counts, percents, 298343)) == ""
    assert size_remark(PublishedFrequencies("x", counts, {}, 289343)) == ""


# --- Real treebanks


@pytest.fixture
def treebanks(shared):
    return open_treebanks([shared / "data" / "treebanks"])


def with_more():
    list_ = open_inventory("it-connectives")
    more = (Connective(name, (read_spelling(name),)) for name in MORE)
    return make_inventory([*list_.connectives, *more], name="more", where="more")


@pytest.mark.golden
def test_every_count_of_the_reference_under_seven_rules(shared, treebanks):
    rules = [open_rule(name) for name in COLUMNS.values()]
    with (shared / "golden/connectives/connective_counts.tsv").open(encoding="utf-8") as file:
        expected = list(csv.DictReader(file, delimiter="\t"))
    counted = {
        (file.name.replace(".r2.6", ""), counts.rule): counts
        for file in treebanks
        for counts in count_connectives([file], with_more(), rules)
    }
    checked = 0
    for row in expected:
        for column, rule in COLUMNS.items():
            counts = counted[row["file"], rule]
            assert counts.hits.get(row["connective"], 0) == int(row[column]), (row, column)
            checked += 1
        in_sentences = counted[row["file"], "paper"].in_sentences.get(row["connective"], 0)
        assert in_sentences == int(row["sentences_paper"]), row
    assert checked == 4 * 21 * 7


@pytest.mark.golden
def test_words_tokens_and_hashes_of_the_reference(shared, treebanks):
    with (shared / "golden/connectives/files.tsv").open(encoding="utf-8") as file:
        expected = {
            row["file"]: row
            for row in csv.DictReader(file, delimiter="\t")
            if row["release"] == "r2.6"
        }
    for file in treebanks:
        row = expected[file.name.replace(".r2.6", "")]
        (counts,) = count_connectives([file], with_more(), [open_rule("any")])
        size = counts.size
        assert (file.sha256, size.sentences, size.words, size.tokens) == (
            row["sha256"], int(row["sentences"]), int(row["words"]), int(row["tokens"]),
        )  # fmt: skip


@pytest.mark.golden
@pytest.mark.parametrize(
    ("start", "name"), [("it_isdt-ud-test", "isdt"), ("it_twittiro-ud-test", "twittiro")]
)
def test_every_occurrence_of_the_reference(shared, treebanks, start, name):
    files = [file for file in treebanks if file.name.startswith(start)]
    places = {
        rule: {
            (hit.sentence_id, hit.token_ids, hit.connective)
            for hit, _ in search_treebanks(files, with_more(), open_rule(rule))
        }
        for rule in ("verb", "paper")
    }
    rows = []
    for hit, _ in search_treebanks(files, with_more(), open_rule("any")):
        place = (hit.sentence_id, hit.token_ids, hit.connective)
        verdicts = [str(int(place in places[rule])) for rule in ("verb", "paper")]
        rows.append(
            [hit.sentence_id, str(hit.token_ids[0]), hit.connective, hit.form, hit.upos,
             hit.deprel, str(hit.head_id), hit.head_upos or "_", str(int(hit.head_has_cop)),
             *verdicts]
        )  # fmt: skip
    path = shared / f"golden/connectives/occurrences_{name}_r2.6_test.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    assert rows == [line.split("\t") for line in lines]


@pytest.mark.golden
def test_a_part_with_more_than_was_printed_shows_that_the_printed_number_is_too_low(treebanks):
    counts = count_connectives(treebanks, with_more(), [open_rule("paper")])
    tweets = [count for count in counts if count.corpus == "it_twittiro"]
    printed = PublishedFrequencies("tweets", {"poi": 30, "però": 30, "inoltre": 1}, {}, 154_050)
    poi, pero, inoltre = compare_published(tweets, printed, rule="paper")
    assert (poi.counted, poi.difference) == (35, 5)
    assert "printed too low" in poi.causes[0]
    assert "also the number of però" in poi.causes[1]
    assert pero.causes[0] == "19.2% of the words are here"
    assert inoltre.causes == ()
