"""Connectives in treebanks: rules, matching, inventories, tables."""

from __future__ import annotations

import csv
import json

import pytest

from cimento.cli.main import invoke
from cimento.corpus.connectives import count_connectives
from cimento.corpus.inventories import (
    Connective,
    builtin_inventories,
    make_inventory,
    open_inventory,
    read_spelling,
)
from cimento.corpus.matching import Matcher
from cimento.corpus.published import Published, compare_published, read_published, size_remark
from cimento.corpus.records import Multiword, Sentence, Word
from cimento.corpus.rules import builtin_rules, make_rule, open_rule
from cimento.corpus.search import Duplicates, Finder, search
from cimento.corpus.treebanks import open_treebanks
from cimento.errors import InputError, UsageError

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
        Word(number, form, lemma, upos, "_", "_", head, deprel, "_", "_")
        for number, (form, lemma, upos, head, deprel) in enumerate(rows, start=1)
    ]
    return Sentence("s", text, tuple(words), tuple(multiwords))


def inventory(*texts):
    return make_inventory(
        [Connective(each[0], tuple(map(read_spelling, each))) for each in texts],
        name="t",
        where="t",
    )


def found(given, list_, **rule):
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
    assert found(given, inventory(["e"], ["se"])) == [("se", (1,)), ("e", (5,))]
    assert found(given, inventory(["e"], ["se"]), match="form") == [("se", (1,))]
    assert found(given, inventory(["e"], ["se"]), match="exact") == []
    assert found(given, inventory(["e", "ed"]), match="form", spellings="all") == [("e", (5,))]


def test_perche_is_found_however_it_is_spelt():
    spelt = ("perchè", "perche'", "xk", "Xké", "perché", "perche’")
    words = [(form, form, "SCONJ", 0 if n == 0 else 1, "mark") for n, form in enumerate(spelt)]
    rule = open_rule("any")
    list_ = open_inventory("it-connectives")
    by_form = Matcher(list_, by="form", all_spellings=True)
    assert len(by_form.find(sentence(words))) == len(spelt)
    assert len(rule.matcher(list_).find(sentence(words))) == 1


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
    assert found(given, list_) == [("a causa di", (1, 2, 3)), ("del resto", (6, 7, 8))]
    assert found(given, list_, overlaps="all")[1] == ("causa", (2,))


def test_parts_may_have_other_words_between_them():
    words = ["Sia", "Lia", "sia", "Ugo", "cantano", "sia", "bene", "sia", "male"]
    given = sentence([(w, w, "X", 5 if n != 5 else 0, "dep") for n, w in enumerate(words, 1)])
    assert found(given, inventory(["sia ... sia"])) == [
        ("sia ... sia", (1, 3)),
        ("sia ... sia", (6, 8)),
    ]


def test_the_head_is_tested_by_part_of_speech_copula_auxiliary_and_after_climbing():
    given = sentence(EATS)
    assert found(given, inventory(["e"]), head_upos=["VERB"]) == []
    assert found(given, inventory(["e"]), head_upos=["AUX"]) == [("e", (5,))]
    late = sentence(
        [
            ("quindi", "quindi", "ADV", 3, "advmod"),
            ("è", "essere", "AUX", 3, "cop"),
            ("tardi", "tardi", "ADV", 0, "root"),
        ]
    )
    assert found(late, inventory(["quindi"]), head_upos=["VERB"]) == []
    assert found(late, inventory(["quindi"]), head_upos=["VERB"], head_child=["cop"]) != []
    gone = sentence(
        [
            ("visto", "vedere", "VERB", 4, "mark"),
            ("che", "che", "SCONJ", 1, "fixed"),
            ("è", "essere", "AUX", 4, "aux"),
            ("partito", "partire", "VERB", 0, "root"),
        ]
    )
    assert found(gone, inventory(["che"]), head_child=["aux"]) == []
    assert found(gone, inventory(["che"]), head_child=["aux"], climb=["fixed"]) == [("che", (2,))]


def test_a_word_without_a_head_passes_only_where_the_head_is_not_tested():
    given = sentence([("Perché", "perché", "SCONJ", 0, "root"), ("?", "?", "PUNCT", 1, "punct")])
    assert found(given, inventory(["perché"])) == [("perché", (1,))]
    assert found(given, inventory(["perché"]), head_upos=["VERB"]) == []


