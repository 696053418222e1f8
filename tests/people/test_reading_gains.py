"""What surprisals add to reading times: which rows, which predictors, and which sign."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from cimento import UsageError, join_surprisals
from cimento.people.reading_gains import (
    ITEMS,
    SUBJECTS,
    GainRules,
    ReadingColumns,
    reading_gains,
)
from cimento.people.word_positions import WordColumns
from cimento.testing import FakeScorer
from tests.helpers.command_line import invoke

FEW = GainRules(before=1, folds=2)


def columns(**more):
    return ReadingColumns(word=WordColumns(), **{"rt": "rt", "subject": "subject", **more})


def read(*, subjects=6, texts=6, words=6, seed=2) -> pl.DataFrame:
    """Invented times that depend on the surprisals A of a word and of the one before, not on B."""
    generator = np.random.default_rng(seed)
    a, b = generator.gamma(3, 2, (2, texts, words))
    length = generator.integers(2, 9, (texts, words))
    means = 5.6 + 0.03 * length + 0.05 * a
    means[:, 1:] += 0.02 * a[:, :-1]
    times = means + generator.normal(0, 0.3, (subjects, 1, 1))
    times += generator.normal(0, 0.15, times.shape)
    subject, text, word = (part.ravel() for part in np.indices(times.shape))
    return pl.DataFrame(
        {
            "text": [f"t{number}" for number in text],
            "position": word + 1,
            "word": ["a" * int(n) for n in length[text, word]],
            "subject": [f"s{number}" for number in subject],
            "rt": np.exp(times).ravel(),
            "A": a[text, word],
            "B": b[text, word],
        }
    )


@pytest.fixture(scope="module")
def made():
    return reading_gains(read(), {}, columns(given=("A", "B")), rules=FEW)


def test_surprisals_behind_the_times_gain_and_noise_does_not(made):
    gains = {(one.model, one.new): one for one in made.gains}
    for new in (SUBJECTS, ITEMS):
        assert gains["A", new].low > 0
        assert gains["B", new].low < 0
        [pair] = [pair for pair in made.pairs if pair.new == new]
        assert (pair.model, pair.other) == ("A", "B")
        # The difference is of the same observations, so it is the difference of the means.
        assert pair.nats == pytest.approx(gains["A", new].nats - gains["B", new].nats)
        assert pair.p_holm == pair.p < 0.05


def test_the_test_is_over_subjects_crossed_with_items(made):
    """Degrees of freedom are those of six readers: t and the ends of the interval agree on them."""
    one = made.gains[0]
    reach = (one.high - one.low) / 2
    error = reach / stats.t(5).ppf(0.975)
    assert one.p == pytest.approx(2 * stats.t(5).sf(one.nats / error))
    assert (one.subjects, one.items, one.n) == (6, 6, 180)


def test_rows_are_left_out_for_the_reasons_that_are_given():
    table = read().with_columns(rt=pl.col("rt").cast(pl.String))
    times = table["rt"].to_list()
    times[1], times[2], times[3], times[4] = "", "NA", "50", "9000"
    rules = GainRules(before=1, folds=2, longest=8000)
    made = reading_gains(
        table.with_columns(rt=pl.Series(times)), {}, columns(given=("A",)), rules=rules
    )
    assert made.left_out == {
        "the first word of its text": 36,
        "no number as reading time": 2,
        "time outside 100 to 8000": 2,
    }
    assert made.n == len(table) - 40
    with pytest.raises(UsageError, match=r"no observation is left.*216: time outside 1e\+06"):
        reading_gains(read(), {}, columns(given=("A",)), rules=GainRules(shortest=1e6, longest=1e7))


def test_frequency_length_and_earlier_words_are_in_the_baseline():
    made = reading_gains(
        read(), {}, columns(given=("A",), baseline=("B",)), rules=FEW,
        frequency=lambda word: 7 - len(word) ** 0.5,
    )  # fmt: skip
    assert made.baseline == (
        "position", "length", "zipf", "length:zipf", "length_1", "zipf_1", "length_1:zipf_1", "B",
    )  # fmt: skip
    assert made.surprisals == ("surprisal_bits", "surprisal_bits_1")
    twice = read().with_columns(C=3 - pl.col("position"))
    made = reading_gains(twice, {}, columns(given=("A",), baseline=("C",)), rules=FEW)
    assert made.constant == ("C",)


def test_a_column_of_a_models_surprisals_gains_what_the_model_does():
    table = read(subjects=5, texts=5)
    model = FakeScorer(lambda tokens, index: -float(1 + (7 * index + 3 * len(tokens[index])) % 5))
    joined = join_surprisals(table, model, before=0)["surprisal_bits"]
    both = reading_gains(
        table.with_columns(own=joined), {"m": model}, columns(given=("own",)), rules=FEW
    )
    for new in (SUBJECTS, ITEMS):
        one, other = (gain for gain in both.gains if gain.new == new)
        assert one.nats == other.nats is not None
    assert all(pair.nats == 0 and pair.p is None and pair.reason for pair in both.pairs)


def test_times_without_readers_are_about_texts_alone():
    table = (
        read()
        .group_by("text", "position", "word", "A", maintain_order=True)
        .agg(pl.col("rt").mean())
    )
    made = reading_gains(table, {}, columns(subject="", given=("A",)), rules=FEW)
    assert [gain.new for gain in made.gains] == [ITEMS]
    assert (made.gains[0].subjects, made.gains[0].items) == (0, 6)


def test_what_cannot_be_used_is_refused():
    table = read()
    wrong = table.with_columns(A=pl.int_range(pl.len()))
    with pytest.raises(UsageError, match="has the values"):
        reading_gains(wrong, {}, columns(given=("A",)), rules=FEW)
    with pytest.raises(UsageError, match="there is none"):
        reading_gains(table, {}, columns())
    one = table.filter(text="t0", subject="s0")
    with pytest.raises(UsageError, match="one subject and one item"):
        reading_gains(one, {}, columns(given=("A",)), rules=FEW)
    with pytest.raises(UsageError, match="none of its cells is a number"):
        reading_gains(table, {}, columns(given=("subject",)))
    with pytest.raises(UsageError, match="no column 'Z'"):
        reading_gains(table, {}, columns(given=("Z",)))


def test_a_table_whose_participants_are_not_known_says_what_is_left_out_and_how_to_name_them(
    tmp_path, capsys
):
    file = tmp_path / "times.csv"
    read().rename({"subject": "sogg"}).write_csv(file)
    command = ["analyze", "reading-gains", str(file), "--before", "1", "--folds", "2"]
    assert invoke([*command, "--given", "A"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "no test on other subjects" in said
    assert "--columns participant=sogg" in said
    assert invoke([*command, "--given", "A", "--columns", "participant=sogg"]) == 0
    assert "No column of participants" not in capsys.readouterr().err


def test_columns_that_cannot_be_participants_are_not_suggested(tmp_path, capsys):
    """A list reads each word several times, a group is one, and a moment is of one observation."""
    file = tmp_path / "times.csv"
    table = read().rename({"subject": "sogg"}).with_row_index("moment", offset=7000)
    odd = pl.col("sogg").str.tail(1).cast(pl.Int64) % 2
    table = table.with_columns(list=odd, group=pl.lit("g1"), condition=pl.col("text"))
    command = ["analyze", "reading-gains", str(file), "--before", "1", "--folds", "2"]
    table.write_csv(file)
    assert invoke([*command, "--given", "A"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "If a column has them, name it: --columns participant=sogg. " in f"{said} "
    table.drop("sogg").write_csv(file)
    assert invoke([*command, "--given", "A"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert said.endswith("no test on other subjects.")


def test_a_subject_is_a_participant_and_other_roles_are_not_listed(tmp_path, capsys):
    file = tmp_path / "times.csv"
    read().rename({"subject": "sogg"}).write_csv(file)
    command = ["analyze", "reading-gains", str(file), "--before", "1", "--folds", "2"]
    command += ["--given", "A"]
    assert invoke([*command, "--columns", "subject=sogg"]) == 0
    assert 'participant = "sogg"' in capsys.readouterr().err
    assert invoke([*command, "--columns", "good=sogg"]) == 2
    known = "Known: participant, position, rt, subject, text, word."
    assert known in " ".join(capsys.readouterr().err.split())


def test_gains_of_nothing_are_refused_before_the_table_is_read(tmp_path, capsys):
    assert invoke(["analyze", "reading-gains", str(tmp_path / "times.csv")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "Add -m MODEL, or --given COLUMN for surprisals from elsewhere." in said


def test_a_second_model_is_refused_where_one_is_joined(tmp_path, capsys):
    file = tmp_path / "times.csv"
    read().write_csv(file)
    models = ["-m", "demo-causal", "--model", "demo-masked"]
    assert invoke(["analyze", "reading-times", str(file), *models]) == 2
    assert "given 2 times, and this command takes one" in capsys.readouterr().err


def test_the_command_says_what_was_done(tmp_path, capsys):
    file = tmp_path / "times.csv"
    read().write_csv(file)
    command = ["analyze", "reading-gains", str(file), "--before", "1"]
    command += ["--given", "A", "--given", "B"]
    assert invoke([*command, "--folds", "2"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    for said in (
        "New subjects: A predicts better than B (p ",
        "New items: A predicts better than B (p ",
        "180 observations, 6 subjects, 6 items. Left out: 36: the first word of its text",
        "ln time ~ 1 + position + length + length_1, with random intercepts for subjects and items",
        "Up to 2 folds (seed 0)",
        "over subjects and, crossed with them, items",
    ):
        assert said in printed
    assert invoke([*command, "--folds", "2", "--methods"]) == 0
    paragraph = capsys.readouterr().out
    for said in (
        "the surprisals of A and B add to a baseline of reading times",
        "on 180 observations (6 subjects and 6 items).",
        "predict the natural logarithm of the time, by restricted likelihood",
        "position, length and length_1 in the baseline",
        "Predictors of 1 earlier word are among them",
        "difficulty spills over (Smith and Levy 2013).",
        "log-likelihood per observation (Goodkind and Bicknell 2018), in up to 2 folds (seed 0)",
        "corrected by Holm's method (Holm 1979) over 2 tests.",
    ):
        assert said in paragraph
    assert "A word is" not in paragraph  # surprisals from elsewhere
    assert invoke([*command, "--json", "--transform", "none"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["rules"]["transform"] == "none"
    assert {gain["new"] for gain in record["gains"]} == {SUBJECTS, ITEMS}
    file.write_text(file.read_text(encoding="utf-8").replace(",rt,", ",other,", 1), "utf-8")
    assert invoke(command) == 2
    assert "--columns rt=COLUMN" in capsys.readouterr().err


def test_it_is_said_which_of_two_models_predicts_better_or_that_it_is_not_shown(tmp_path, capsys):
    """Columns of noise, and a third model: of several pairs the table speaks alone."""
    file = tmp_path / "times.csv"
    noise = np.random.default_rng(5).gamma(3, 2, (6, 6))
    texts, words = (part.ravel() for part in np.indices((6, 6, 6))[1:])
    read().with_columns(C=noise[texts, words]).write_csv(file)
    command = ["analyze", "reading-gains", str(file), "--before", "1", "--folds", "2"]

    def printed(*names: str) -> str:
        assert invoke([*command, *(part for name in names for part in ("--given", name))]) == 0
        return " ".join(capsys.readouterr().out.split())

    assert "New items: A predicts better than B (p" in printed("B", "A")
    said = printed("B", "C")
    assert "New items: not shown whether B or C predicts better (p" in said
    assert "predicts better" not in printed("A")
    assert "predicts better" not in printed("A", "B", "C")


def test_methods_say_which_tokens_are_of_a_word_and_how_words_end(tmp_path, capsys):
    file = tmp_path / "times.csv"
    read(subjects=3, texts=3).write_csv(file)
    command = ["analyze", "reading-gains", str(file), "--before", "0", "--folds", "2", "--methods"]

    def paragraph(*more: str) -> str:
        assert invoke([*command, *more]) == 0
        return capsys.readouterr().out

    said = paragraph("-m", "demo-causal", "--boundary", "auto")
    assert "a token belongs to the word in which it begins, the blank before it aside." in said
    assert "Scores were computed in float32, with <|bos|> before the first token." in said
    corrected = "are of whole words, corrected for where words may end, by word-start marks"
    assert f"Surprisals {corrected} (Pimentel and Meister 2024)." in said
    assert "not corrected for where words may end." in paragraph("-m", "demo-causal")

    said = paragraph("-m", "demo-causal", "-m", "demo-masked", "--pll", "original", "--given", "A")
    assert "Surprisals of demo-causal are sums over the tokens of a word, not corrected" in said
    masked = "pseudo-log-likelihoods, masking one token at a time (Salazar et al. 2020)"
    assert f"Surprisals of demo-masked are of {masked}." in said


@pytest.mark.parametrize("command", ["reading-gains", "reading-times"])
def test_methods_and_a_file_are_refused_together(command, tmp_path, capsys):
    file = tmp_path / "tempi.csv"
    file.write_text("text,position,word,subject,rt\n1,1,Piove,s1,300\n", encoding="utf-8")
    asked = ["analyze", command, str(file), "-m", "demo-causal", "--methods"]
    assert invoke([*asked, "-o", str(tmp_path / "metodi.csv")]) == 2
    assert "--methods prints a paragraph, and writes no file" in capsys.readouterr().err
    assert not (tmp_path / "metodi.csv").exists()
