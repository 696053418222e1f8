"""What is in sentences and is not part of them: found wherever it stands, and nothing else."""

from __future__ import annotations

import json
import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cimento
from cimento.cli.main import invoke
from cimento.faults import named_blanks
from cimento.kinds.registry import audit_suite
from cimento.suites.checks import check_suite
from cimento.suites.checks.asides import (
    alternatives,
    broken_words,
    cleaned,
    judgment_marks,
    lead,
    optional_words,
    plain_letters,
    special_tokens,
    typed_marks,
)
from cimento.suites.checks.notation import Lines, notation

LETTERS = "abcdefghilmnopqrstuvzàèéìòùñçšжд"
WORDS = st.text(LETTERS, min_size=1, max_size=8)
SENTENCES = st.lists(WORDS.filter(lambda word: len(word) > 1), min_size=2, max_size=8)
MARKS = st.sampled_from(["*", "?", "??", "?*", "**", "*?"])
NUMBERS = st.sampled_from(["(12a)", "12b.", "(3) a.", "Ex. (15)", "Es. 4.", "[7c]", "1a)", "*(2b)"])


def faults_of(pairs, code):
    return [
        fault for fault in check_suite(cimento.pairs(pairs, language="it")) if fault.code == code
    ]


def codes_of(pairs):
    faults = check_suite(cimento.pairs(pairs, language="it"))
    return {fault.code for fault in faults} & {f"CIM-S0{n}" for n in (61, 71, 72, 73, 74)}


# --- judgment marks


@given(SENTENCES, st.data(), MARKS)
def test_a_mark_before_any_word_is_found_and_removed(words, data, mark):
    at = data.draw(st.integers(0, len(words) - 1))
    marked = " ".join([*words[:at], mark + words[at], *words[at + 1 :]]) + "."
    assert judgment_marks(marked) == (mark,)
    assert cleaned(marked) == " ".join(words) + "."


@given(SENTENCES, NUMBERS, MARKS)
def test_a_mark_after_an_example_number_is_found_and_both_are_removed(words, number, mark):
    sentence = " ".join(words)
    marked = f"{number} {mark}{sentence}"
    assert mark in judgment_marks(marked)
    assert lead(marked).is_clear
    assert cleaned(marked) == sentence


@given(
    st.lists(
        st.one_of(
            WORDS.filter(lambda word: len(word) > 4).map(lambda word: word + "*"),
            WORDS.filter(lambda word: len(word) > 4).map(lambda word: word + "??"),
            WORDS.filter(lambda word: len(word) > 4).map(lambda word: f"*{word}*"),
            WORDS.filter(lambda word: len(word) > 4).map(lambda word: f"#{word}"),
            st.sampled_from(["3 * 4", "50%", "2*x", "f**k", "¿qué?", "#1"]),
        ),
        max_size=6,
    )
)  # fmt: skip
def test_the_same_characters_elsewhere_are_no_marks(words):
    """Footnotes, questions, words in asterisks, hashtags, products."""
    assert judgment_marks(" ".join(["Oggi", *words])) == ()


@given(st.text(string.printable + "àé«»“”‘’–…ﬁжд*?#()[]/", max_size=60))
def test_any_text_is_read_and_a_clean_one_stays_clean(text):
    once = cleaned(text, doubtful=True, soft=True)
    assert set(once) <= set(text)
    notation(Lines([text, once], ["a", "b"], ["1", "1"], ["x", "y"]))


@pytest.mark.parametrize(
    ("bad", "mark"),
    [
        ("The boys *sleeps.", "*"), ("(12b) *The boys sleeps.", "*"),
        ("b. ??The boys sleeps.", "??"),
        ("Ex. (16) #The boys sleeps.", "#"), ("“*The boys” sleeps.", "*"),
        ("L’*ha mangiata.", "*"), ("The boys *(that) sleeps.", "*"), ("(*)The boys sleeps.", "(*)"),
    ],
)  # fmt: skip
def test_a_mark_in_one_condition_is_an_error_wherever_it_stands(bad, mark):
    [fault] = faults_of([("The boys sleep.", bad), ("It rains.", "It rain.")], "CIM-S061")
    assert (fault.severity, fault.where) == ("error", "item 1, condition bad")
    assert repr(mark) in fault.seen


def test_a_mark_that_one_condition_has_twice_tells_it_from_the_other():
    [first, second] = faults_of([("A *cat sleeps.", "A *cat *sleep.")], "CIM-S061")
    assert {first.severity, second.severity} == {"error"}


