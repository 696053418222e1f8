"""Tokens find their regions: by hand, by construction, and beside SyntaxGym's aligner."""

from __future__ import annotations

import json
import re
import string
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cimento import CimentoError, Region, TableError
from cimento.models.recorded.aligning import Alignment, align_tokens
from cimento.models.recorded.reading import PLAIN, ModelSpec, Tokenizer, Vocabulary, parse_spec
from cimento.suites.stimuli import join_regions

UNKNOWN = Vocabulary(unk_types=("<unk>",), prefix_types=("<s>",), suffix_types=("</s>",))
WORDS = ModelSpec(UNKNOWN, Tokenizer(type="word", cased=True))
INITIAL = Tokenizer("subword", cased=True, sentinel_position="initial", sentinel_pattern="Ġ")
MEDIAL = Tokenizer("subword", cased=True, sentinel_position="medial", sentinel_pattern="##")
FINAL = Tokenizer("subword", cased=True, sentinel_position="final", sentinel_pattern="</w>")
META = Tokenizer("subword", cased=True, sentinel_position="initial", metaspace="▁")


def align(regions: str, tokens: list[str], spec: ModelSpec = WORDS) -> Alignment:
    """Align tokens with regions that bars separate: ``|`` bare, or with blanks around it."""
    pieces = re.split(r"( ?\| ?)", regions)
    made = [Region(pieces[0])]
    made += [
        Region(text, glued=bar == "|") for bar, text in zip(pieces[1::2], pieces[2::2], strict=True)
    ]
    text, spans = join_regions(made)
    return align_tokens(text, spans, tokens, spec)


def spec_of(tokenizer: Tokenizer, **types: tuple[str, ...]) -> ModelSpec:
    return ModelSpec(Vocabulary(**types), tokenizer)


def test_words_and_marks_find_their_regions():
    alignment = align(
        "Le lampade | erano | accese.", ["Le", "lampade", "erano", "accese", "."], PLAIN
    )
    assert alignment.regions == (1, 1, 2, 3, 3)
    assert alignment.spans == ((0, 2), (3, 10), (11, 16), (17, 23), (23, 24))
    assert alignment.oovs == ((), (), ())


def test_regions_joined_by_nothing():
    alignment = align(
        "Ho sentito l'|uomo | gridare.", ["Ho", "sentito", "l'", "uomo", "gridare", "."]
    )
    assert alignment.regions == (1, 1, 1, 2, 3, 3)


def test_tokens_that_begin_and_end_a_sentence():
    alignment = align(" | Il cane | dorme | ", ["<s>", "Il", "cane", "dorme", "</s>"])
    assert alignment.regions == (1, 2, 2, 3, 4)
    assert alignment.spans[0] == (0, 0)
    assert alignment.spans[4] == (13, 13)


def test_the_last_of_several_empty_regions_takes_the_end():
    assert align("Dorme |  | ", ["Dorme", "</s>"]).regions == (1, 3)


def test_one_token_may_both_begin_and_end_a_sentence():
    spec = spec_of(INITIAL, prefix_types=("<|end|>",), suffix_types=("<|end|>",))
    alignment = align("Il cane | dorme", ["<|end|>", "Il", "Ġcane", "Ġdor", "me", "<|end|>"], spec)
    assert alignment.regions == (1, 1, 1, 2, 2, 2)


def test_a_text_of_two_sentences_has_inner_boundaries():
    alignment = align("Piove. | Esco.", ["<s>", "Piove", ".", "</s>", "<s>", "Esco", ".", "</s>"])
    assert alignment.regions == (1, 1, 1, 2, 2, 2, 2, 2)


def test_special_tokens_belong_to_no_region():
    spec = spec_of(
        MEDIAL,
        unk_types=("[UNK]",),
        prefix_types=("[CLS]",),
        suffix_types=("[SEP]",),
        special_types=("[PAD]",),
    )
    tokens = ["[CLS]", "[PAD]", "Il", "ca", "##ne", "[UNK]", "[SEP]", "[PAD]"]
    assert align("Il cane | dorme", tokens, spec).regions == (1, None, 1, 1, 1, 2, 2, None)


