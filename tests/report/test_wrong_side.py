"""Results that are surely on the wrong side say so, and only those, in every form of a run."""

from __future__ import annotations

import dataclasses
import html

import polars as pl
import pytest

import cimento
from cimento import evaluate
from cimento.documents import markdown
from cimento.paradigms.prompted.prompts import prompted_suite
from cimento.records.outcomes import Estimate
from cimento.records.wrong_side import wrong_sides
from cimento.testing import FakeScorer
from tests.helpers.judging import make_suite
from tests.helpers.prompting import PAIRS, knows
from tests.helpers.prompting import ask as ask_by_prompt
from tests.helpers.rated import judged, rated, sentence
from tests.helpers.stories import TRIPLES, Hashes
from tests.helpers.stories import ask as ask_stories

RATE = Estimate(suite="s", model="m", question="q", value=0.317, low=0.213, high=0.442, n=60,
                right=19, chance=0.5, near_tied=0)  # fmt: skip
SPEARMAN = Estimate(suite="s", model="m", question="lp", statistic="spearman")
DD = Estimate(suite="s", model="m", question="DD", statistic="DD", group="phenomenon",
              level="whether", value=-2.0, low=-3.0, high=-1.0, n=20)  # fmt: skip
ROUND = "the right way round?"


def test_an_accuracy_whose_interval_lies_below_chance_asks_whether_columns_were_exchanged():
    assert wrong_sides([RATE]) == (f"Below chance, surely: are good and bad {ROUND}",)
    for high, chance in ((0.5, 0.5), (0.6, 0.5), (0.442, None)):
        assert wrong_sides([dataclasses.replace(RATE, high=high, chance=chance)]) == ()
    [other] = wrong_sides([dataclasses.replace(RATE, near_tied=None)])
    assert other.endswith(f"right and wrong answers {ROUND}")


def test_several_predictions_below_chance_are_named_in_one_sentence():
    named = [dataclasses.replace(RATE, question=name) for name in ("plain", "far", "near", "all")]
    named[2] = dataclasses.replace(named[2], high=0.6)
    details = [dataclasses.replace(RATE, question="plain", role="detail")]
    by_group = [dataclasses.replace(RATE, group="phenomenon", level="number")]
    [said] = wrong_sides([*named, *details, *by_group])
    assert said == f"Below chance, surely (plain, far and all): are good and bad {ROUND}"


@pytest.mark.parametrize(
    ("measure", "low", "high", "wrong"),
    [
        ("lp", -0.96, -0.46, True),
        ("lp", -0.96, 0.01, False),
        ("lp", 0.46, 0.96, False),
        ("ppl", 0.46, 0.96, True),
        ("ppl", -0.96, -0.46, False),
        ("lp", None, None, False),
    ],
)
def test_a_correlation_with_the_other_sign_is_no_success(measure, low, high, wrong):
    spearman = dataclasses.replace(SPEARMAN, question=measure, low=low, high=high)
    assert bool(wrong_sides([spearman])) == wrong


def test_measures_of_the_other_sign_are_named_together_and_so_are_designs():
    against = {"low": -0.9, "high": -0.4}
    measures = [
        dataclasses.replace(SPEARMAN, question=name, **against) for name in ("lp", "meanlp")
    ]
    area = dataclasses.replace(SPEARMAN, statistic="AUC", low=0.1, high=0.4)
    designs = [DD, dataclasses.replace(DD, level="adjunct"), dataclasses.replace(DD, high=0.1)]
    assert [said.partition(" surely")[0] for said in wrong_sides([*measures, area, *designs])] == [
        "Spearman's rho of lp and meanlp",
        "AUC of lp is",
        "whether and adjunct: DD is",
    ]
    assert wrong_sides([dataclasses.replace(DD, question="DD: matrix")]) == ()


class Contrary(Hashes):
    """A model that answers whether a story is plausible, and always wrongly."""

    def _nats(self, context: str, token: str) -> float:
        told = [story for story in TRIPLES if " ".join(story.sentences) in context]
        said = {"vero": True, "falso": False}.get(token)
        if not told or said is None:
            return super()._nats(context, token)
        return -3.0 if said == told[0].plausible else -0.1


def exchanged_pairs():
    rows = [{"a": f"good {n}", "b": f"bad {n}"} for n in range(12)]
    predictions = ["(*;%a%) < (*;%b%)", "(1;%a%) < (1;%b%)"]
    return evaluate(
        make_suite(predictions, rows), FakeScorer(lambda tokens, _: -1.0 - (tokens[0] == "good"))
    )


def ratings_turned_round():
    # The score falls with the length of a sentence, and the ratings rise with it.
    some = rated(*(sentence(str(n), "x" * n, 1 + n / 5 + n % 3 / 4) for n in range(1, 16)))
    return judged(some).run


def exchanged_options():
    blanks = pl.DataFrame(
        {
            "text": [f"Piove {n} ___ restiamo." for n in range(12)],
            "target": ["bad"] * 12,
            "implausible": ["good|fair"] * 12,
        }
    )
    prefers = {"good": -0.1, "fair": -1.0, "bad": -5.0}
    model = FakeScorer(lambda tokens, index: prefers.get(tokens[index], -2.0))
    return evaluate(cimento.cloze(blanks, language="it"), model)


def contrary_stories():
    return ask_stories(Contrary(), shots=0)


def contrary_replies():
    def contrary(prompt):
        return next(answer for answer in prompt.answers if answer != knows(prompt))

    more = [(f"Oggi {good}", f"Oggi {bad}") for good, bad in PAIRS]
    suite = prompted_suite(cimento.pairs([*PAIRS, *more], name="it-more", language="it"))
    return ask_by_prompt(suite, contrary, task="choice")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (exchanged_pairs, "are good and bad the right way round?"),
        (ratings_turned_round, "do higher ratings mean better sentences?"),
        (exchanged_options, "are right and wrong answers the right way round?"),
        (contrary_stories, "are right and wrong answers the right way round?"),
        (contrary_replies, "are right and wrong answers the right way round?"),
    ],
    ids=["regions", "ratings", "cloze", "stories", "prompted"],
)
def test_terminal_report_summary_and_notebook_say_the_same_once(make, said):
    run = make()
    [sentence] = [warning for warning in run.summary().warnings if said in warning]
    assert run.warnings == run.summary().warnings
    forms = {
        "terminal": run.paradigm.presenter.text([run]),
        "markdown": markdown([run]),
        "notebook": html.unescape(run._repr_html_()),
    }
    for name, form in forms.items():
        assert " ".join(form.split()).count(sentence) == 1, name
    [section] = run.paradigm.presenter.sections([run])
    assert [note for note in section.runs[0].notes if said in note] == [sentence]


def test_results_on_the_right_side_have_no_such_sentence():
    rows = [{"a": f"bad {n}", "b": f"good {n}"} for n in range(12)]
    right = evaluate(
        make_suite(["(*;%a%) < (*;%b%)"], rows),
        FakeScorer(lambda tokens, _: -1.0 - (tokens[0] == "good")),
    )
    assert not any(ROUND in warning for warning in right.warnings)