def test_hashtags_of_natural_texts_are_no_marks_and_marks_of_a_whole_condition_are():
    tweets = [("I am #happy today.", "I are #happy today."), ("We sing.", "We sings.")]
    assert faults_of(tweets, "CIM-S061") == []
    assert faults_of([("I am happy.", "I are #happy."), *tweets], "CIM-S061") == []
    odd = [("Mary drank water.", "Mary #drank bread."), ("He ate bread.", "He *eat bread.")]
    [fault] = faults_of(odd, "CIM-S061")
    assert "2 of 2 sentences of condition 'bad'" in fault.seen


def test_marks_in_a_list_of_ratings_are_told(tmp_path):
    path = tmp_path / "rated.csv"
    path.write_text("sentence,rating\nPiove.,7\n(3b) ??Piovono.,2\nNevica,6\nIl *cane,1\n", "utf-8")
    faults = {fault.code: fault for fault in audit_suite(path).faults}
    assert faults["CIM-S061"].severity == "warning"
    assert "2 of 4 sentences have such a mark" in faults["CIM-S061"].seen
    assert "'(3b)'" in faults["CIM-S071"].seen


def test_prompted_suites_are_checked_too(tmp_path):
    (tmp_path / "suite.toml").write_text('kind = "prompted"\n[meta]\nname = "p"\nlanguage = "en"\n')
    (tmp_path / "items.tsv").write_text("item\tgood\tbad\n1\tHe sleeps.\tHe *sleep.\n", "utf-8")
    assert "CIM-S061" in {fault.code for fault in audit_suite(tmp_path).faults}


def test_marks_of_options_decide_and_marks_of_texts_do_not(tmp_path):
    path = tmp_path / "cloze.csv"
    path.write_text(
        "item,text,target,implausible\n1,Il cane ___ forte.,dorme,*dormono\n2,Io ___.,vado,va\n",
        "utf-8",
    )
    [fault] = [fault for fault in audit_suite(path).faults if fault.code == "CIM-S061"]
    assert (fault.severity, fault.where) == ("error", "item '1', implausible '*dormono'")
    path.write_text("item,text,target\n1,(2a) Il cane ___ forte.,dorme\n2,Io *___.,vado\n", "utf-8")
    faults = {fault.code: fault.severity for fault in audit_suite(path).faults}
    assert faults["CIM-S071"] == "warning"


def test_marks_in_stories_are_told(tmp_path):
    base = {"story_id": 1, "actor": "Ada", "location": "cucina", "objects": "tazza", "length": 2,
            "plausible": True, "breakpoint": -1, "confl_sents": [], "confl_pairs": [],
            "example_id": "1", "type": None, "idx": None, "aug": False, "worker_id": "w",
            "states": [], "sentences": ["Ada entra.", "Ada beve."]}  # fmt: skip
    odd = {**base, "example_id": "1-C0", "type": "cloze", "idx": 0, "plausible": False,
           "breakpoint": 1, "confl_sents": [0], "confl_pairs": [[0, 1]],
           "sentences": ["Ada entra.", "Ada *rompe l'acqua – forte."]}  # fmt: skip
    (tmp_path / "suite.toml").write_text('kind = "stories"\n[meta]\nname = "s"\nlanguage = "it"\n')
    lines = "".join(json.dumps(story) + "\n" for story in (base, odd))
    (tmp_path / "items.jsonl").write_text(lines, "utf-8")
    [fault] = [fault for fault in audit_suite(tmp_path).faults if fault.code == "CIM-S061"]
    assert fault.severity == "error"
    assert fault.where.endswith("sentence 2")


# --- example numbers


@pytest.mark.parametrize("number", ["(12a)", "12b.", "(12) a.", "Ex. (15)", "Esempio 3:", "(1a')"])
def test_numbers_that_differ_in_a_pair_are_an_error(number):
    pairs = [(f"{number} La zia canta.", "La zia cantano."), ("Piove.", "Piovono.")]
    [fault] = faults_of(pairs, "CIM-S071")
    assert (fault.severity, fault.where) == ("error", "item 1, condition good")
    assert f"the example number {number!r}" in fault.seen
    assert "of 1 item." in fault.seen


def test_letters_and_bare_numbers_count_where_they_differ_or_most_sentences_have_them():
    rest = [("Piove forte.", "Piovono forte."), ("Nevica.", "Nevicano."), ("Tuona.", "Tuonano.")]
    for first, second in (("a.", "b."), ("1.", "2."), ("(1)", "(2)"), ("i)", "ii)")):
        pairs = [(f"{first} La zia canta.", f"{second} La zia cantano."), *rest]
        assert [fault.severity for fault in faults_of(pairs, "CIM-S071")] == ["error"]
    same = [(f"{n}. {good}", f"{n}. {bad}") for n, (good, bad) in enumerate(rest, start=1)]
    assert [fault.severity for fault in faults_of(same, "CIM-S071")] == ["warning"]
    assert faults_of([same[0], *rest], "CIM-S071") == []


