"""N-gram models: closed-form values with back-off, unknown words, and what is not a model."""

from __future__ import annotations

import gzip
import math
import sys
import unicodedata
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cimento
from cimento import InputError, Policy
from cimento.errors import MissingDependencyError
from cimento.evaluation.freetext import score_texts
from cimento.models import ngram as ngram_module
from cimento.models.ngram import ArpaModel, KenlmModel, NgramScorer, load_ngrams, locate_ngrams
from cimento.paradigms import Score
from cimento.testing import check_model
from tests.engine.test_requests import make_suite

ARPA = """Written by hand: bigrams and one trigram.

\\data\\
ngram 1=6
ngram 2=4
ngram 3=1

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.25
-1\t</s>
-0.75\tla\t-0.5
-1.25\tporta\t-0.125
-2\tpietra

\\2-grams:
-0.5\t<s> la\t-0.0625
-0.25\tla porta\t-0.375
-0.625\tporta </s>
-1.75\tla la

\\3-grams:
-0.1875\t<s> la porta

\\end\\
"""
# log10 P of each word of a text after <s>, from the file above. Where an n-gram is not listed:
# back-off weight of its context plus the score without the context's first word.
CLOSED_FORM = {
    "la": [-0.5],
    "la porta": [-0.5, -0.1875],
    "la la": [-0.5, -0.0625 + -1.75],
    "la pietra": [-0.5, -0.0625 + -0.5 + -2],
    "porta": [-0.25 + -1.25],
    "porta porta": [-1.5, -0.125 + -1.25],
    "la la porta": [-0.5, -1.8125, -0.25],
    "la porta pietra": [-0.5, -0.1875, -0.375 + -0.125 + -2],
    "la gatta": [-0.5, -0.0625 + -0.5 + -1.5],
    "la gatta porta": [-0.5, -2.0625, -1.25],
}


@pytest.fixture
def arpa(tmp_path):
    path = tmp_path / "hand.arpa"
    path.write_text(ARPA)
    return path


def scorer_of(path, **policy):
    return load_ngrams(locate_ngrams(path), policy=Policy(**policy))


def log10_of(scorer, text, context=""):
    """log10 P of all tokens of a text."""
    encoded = scorer.encode([Score(text=text, context=context)])
    [values] = scorer.score(encoded)
    return (values / math.log(10)).tolist()


@pytest.mark.parametrize("text", CLOSED_FORM)
def test_scores_are_those_of_the_file_with_its_back_off_weights(arpa, text):
    assert log10_of(scorer_of(arpa), text) == pytest.approx(CLOSED_FORM[text], abs=1e-12)


def test_with_nothing_before_a_text_its_first_word_is_a_unigram(arpa):
    assert log10_of(scorer_of(arpa, bos="none"), "la porta") == pytest.approx([-0.75, -0.25])


def test_a_context_is_read_and_not_scored(arpa):
    assert log10_of(scorer_of(arpa), "porta", context="la") == pytest.approx([-0.1875])


def test_words_are_as_the_policy_cuts_them(arpa):
    cut = scorer_of(arpa).encode([Score(text="la porta.")])
    kept = scorer_of(arpa, punctuation="keep").encode([Score(text="la porta.")])

    assert cut[0].tokens == ("<s>", "la", "porta", ".")
    assert kept[0].tokens == ("<s>", "la", "porta.")


def test_a_suite_is_judged_and_unknown_words_are_counted(arpa, tmp_path):
    suite = make_suite(
        "(2;%good%) < (2;%bad%)", {"good": "la | porta |", "bad": "la | gatta | grigia"}
    )

    run = cimento.evaluate(suite, f"kenlm:{arpa}", output=tmp_path / "runs")

    [rate] = run.estimates()
    assert rate.passed == 1
    assert run.table("tokens")["logprob_nats"].to_list() == pytest.approx(
        [-0.1875 * math.log(10), -2.0625 * math.log(10)]
    )
    assert run.table("tokens")["token_id"].to_list() == [None, None]
    expected = "2 of 5 words (2 different) are unknown to the model and scored as <unk>"
    assert any(f"{expected}: gatta, grigia" in warning for warning in run.manifest["warnings"])
    assert run.manifest["model"]["bos"] == "<s>"
    assert run.manifest["model"]["details"]["order"] == "3"


