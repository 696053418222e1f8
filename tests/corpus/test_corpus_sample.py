"""The sample treebank is what its README says, and annotated without contradictions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import cimento
from cimento import Meta
from cimento.cli.main import invoke
from cimento.corpus import joined_tokens, token_spans
from cimento.corpus.connectives.frequencies import count_connectives
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.connectives.matching import open_rule
from cimento.corpus.decisions import decision_suite, read_decisions
from cimento.corpus.treebanks import may_show, open_treebanks

SAMPLE = Path(cimento.__file__).parent / "data" / "corpus" / "sample"

# https://universaldependencies.org/u/pos and /u/dep, as far as the sample needs them.
UPOS = {
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "NOUN", "PRON", "PROPN", "PUNCT", "SCONJ", "VERB",
}  # fmt: skip
RELATIONS = {
    "advcl", "advmod", "aux", "case", "cc", "ccomp", "conj", "cop", "det", "expl", "fixed", "iobj",
    "mark", "nsubj", "obj", "obl", "parataxis", "punct", "root", "xcomp",
}  # fmt: skip
CONTRACTED = {
    "al": "a il", "alla": "a la", "dall'": "da l'", "nel": "in il", "sul": "su il",
}  # fmt: skip


def sentences():
    (file,) = open_treebanks([SAMPLE])
    return list(file.sentences())


def test_there_are_sixty_sentences_in_ten_texts_that_may_be_passed_on():
    sample = sentences()
    assert (len(sample), sum(len(sentence.words) for sentence in sample)) == (60, 539)
    assert set(Counter(sentence.document for sentence in sample).values()) == {6}
    (file,) = open_treebanks([SAMPLE])
    assert file.license == "CC BY 4.0"
    assert may_show(file.license)


def test_every_connective_is_in_three_sentences():
    list_ = open_inventory("it-connectives")
    (counts,) = count_connectives(open_treebanks([SAMPLE]), list_, [open_rule("paper")])
    assert min(counts.in_sentences.get(name, 0) for name in list_.names) >= 3


def test_texts_are_those_of_the_tokens():
    for sentence in sentences():
        assert joined_tokens(sentence.tokens()) == sentence.text
        assert token_spans(sentence) is not None
        assert sentence.text[0].isupper()
        assert sentence.text[-1] in ".?"


def test_contractions_are_taken_apart_as_they_are_everywhere():
    for sentence in sentences():
        for token in sentence.multiwords:
            parts = (word.form.lower() for word in sentence.words[token.first - 1 : token.last])
            assert " ".join(parts) == CONTRACTED[token.form.lower()]


def test_tags_relations_and_features_are_those_of_universal_dependencies():
    for sentence in sentences():
        for word in sentence.words:
            assert word.upos in UPOS
            assert word.relation in RELATIONS, (sentence.id, word)
            names = [part.partition("=")[0] for part in word.feats.split("|")]
            assert names == sorted(names, key=str.lower), (sentence.id, word)
            assert (word.upos == "PUNCT") == (word.deprel == "punct")
            assert (word.deprel == "root") == (word.head == 0)


def test_words_that_agree_have_the_same_features():
    """Determiners and adjectives with nouns, finite verbs with their subjects."""
    checked = 0
    for sentence in sentences():
        for word in sentence.words:
            head = sentence.head_of(word)
            if head is None:
                continue
            if word.deprel == "det":
                names = ("Gender", "Number")
            elif word.deprel in ("nsubj", "aux", "cop"):
                names = ("Number",)
            else:
                continue
            if word.deprel in ("aux", "cop") and (head.upos != "ADJ" or word.deprel == "aux"):
                continue
            for name in names:
                both = (word.feature(name), head.feature(name))
                if word.deprel == "nsubj" and head.feature("VerbForm") != "Fin":
                    continue
                if all(both):
                    checked += 1
                    assert both[0] == both[1], (sentence.id, word, head)
    assert checked > 100


def test_heads_of_functional_relations_are_what_they_can_be():
    for sentence in sentences():
        for word in sentence.words:
            head = sentence.head_of(word)
            if word.deprel == "det":
                assert head.upos == "NOUN", (sentence.id, word)
            elif word.deprel == "aux":
                assert word.upos == "AUX", (sentence.id, word)
                assert head.upos == "VERB", (sentence.id, word)
            elif word.deprel == "cop":
                assert (word.lemma, word.upos) == ("essere", "AUX")
            elif word.deprel in ("obj", "advcl", "ccomp", "xcomp", "iobj"):
                assert head.upos in ("VERB", "AUX", "NOUN", "ADJ"), (sentence.id, word)


def test_functional_words_have_no_dependents_and_nothing_crosses():
    functional = ("case", "mark", "cc", "det", "aux", "cop", "punct")
    for sentence in sentences():
        for word in sentence.words:
            head = sentence.head_of(word)
            if head is None:
                continue
            assert head.relation not in functional or word.relation == "fixed", (sentence.id, word)
            first, last = sorted((word.id, head.id))
            for between in sentence.words[first : last - 1]:
                up = between
                while up.id not in (word.id, head.id) and up.head:
                    up = sentence.words[up.head - 1]
                assert up.id in (word.id, head.id), (sentence.id, word, between)


def test_the_decisions_of_the_documentation_make_a_suite():
    inventory = open_inventory("it-connectives")
    read = read_decisions(SAMPLE / "decisions.tsv", open_treebanks([Path("it_sample")]), inventory)
    suite = decision_suite(read, inventory, meta=Meta("my-pairs"))
    assert (len(read), len(suite.items)) == (36, 31)
    flags = [item.column("grammaticality") for item in suite.items]
    assert (flags.count("yes"), flags.count("no")) == (21, 10)


def test_they_are_on_the_sentences_that_the_command_of_the_documentation_draws(tmp_path):
    path = tmp_path / "decisions.tsv"
    arguments = ["corpus", "pairs", "it_sample", "--per", "2", "--seed", "7", "-o", str(path)]
    assert invoke(arguments) == 0

    def drawn(table):
        lines = table.read_text(encoding="utf-8").splitlines()
        return [line.split("\t")[:9] for line in lines]

    assert drawn(path) == drawn(SAMPLE / "decisions.tsv")


def test_decisions_are_not_overwritten_by_another_draw(tmp_path, capsys):
    path = tmp_path / "decisions.tsv"
    arguments = ["corpus", "pairs", "it_sample", "--per", "1", "--fewer", "-o", str(path)]
    assert invoke(arguments) == 0
    assert invoke(arguments) == 0
    decided = path.read_text(encoding="utf-8").replace("\t\t\t\n", "\tma\t\t\n", 1)
    path.write_text(decided, encoding="utf-8")
    assert invoke(arguments) == 2
    assert "is there already, and may hold decisions" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == decided
