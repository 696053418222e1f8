"""Suites that have mean ratings already, and people's answers for some of their sentences."""

from __future__ import annotations

import pytest

from cimento import InputError
from cimento.judgments import Judgment, table_of, write_judgments
from cimento.people.annotate.importing import apply_judgments
from tests.helpers.command_line import invoke
from tests.helpers.rated import load_rated


def means_beside_pairs(folder):
    """A sheet with means of three sentences, a folder, and answers about one of these three."""
    source = folder / "pairs.csv"
    source.write_text(
        "item,good,bad,rating good (1-5),rating bad (1-5)\n"
        "1,Le finestre erano aperte.,Le finestre era aperte.,4.8,1.4\n"
        "2,La città è bella.,La città è bello.,3.1,\n",
        encoding="utf-8",
    )
    answers = [
        Judgment(suite="pairs", item="2", condition="good", annotator=name, value=value)
        for name, value in (("a", "4"), ("b", "5"))
    ]
    return source, folder / "rated", write_judgments(table_of(answers), folder / "j.csv")


def test_means_in_the_sheet_stay_where_nobody_answered(tmp_path, capsys):
    source, rated_, judgments = means_beside_pairs(tmp_path)
    words = ["annotate", "apply", str(source), str(judgments), "-o", str(rated_)]
    assert invoke(words) == 0
    said = capsys.readouterr().err
    assert "Ratings of 3 sentences were in the suite already: 1 replaced by the" in said
    assert "answers, 2 kept." in said
    assert "1 sentence of the suite without ratings" in said
    given = {
        sentence.id: (sentence.mean, sentence.n) for sentence in load_rated(rated_).rated.sentences
    }
    assert given == {
        "1/good": (4.8, None), "1/bad": (1.4, None),
        "2/good": (4.5, 2), "2/bad": (None, None),
    }  # fmt: skip


@pytest.mark.parametrize("question", ["acceptability", "acceptable"])
def test_answers_on_another_scale_than_means_that_stay_are_refused(tmp_path, question):
    source, rated_, _ = means_beside_pairs(tmp_path)
    yes_no = question == "acceptable"
    answer = Judgment(
        suite="pairs", item="2", condition="good", annotator="a", question=question,
        value="yes" if yes_no else "7", scale="" if yes_no else "1 to 7",
    )  # fmt: skip
    with pytest.raises(InputError, match="of 2 sentences that it has already are from 1 to 5"):
        apply_judgments(source, [answer], rated_)
    assert not rated_.exists()


def test_ratings_in_words_are_said_to_be_words(tmp_path):
    source, rated_, _ = means_beside_pairs(tmp_path)
    answers = [
        Judgment(suite="pairs", item="2", condition=condition, annotator="a", value=value)
        for condition, value in (("good", "perfecta"), ("bad", "mala"))
    ]
    with pytest.raises(InputError) as caught:
        apply_judgments(source, answers, rated_, scale=(1, 5))
    assert "2 of 2 are not numbers, such as 'perfecta', 'mala'" in str(caught.value)
    assert '"perfecta" = "NUMBER"' in caught.value.todo
    assert "--mapping" in caught.value.todo
