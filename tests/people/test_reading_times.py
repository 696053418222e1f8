"""Reading times joined to surprisals: every row with its own words, and clear refusals."""

from __future__ import annotations

import json
import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Asking, InputError, UsageError, join_surprisals
from cimento.evaluation.freetext import score_texts
from cimento.models.ngram import load_ngrams, locate_ngrams
from cimento.models.registry import open_scorer
from cimento.people.reading_times import (
    ENTROPY,
    READING_POLICY,
    read_observations,
    read_texts,
    without_marks,
    write_joined,
)
from cimento.people.word_positions import TextWords, WordColumns, all_words, word_positions
from cimento.testing import FakeScorer
from tests.helpers.command_line import invoke
from tests.helpers.spellings import spellings

TEXTS = {
    "a": "Il gatto della vicina dorme sul tetto.",
    "b": "Stasera, dopo cena, guardiamo un film.",
}


def observed(texts=TEXTS, *, subjects=("s1", "s2"), first=1) -> pl.DataFrame:
    """Invented reading times: every subject reads every word of every text."""
    rng = random.Random(5)  # noqa: S311  # invented numbers
    rows = [
        (text, number, word, subject, rng.randint(200, 600))
        for subject in subjects
        for text, content in texts.items()
        for number, word in enumerate(content.split(), start=first)
    ]
    return pl.DataFrame(rows, schema=["text", "position", "word", "subject", "rt"], orient="row")


@pytest.fixture(scope="module")
def model():
    """The demo model, loaded once."""
    return open_scorer("demo-causal", Asking(policy=READING_POLICY))


@pytest.fixture(scope="module")
def joined(model) -> pl.DataFrame:
    return join_surprisals(observed(), model)


def test_rows_and_columns_that_were_there_are_kept(joined):
    before = observed()
    assert joined.select(before.columns).equals(before)


def test_surprisals_are_those_of_the_words_of_the_text(joined, model):
    asking = Asking(policy=READING_POLICY)
    words = score_texts(list(TEXTS.values()), model, asking=asking, words=True)
    expected = words["surprisal_bits"].to_list()
    assert joined["surprisal_bits"].to_list() == expected * 2
    assert joined["unscored_reason"].null_count() == len(joined)


def test_earlier_words_are_those_of_the_same_text(joined):
    for distance in (1, 2):
        for (_, _), rows in joined.group_by("subject", "text", maintain_order=True):
            for name in ("surprisal_bits", "length"):
                shifted = rows[name].shift(distance).to_list()
                assert rows[f"{name}_{distance}"].to_list() == shifted


def test_lengths_and_frequencies_are_of_the_bare_word(model):
    table = join_surprisals(
        observed(subjects=("s1",)), model, before=0, frequency=lambda word: len(word) % 5
    )
    rows = {row["word"]: row for row in table.iter_rows(named=True)}
    assert rows["tetto."]["length"] == 5
    assert rows["Stasera,"]["length"] == 7
    assert rows["Stasera,"]["zipf"] == 2
    assert rows["tetto."]["zipf"] is None  # a frequency of 0 is an unknown word
    assert "surprisal_bits_1" not in table.columns


def test_the_order_of_rows_does_not_matter(joined, model):
    mixed = observed().sample(fraction=1.0, shuffle=True, seed=3)
    again = join_surprisals(mixed, model)
    keys = ["subject", "text", "position"]
    assert again.sort(keys).equals(joined.sort(keys))


def test_positions_may_begin_at_zero(joined, model):
    zero = join_surprisals(observed(first=0), model)
    assert zero["surprisal_bits"].to_list() == joined["surprisal_bits"].to_list()