@pytest.mark.parametrize(
    "start",
    ["1984 fu", "3,5 milioni", "3.5 milioni", "A. Rossi", "J. R. R.", "12. Mai war",
     "Es gibt 3 (15)",
     "a.C. nel", "S. Maria", "Ex 3 mariti", "(come 3)", "Esempio 3 mostra", "20.000 leghe"],
)  # fmt: skip
def test_years_numerals_initials_and_words_are_no_example_numbers(start):
    rest = [("Piove forte.", "Piovono forte."), ("Nevica.", "Nevicano."), ("Tuona.", "Tuonano.")]
    assert faults_of([(f"{start} qui.", f"{start} là."), *rest], "CIM-S071") == []


def test_initials_are_no_numbers_even_where_all_sentences_have_them():
    pairs = [("A. Rossi dorme.", "A. Rossi dormono."), ("B. Verdi ride.", "B. Verdi ridono.")]
    assert faults_of(pairs, "CIM-S071") == []


# --- optional words and alternatives


@given(SENTENCES, st.data())
def test_a_word_in_parentheses_and_two_with_a_slash_are_found(words, data):
    words = [word for word in words if not set(word) <= set("ivx")]
    words = [word for word in words if word not in {"sic", "ndr", "cit"}] or ["qui"]
    at = data.draw(st.integers(0, len(words) - 1))
    optional = f"({words[at]}x)"
    assert optional_words(" ".join([*words[:at], optional, *words[at:]])) == [optional]
    both = f"{words[at]}lo/{words[at]}la"
    assert alternatives(" ".join([*words[:at], both, *words[at:]])) == [both]


@pytest.mark.parametrize(
    "text",
    ["Va a 90 km/h e/o piano.", "Il 12/3 c'è and/or manca.", "Il sito a.it/via/casa è https://b/c.",
     "Milano/Roma in treno (RAI).", "Il protocollo TCP/IP (sic) va.", "Vince (come sempre) lui.",
     "La legge (art. 3) del (2004) e f(x).", "Punto (b) e punto (iv)."],
)  # fmt: skip
def test_units_dates_addresses_names_and_several_words_are_none(text):
    assert (optional_words(text), alternatives(text)) == ([], [])


def test_a_few_parentheses_of_many_natural_sentences_are_not_told_unless_they_differ():
    many = [(f"Il cane {n} (già) dorme.", f"Il cane {n} (già) dormono.") for n in range(1)]
    many += [(f"La zia numero {n} canta.", f"La zia numero {n} cantano.") for n in range(99)]
    assert faults_of(many, "CIM-S072") == []
    odd = [*many[1:], ("Il cane (già) dorme.", "Il cane già dormono.")]
    assert len(faults_of(odd, "CIM-S072")) == 1


# --- typography


@given(SENTENCES, st.data(), st.sampled_from("ﬀﬁﬂﬃﬄ"))
def test_a_ligature_is_found_in_any_word_and_what_to_write_is_said(words, data, ligature):
    at = data.draw(st.integers(0, len(words) - 1))
    odd = words[at] + ligature
    plain = words[at] + unicodedata.normalize("NFKC", ligature)
    assert plain_letters(" ".join([*words[:at], odd, *words[at + 1 :]])) == {odd: plain}
    assert plain_letters(" ".join(words)) == {}


@given(SENTENCES)
def test_a_word_cut_at_the_end_of_a_line_is_found(words):
    first, second = words[0] + "ba", words[1] + "fo"
    if not second.startswith(first) and second.islower() and first.islower():
        text = " ".join([*words, f"{first}-", second, *words])
        assert broken_words(text) == {f"{first}- {second}": first + second}
    assert broken_words(" ".join(words)) == {}


def test_hyphens_that_leave_a_part_out_are_no_ends_of_lines():
    assert broken_words("pre- e postbellico, Haupt- und Nebensatz, I was go- going - home") == {}


