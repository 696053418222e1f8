"""One vocabulary of kinds of test: the same names in the code, the lists, README and glossary."""

from __future__ import annotations

from pathlib import Path

import pytest

from cimento.app.start import KINDS
from cimento.app.words import LANGUAGES, words
from cimento.kinds.registry import PARADIGMS
from cimento.suites.builtin import list_builtin, template_kinds
from cimento.suites.kinds import in_words, kinds, paradigm_named
from tests.helpers.command_line import invoke

ROOT = Path(__file__).parents[2]


def test_every_paradigm_and_every_template_is_a_kind_with_a_name_in_each_language():
    assert {name for name, kind in kinds().items() if kind.paradigm == name} == {*PARADIGMS}
    assert {*KINDS} == {*template_kinds()} <= {*kinds()}
    for name, kind in kinds().items():
        assert {*kind.words} == {*LANGUAGES}, name
        assert kind.paradigm in PARADIGMS, name
        assert words("it").named("kind", name) == kind.words["it"]
    assert (paradigm_named("acceptability"), paradigm_named("of-a-plugin")) == (
        "ratings", "of-a-plugin",
    )  # fmt: skip


@pytest.mark.slow
def test_lists_of_suites_and_templates_say_kinds_by_both_names(capsys):
    assert {suite.kind for suite in list_builtin()} <= {*PARADIGMS}
    assert invoke(["suites", "list"]) == 0
    listed = capsys.readouterr().out
    assert invoke(["suites", "new", "-h"]) == 0
    offered = " ".join(capsys.readouterr().out.split())
    for suite in list_builtin():
        assert f"{suite.kind}: {in_words(suite.kind)}" in listed
    for name in template_kinds():
        assert f"{name} ({in_words(name)})" in offered


def test_the_readme_names_the_kinds_as_the_code_does():
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    named = text.partition("Five kinds of test")[2].partition(". ")[0]
    places = [named.find(in_words(name)) for name in PARADIGMS]
    assert -1 not in places
    assert places == sorted(places)


def test_every_template_is_in_english_unless_another_language_is_asked_for(tmp_path, capsys):
    for kind in template_kinds():
        assert invoke(["suites", "new", kind, str(tmp_path / kind)]) == 0
        assert "The suite's language is en" in capsys.readouterr().err
        toml = (tmp_path / kind / "suite.toml").read_text(encoding="utf-8")
        assert 'language = "en"' in toml