def test_texts_that_count_from_0_and_from_1_are_told_apart(joined, model):
    """Text `a` counts from 0 and `b` from 1: each word has the surprisal that it has otherwise."""
    mixed = pl.concat([observed(first=0).filter(text="a"), observed().filter(text="b")])
    expected = joined.sort("text", maintain_order=True)["surprisal_bits"].to_list()
    said = []
    alone = join_surprisals(mixed, model, remark=said.append)
    assert alone["surprisal_bits"].to_list() == expected
    [remark] = said
    assert remark.startswith("Positions begin at 0 in text 'a' and at 1 in text 'b': each text is")
    whole = join_surprisals(mixed, model, texts=TEXTS, remark=said.append)
    assert whole["surprisal_bits"].to_list() == expected
    join_surprisals(observed(), model, remark=said.append)
    assert len(said) == 1
    # With the whole texts, rows that are missing hide no way of counting.
    later = pl.concat(
        [mixed.filter(text="a").filter(pl.col("position") > 2), mixed.filter(text="b")]
    )
    some = join_surprisals(later, model, texts=TEXTS)
    kept = alone.filter((pl.col("text") == "b") | (pl.col("position") > 2))
    assert some.equals(kept)


def test_a_model_that_sees_the_words_after_a_word_is_named():
    said: list[str] = []
    join_surprisals(observed(), "demo-masked", remark=said.append)
    [remark] = said
    assert remark.startswith("demo-masked@")
    assert "also from the words after it, which a reader has not seen yet" in remark
    join_surprisals(observed(), "demo-causal", remark=said.append)
    assert len(said) == 1


def test_repeated_words_do_not_shift_a_text(model):
    """`il il` at 1 and 2 of `il il il` may be its first two words or its last two."""
    rows = [("b", 1, "il"), ("b", 2, "il")]
    others = [("a", number, word) for number, word in enumerate(TEXTS["a"].split())]
    texts = {"a": TEXTS["a"], "b": "il il il"}
    schema = ["text", "position", "word"]
    with pytest.raises(InputError, match=r"'b'.*from 0 or from 1, and text 'a' is counted from 0"):
        join_surprisals(pl.DataFrame([*others, *rows], schema, orient="row"), model, texts=texts)
    by_one = [(text, number + 1, word) for text, number, word in others]
    table = pl.DataFrame([*by_one, *rows], schema, orient="row")
    whole = [("b", number, "il") for number in (1, 2, 3)]
    expected = join_surprisals(pl.DataFrame(whole, schema, orient="row"), model)
    found = join_surprisals(table, model, texts=texts).filter(text="b")
    bits = expected["surprisal_bits"].to_list()
    assert found["surprisal_bits"].to_list() == pytest.approx(bits[:2], abs=1e-4)
    assert abs(bits[0] - bits[1]) > 1


SPELLED = {"città": "Perché l'amica è in città?", "b": "Dov'è il tè?"}


@pytest.mark.slow
@given(st.data())
@settings(max_examples=10)
def test_no_spelling_of_words_and_texts_changes_a_join(data):
    """The texts are asked as the table of texts has them; its words are found in any spelling."""
    rows = [
        (data.draw(spellings(text)), number, data.draw(spellings(word)), subject)
        for subject in (1, 2)
        for text, content in SPELLED.items()
        for number, word in enumerate(content.split(), start=1)
    ]
    table = pl.DataFrame(rows, schema=["text", "position", "word", "subject"], orient="row")
    whole = {data.draw(spellings(text)): content for text, content in SPELLED.items()}
    scorer = FakeScorer(lambda tokens, index: -float(index + len(tokens[index])))
    made = join_surprisals(table, scorer, texts=whole)
    plain = [
        (text, number, word, subject)
        for subject in (1, 2)
        for text, content in SPELLED.items()
        for number, word in enumerate(content.split(), start=1)
    ]
    expected = join_surprisals(pl.DataFrame(plain, schema=table.schema, orient="row"), scorer)
    new = [name for name in made.columns if name not in table.columns]
    assert made.select(new).equals(expected.select(new))
    # Without the texts, those of the table are asked as they are first written; of every spelling,
    # words have the same number of characters.
    alone = join_surprisals(table, scorer)
    assert alone["length"].to_list() == expected["length"].to_list()


