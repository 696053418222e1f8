"""Blanks after sentences of other items, of the same suite or of another one."""

from __future__ import annotations

import pytest

from cimento.errors import UsageError
from cimento.kinds.registry import load_suite
from cimento.suites import Meta, sentence
from cimento.suites.cloze import ClozeItem, ClozeSuite, MultiwordItem, Option, expand_suite
from cimento.suites.priming import prime
from tests.helpers.command_line import invoke

FILLED = {
    "Ana bebeu um copo de leite.",
    "O bebê tomou todo o leite.",
    "Rui abriu a porta com a chave.",
    "Perdi a chave do carro.",
}


def blank(name, before, after, target, phenomenon, word):
    columns = {"phenomenon": phenomenon, "noun": word}
    return ClozeItem(name, before, after, (Option(target),), columns=columns)


BLANKS = ClozeSuite(
    meta=Meta(name="palavras", language="pt"),
    items=(
        blank("1", "Ana bebeu um copo de ", ".", "leite", "food", "leite"),
        blank("2", "O bebê tomou todo o ", ".", "leite", "food", "leite"),
        blank("3", "Rui abriu a porta com a ", ".", "chave", "thing", "chave"),
        blank("4", "Perdi a ", " do carro.", "chave", "thing", "chave"),
    ),
    cluster="noun",
)


def test_blanks_come_after_filled_sentences_of_other_clusters():
    made = prime(BLANKS, "target", 2, seed=4)
    assert made.name == "palavras-after-2-target"
    assert made.cluster == ("noun",)
    for item, original in zip(made.items, BLANKS.items, strict=True):
        context = item.columns["context"]
        assert item.before == f"{context} {original.before}"
        assert (item.id, item.after, item.options) == (
            original.id,
            original.after,
            original.options,
        )
        own = {other.filled(other.targets[0]) for other in BLANKS.items
               if other.columns["noun"] == original.columns["noun"]}  # fmt: skip
        one, other = sorted(FILLED - own)
        assert context in {f"{one} {other}", f"{other} {one}"}
    assert prime(BLANKS, "target", 2, seed=4) == made
    with pytest.raises(UsageError, match="each item has 2 others"):
        prime(BLANKS, "target", 3, seed=4)


def test_a_sentence_with_two_masked_words_is_one_example():
    idioms = ClozeSuite(
        meta=Meta(name="modismos", language="es"),
        multiwords=(MultiwordItem("1", "agua fría", "Fue un jarro de {agua} {fría}."),),
    )
    made = prime(BLANKS, "target", 1, seed=0, source=idioms)
    assert {item.columns["context"] for item in made.items} == {"Fue un jarro de agua fría."}
    with pytest.raises(UsageError, match="there are 1 for each item"):
        prime(BLANKS, "target", 2, seed=0, source=idioms)
    # Its other word would give the answer away: no sentence of the expression itself.
    with pytest.raises(UsageError, match="each item has 0 others"):
        prime(idioms, "target", 1, seed=0)


@pytest.mark.parametrize(
    ("role", "message"), [("plausible", "none of its blanks has a plausible"), ("bad", "no such")]
)
def test_what_blanks_do_not_have(role, message):
    with pytest.raises(UsageError, match=message):
        prime(BLANKS, role, 1, seed=0)


def test_templates_after_sentences_of_a_related_language_by_the_command(tmp_path, capsys):
    out = tmp_path / "after-es"
    command = ["suites", "prime", "pt-grammar-templates", "-o", str(out), "--earlier", "2"]
    assert invoke([*command, "--from", "es-subject-verb", "--condition", "match"]) == 0
    assert "--context-column" not in capsys.readouterr().err
    source = load_suite("es-subject-verb").suite
    known = {sentence(item.condition("match"), rule=source.join) for item in source.items}
    made = load_suite(out).suite
    before = {
        item.id: item for item in expand_suite(load_suite("pt-grammar-templates").suite).items
    }
    assert {item.id for item in made.items} == {*before}
    for item in made.items:
        original = before[item.id]
        assert item.before.endswith(original.before)
        assert sum(one in item.before for one in known) == 2
        written = {name: cell for name, cell in original.columns.items() if cell}
        assert item.columns == {**written, "context": item.columns["context"]}
    runs = tmp_path / "runs"
    asked = ["run", str(out), "pt-grammar-templates", "-m", "demo-masked", "--limit", "5"]
    assert invoke([*asked, "-o", str(runs)]) == 0
    # Items keep their ids: the two runs are compared item by item.
    folders = sorted(path.parent for path in runs.rglob("manifest.json"))
    assert invoke(["compare", *map(str, folders)]) == 0
