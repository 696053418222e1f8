"""CoNLL-U as it is, and as it should not be."""

from __future__ import annotations

import gzip
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import InputError
from cimento.corpus import token_spans, tree_faults
from cimento.corpus.conllu import ReadingProblem, read_sentences
from cimento.corpus.treebanks import fingerprint, may_show, open_treebanks

GOOD = """# newdoc id = lettere
# sent_id = a1
# text = Scrivo dell'estate, e di Lia.
1\tScrivo\tscrivere\tVERB\tV\tMood=Ind|Number=Sing\t0\troot\t0:root\t_
2-3\tdell'\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tdi\tdi\tADP\tE\t_\t4\tcase\t4:case\t_
3\tl'\til\tDET\tRD\t_\t4\tdet\t4:det\t_
4\testate\testate\tNOUN\tS\tGender=Fem\t1\tobl\t1:obl:di\tSpaceAfter=No
5\t,\t,\tPUNCT\tFF\t_\t8\tpunct\t8:punct\t_
6\te\te\tCCONJ\tCC\t_\t8\tcc\t8:cc\t_
6.1\tscrivo\tscrivere\tVERB\tV\t_\t_\t_\t1:conj\t_
7\tdi\tdi\tADP\tE\t_\t8\tcase\t8:case\t_
8\tLia\tLia\tPROPN\tSP\t_\t4\tconj\t4:conj|6.1:obl\tSpaceAfter=No
9\t.\t.\tPUNCT\tFS\t_\t1\tpunct\t1:punct\t_

# sent_id = a2
1\tPiove\tpiovere\tVERB\tV\t_\t0\troot\t_\tSpaceAfter=No
2\t.\t.\tPUNCT\tFS\t_\t1\tpunct\t_\t_
"""


def word(number, head, form="a"):
    return f"{number}\t{form}\t{form}\tX\t_\t_\t{head}\tdep\t_\t_"


def read(folder, content, **more):
    path = folder / "x_y-ud-dev.conllu"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_sentences(path, **more))


def test_words_and_tokens_are_read_and_empty_nodes_are_not(tmp_path):
    first, second = read(tmp_path, GOOD)
    assert (first.id, first.document) == ("a1", "lettere")
    assert [word.form for word in first.words] == [
        "Scrivo", "di", "l'", "estate", ",", "e", "di", "Lia", ".",
    ]  # fmt: skip
    assert first.multiwords[0][:3] == (2, 3, "dell'")
    assert first.words[0].feature("Number") == "Sing"
    assert first.words[0].feature("Gender") == ""
    assert first.n_tokens == 8
    assert second.text == "Piove."  # put together, since there is no comment
    assert second.document == "lettere"


def test_spans_of_tokens_are_those_of_the_text(tmp_path):
    first = read(tmp_path, GOOD)[0]
    spans = token_spans(first)
    assert [first.text[a:b] for a, b in spans] == [
        "Scrivo", "dell'", "estate", ",", "e", "di", "Lia", ".",
    ]  # fmt: skip
    other = GOOD.replace("text = Scrivo", "text = Ti scrivo")
    assert token_spans(read(tmp_path, other)[0]) is None


def test_gzipped_marked_dos_and_decomposed_files_are_the_same(tmp_path):
    expected = read(tmp_path, GOOD.replace("Lia", "Mercé"))
    changed = unicodedata.normalize("NFD", GOOD.replace("Lia", "Mercé")).replace("\n", "\r\n")
    assert read(tmp_path, b"\xef\xbb\xbf" + changed.encode()) == expected
    path = tmp_path / "x.conllu.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert list(read_sentences(path)) == read(tmp_path, GOOD)


@pytest.mark.parametrize(
    ("content", "line", "seen"),
    [
        ("1\ta\ta\tX\t_\t_\t0\troot\t_\n", 1, "9 columns and not 10"),
        ("1 a a X _ _ 0 root _ _\n", 1, "1 column and not 10; tabs separate them"),
        (word(1, 0) + "\n" + word(2, 7) + "\n", 2, "the head of word 2 is 7, but there are 2"),
        (word(1, 0) + "\n" + word(2, "x") + "\n", 2, "the head of word 2 is 'x' and no number"),
        (word(1, 2) + "\n" + word(2, 1) + "\n", 1, "no word has the head 0"),
        ("\n".join([word(1, 0), word(2, 3), word(3, 2)]), 2, "words 2, 3 go round in a circle"),
        (word(1, 0) + "\n" + word(2, 2) + "\n", 2, "words 2 go round in a circle"),
        (word(1, 0) + "\n" + word(2, 0) + "\n", 2, "word 2 is a second root, after word 1"),
        (word(1, 0) + "\n" + word(3, 1) + "\n", 2, "the ID is 3 where 2 should follow"),
        (word("1b", 0) + "\n", 1, "the ID is '1b'"),
        (word(1, 0, "") + "\n", 1, "the word 1 has no form"),
        ("2-1\tab" + "\t_" * 8 + "\n" + word(1, 0), 1, "2-1 is not a range of two words"),
        ("1-3\tab" + "\t_" * 8 + "\n" + word(1, 0), 1, "1-3 reaches beyond the 1 words"),
        ("1-2\tab" + "\t_" * 8 + "\n", 1, "1-2 reaches beyond the 0 words"),
        (
            word(1, 0).replace("a", "à").encode("latin-1"),
            1,
            "the byte 0xe0 after '1\\t' is not UTF-8",
        ),
    ],
)
def test_a_malformed_sentence_is_refused_with_its_line_or_skipped(tmp_path, content, line, seen):
    data = content if isinstance(content, bytes) else content.encode()
    data = b"# sent_id = bad\n" + data.rstrip(b"\n") + b"\n\n" + GOOD.encode()
    with pytest.raises(InputError) as refused:
        read(tmp_path, data)
    assert f"line {line + 1}, sentence bad" in str(refused.value)
    assert seen in str(refused.value)
    problems: list[ReadingProblem] = []
    assert [sentence.id for sentence in read(tmp_path, data, skipped=problems)] == ["a1", "a2"]
    assert problems[0].line == line + 1
    assert seen in problems[0].seen


