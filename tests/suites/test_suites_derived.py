"""Matched copies of suites, and suites with earlier sentences as context."""

from __future__ import annotations

import pytest

from cimento import UsageError, evaluate, load_suite
from cimento.cli.main import invoke
from cimento.paradigms.regions.judging import scores_of
from cimento.suites import sentence
from cimento.suites.derived import Limits, balance, match_items
from cimento.suites.priming import prime
from cimento.testing import FakeScorer
from tests.helpers.designs import island_suite
from tests.helpers.suites_on_disk import write

TABLE = """\
item	good	bad
1	Il cane dorme.	Il cane dormono.
2	La casa grande brucia.	La casa.
3	Un gatto salta qui.	Qui salta un gatto.
"""


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "coppie.tsv", TABLE)


@pytest.fixture
def suite(path):
    return load_suite(path).suite


def test_balance_by_hand(suite):
    measured = balance(suite.items[1], suite)
    assert (measured.words, measured.characters) == (2, 14)
    assert measured.overlap == 2 / 4
    frequencies = {"la": 7.0, "casa": 5.0, "grande": 5.0, "brucia": 3.0}
    # means 5 and 6
    assert balance(suite.items[1], suite, frequency=frequencies.__getitem__).frequency == 1.0


def test_items_that_are_alike_are_kept(suite):
    matched = match_items(suite, Limits(words=0), sha256="abc")
    assert [item.id for item in matched.suite.items] == ["1", "3"]
    assert matched.dropped == ("2",)
    assert matched.before.words == pytest.approx(2 / 3)
    assert matched.after.words == 0
    assert matched.suite.name == "coppie-matched"
    assert matched.suite.extra["provenance"] == {
        "suite": "coppie",
        "version": "",
        "sha256": "abc",
        "limits": {"words": 0},
        "conditions": [],
        "items": "2 of 3",
    }
    both = match_items(suite, Limits(words=0, overlap=0.9))
    assert [item.id for item in both.suite.items] == ["3"]
    assert len(match_items(suite, Limits(words=0), conditions=["good"]).suite.items) == 3


@pytest.mark.parametrize(
    ("limits", "conditions", "message"),
    [
        (Limits(characters=0, overlap=1.0, words=0), ["good", "bad"], None),
        (Limits(overlap=1.0, characters=-1), [], "none of its 3 items"),
        (Limits(words=0), ["god"], "no such condition"),
        (Limits(frequency=1.0), [], "no frequencies"),
    ],
)
def test_limits_that_leave_nothing_or_cannot_be_used(suite, limits, conditions, message):
    if message is None:
        assert len(match_items(suite, limits, conditions=conditions).suite.items) == 1
        return
    with pytest.raises(UsageError, match=message):
        match_items(suite, limits, conditions=conditions)


def test_the_match_command(path, tmp_path, capsys):
    out = tmp_path / "out"
    assert invoke(["suites", "match", str(path), "-o", str(out), "--words", "0"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split()[:3] == ["kept", "2", "0.00"]
    assert len(load_suite(out).suite.items) == 2
    assert invoke(["suites", "match", str(path), "-o", str(out)]) == 2
    assert "no limit is given" in capsys.readouterr().err


# --- priming

SUITE = island_suite({"se": ["1", "2", "3"], "np": ["4", "5"]})


def test_every_sentence_of_an_item_has_the_same_earlier_ones():
    made = prime(SUITE, "long_island", 2, seed=3)
    contexts = {
        item.id: {condition.columns["context"] for condition in item.conditions}
        for item in made.items
    }
    assert all(len(context) == 1 for context in contexts.values())
    (first,) = contexts["1"]
    # two others of its own phenomenon, never itself
    assert first in {
        "Frase 2 longisland. Frase 3 longisland.",
        "Frase 3 longisland. Frase 2 longisland.",
    }
    (fourth,) = contexts["4"]
    assert "Frase 4" not in fourth
    assert fourth.count("longisland") == 2
    assert prime(SUITE, "long_island", 2, seed=3) == made
    assert made.name == "prova-after-2-long_island"
    assert made.factors == SUITE.factors


@pytest.mark.parametrize(
    ("condition", "n", "message"),
    [
        ("long", 1, "no such condition"),
        ("long_island", 5, "4 others"),
        ("long_island", 0, "others"),
    ],
)
def test_what_cannot_be_primed(condition, n, message):
    with pytest.raises(UsageError, match=message):
        prime(SUITE, condition, n, seed=0)


def test_the_context_is_seen_and_not_scored():
    made = prime(SUITE, "long_island", 1, seed=0)
    run = evaluate(
        made,
        FakeScorer(lambda _tokens, _index: -1.0),
        context_column="context",
        all_tokens=True,
    )
    assert run.table("requests")["context"].str.contains("longisland").all()
    # four tokens of the sentence itself
    assert set(scores_of(run, ["lp"])["value"].to_list()) == {-4.0}


def test_the_prime_command(path, tmp_path, capsys):
    out = tmp_path / "primed"
    command = ["suites", "prime", str(path), "-o", str(out), "--condition", "bad", "--earlier", "2"]
    assert invoke(command) == 0
    assert "--context-column context" in capsys.readouterr().err
    item = load_suite(out).suite.items[0]
    assert "La casa." in (item.column("context") or "")


def test_the_context_may_be_of_a_suite_in_another_language(tmp_path, capsys):
    """The same phenomenon in a related language: its sentences and no others come before."""
    out = tmp_path / "after-es"
    command = ["suites", "prime", "pt-subject-verb", "-o", str(out), "--earlier", "3"]
    source = load_suite("es-subject-verb").suite
    asked = ["--from", "es-subject-verb", "--condition", source.condition_names[0]]
    assert invoke([*command, *asked]) == 0
    capsys.readouterr()
    made = load_suite(out).suite
    before = load_suite("pt-subject-verb").suite
    assert len(made.items) == len(before.items)
    known = {sentence(item.conditions[0], rule=source.join) for item in source.items}
    for item, original in zip(made.items, before.items, strict=True):
        assert item.conditions[0].regions == original.conditions[0].regions
        contexts = {condition.columns["context"] for condition in item.conditions}
        [context] = contexts
        assert sum(one in context for one in known) == 3
        assert len(context) == sum(len(one) for one in known if one in context) + 2
    assert invoke([*command[:-1], "1000", *asked]) == 2
    assert f"there are {len(source.items)} for each item" in capsys.readouterr().err
    assert invoke([*command, "--from", "es-subject-verb", "--condition", "none"]) == 2
    assert "es-subject-verb" in capsys.readouterr().err


def test_the_merge_command(tmp_path, capsys):
    paths = [write(tmp_path / f"{name}.tsv", TABLE) for name in ("uno", "due")]
    out = tmp_path / "tutti"
    command = ["suites", "merge", *map(str, paths), "-o", str(out), "--name", "tutti"]
    assert invoke(command) == 0
    assert "6 items of 2 suites" in capsys.readouterr().err
    made = load_suite(out).suite
    assert made.items[3].id == "due-1"
    assert made.items[3].column("phenomenon") == "due"
    edited = (out / "suite.toml").read_text("utf-8") + "# edited\n"
    (out / "suite.toml").write_text(edited, "utf-8")
    assert invoke(command) == 1
    assert "exists already" in capsys.readouterr().err
    assert (out / "suite.toml").read_text("utf-8") == edited