def test_an_unknown_word_reaches_to_what_is_known_again():
    alignment = align("Il | brontolone gigante | dorme", ["Il", "<unk>", "<unk>", "dorme"])
    assert alignment.regions == (1, 2, 2, 3)
    assert alignment.oovs == ((), ("brontolone", "gigante"), ())
    assert alignment.spans[1] == alignment.spans[2] == (3, 21)


def test_unknown_words_of_two_regions_are_charged_to_the_first():
    alignment = align("Il | brontolone | gigante | dorme", ["Il", "<unk>", "<unk>", "dorme"])
    assert alignment.regions == (1, 2, 2, 4)
    assert alignment.oovs == ((), ("brontolone", "gigante"), (), ())


def test_an_unknown_word_at_the_end_takes_the_end_token():
    alignment = align("Il cane | brontola | forte", ["<s>", "Il", "cane", "<unk>", "<unk>", "</s>"])
    assert alignment.regions == (1, 1, 1, 2, 2, 2)
    assert alignment.oovs[1] == ("brontola", "forte")


def test_an_unknown_word_may_contain_the_next_token():
    alignment = align("Vede | rimare | mare e cielo", ["Vede", "<unk>", "mare", "e", "cielo"])
    assert alignment.regions == (1, 2, 3, 3, 3)
    assert alignment.oovs[1] == ("rimare",)


def test_an_unknown_word_ends_where_all_that_follows_fits():
    # "a" also begins "alto"; SyntaxGym's aligner would stop there and then fail.
    alignment = align("Il | brigante alto | a Roma", ["Il", "<unk>", "<unk>", "a", "Roma"])
    assert alignment.regions == (1, 2, 2, 3, 3)
    assert alignment.oovs[1] == ("brigante", "alto")


def test_an_unknown_word_may_begin_like_the_next_token():
    alignment = align("Verrà | assegnato | a Roma", ["Verrà", "<unk>", "a", "<unk>"])
    assert alignment.regions == (1, 2, 3, 3)
    assert alignment.oovs == ((), ("assegnato",), ("Roma",))


def test_an_unknown_word_may_end_where_a_region_glued_to_it_begins():
    alignment = align("Portando|lo | via", ["<unk>", "lo", "via"])
    assert alignment.regions == (1, 2, 3)
    assert alignment.oovs[0] == ("Portando",)


def test_an_unknown_word_before_a_piece_with_a_mark():
    spec = spec_of(META, unk_types=("<unk>",))
    alignment = align("Il drago | dor mi | va", ["▁Il", "<unk>", "▁dor", "▁mi", "▁va"], spec)
    assert alignment.regions == (1, 1, 2, 2, 3)


def test_uncased_models_and_capitals_after_an_unknown_word():
    spec = spec_of(Tokenizer("word", cased=False), unk_types=("<unk>",))
    alignment = align("Il drago | Marta vede", ["il", "<unk>", "marta", "vede"], spec)
    assert alignment.regions == (1, 1, 2, 2)
    assert alignment.oovs == (("drago",), ())


@pytest.mark.parametrize("tokens", [["è", "così", "là"], ["e", "cosi", "la"]])
def test_uncased_models_with_and_without_accents(tokens):
    spec = spec_of(Tokenizer("word", cased=False))
    assert align("È | così | là", tokens, spec).regions == (1, 2, 3)


def test_bytes_written_as_letters():
    # GPT-2's vocabulary writes the bytes of "è" and "г" with the letters of Latin-1:
    # python -c "print('è'.encode(), 'год'.encode())" -> c3 a8, d0 b3 d0 be d0 b4
    spec = spec_of(INITIAL)
    assert align("Chi è | lì", ["Chi", "ĠÃ¨", "Ġl", "Ã", "¬"], spec).regions == (1, 1, 2, 2, 2)
    alignment = align("год | идёт", ["Ð³", "Ð¾Ð", "´", "ĠÐ¸Ð´", "ÑĳÑĤ"], spec)
    assert alignment.regions == (1, 1, 1, 2, 2)
    assert alignment.spans == ((0, 1), (1, 3), (2, 3), (4, 6), (6, 8))