# A bigram model of Italian words with accents; as above, log10 P by hand.
ACCENTED = """
\\data\\
ngram 1=6
ngram 2=1

\\1-grams:
-1.5\t<unk>
-99\t<s>\t-0.25
-1\t</s>
-0.75\tc\t-0.5
-1.25\t'
-2\tperch\u00e9

\\2-grams:
-0.5\tc '

\\end\\
"""


@pytest.mark.parametrize("written", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
def test_accents_and_apostrophes_are_the_same_letters_however_they_are_spelled(
    tmp_path, written, asked, apostrophe
):
    path = tmp_path / "accented.arpa"
    path.write_text(unicodedata.normalize(written, ACCENTED), encoding="utf-8")
    scorer = scorer_of(path)
    text = unicodedata.normalize(asked, f"c{apostrophe} perch\u00e9")

    assert log10_of(scorer, text) == pytest.approx([-0.25 - 0.75, -0.5, -2])
    [encoded] = scorer.encode([Score(text=text)])
    assert "".join(encoded.tokens[1:]) == text.replace(" ", "")
    remarks = scorer.remarks([Score(text=text)])
    same = written == asked and apostrophe == "'"
    assert remarks == () if same else "spelled otherwise" in remarks[0]


def test_the_end_of_a_text_is_part_of_no_region(arpa):
    suite = make_suite("(*;%good%) < (*;%bad%)", {"good": "la | porta |", "bad": "la | la |"})

    run = cimento.evaluate(suite, f"kenlm:{arpa}", all_tokens=True)

    assert run.table("tokens")["token"].to_list() == ["la", "porta", "la", "la"]


def test_a_marker_in_a_text_is_an_unknown_word(arpa):
    scorer = scorer_of(arpa, punctuation="keep")

    assert log10_of(scorer, "la </s>") == pytest.approx([-0.5, -2.0625])


def test_without_an_unknown_word_in_the_model_one_in_a_text_is_unscored(arpa):
    arpa.write_text(ARPA.replace("-1.5\t<unk>\n", "").replace("ngram 1=6", "ngram 1=5"))
    suite = make_suite("(2;%good%) < (2;%bad%)", {"good": "la | porta |", "bad": "la | gatta |"})

    run = cimento.evaluate(suite, f"kenlm:{arpa}", all_tokens=True)

    tokens = run.table("tokens")
    assert tokens["logprob_nats"].is_null().to_list() == [False, False, False, True]
    assert tokens["unscored_reason"][3] == "word unknown to the model, which has no <unk>"
    assert run.outcomes()["verdict"].to_list() == ["unscored"]
    assert any("unscored: the model has no <unk>: gatta" in w for w in run.manifest["warnings"])


def test_it_keeps_what_is_expected_of_every_model(arpa):
    assert all(finding.passed for finding in check_model(scorer_of(arpa)))


def test_a_compressed_file_is_the_same_model(arpa):
    packed = arpa.with_name("hand.arpa.gz")
    packed.write_bytes(gzip.compress(ARPA.encode()))

    assert locate_ngrams(packed).name == locate_ngrams(arpa).name == "hand.arpa"
    assert log10_of(scorer_of(packed), "la pietra") == log10_of(scorer_of(arpa), "la pietra")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("\\end\\", ""), r"no line `\\end\\`"),
        (lambda text: text[:120], "0 of 4 2-grams"),
        (lambda text: text.replace("ngram 2=4", "ngram 2=5"), "4 of 5 2-grams"),
        (lambda text: text.replace("-1.25\tporta", "porta"), "line 13: not a 1-gram"),
        (lambda text: text.replace("-1.25\tporta", "-1.25\tla porta"), "line 13: not a 1-gram"),
        (lambda text: text.replace("-1.25\tporta", "nan\tporta"), "line 13: not a 1-gram"),
        (
            lambda text: text.replace("-1.25\tporta", "0.5\tporta"),
            "line 13: 0.5 is not a logarithm",
        ),
        (lambda _: "la porta\n", "not an n-gram model in ARPA format"),
        (lambda _: "", "not an n-gram model in ARPA format"),
    ],
)
def test_a_damaged_file_is_told_with_its_line(arpa, change, said):
    arpa.write_text(change(ARPA))

    with pytest.raises(InputError, match=said) as caught:
        scorer_of(arpa)
    assert str(arpa) in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match=r"none\.arpa cannot be read"):
        score_texts(["la porta"], f"kenlm:{tmp_path / 'none.arpa'}")


def test_a_broken_archive_is_told(tmp_path):
    packed = tmp_path / "hand.arpa.gz"
    packed.write_bytes(gzip.compress(ARPA.encode())[:60])

    with pytest.raises(InputError, match="cannot be read"):
        scorer_of(packed)