def test_all_words_with_a_ligature_are_named_and_not_only_the_first():
    pairs = [("Il ﬁume è largo.", "Il fiume è larga."), ("La ﬁglia ride.", "La figlia ridono."),
             ("Il ﬂauto suona.", "Il flauto suonano.")]  # fmt: skip
    [fault] = faults_of(pairs, "CIM-S073")
    assert "'ﬁume' has a ligature" in fault.seen
    assert "Also: 'ﬁglia', 'ﬂauto'." in fault.seen
    many = [(f"La ﬁ{letter}la ride.", f"La fi{letter}la ridono.") for letter in "abcdefghijkl"]
    [fault] = faults_of(many, "CIM-S073")
    assert [letter for letter in "abcdefghijkl" if f"'ﬁ{letter}la'" in fault.seen] == [*"abcdefghi"]
    assert "And 3 more." in fault.seen


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [("calmo – dicono", "calma - dicono", "dashes"), ("qui… forse", "qua... forse", "dots"),
     ("l’ora “x”", "l'ora “x”", "apostrophes"), ("«sì» dice", '"sì" dico', "quotation marks"),
     ("ben‑noto", "ben-nota", "dashes")],
)  # fmt: skip
def test_marks_that_a_pair_types_differently_are_told(one, other, kind):
    [fault] = faults_of([(f"È {one}.", f"È {other}.")], "CIM-S073")
    assert fault.seen.startswith(f"The {kind} are ")
    assert fault.severity == "warning"
    assert "CIM-S073" not in codes_of([(f"È {one}.", f"È {one} x.")])
    assert typed_marks(one).keys() >= {kind}


def test_a_sentence_with_one_dash_more_is_not_typed_differently():
    assert codes_of([("È calmo – dicono – qui.", "È calma - dicono.")]) == set()


# --- special tokens


@given(
    SENTENCES,
    st.sampled_from(
        ["[MASK]", "[CLS]", "[SEP]", "[PAD]", "[UNK]", "<s>", "</s>", "<mask>", "<unk>", "<pad>"]
    )
    | st.text(string.ascii_lowercase + "_", min_size=1, max_size=20).map(lambda x: f"<|{x}|>"),
)
def test_special_tokens_are_found_by_their_spelling(words, token):
    sentence = " ".join(words)
    assert special_tokens(f"{sentence} {token} {sentence}") == [token]
    assert special_tokens(f"{sentence}{token}") == [token]
    assert special_tokens(sentence) == []
    assert codes_of([(f"Il {token} dorme.", f"Il {token} dormono.")]) == {"CIM-S074"}


def test_brackets_of_texts_are_no_special_tokens():
    assert special_tokens("a < b > c, [sic] [Mask] <a|b> |x| <b>") == []


def test_a_blank_is_no_special_token(tmp_path):
    path = tmp_path / "cloze.csv"
    path.write_text(
        "item,text,target\n1,Il cane ___ forte.,dorme\n2,Io ___ [MASK].,vado\n", "utf-8"
    )
    [fault] = [fault for fault in audit_suite(path).faults if fault.code == "CIM-S074"]
    assert fault.where == "item '2'"


# --- the commands


def test_the_tables_of_the_reviews_are_refused_or_told(tmp_path, capsys):
    path = tmp_path / "numeri.tsv"
    path.write_text(
        "item\tgood\tbad\n1\t(12a) La porta è chiusa.\t(12b) *La porta è chiuso.\n"
        "2\ta. Lo zio canta (già).\tb. ??Lo zio cantano (già).\n"
        "3\tViene il/la preside.\tVengono il/la preside.\n",
        "utf-8",
    )
    assert invoke(["suites", "check", str(path), "--language", "it"]) == 2
    printed = capsys.readouterr().out
    assert [code in printed for code in ("CIM-S061", "CIM-S071", "CIM-S072")] == [True] * 3
    assert invoke(["run", str(path), "--language", "it", "-m", "demo-causal"]) == 2


@pytest.mark.parametrize(
    ("blank", "name"),
    [
        ("\u00a0", "no-break space"),
        ("\u202f", "narrow no-break space"),
        ("\u200b", "zero width space"),
    ],
)
def test_messages_name_invisible_characters(blank, name):
    pairs = [(f"Piove{blank}qui", "Piovono qui."), ("La zia canta.", "La zia cantano.")]
    seen = [fault.seen for fault in check_suite(cimento.pairs(pairs, language="it"))]
    assert any(f"'Piove[{name}]qui' has no final mark" in text for text in seen)
    assert all(repr(blank)[1:-1] not in text for text in seen)
    # What an author wrote with a backslash stays what it is.
    assert named_blanks(repr("a\\xa0")) == repr("a\\xa0")


@pytest.mark.parametrize(
    ("marks", "sought"), [("*?", "~*"), (("??",), "~?~?"), (("*", "??"), "~*, ~?~?"), ("?", "")]
)
def test_advice_for_excel_names_the_marks_that_are_there(marks, sought):
    pairs = [(f"A cat sleeps {n}.", f"{mark}A cat sleep {n}.") for n, mark in enumerate(marks)]
    [fault] = faults_of(pairs, "CIM-S061")
    # A single question mark cannot be replaced everywhere: it ends questions.
    assert fault.todo.partition("In Excel, replace ")[2].partition(" by nothing")[0] == sought