def test_the_mark_for_a_blank_may_stand_alone():
    alignment = align(
        "Il cane | dorme.", ["▁", "Il", "▁ca", "ne", "▁", "dorme", "."], spec_of(META)
    )
    assert alignment.regions == (1, 1, 1, 1, 2, 2, 2)
    assert not alignment.unspelled


def test_compatibility_forms_before_the_mark_for_a_blank():
    # SentencePiece writes "…" as three points and "½" as "1⁄2":
    # python -c "import unicodedata; print(unicodedata.normalize('NFKC', '… ½'))"
    alignment = align("Dorme… | e ½", ["▁Dor", "me", "...", "▁e", "▁1⁄2"], spec_of(META))
    assert alignment.regions == (1, 1, 1, 2, 2)
    assert not alignment.unspelled


def test_text_that_a_blank_mark_does_not_spell_is_placed_by_length():
    alignment = align("«Vieni» | disse", ["▁``Vieni", "▁disse"], spec_of(META))
    assert alignment.regions == (1, 2)
    assert alignment.unspelled == (0,)


def test_moses_marks():
    spec = spec_of(Tokenizer("word", cased=True, behaviors=("moses",)))
    tokens = ["Lezione", "italo", "@-@", "russa", ":", "3", "@,@", "5", "ore"]
    assert align("Lezione | italo–russa: | 3,5 ore", tokens, spec).regions == (
        *(1, 2, 2, 2, 2),
        *(3, 3, 3, 3),
    )


def test_words_that_have_no_token():
    marks = r"[,.;—]+"
    spec = spec_of(Tokenizer("word", cased=True, drop_token_pattern=marks))
    alignment = align("Piove , — | dunque | resto . |  | ...", ["Piove", "dunque", "resto"], spec)
    assert alignment.regions == (1, 2, 3)


def test_tokens_that_are_blank_or_empty_cost_no_text():
    assert align("Il cane | dorme", ["Il", " ", "cane", "", " dorme", ""]).regions == (
        *(1, 1, 1),
        *(2, 2, 2),
    )


def test_a_token_over_two_regions_is_refused():
    with pytest.raises(TableError) as caught:
        align("Il por|to | dorme", ["Il", "porto", "dorme"])
    assert "token 2 ('porto'), region 1" in str(caught.value)
    assert "reaches over the end of this region" in str(caught.value)


@pytest.mark.parametrize(
    ("tokens", "where", "seen"),
    [
        (["Il", "gatto", "dorme"], "token 2 ('gatto'), region 1", "the text there is 'cane dorme'"),
        (["Il", "cane"], "region 2", "end before 'dorme'"),
        (["Il", "cane", "</s>"], "region 2", "end before 'dorme'"),
        (["Il", "cane", "dorme", "bene"], "token 4 ('bene')", "after the end of the text"),
        (["Il", "cane", "dorme", "<unk>"], "token 4 ('<unk>')", "after the end of the text"),
        (["Il", "<unk>", "sogna"], "token 3 ('sogna')", "nowhere in the text after the unknown"),
        ([], "region 1", "end before 'Il cane dorme'"),
    ],
)
def test_tokens_of_another_text_are_refused(tokens, where, seen):
    with pytest.raises(TableError) as caught:
        align("Il cane | dorme", tokens)
    assert where in caught.value.where
    assert seen in caught.value.seen
    assert caught.value.todo


WORD = st.text(string.ascii_lowercase + "àèìòùñçжёю", min_size=1, max_size=8)
REGIONS = st.lists(st.lists(WORD, max_size=4), min_size=1, max_size=6)


def cut(word: str, data: st.DataObject) -> list[str]:
    """A word in random pieces."""
    where = data.draw(st.sets(st.integers(1, max(1, len(word) - 1)), max_size=3))
    edges = [0, *sorted(edge for edge in where if edge < len(word)), len(word)]
    return [word[a:b] for a, b in pairwise(edges)]