def test_what_is_no_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="UTF-16"):
        read(tmp_path, GOOD.encode("utf-16"))
    path = tmp_path / "x.conllu.gz"
    path.write_bytes(gzip.compress(GOOD.encode())[:-12])
    with pytest.raises(InputError, match="cannot be read"):
        list(read_sentences(path))
    path.write_bytes(b"no gzip at all")
    with pytest.raises(InputError, match="cannot be read"):
        list(read_sentences(path))
    with pytest.raises(InputError, match="no such file"):
        open_treebanks([tmp_path / "absent.conllu"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no \.conllu file"):
        open_treebanks([tmp_path / "empty"])


def test_what_has_no_end_is_refused_before_it_fills_the_memory(tmp_path):
    path = tmp_path / "x.conllu.gz"
    for content in (b"a" * 30_000_000, b"# a\n" * 200_000):
        path.write_bytes(gzip.compress(content))
        with pytest.raises(InputError, match="Is it a CoNLL-U file"):
            list(read_sentences(path, skipped=[]))


def test_an_id_that_is_missing_or_there_twice_is_told_apart_by_its_line(tmp_path):
    content = "# sent_id = s\n" + word(1, 0) + "\n\n"
    problems: list[ReadingProblem] = []
    sentences = read(tmp_path, content * 2 + word(1, 0) + "\n", skipped=problems)
    assert [sentence.id for sentence in sentences] == ["s", "s (line 4)", "no sent_id (line 7)"]
    assert [problem.severity for problem in problems] == ["warning"]


def test_files_know_corpus_split_and_license(tmp_path):
    for name in ("it_isdt-ud-dev.conllu", "xx_own-ud-test.conllu"):
        (tmp_path / name).write_text(GOOD)
    first, second = open_treebanks([tmp_path])
    assert (first.corpus, first.split, first.license) == ("it_isdt", "dev", "CC BY-NC-SA 3.0")
    assert second.license == "not stated"
    (tmp_path / "README.md").write_text("# A treebank\nLicense: CC BY-SA 4.0\n")
    assert open_treebanks([tmp_path])[1].license == "CC BY-SA 4.0"
    assert open_treebanks([tmp_path], terms="CC0 1.0")[0].license == "CC0 1.0"


@pytest.mark.parametrize(
    ("terms", "open_"),
    [
        ("CC BY 4.0", True), ("CC-BY-SA-4.0", True), ("CC0-1.0", True), ("CC BY", True),
        ("CC BY-NC-SA 3.0", False), ("CC BY-ND 4.0", False), ("not stated", False), ("", False),
    ],
)  # fmt: skip
def test_only_licenses_that_allow_it_let_sentences_be_shown(terms, open_):
    assert may_show(terms) is open_


def test_texts_that_differ_in_case_marks_and_addresses_are_the_same():
    assert fingerprint("Che bello! http://t.co/x @lia") == fingerprint("che bello")
    assert fingerprint("che bello") != fingerprint("che brutto")


@st.composite
def heads(draw):
    n = draw(st.integers(1, 12))
    return draw(st.lists(st.integers(0, n), min_size=n, max_size=n))


@given(heads())
@settings(deadline=None)
def test_heads_are_a_tree_exactly_where_every_word_leads_to_one_root(numbers):
    from cimento.corpus import Word

    words = [Word(i, "a", "a", "X", "_", h, "d", "_") for i, h in enumerate(numbers, 1)]

    def leads_to_root(start):
        seen = set()
        while start and start not in seen:
            seen.add(start)
            start = numbers[start - 1]
        return start == 0

    is_tree = numbers.count(0) == 1 and all(leads_to_root(i) for i in range(1, len(numbers) + 1))
    assert (not list(tree_faults(words, list(range(len(words)))))) is is_tree


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_any_bytes_are_read_skipped_or_refused_with_a_message(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("bytes") / "x.conllu"
    path.write_bytes(data)
    try:
        list(read_sentences(path, skipped=[]))
    except InputError as error:
        assert str(error)  # noqa: PT017  # only this error may be raised, and not always is