def test_relations_stand_for_their_subtypes():
    given = sentence([("o", "o", "CCONJ", 2, "cc:preconj"), ("vengo", "venire", "VERB", 0, "root")])
    assert found(given, inventory(["o"]), deprel=["cc"]) != []
    assert found(given, inventory(["o"]), deprel=["cc:preconj"]) != []
    assert found(given, inventory(["o"]), deprel=["cc:other"]) == []
    assert found(given, inventory(["o"]), not_deprel=["cc"]) == []


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
        return [bool(found(sentence(rows), list_, exclude=exclude)) for rows in
                (direct, clause, indirect)]  # fmt: skip

    assert kept([]) == [True, True, True]
    assert kept(["questions"]) == [False, False, True]
    assert kept(["interrogatives"]) == [False, True, True]
    assert kept(["indirect-questions"]) == [True, True, False]


def test_position_and_clauses_on_both_sides():
    given = sentence(EATS)
    list_ = inventory(["e"], ["se"])
    assert found(given, list_, position="initial") == [("se", (1,))]
    assert found(given, list_, position="not-initial") == [("e", (5,))]
    assert found(given, list_, both_clauses=True) == [("se", (1,)), ("e", (5,))]
    nouns = [("pane", "pane", "NOUN", 0, "root"), ("e", "e", "CCONJ", 3, "cc")]
    nouns += [("vino", "vino", "NOUN", 1, "conj")]
    assert found(sentence(nouns), list_, both_clauses=True) == []


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
    assert all(each.category and each.senses for each in list_.connectives)
    with pytest.raises(InputError, match="Did you mean 'paper'"):
        open_rule("papr")


DIMLEX = """<?xml version="1.0"?><!DOCTYPE dimlex SYSTEM "dimlex.dtd">
<dimlex><entry id="c1" word="tanto ... quanto"><orths>
<orth type="discont"><part type="single">tanto</part><part type="single">quanto</part></orth>
</orths><syn><cat>coordinating</cat><sem><pdtb3_relation sense="EXPANSION:Conjunction"/></sem></syn>
</entry><entry id="c2" word="finché"><orths><orth><part>finché</part></orth><orth><part>fin che
</part></orth></orths><syn><cat>subordinating</cat></syn></entry></dimlex>"""
LEXCONN = """<liste><connecteur cat="csu" id="c1" relations="goal, condition">
<forme>pour que</forme><forme> pour qu' </forme></connecteur>
<connecteur cat="adv" id="c2" relations="result"><forme>alors</forme></connecteur>
<connecteur cat="adv" id="c3" relations="narration"><forme>alors</forme></connecteur></liste>"""


def test_lexicons_are_read_as_they_are_published(tmp_path):
    def opened(name, content):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return open_inventory(str(tmp_path / name))

    dimlex = opened("a.xml", DIMLEX)
    assert dimlex.names == ("tanto ... quanto", "finché")
    assert dimlex["tanto ... quanto"].spellings == ((("tanto",), ("quanto",)),)
    assert dimlex["tanto ... quanto"].senses == ("EXPANSION:Conjunction",)
    assert dimlex["finché"].spellings[1] == (("fin", "che"),)
    lexconn = opened("b.xml", LEXCONN)
    assert lexconn["pour que"].spellings == ((("pour", "que"),), (("pour", "qu'"),))
    assert lexconn["pour que"].category == "SCONJ"
    assert lexconn["alors"].senses == ("result", "narration")
    nvdb = {
        "poiche\u0301": [{"cat": "FO", "features": "cong."}],
        "casa": [{"cat": "FO", "features": "s.f."}],
        "come": [{"cat": "FO", "features": "avv. , cong."}],
    }
    assert opened("c.json", json.dumps(nvdb)).names == ("poiché", "come")
    assert opened("d.txt", "finché / fin che # tempo\n\nma\n")["finché"].spellings[1] == (
        ("fin", "che"),
    )
    table = opened(
        "e.tsv", "entry_id\tconnective\tsyn\tsenses\n1\tma\tcoord\tA;B\n1\tMa\tcoord\tA\n"
    )
    assert table.names == ("ma",)
    assert table["ma"].senses == ("A", "B")