def marked(pieces: list[str], style: str, *, first: bool) -> list[str]:
    """The pieces of a word with the marks of a tokenizer."""
    if style == "medial":
        return [pieces[0], *(f"##{piece}" for piece in pieces[1:])]
    if style == "final":
        return [*pieces[:-1], f"{pieces[-1]}</w>"]
    if style == "initial":
        return [pieces[0] if first else f"Ġ{pieces[0]}", *pieces[1:]]
    return [f"▁{pieces[0]}", *pieces[1:]]


@pytest.mark.parametrize(
    ("style", "tokenizer"),
    [("initial", INITIAL), ("medial", MEDIAL), ("final", FINAL), ("meta", META)],
)
@given(regions=REGIONS, data=st.data())
@settings(deadline=None)
def test_pieces_go_back_to_the_regions_they_were_cut_from(style, tokenizer, regions, data):
    tokens: list[str] = ["<s>"]
    owners: list[int | None] = [1]
    for number, words in enumerate(regions, start=1):
        for word in words:
            pieces = marked(cut(word, data), style, first=len(tokens) == 1)
            tokens += pieces
            owners += [number] * len(pieces)
    tokens.append("</s>")
    owners.append(len(regions))
    text, spans = join_regions([Region(" ".join(words)) for words in regions])
    alignment = align_tokens(text, spans, tokens, ModelSpec(UNKNOWN, tokenizer))
    assert list(alignment.regions) == owners
    assert not alignment.unspelled
    letters = re.compile("Ġ|##|</w>|▁")
    assert [text[a:b] for a, b in alignment.spans[1:-1]] == [
        letters.sub("", t) for t in tokens[1:-1]
    ]


@given(
    words=st.lists(st.lists(st.integers(0, 400), max_size=4), min_size=1, max_size=6),
    data=st.data(),
)
@settings(deadline=None)
def test_unknown_words_are_charged_to_where_their_row_begins(words, data):
    # Words of three digits: none begins another, and equal ones are left out.
    flat = [number for region in words for number in region]
    assume(len(flat) == len(set(flat)))
    regions = [[f"{number:03}" for number in region] for region in words]
    tokens: list[str] = []
    owners: list[int] = []
    unknown: list[list[str]] = [[] for _ in regions]
    for number, region in enumerate(regions, start=1):
        for word in region:
            lost = data.draw(st.booleans())
            begins = not (tokens and tokens[-1] == "<unk>")
            owners.append(number if begins or not lost else owners[-1])
            tokens.append("<unk>" if lost else word)
            if lost:
                unknown[owners[-1] - 1].append(word)
    owners.append(owners[-1] if tokens and tokens[-1] == "<unk>" else len(regions))
    tokens.append("</s>")
    text, spans = join_regions([Region(" ".join(region)) for region in regions])
    alignment = align_tokens(text, spans, tokens, WORDS)
    assert list(alignment.regions) == owners
    assert [list(oov) for oov in alignment.oovs] == unknown


TYPES = st.lists(st.sampled_from(["<unk>", "<s>", "</s>", "a", "##", ""]), max_size=3).map(tuple)
SPECS = st.builds(
    ModelSpec,
    st.builds(Vocabulary, TYPES, TYPES, TYPES, TYPES),
    st.builds(
        Tokenizer,
        st.sampled_from(["word", "subword", "character"]),
        cased=st.booleans(),
        sentinel_position=st.sampled_from(["initial", "medial", "final"]),
        sentinel_pattern=st.sampled_from([None, "", "Ġ", "##", "</w>"]),
        drop_token_pattern=st.sampled_from([None, "", "[,.]+", "a*"]),
        metaspace=st.sampled_from([None, "▁", ""]),
        behaviors=st.sampled_from([(), ("moses",)]),
    ),
)
TOKEN = st.one_of(
    st.sampled_from(["<unk>", "<s>", "</s>", "a", "b", "▁a", "##b", "Ġ", "@-@", "", " ", "aa"]),
    st.text(max_size=3),
)


