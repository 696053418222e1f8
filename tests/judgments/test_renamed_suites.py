"""Answers about a suite that has another name now: they count if all are about its sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cimento import InputError
from cimento.judgments import Judgment
from cimento.kinds.registry import load_suite
from cimento.people.annotate.importing import apply_judgments
from cimento.suites.ratings import rated_of


class TestACopyUnderAnotherName:
    """The suite that people judged, in a file with another name."""

    def answers(self, **changed):
        texts = {"good": "Il cane dorme.", "bad": "Il cane dormono."}
        return [
            replace(
                Judgment(suite="coppie", item="1", condition=condition, candidate=text,
                         annotator="p", value="4", scale="1 to 5"),
                **changed,
            )
            for condition, text in texts.items()
        ]  # fmt: skip

    def suite(self, tmp_path):
        path = tmp_path / "copia.csv"
        path.write_text("item,good,bad\n1,Il cane dorme.,Il cane dormono.\n", encoding="utf-8")
        return path

    def test_it_has_the_answers_to_its_own_sentences(self, tmp_path):
        path, folder = self.suite(tmp_path), tmp_path / "rated"
        applied = apply_judgments(path, self.answers(), folder, language="it")
        assert (applied.used, applied.asked_as, applied.suite) == (2, "coppie", "copia")
        ratings = {one.text: one.mean for one in rated_of(load_suite(folder).suite).sentences}
        assert ratings == {"Il cane dorme.": 4, "Il cane dormono.": 4}

    @pytest.mark.parametrize("changed", [{"candidate": "Il gatto dorme."}, {"item": "2"}])
    def test_one_answer_about_another_sentence_and_it_is_another_suite(self, tmp_path, changed):
        answers = [*self.answers(), *self.answers(annotator="q", **changed)]
        with pytest.raises(InputError, match="which you gave to `cimento annotate import`"):
            apply_judgments(self.suite(tmp_path), answers, tmp_path / "rated", language="it")

    def test_answers_about_two_suites_belong_to_neither(self, tmp_path):
        answers = [*self.answers(), *self.answers(annotator="q", suite="altre")]
        with pytest.raises(InputError, match="about the suite 'altre'"):
            apply_judgments(self.suite(tmp_path), answers, tmp_path / "rated", language="it")