def test_rows_that_are_missing_need_the_texts(joined, model):
    part = observed().filter(pl.col("position") > 3)
    with pytest.raises(InputError, match="its word 1 is in no row, and word 7 is"):
        join_surprisals(part, model)
    with_surprisals = join_surprisals(part, model, texts=TEXTS)
    expected = joined.filter(pl.col("position") > 3)
    assert with_surprisals.equals(expected)


def test_entropies_stand_beside_if_asked_for(model):
    asking = Asking(policy=READING_POLICY, columns=(ENTROPY,))
    table = join_surprisals(observed(subjects=("s1",)), model, asking=asking)
    tokens = score_texts([TEXTS["a"]], model, asking=asking)
    assert table[ENTROPY][0] == tokens[ENTROPY][0]
    assert table[ENTROPY].null_count() == 0
    assert table[f"{ENTROPY}_1"][1] == table[ENTROPY][0]


def test_a_paragraph_says_what_is_in_the_joined_table(tmp_path, capsys):
    pytest.importorskip("wordfreq")
    path = write_joined(observed(), tmp_path / "times.csv")
    command = ["analyze", "reading-times", str(path), "-m", "demo-causal"]

    def paragraph(*more: str) -> str:
        assert invoke([*command, *more, "--methods"]) == 0
        return capsys.readouterr().out

    said = paragraph("--boundary", "auto", "--frequency", "it", "--entropy")
    # 13 words: 7 of text a and 6 of text b, each read by two subjects.
    for part in (
        "we joined 26 observations of 13 words in 2 texts",
        "from demo-causal (1.3M parameters, revision ",
        "in float32, with <|bos|> before the first token.",
        "corrected for where words may end, by word-start marks (Pimentel and Meister 2024).",
        "its Zipf frequency (wordfreq, it) and the entropy before its first token, in nats",
        "the same of 2 earlier words, since difficulty spills over (Smith and Levy 2013).",
    ):
        assert part in said
    assert "no surprisal" not in said
    assert len(said.split()) <= 150
    bare = paragraph("--bos", "none", "--before", "0")
    assert "4 observations have no surprisal (first token without left context: 4)." in bare
    assert "with nothing before the first token" in bare
    assert "not corrected for where words may end" in bare
    assert not {"Zipf", "entropy", "earlier"} & {*bare.replace(",", "").split()}
    command[-1] = "demo-masked"
    said = paragraph("--pll", "original")
    assert "pseudo-log-likelihoods, masking one token at a time (Salazar et al. 2020)" in said
    assert "before the first token" not in said


def test_a_closed_form(tmp_path):
    """A bigram model by hand: log10 P(a) = -1, P(b | a) = -0.25, P(a | b) = -0.5."""
    arpa = (
        "\\data\\\nngram 1=4\nngram 2=3\n\n\\1-grams:\n-1.0\t<s>\t0.0\n-1.0\ta\t0.0\n"
        "-1.0\tb\t0.0\n-1.0\t</s>\n\n\\2-grams:\n-1.0\t<s> a\n-0.25\ta b\n-0.5\tb a\n\n\\end\\\n"
    )
    path = tmp_path / "tiny.arpa"
    path.write_text(arpa, encoding="utf-8")
    model = load_ngrams(locate_ngrams(path), policy=READING_POLICY)
    rows = [("1", n, w) for n, w in enumerate(["a", "b", "a"], 1)]
    table = pl.DataFrame(rows, schema=["text", "position", "word"], orient="row")
    with_surprisals = join_surprisals(table, model)
    bits = 3.321928094887362  # python3 -c 'import math; print(math.log2(10))'
    expected = [bits, 0.25 * bits, 0.5 * bits]
    assert with_surprisals["surprisal_bits"].to_list() == pytest.approx(expected)