@given(
    regions=st.lists(st.text("ab .,Ġ#İß́\ud800", max_size=12) | st.text(max_size=6), min_size=1),
    tokens=st.lists(TOKEN, max_size=12),
    spec=SPECS,
)
@settings(deadline=None)
def test_anything_is_aligned_or_refused(regions, tokens, spec):
    text, spans = join_regions([Region(region) for region in regions])
    try:
        alignment = align_tokens(text, spans, tokens, spec)
    except CimentoError:
        return
    assert len(alignment.regions) == len(alignment.spans) == len(tokens)
    placed = [region for region in alignment.regions if region is not None]
    assert all(1 <= region <= len(regions) for region in placed)
    assert placed == sorted(placed)
    assert all(0 <= start <= end <= len(text) for start, end in alignment.spans)


def test_long_rows_of_unknown_words_do_not_hang():
    text = " ".join(["a b"] * 400)
    tokens = ["<unk>", "a"] * 399 + ["<unk>", "c"]
    with pytest.raises(TableError):
        align(text, tokens)


def test_a_prefix_after_a_token_of_nothing_goes_back_to_no_earlier_region():
    text, spans = join_regions([Region(""), Region("")])
    spec = ModelSpec(Vocabulary(prefix_types=("<s>",)), Tokenizer("word", cased=True))
    assert align_tokens(text, spans, ["", "<s>"], spec).regions == (2, 2)


@pytest.mark.golden
def test_every_case_of_the_reference_aligner(shared):
    path = shared / "golden" / "syntaxgym" / "alignment" / "heuristic_cases.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    assert cases
    for case in cases:
        text, spans = join_regions([Region(region) for region in case["regions"]])
        spec = parse_spec(json.dumps(case["spec"]), where=case["id"])
        wanted = case["reference"]
        mends = case["id"] == "special_type_is_dropped"
        if not (wanted["ok"] and (wanted["all_tokens_assigned_in_order"] or mends)):
            with pytest.raises(TableError):
                align_tokens(text, spans, case["tokens"], spec)
            continue
        alignment = align_tokens(text, spans, case["tokens"], spec)
        charged = {
            str(number): [
                token
                for token, region in zip(case["tokens"], alignment.regions, strict=True)
                if region == number
            ]
            for number in range(1, len(spans) + 1)
        }
        assert charged == wanted["region_to_tokens"], case["id"]
        oovs = {str(number): list(words) for number, words in enumerate(alignment.oovs, start=1)}
        assert oovs == wanted["oovs"], case["id"]


@pytest.mark.parametrize(
    ("tokens", "tokenizer"),
    [
        (["Perché", "l", "’", "è", "già", "là", "."], WORDS.tokenizer),
        (["▁Perché", "▁l", "’", "è", "▁gi", "à", "▁là", "."], META),
    ],
)
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_tokens_of_another_copy_of_the_text_find_the_regions_of_its_letters(
    tokens, tokenizer, form
):
    other = {"NFC": "NFD", "NFD": "NFC"}[form]
    regions = unicodedata.normalize(form, "Perché l'è | già là.")
    spec = spec_of(tokenizer)
    alignment = align(regions, [unicodedata.normalize(other, token) for token in tokens], spec)
    text = regions.replace(" | ", " ")
    asked = [token.removeprefix("▁").replace("’", "'") for token in tokens]
    assert [unicodedata.normalize("NFC", text[a:b]) for a, b in alignment.spans] == asked
    assert alignment.regions == (*[1] * 4, *[2] * (len(tokens) - 4))
    assert alignment.is_respelled
    assert not align(regions, [unicodedata.normalize(form, token) for token in asked]).is_respelled


def test_bytes_of_another_copy_of_the_text_find_its_letters():
    # GPT-2's letters of the bytes C3 A9 (é composed) and of 65 CC 81 (e and an accent after it).
    for written, token in (("perche\u0301", "ĠperchÃ©"), ("perch\u00e9", "ĠpercheÌģ")):
        alignment = align(f"E | {written} qui", ["E", token, "Ġqui"], spec_of(INITIAL))
        assert alignment.regions == (1, 2, 2)
        assert alignment.spans[1] == (2, 2 + len(written))


def test_other_letters_are_no_other_spelling():
    with pytest.raises(TableError, match="the text there is 'perchè'"):
        align("perchè", ["perché"])
