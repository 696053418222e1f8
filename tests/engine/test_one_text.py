"""A str where several are meant is one text, or one name, and never a row of letters."""

from __future__ import annotations

import pytest

import cimento
from cimento import UsageError, fill, score
from cimento.evaluation.free_fills import ask_texts, fill_texts
from cimento.models.questions import FillPolicy
from cimento.testing import check_model
from cimento.testing.models import uniform_scorer


def test_a_str_is_scored_as_one_text():
    alone = score("le lampade erano", "demo-causal", level="word")

    assert alone["text"].unique().to_list() == [1]
    assert alone["word"].to_list() == ["le", "lampade", "erano"]
    assert alone.equals(score(["le lampade erano"], "demo-causal", level="word"))


def test_a_str_is_one_context():
    one = score("accese", "demo-causal", contexts="Le lampade erano")

    assert one.equals(score(["accese"], "demo-causal", contexts=["Le lampade erano"]))
    with pytest.raises(UsageError, match="1 for 2 texts"):
        score(["accese", "spente"], "demo-causal", contexts="Le lampade erano")


def test_a_str_is_one_text_with_one_blank():
    policy = FillPolicy(k=3)

    one = fill_texts("La casa è ___.", "demo-masked", policy=policy)

    assert one.equals(fill_texts(["La casa è ___."], "demo-masked", policy=policy))


def test_options_of_one_text_need_no_list_of_lists():
    one, several = (
        ask_texts(text, "demo-causal", options=options)
        for text, options in (
            ("La casa è ___.", ["nuova", "nuovo"]),
            (["La casa è ___."], [["nuova", "nuovo"]]),
        )
    )

    assert one == several
    assert {fill.candidate for fill in one[0]} >= {"nuova", "nuovo"}


def test_options_that_are_not_as_many_as_texts_are_told():
    with pytest.raises(UsageError, match="1 for 2 texts"):
        fill_texts(["La ___.", "Il ___."], "demo-masked", options=[["casa"]])


def test_one_suite_and_one_model_need_no_list():
    [run] = cimento.evaluate_all("en-subject-verb", "demo-causal", limit=2)

    assert isinstance(run, cimento.Run)
    assert (run.suite.name, run.n_items) == ("en-subject-verb", 2)


def test_the_conformance_kit_wants_several_texts():
    with pytest.raises(UsageError, match="list of 3 different texts"):
        check_model(None, texts="le lampade erano")


def test_a_sentence_has_the_sum_of_its_tokens():
    texts = ["Le lampade erano accese.", "Dorme."]
    tokens = score(texts, uniform_scorer(8), level="token")
    sentences = score(texts, uniform_scorer(8), level="sentence")
    # A uniform model over eight tokens: three bits each.
    assert sentences["n_tokens"].to_list() == [5, 2]
    assert sentences["surprisal_bits"].to_list() == pytest.approx([15.0, 6.0])
    assert sentences["surprisal_bits_per_token"].to_list() == pytest.approx([3.0, 3.0])
    assert tokens["surprisal_bits"].sum() == pytest.approx(sentences["surprisal_bits"].sum())


def test_texts_may_come_from_an_iterator():
    texts = ["Piove.", "Nevica ora."]
    for level in ("token", "word", "sentence"):
        assert score(iter(texts), uniform_scorer(8), level=level).equals(
            score(texts, uniform_scorer(8), level=level)
        )


def test_a_sentence_with_an_unscored_token_has_no_sum():
    [row] = score("Dorme.", "demo-causal", level="sentence", bos="none").to_dicts()
    assert row["surprisal_bits"] is None
    assert row["unscored_reason"] == "first token without left context"


def test_a_level_that_is_none_is_told():
    with pytest.raises(UsageError, match="sentence"):
        score("Dorme.", "demo-causal", level="sentences")


def test_blanks_are_filled_with_plain_options():
    one = fill("La casa è ___.", "demo-masked", k=3, among=["rossa", "rosso"])
    assert one.filter(one["method"] == "mask").height == 3
    with pytest.raises(UsageError, match="batch_size"):
        fill("La casa è ___.", "demo-masked", batchsize=3)


def test_an_empty_text_has_no_tokens_and_says_so():
    empty, full = score(["", "Dorme."], uniform_scorer(8), level="sentence").to_dicts()
    assert (empty["n_tokens"], empty["surprisal_bits"]) == (0, None)
    assert empty["unscored_reason"] == "the text is empty"
    assert (full["n_tokens"], full["unscored_reason"]) == (2, None)


def test_tokens_are_shown_as_text_beside_their_names_in_the_vocabulary():
    tokens = cimento.score("La città è bella.", "demo-causal")
    assert tokens["token"].to_list() == ["La", "cit", "t", "à", "è", "b", "ella", "."]
    assert tokens["vocabulary"].to_list()[3:6] == ["Ãł", "ĠÃ¨", "Ġb"]
    assert "vocabulary" not in cimento.score("La città.", "demo-causal", level="word").columns