def test_what_does_not_agree_is_said_with_its_place():
    table = observed()
    other = table.with_columns(
        word=pl.when((pl.col("subject") == "s2") & (pl.col("position") == 2))
        .then(pl.lit("cane"))
        .otherwise("word")
    )
    with pytest.raises(InputError, match=r"row 16: word 2 of text 'a' is 'cane', and 'gatto'"):
        join_surprisals(other, "demo-causal")
    with pytest.raises(InputError, match=r"row 3: word 2 .* is 'gatto', and the text has cane"):
        join_surprisals(table, "demo-causal", texts={**TEXTS, "a": "Il cane dorme."})
    with pytest.raises(InputError, match=r"'b'.*not among the texts"):
        join_surprisals(table, "demo-causal", texts={"a": TEXTS["a"]})
    with pytest.raises(InputError, match="the text has nothing"):
        join_surprisals(table, "demo-causal", texts={**TEXTS, "b": "Stasera,"})


def test_tables_that_cannot_be_used_are_refused():
    table = observed()
    with pytest.raises(UsageError, match="no column 'item'"):
        join_surprisals(table, "demo-causal", names=WordColumns(text="item"))
    with pytest.raises(UsageError, match="'length' already"):
        join_surprisals(table.with_columns(length=pl.lit(1)), "demo-causal")
    with pytest.raises(InputError, match="no observations"):
        join_surprisals(table.clear(), "demo-causal")
    for position in ("two", "1.5", "-1", "", "nan", "inf", "1e999"):
        wrong = table.with_columns(position=pl.lit(position))
        with pytest.raises(InputError, match="row 2: the position is"):
            join_surprisals(wrong, "demo-causal")
    with pytest.raises(InputError, match="row 2: the word is empty"):
        join_surprisals(table.with_columns(word=pl.lit(" ")), "demo-causal")


def test_what_cannot_be_joined_is_said_before_a_model_is_loaded(tmp_path, capsys):
    table = observed().with_columns(surprisal_bits_1=pl.lit(1))
    with pytest.raises(UsageError, match="'surprisal_bits_1' already"):
        join_surprisals(table, "no-such-model")
    path = write_joined(observed(), tmp_path / "times.csv")
    assert (
        invoke(["analyze", "reading-times", str(path), "-m", "no-such-model", "-o", "joined.doc"])
        == 2
    )
    assert "joined.doc: ends in '.doc'" in capsys.readouterr().err


def test_words_that_begin_like_formulas_are_neutralized_on_request(tmp_path):
    path = write_joined(observed({"a": "=A1 e -2 +b."}), tmp_path / "times.csv")

    def words(*more):
        output = tmp_path / "joined.csv"
        assert (
            invoke(
                [
                    "analyze",
                    "reading-times",
                    str(path),
                    "-m",
                    "demo-causal",
                    "-o",
                    str(output),
                    *more,
                ]
            )
            == 0
        )
        return pl.read_csv(output)["word"].unique(maintain_order=True).to_list()

    assert words() == ["=A1", "e", "-2", "+b."]
    assert words("--spreadsheet-safe") == ["'=A1", "e", "-2", "'+b."]


def test_files_come_and_go(tmp_path):
    table = observed(subjects=("s1",))
    for suffix in (".csv", ".tsv", ".parquet"):
        path = write_joined(table, tmp_path / f"times{suffix}")
        back = read_observations(path)
        assert back.cast(pl.String).equals(table.cast(pl.String))
    with pytest.raises(UsageError, match=r"\.csv, \.tsv, \.parquet"):
        write_joined(table, tmp_path / "times.doc")
    (tmp_path / "bad.parquet").write_text("no", encoding="utf-8")
    with pytest.raises(InputError, match="Parquet"):
        read_observations(tmp_path / "bad.parquet")
    (tmp_path / "texts.csv").write_text("text;content\n1;Il gatto.\n1;Altro.\n", encoding="utf-8")
    with pytest.raises(InputError, match="row 3: the text '1' is there already"):
        read_texts(tmp_path / "texts.csv", column="text")


