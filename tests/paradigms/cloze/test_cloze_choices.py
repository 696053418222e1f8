"""Options with roles: what people choose, and where a model's candidates have them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cimento import InputError
from cimento.paradigms.cloze import people
from cimento.paradigms.cloze.requests import Candidate
from cimento.suites.cloze import ClozeItem, Option

CONNECTIVES = ClozeItem(
    "mentre 1",
    "",
    " pioveva, leggevo.",
    (
        Option("mentre"),
        Option("quando", "plausible", ("quand'",)),
        Option("quindi", "implausible"),
        Option("tuttavia", "implausible"),
    ),
    none_option=True,
)


class TestChoices:
    @pytest.mark.parametrize(
        ("votes", "name", "options"),
        [
            ({"mentre": 5, "quando": 3}, "target", ("mentre",)),
            ({"quando": 4, "mentre": 4, "quindi": 1}, "target = plausible", ("mentre", "quando")),
            ({"quindi": 2, "tuttavia": 2}, "implausible = implausible", ("quindi", "tuttavia")),
            ({"quindi": 2, "tuttavia": 2, "mentre": 3}, "target", ("mentre",)),
            ({"none": 3, "mentre": 3}, "target = none", ("mentre", "none")),
            ({}, "unanswered", ()),
        ],
    )
    def test_the_majority_names_all_ties(self, votes, name, options):
        majority = people.majority(CONNECTIVES, votes)
        assert (majority.name, majority.options) == (name, options)

    def test_what_is_no_option_is_refused(self):
        with pytest.raises(InputError, match=r"people chose 'mentr'.*Did you mean 'mentre'"):
            people.majority(CONNECTIVES, {"mentr": 1})

    def test_majorities_are_counted(self):
        others = [replace(CONNECTIVES, id=str(number)) for number in range(3)]
        votes = {"0": {"mentre": 2}, "1": {"mentre": 1}, "2": {"quando": 1}}
        shares = people.count_majorities(others, votes)
        assert {name: (share.correct, share.n) for name, share in shares.items()} == {
            "target": (2, 3),
            "plausible": (1, 3),
        }

    @pytest.mark.parametrize(
        ("texts", "top", "first"),
        [
            ("Mentre quando", "both", "target"),
            ("quand' se", "plausible", "plausible"),
            ("quindi mentre", "target", "implausible"),
            ("##mentre se", "other", "other"),
            ("se ma", "other", "other"),
            ("", "other", "other"),
        ],
    )
    def test_where_the_options_are_among_candidates(self, texts, top, first):
        some = [Candidate("mentre 1", rank, text) for rank, text in enumerate(texts.split(), 1)]
        assert people.top_class(CONNECTIVES, some) == top
        assert people.first_match(CONNECTIVES, some) == first

    def test_only_k_candidates_count(self):
        some = [Candidate("mentre 1", rank, text) for rank, text in enumerate(["se", "mentre"], 1)]
        assert people.top_class(CONNECTIVES, some, 1) == "other"

    def test_classes_are_counted(self):
        other = replace(CONNECTIVES, id="2")
        some = {"mentre 1": [Candidate("mentre 1", 1, "mentre")]}
        shares = people.count_top_classes([CONNECTIVES, other], some)
        assert {name: share.correct for name, share in shares.items()} == {
            "target": 1,
            "plausible": 0,
            "both": 0,
            "other": 1,
        }
        first = people.count_first_matches([CONNECTIVES, other], some)
        assert {name: share.correct for name, share in first.items()} == {"target": 1, "other": 1}

    def test_letters_taken_apart_are_equal(self):
        item = ClozeItem("1", "", "", (Option("perché"),))
        assert people.top_class(item, [Candidate("1", 1, "perche\u0301")]) == "target"

    def test_labels_are_counted(self):
        shares = people.count_labels(["plausible", "dubious", "plausible"])
        assert {label: share.correct for label, share in shares.items()} == {
            "same meaning": 0,
            "plausible": 2,
            "dubious": 1,
            "unacceptable": 0,
        }

    def test_an_unknown_label_is_refused(self):
        with pytest.raises(InputError, match="Did you mean 'dubious'"):
            people.count_labels(["dubios"])

    def test_model_and_people(self):
        """People 3 to 1, model 1 to 3: JSD = 1 - H(.25) ... = H(.5) - H(.25) = 0.1887 bits."""
        agreement = people.option_agreement(
            CONNECTIVES, {"mentre": 3, "quando": 1, "none": 9}, {"mentre": 0.2, "quando": 0.6}
        )
        assert agreement.same_mode is False
        assert agreement.divergence_bits.value == pytest.approx(0.18872187554086717)
        equal = people.option_agreement(CONNECTIVES, {"mentre": 1}, {"mentre": 0.5})
        assert (equal.same_mode, equal.divergence_bits.value) == (True, 0.0)

    def test_silence_is_undefined(self):
        agreement = people.option_agreement(CONNECTIVES, {}, {"mentre": 0.5})
        assert agreement.same_mode is None
        assert agreement.divergence_bits.value is None
        assert agreement.divergence_bits.reason
