"""Sentences that are in no treebank: messages, and what a concordance shows."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections import Counter

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError
from cimento.cli.main import invoke
from cimento.corpus import token_spans
from cimento.corpus.conllu import read_sentences
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.texts import (
    ConcordanceLine,
    Masks,
    PlainSentence,
    as_conllu,
    balanced,
    concordance_sentences,
    masked,
    message_sentences,
    normalize_plain,
    read_concordance,
    read_messages,
    sentence_of,
    spelling_class,
    tokens,
)

INVENTORY = open_inventory("it-connectives")


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


class TestPlain:
    @pytest.mark.parametrize(
        ("text", "forms"),
        [
            ("L'autobus è pieno.", ["L'", "autobus", "è", "pieno", "."]),
            ("Vieni? Sì!!", ["Vieni", "?", "Sì", "!!"]),
            ("@anna guarda https://a.it/b?c #pioggia", ["@anna", "guarda", "https://a.it/b?c",
                                                        "#pioggia"]),
            ("Non so perche' piove...", ["Non", "so", "perche'", "piove", "..."]),
            ("C'è un po' di vento", ["C'", "è", "un", "po'", "di", "vento"]),
            ("costa 3.50 euro", ["costa", "3.50", "euro"]),
        ],
    )  # fmt: skip
    def test_tokens(self, text, forms):
        assert [form for form, _ in tokens(text)] == forms

    @settings(deadline=None)
    @given(st.text(min_size=1, max_size=60).map(normalize_plain).filter(lambda t: list(tokens(t))))
    def test_every_text_comes_back_from_its_file(self, tmp_path_factory, text):
        path = tmp_path_factory.mktemp("plain") / "x.conllu"
        write(path, "".join(as_conllu([PlainSentence("a-1", text)])))
        (sentence,) = read_sentences(path)
        assert sentence.text == text
        assert token_spans(sentence) is not None

    @settings(deadline=None)
    @given(st.lists(st.integers(1, 30), max_size=40), st.integers(0, 50), st.integers(0, 9))
    def test_a_draw_takes_from_all_lengths(self, lengths, n, seed):
        members = list(enumerate(lengths))
        chosen = balanced(members, lengths, n=n, seed=seed)
        assert len(chosen) == len(set(chosen)) == min(n, len(members))
        assert chosen == balanced(members, lengths, n=n, seed=seed)
        places = {
            place: rank for rank, (place, _) in enumerate(sorted(members, key=lambda m: m[1]))
        }
        cuts = [len(members) * k // 3 for k in range(4)]
        thirds = Counter(sum(places[p] >= cut for cut in cuts[1:3]) for p, _ in chosen)
        if n <= 3 * min((b - a for a, b in itertools.pairwise(cuts)), default=0):
            assert max(thirds.values(), default=0) - min(thirds[k] for k in range(3)) <= 1


class TestTweets:
    def test_what_is_masked(self):
        text = "@lia guarda www.meteo.it #neve #freddo"
        assert masked(text, Masks()) == "@utente guarda URL #neve #freddo"
        assert masked(text, Masks(hashtags="word", urls="keep", mentions="keep")) == (
            "@lia guarda www.meteo.it neve freddo"
        )
        assert masked(text, Masks(hashtags="mask")).endswith("#hashtag #hashtag")

    def test_an_address_of_mail_is_no_mention(self):
        assert masked("scrivi a lia@posta.it", Masks()) == "scrivi a lia@posta.it"

    def test_retweets_and_duplicates_are_left_out_and_counted(self):
        plain = message_sentences(
            [
                ("1", "Piove ma esco"),
                ("2", "RT @ugo: Piove ma esco"),
                ("3", "PIOVE, ma esco! http://a.it"),
                ("4", "!!!"),
                ("4", "Nevica"),
            ],
            masks=Masks(),
            name="t",
        )
        assert [(sentence.id, sentence.text) for sentence in plain.sentences] == [
            ("t-1", "Piove ma esco"), ("t-4", "Nevica"),
        ]  # fmt: skip
        assert plain.counts["retweets, left out"] == 1
        assert plain.counts["duplicates, left out"] == 1
        assert plain.counts["without words, left out"] == 1

    @pytest.mark.parametrize(
        ("form", "name", "kind"),
        [
            ("perché", "perché", "standard"), ("PERCHÉ", "perché", "standard"),
            ("perchè", "perché", "accent"), ("perche'", "perché", "accent"),
            ("xké", "perché", "short"), ("perkè", "perché", "short"),
            ("perchééé", "perché", "lengthened"), ("ed", "e", "other"),
            ("perciò", "perché", None), ("dov'", "dove", "other"),
        ],
    )  # fmt: skip
    def test_spelling_classes(self, form, name, kind):
        assert spelling_class(form, INVENTORY[name]) == kind

    @pytest.mark.parametrize("suffix", [".txt", ".tsv", ".csv", ".jsonl"])
    def test_files_of_each_kind(self, tmp_path, suffix):
        texts = ["Piove ma esco", "Nevica perché è gennaio"]
        content = {
            ".txt": "\n".join(texts) + "\n",
            ".tsv": "id\ttext\n" + "".join(f"{n}\t{t}\n" for n, t in enumerate(texts, start=1)),
            ".csv": "tweet_id,Tweet\n" + "".join(f"{n},{t}\n" for n, t in enumerate(texts, 1)),
            ".jsonl": "".join(json.dumps({"id_str": n, "full_text": t}) + "\n"
                              for n, t in enumerate(texts, start=1)),
        }[suffix]  # fmt: skip
        path = write(tmp_path / f"t{suffix}", content)
        assert read_messages(path) == list(zip("12", texts, strict=True))

    def test_texts_that_are_not_utf_8_are_read_or_refused_but_never_spoilt(self, tmp_path):
        (tmp_path / "a.txt").write_bytes("Perché piove\n".encode("cp1252"))
        assert read_messages(tmp_path / "a.txt") == [("1", "Perché piove")]
        (tmp_path / "b.txt").write_bytes("Perché piove\n".encode() + b"\xe8 tardi\n")
        with pytest.raises(InputError, match=r"CIM-S001 b\.txt row 2"):
            read_messages(tmp_path / "b.txt")

    def test_no_text_and_an_id_of_two_lines_do_no_harm(self, tmp_path):
        lines = [{"id": "7\n# text = x", "text": "Piove"}, {"id": "8", "text": None}]
        path = write(tmp_path / "t.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        (sentence,) = message_sentences(read_messages(path), masks=Masks(), name="t").sentences
        assert (sentence.id, sentence.text) == ("t-7 # text = x", "Piove")

    def test_a_table_without_texts_is_refused(self, tmp_path):
        with pytest.raises(InputError, match="no column of texts"):
            read_messages(write(tmp_path / "t.tsv", "a\tb\n1\t2\n"))

    def test_the_whole_way(self, tmp_path, capsys):
        lines = [f"Giorno {n}: piove xk è autunno #{n}" for n in range(3)]
        path = write(tmp_path / "t.txt", "\n".join(lines) + "\n")
        output = tmp_path / "tweets.conllu"
        assert invoke(["corpus", "tweets", str(path), "-o", str(output)]) == 0
        assert "perché      short  xk        3" in capsys.readouterr().out
        assert invoke(["corpus", "check", str(output)]) == 0
        assert invoke(["corpus", "search", str(output), "--rule", "plain", "--text"]) == 0
        assert capsys.readouterr().out.count("xk") == 2 * 3
        table = tmp_path / "d.tsv"
        assert invoke([
            "corpus", "pairs", str(output), "--rule", "plain", "--no-join", "--per", "1",
            "--fewer", "--text", "-o", str(table),
        ]) == 0  # fmt: skip
        assert "[[xk]]" in table.read_text(encoding="utf-8")


class TestConcordance:
    @pytest.mark.parametrize(
        ("left", "node", "right", "text", "whole"),
        [
            ("Era tardi . Siamo usciti ", "ma", " pioveva . Poi",
             "Siamo usciti ma pioveva.", True),
            ("tardi </s><s> Lia dorme ", "perché", " è stanca </s><s> Ugo",
             "Lia dorme perché è stanca", True),
            ("di corsa siamo usciti ", "ma", " pioveva . Poi", "di corsa siamo usciti ma pioveva.",
             False),
            ("Era tardi. Siamo usciti ", "ma", " pioveva a dirotto e",
             "Siamo usciti ma pioveva a dirotto e", False),
            ("", "Quando", " piove , resto a casa .", "Quando piove, resto a casa.", True),
            ("Si ferma. L' amico chiede ", "se", " arriva l' autobus ?",
             "L'amico chiede se arriva l'autobus?", True),
        ],
    )  # fmt: skip
    def test_the_sentence_of_a_keyword(self, left, node, right, text, whole):
        assert sentence_of(ConcordanceLine("", left, node, right)) == (text, whole)

    CSV = (
        '"Corpus","prova"\n"Query","ma"\n"Reference","Left","KWIC","Right"\n'
        '"doc#1","Era tardi . Siamo usciti di corsa ","ma"," pioveva . Poi"\n'
    )
    XML = (
        "<concordance><heading><corpus>prova</corpus></heading>"
        '<line num="1" refs="doc#1"><left_context>Era tardi . Siamo usciti di corsa </left_context>'
        "<kwic>ma</kwic><right_context> pioveva . Poi</right_context></line></concordance>"
    )

    TSV = "left\tnode\tright\tref\nEra tardi . Siamo usciti di corsa \tma\t pioveva . Poi\tdoc#1\n"

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("a.csv", CSV),
            ("a.csv", CSV.replace(",", ";")),
            ("a.tsv", TSV),
            ("a.xml", XML),
        ],
    )  # fmt: skip
    def test_files_of_each_kind(self, tmp_path, name, text):
        expected = ConcordanceLine(
            "doc#1", "Era tardi . Siamo usciti di corsa ", "ma", " pioveva . Poi"
        )
        assert read_concordance(write(tmp_path / name, text)) == [expected]

    def test_a_workbook_may_begin_with_lines_about_the_query(self, tmp_path):
        book = openpyxl.Workbook()
        for line in csv.reader(io.StringIO(self.CSV)):
            book.active.append(line)
        book.save(tmp_path / "a.xlsx")
        expected = ConcordanceLine(
            "doc#1", "Era tardi . Siamo usciti di corsa ", "ma", " pioveva . Poi"
        )
        assert read_concordance(tmp_path / "a.xlsx") == [expected]

    @pytest.mark.parametrize(
        ("name", "text", "seen"),
        [
            ("a.csv", "a,b\n1,2\n", "no line heads columns"),
            ("a.csv", 'left,kwic,right\n"a,b,c\n', "Not CSV"),
            ("a.xml", "<a>", "is not XML"),
            ("a.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "declares XML entities"),
            ("a.tsv", "left\tkwic\tright\n", "there is no line"),
        ],
    )
    def test_what_cannot_be_read_is_said(self, tmp_path, name, text, seen):
        with pytest.raises(InputError, match=seen):
            read_concordance(write(tmp_path / name, text))

    def test_the_draw_is_balanced_by_keyword_and_the_same_with_its_seed(self):
        lines = [
            ConcordanceLine(
                "r", "Ecco. ", node.capitalize(), " piove" + " molto" * n + f" nel {n}."
            )
            for node in ("quando", "se")
            for n in range(3, 15)
        ]
        plain = concordance_sentences(lines, name="k", seed=4, per=6)
        assert plain == concordance_sentences(lines, name="k", seed=4, per=6)
        assert plain != concordance_sentences(lines, name="k", seed=5, per=6)
        nodes = [sentence.comments["node"] for sentence in plain.sentences]
        assert Counter(nodes) == {"quando": 6, "se": 6}
        assert nodes != sorted(nodes)
        lengths = [len(sentence.text.split()) for sentence in plain.sentences]
        assert min(lengths) <= 10 <= max(lengths)

    def test_what_is_left_out_is_counted(self):
        lines = [
            ConcordanceLine("", "Ecco. ", "Se", " piove, resto a casa."),
            ConcordanceLine("", "Ecco. ", "Se", " piove resto a casa!"),
            ConcordanceLine("", "e poi ", "se", " piove"),
            ConcordanceLine("", "Ecco. ", "Se", " sì."),
        ]
        plain = concordance_sentences(lines, name="k", seed=0)
        assert len(plain.sentences) == 1
        assert plain.counts["duplicates, left out"] == 1
        assert plain.counts["without a beginning or an end, left out"] == 1
        assert plain.counts["not of 5 to 40 tokens, left out"] == 1

    def test_the_whole_way(self, tmp_path, capsys):
        path = write(tmp_path / "a.csv", self.CSV)
        output = tmp_path / "kwic.conllu"
        assert invoke(["corpus", "concordance", str(path), "-o", str(output), "--per", "5"]) == 0
        assert "# node = ma" in output.read_text(encoding="utf-8")
        assert invoke(["corpus", "search", str(output), "--rule", "plain", "--text"]) == 0
        assert "Siamo usciti di corsa ma pioveva." in capsys.readouterr().out