def test_the_command_writes_what_the_function_gives(tmp_path, capsys, joined):
    path = write_joined(observed(), tmp_path / "times.csv")
    assert invoke(["analyze", "reading-times", str(path), "-m", "demo-causal"]) == 0
    printed = capsys.readouterr().out
    assert printed.rstrip("\n") == joined.write_csv().rstrip("\n")
    target = tmp_path / "joined.parquet"
    assert (
        invoke(["analyze", "reading-times", str(path), "-m", "demo-causal", "-o", str(target)]) == 0
    )
    assert pl.read_parquet(target)["surprisal_bits"].equals(joined["surprisal_bits"])
    assert (
        invoke(
            ["analyze", "reading-times", str(path), "-m", "demo-causal", "--columns", "word=wrd"]
        )
        == 2
    )
    assert "no column 'wrd'. Did you mean 'word'?" in capsys.readouterr().err


def test_columns_of_other_names_are_found_by_their_cells_or_chosen(tmp_path, capsys):
    rows = "s1,1,1,Il,3\ns1,1,2,gatto,7\ns1,1,3,dorme.,5\n"
    path, target = tmp_path / "times.csv", tmp_path / "joined.csv"
    path.write_text(f"subject,item,zone,parola,TR\n{rows}", encoding="utf-8")
    command = ["analyze", "reading-times", str(path), "-m", "demo-causal", "-o", str(target)]
    assert invoke(command) == 0
    assert (
        'Read as words with measures: text = "item", position = "zone", word = "parola",'
        ' rt = "TR", participant = "subject"; 3 observations.' in capsys.readouterr().err
    )
    assert pl.read_csv(target)["surprisal_bits"].null_count() == 0
    path.write_text(f"subject,item,parola,quale,TR\n{rows}", encoding="utf-8")
    assert invoke(command) == 2
    assert "no column 'position'" in capsys.readouterr().err
    chosen = "position=parola,word=quale"
    assert invoke([*command, "--columns", chosen]) == 0
    assert 'position = "parola", word = "quale"' in capsys.readouterr().err
    assert invoke([*command, "--columns", "position=quale,word=parola"]) == 2
    assert "'quale' holds words (Il, gatto, dorme.), and no numbers of words" in (
        capsys.readouterr().err
    )


def test_decimal_commas_become_points_where_they_cannot_be_thousands(tmp_path, capsys):
    path = tmp_path / "times.csv"
    path.write_text(
        "text;position;word;rt;count;list\n1;1;Il;312,5;1,200;a,1\n1;2;gatto;345;2,100;b,2\n",
        encoding="utf-8",
    )
    assert (
        invoke(
            ["analyze", "reading-times", str(path), "-m", "demo-causal", "--before", "0", "--json"]
        )
        == 0
    )
    printed = capsys.readouterr()
    rows = json.loads(printed.out)["observations"]
    assert [(row["rt"], row["count"], row["list"]) for row in rows] == [
        ("312.5", "1,200", "a,1"),
        ("345", "2,100", "b,2"),
    ]
    assert printed.err.splitlines()[1:] == [
        "Column 'rt': decimal commas are now points (312,5 is 312.5)."
    ]


@given(
    st.lists(
        st.lists(st.text("abcè,.'", min_size=1, max_size=6), min_size=1, max_size=8),
        min_size=1,
        max_size=4,
    ),
    st.integers(0, 1),
)
@settings(deadline=None)
def test_words_come_back_as_they_were_given(texts, first):
    rows = [
        (str(text), number, word)
        for text, words in enumerate(texts)
        for number, word in enumerate(words, start=first)
    ]
    table = pl.DataFrame(rows, schema=["text", "position", "word"], orient="row")
    places = word_positions(table, WordColumns())
    assert all_words(places, None) == {
        str(n): TextWords(first, tuple(words)) for n, words in enumerate(texts)
    }
    assert [places.words[text][number][0] for text, number in places.rows] == [w for *_, w in rows]


@given(st.text(max_size=12))
@settings(deadline=None)
def test_a_bare_word_is_part_of_the_word(word):
    assert without_marks(word) in word
    assert without_marks(without_marks(word)) == without_marks(word)