@pytest.mark.parametrize(
    ("name", "content", "seen"),
    [
        ("a.xml", "<dimlex>", "is not XML"),
        ("a.xml", "<other/>", "no connective in <other>"),
        ("a.xml", '<!DOCTYPE x [<!ENTITY a "b">]><dimlex/>', "declares XML entities"),
        ("a.json", "[1]", "no object of lemmas"),
        ("a.json", "{", "is not JSON"),
        ("a.tsv", "a\tb\nc\td\n", "there are the columns a, b"),
        ("a.toml", "x = 1", "no [[connectives]]"),
        ("a.toml", '[[connectives]]\nnam = "ma"', "the key 'nam' is unknown"),
        ("a.toml", "[[connectives]]\nname = 3", "name is 3"),
        ("a.toml", '[[connectives]]\nname = "ma"\n[[connectives]]\nname = "ma"', "there twice"),
        ("a.txt", "\n", "there is no connective"),
        ("a.pdf", "", "got "),
    ],
)
def test_a_lexicon_that_is_none_is_refused(tmp_path, name, content, seen):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        open_inventory(str(tmp_path / name))
    assert seen in str(refused.value)


def test_percentages_tell_which_size_they_are_of():
    counts = {"a": 1906, "b": 575, "c": 312}
    percents = {name: f"{100 * number / 298343:.3f}" for name, number in counts.items()}
    assert "298343, two digits swapped?" in size_remark(Published("x", counts, percents, 289343))
    assert size_remark(Published("x", counts, percents, 298343)) == ""
    assert size_remark(Published("x", counts, {}, 289343)) == ""


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
            for hit, _ in search(files, with_more(), open_rule(rule))
        }
        for rule in ("verb", "paper")
    }
    rows = []
    for hit, _ in search(files, with_more(), open_rule("any")):
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
def test_published_lexicons_of_the_reference(shared):
    folder = shared / "data" / "connectives"
    lico = open_inventory(str(folder / "lico_v1.0.tsv"))
    assert len(lico.connectives) == 173
    assert sum(len(each.spellings) for each in lico.connectives) == 204
    assert lico["né … né"].spellings == ((("né",), ("né",)),)
    nvdb = open_inventory(str(folder / "nvdb_conjunctions.tsv"))
    assert len(nvdb.connectives) == 57
    own = open_inventory("it-connectives").names
    assert [name for name in own if name not in lico.names] == ["dove"]


@pytest.mark.golden
def test_a_part_with_more_than_was_printed_shows_that_the_printed_number_is_too_low(treebanks):
    counts = count_connectives(treebanks, with_more(), [open_rule("paper")])
    tweets = [each for each in counts if each.corpus == "it_twittiro"]
    printed = Published("tweets", {"poi": 30, "però": 30, "inoltre": 1}, {}, 154_050)
    poi, pero, inoltre = compare_published(tweets, printed, rule="paper")
    assert (poi.counted, poi.difference) == (35, 5)
    assert "printed too low" in poi.causes[0]
    assert "also the number of però" in poi.causes[1]
    assert pero.causes[0] == "19.2 % of the words are here"
    assert inoltre.causes == ()


# --- Commands

TINY = """# sent_id = {id}
# text = {text}
1\tPiove\tpiovere\tVERB\tV\t_\t0\troot\t_\t_
2\t{c}\t{c}\tCCONJ\tCC\t_\t3\tcc\t_\t_
3\tesco\tuscire\tVERB\tV\t_\t1\tconj\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\tFS\t_\t1\tpunct\t_\t_

"""


@pytest.fixture
def two(tmp_path):
    first = TINY.format(id="1", c="ma", text="Piove ma esco.")
    (tmp_path / "it_sample-ud-test.conllu").write_text(first + first.replace("= 1", "= 2"))
    other = TINY.format(id="1", c="e", text="Piove e esco.")
    (tmp_path / "it_vit-ud-dev.conllu").write_text(first + other)
    return tmp_path