def test_a_binary_file_needs_kenlm_and_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    path = tmp_path / "model.bin"
    path.write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0")

    with pytest.raises(MissingDependencyError, match=r"pip install 'cimento\[kenlm\]'"):
        scorer_of(path)


WORDS = ("a", "b", "c")
WEIGHTS = st.integers(-4000, 0).map(lambda n: n / 1000)


@st.composite
def arpa_files(draw):
    """A trigram model over three words in which every n-gram's parts are listed too."""
    unigrams = [(word,) for word in ("<s>", "</s>", "<unk>", *WORDS)]
    starts, ends = ("<s>", *WORDS), (*WORDS, "</s>")
    bigrams = draw(st.sets(st.sampled_from([*product(starts, ends)]), min_size=1))
    extended = [
        (*first, second[1]) for first in bigrams for second in bigrams if first[1] == second[0]
    ]
    trigrams = draw(st.sets(st.sampled_from(sorted(extended)))) if extended else set()
    orders = [order for order in (unigrams, sorted(bigrams), sorted(trigrams)) if order]
    lines = ["\\data\\", *(f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate(orders, start=1))]
    for n, order in enumerate(orders, start=1):
        lines += ["", f"\\{n}-grams:"]
        for ngram in order:
            context = n < len(orders) and ngram[-1] != "</s>"
            backoff = f"\t{draw(WEIGHTS)}" if context else ""
            lines.append(f"{draw(WEIGHTS)}\t{' '.join(ngram)}{backoff}")
    return "\n".join([*lines, "", "\\end\\", ""])


TEXTS = st.lists(st.sampled_from([*WORDS, "unheard"]), min_size=1, max_size=8)


@pytest.mark.kenlm
@settings(deadline=None)
@given(arpa_files(), TEXTS, st.booleans())
def test_kenlm_says_the_same_to_the_last_bit(tmp_path_factory, content, words, start):
    pytest.importorskip("kenlm", reason="KenLM is not installed (extra kenlm)")
    path = tmp_path_factory.mktemp("arpa") / "random.arpa"
    path.write_text(content)
    ours, theirs = ArpaModel(path), KenlmModel(path)

    assert theirs.order == ours.order
    assert [theirs.knows(word) for word in words] == [ours.knows(word) for word in words]
    assert theirs.log10(words, start=start) == ours.log10(
        [word if ours.knows(word) else "<unk>" for word in words], start=start
    )


@pytest.mark.kenlm
def test_kenlm_without_an_unknown_word_gives_no_number_for_one(arpa):
    pytest.importorskip("kenlm", reason="KenLM is not installed (extra kenlm)")
    content = ARPA.replace("-1.5\t<unk>\n", "").replace("ngram 1=6", "ngram 1=5")
    arpa.write_text(content[content.index("\\data\\") :])

    scorer = NgramScorer(KenlmModel(arpa), locate_ngrams(arpa), policy=Policy())

    first, unknown = log10_of(scorer, "la gatta")
    assert first == pytest.approx(-0.5)
    assert math.isnan(unknown)


@pytest.mark.kenlm
def test_a_file_that_kenlm_cannot_read_is_told(tmp_path):
    pytest.importorskip("kenlm", reason="KenLM is not installed (extra kenlm)")
    path = tmp_path / "broken.bin"
    path.write_bytes(b"mmap lm http://kheafield.com/code format version 99\n\0")

    with pytest.raises(InputError, match="KenLM cannot read it"):
        KenlmModel(path)


@pytest.mark.parametrize("kept", [2**14, 2])
def test_a_sentence_is_split_once_for_its_scores_and_for_what_is_said_of_it(
    arpa, monkeypatch, kept
):
    requests = [Score(text=text) for text in ("la porta pietra", "la gatta nuova", "un cane")]
    alone = scorer_of(arpa).remarks(requests)
    split = []
    spans = ngram_module.word_spans
    monkeypatch.setattr(
        ngram_module,
        "word_spans",
        lambda text, **options: (split.append(text), spans(text, **options))[1],
    )
    monkeypatch.setattr(ngram_module, "_MOST_KEPT", kept)
    scorer = scorer_of(arpa)
    scorer.score(scorer.encode(requests))
    assert scorer.remarks(requests) == alone != ()
    own = [text for text in split if text]
    assert (len(own) == len(requests)) == (kept > len(requests))