def test_hits_are_exported_with_their_licence_and_text_only_where_it_allows_that(two, capsys):
    assert invoke(["corpus", "search", str(two / "it_sample-ud-test.conllu")]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    row = dict(zip(*lines[:2], strict=True))
    assert (row["sent_id"], row["token_id"], row["licence"]) == ("1", "2", "CC BY 4.0")
    assert row["text"] == "Piove ma esco."
    assert len(row["sha256"]) == 64
    assert invoke(["corpus", "search", str(two)]) == 0
    printed = capsys.readouterr()
    assert "text" not in printed.out.splitlines()[0].split("\t")
    assert "it_vit: CC BY-NC-SA 3.0" in printed.err
    assert invoke(["corpus", "search", str(two), "--text", "--json"]) == 0
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert [hit["text"] for hit in hits] == ["Piove ma esco."] * 3 + ["Piove e esco."]


def test_duplicates_are_found_between_treebanks(two):
    known = Duplicates()
    files = open_treebanks([two])
    hits = list(search(files, inventory(["ma"], ["e"]), open_rule("any"), duplicates=known))
    assert len(hits) == 2
    assert known.pairs[1] == (("it_vit-ud-dev.conllu", "1"), ("it_sample-ud-test.conllu", "1"))


def test_the_frequency_table_joins_corpora_and_names_its_denominator(two, capsys):
    table = two / "published.tsv"
    table.write_text("connective\tcorpus\tcount\tpercent\tsize\nma\tX\t2\t12.50\t16\ne\tX\t1\t\t\n")
    arguments = ["corpus", "connectives", str(two), "--per", "tokens", "--json"]
    arguments += ["--join", "both=it_sample,it_vit", "--compare", f"both={table}:X"]
    assert invoke(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    (both,) = printed["corpora"]
    assert (both["words"], both["tokens"], both["duplicates"]) == (16, 16, 2)
    assert both["connectives"]["ma"] == {"n": 3, "sentences": 3, "percent": 18.75, "rank": 1}
    (compared,) = printed["compared"]
    assert [cell["difference"] for cell in compared["cells"]] == [1, 0]
    assert compared["cells"][0]["causes"] == ["2 sentences are there more than once"]
    assert invoke([*arguments[:3], "--duplicates", "drop", *arguments[3:]]) == 0
    (both,) = json.loads(capsys.readouterr().out)["corpora"]
    assert both["connectives"]["ma"]["n"] == 1


@pytest.mark.parametrize(
    ("more", "seen"),
    [
        (["--join", "x"], "--join"),
        (["--join", "x=it_none"], "there is no corpus 'it_none'"),
        (["--compare", "it_vit=paper:IST"], "paper has no column 'IST'"),
        (["--compare", "it_none=paper:ISDT"], "there is no corpus 'it_none'"),
        (["--compare", "paper"], "--compare"),
        (["--rule", "none"], "got 'none'"),
    ],
)
def test_options_that_cannot_be_are_refused(two, capsys, more, seen):
    assert invoke(["corpus", "connectives", str(two), *more]) == 2
    assert seen in capsys.readouterr().err


def test_malformed_files_are_checked_skipped_and_refused(two, capsys):
    path = two / "bad.conllu"
    path.write_text("# sent_id = x\n1\ta\n\n" + TINY.format(id="y", c="ma", text="Piove ma esco."))
    assert invoke(["corpus", "check", str(path)]) == 2
    assert "bad.conllu, line 2 (sentence x): the line has 2 columns" in capsys.readouterr().out
    assert invoke(["corpus", "search", str(path)]) == 2
    assert "line 2, sentence x" in capsys.readouterr().err
    assert invoke(["corpus", "search", str(path), "--malformed", "skip", "--text"]) == 0
    printed = capsys.readouterr()
    assert "1 malformed sentences were skipped" in printed.err
    assert len(printed.out.splitlines()) == 2


def test_a_published_table_that_is_none_is_refused(tmp_path):
    path = tmp_path / "t.tsv"
    for content, seen in (
        ("connective\tcount\n", "column corpus is missing"),
        ("connective\tcorpus\tcount\nma\tX\tmany\n", "count is 'many'"),
        ("connective\tcorpus\tcount\tpercent\nma\tX\t3\t1,5\n", "percent is '1,5'"),
    ):
        path.write_text(content)
        with pytest.raises(InputError, match=seen):
            read_published(path)


def test_joint_corpora_are_named_once(two):
    files = open_treebanks([two])
    with pytest.raises(UsageError, match="there is no corpus"):
        count_connectives(files, inventory(["ma"]), [open_rule("any")], joint={"x": ["y"]})
