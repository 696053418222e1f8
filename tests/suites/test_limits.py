"""``--limit`` leaves the first items of each phenomenon, template, label or type in turn."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import evaluate, open_run, open_runs
from cimento.cite import methods_paragraph
from cimento.errors import TableError
from cimento.kinds.reader import limited as limited_by
from cimento.kinds.registry import load_suite
from cimento.suites.cloze import expand_suite
from cimento.suites.limits import ItemGroups
from tests.helpers.command_line import invoke


def limited(name: str, limit: int):
    loaded = load_suite(name)
    return limited_by(loaded.paradigm.reader, loaded.suite, limit)


def test_the_first_items_of_each_phenomenon_are_left_in_turn():
    ids = [item.id for item in limited("it-islands", 7).items]
    assert ids == [
        "whether-01", "whether-02", "complex_np-01", "complex_np-02", "subject-01", "adjunct-01",
        "relative_clause-01",
    ]  # fmt: skip
    whole = load_suite("it-islands").suite
    assert limited("it-islands", 10_000) == whole


def test_a_suite_of_one_phenomenon_keeps_its_first_items():
    whole = load_suite("it-subject-verb").suite
    assert list(limited("it-subject-verb", 3).items) == list(whole.items[:3])


def test_sentences_of_each_label_are_left(tmp_path):
    path = tmp_path / "sentences.tsv"
    rows = [f"Il cane {n} dorme.\t1" for n in range(6)] + [f"Il cane {n} dormi.\t0" for n in "abc"]
    path.write_text("sentence\tlabel\n" + "\n".join(rows) + "\n", encoding="utf-8")
    run = evaluate(path, "demo-causal", language="it", limit=4)
    assert Counter(item.column("rating") for item in run.suite.items) == {"1": 2, "0": 2}


def test_templates_are_left_in_turn():
    items = expand_suite(limited("es-agreement-templates", 6)).items
    templates = {item.columns["template"] for item in items}
    n_templates = len(load_suite("es-agreement-templates").suite.templates)
    assert len(templates) == min(6, n_templates) > 1


def test_connectives_are_left_in_turn():
    """Eighteen connectives, fourteen or fifteen items each, one connective after the other."""
    items = limited("it-connectives", 20).items
    counts = Counter(item.column("connective") for item in items)
    assert (len(counts), counts["e"], counts["se"]) == (18, 2, 2)


def test_stories_of_each_type_are_left():
    asked = limited("it-stories", 6).asked
    assert Counter(story.type for story in asked) == {None: 2, "order": 2, "cloze": 2}


@pytest.mark.parametrize("name", ["it-islands", "it-stories"])
def test_a_limited_run_is_opened_with_the_items_that_were_asked(name, tmp_path):
    stored = evaluate(name, "demo-causal", limit=5, output=tmp_path)
    again = open_run(stored.folder)
    assert again.outcomes().equals(stored.outcomes())
    assert again.n_items == 5


def balanced(kept, groups) -> bool:
    """Whether no group has two items fewer than another that could have one more."""
    counts, full = Counter(groups[place] for place in kept), Counter(groups)
    most = max(counts.values(), default=0)
    return all(counts[group] >= most - 1 or counts[group] == full[group] for group in full)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=14),
    st.integers(0, 14),
)
def test_phenomena_take_turns_and_within_each_its_paradigms(labels, limit):
    ids = [str(place) for place in range(len(labels))]
    phenomena, paradigms = ([label[place] for label in labels] for place in (0, 1))
    groups = ItemGroups(ids, {"phenomenon": phenomena, "UID": paradigms})
    kept = [int(name) for name in groups.first(limit)]
    assert kept == sorted({*kept})
    assert len(kept) == min(limit, len(ids))
    assert balanced(kept, phenomena)
    for phenomenon in {*phenomena}:
        places = [place for place in range(len(ids)) if phenomena[place] == phenomenon]
        inside = {place: n for n, place in enumerate(places)}
        left = [inside[place] for place in kept if place in inside]
        assert balanced(left, [paradigms[place] for place in places])
    # A higher limit keeps what a lower one left.
    assert {*groups.first(limit)} <= {*groups.first(limit + 1)}


def written_pairs(path, paradigms):
    """Pairs as BLiMP has them, one paradigm after the other."""
    rows = [
        {
            "sentence_good": f"The {noun} {good}.", "sentence_bad": f"The {noun} {bad}.",
            "linguistics_term": term, "UID": uid, "pairID": str(number),
        }
        for (uid, term), (good, bad) in zip(paradigms.items(), VERBS, strict=True)
        for number, noun in enumerate(["cat", "dog", "owl", "fox"])
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


VERBS = [("sleeps", "sleep"), ("has slept", "have slept"), ("that sleeps dreams", "sleeps dreams")]
PARADIGMS = {"agreement_1": "agreement", "agreement_2": "agreement", "wh_island": "islands"}


def test_what_is_left_of_blimp_is_of_every_paradigm_and_the_run_says_so(tmp_path, capsys):
    path = written_pairs(tmp_path / "pairs.jsonl", PARADIGMS)
    runs = tmp_path / "runs"
    assert invoke(["run", str(path), "-m", "demo-causal", "--limit", "4", "-o", str(runs)]) == 0
    said = "the run has only 4 items of the suite (each phenomenon and UID in turn)"
    assert f"With --limit 4 {said}." in " ".join(capsys.readouterr().out.split())
    [run] = open_runs(runs)
    asked = Counter(item.column("UID") for item in run.suite.items)
    assert asked == {"agreement_1": 1, "agreement_2": 1, "wh_island": 2}
    assert run.manifest["in_turn"] == ["phenomenon", "UID"]
    asked = "on 4 items in 2 conditions (each phenomenon and UID in turn) of the"
    assert asked in methods_paragraph([run])
    assert invoke(["plan", str(path), "-m", "demo-causal", "--limit", "4"]) == 0
    assert "--limit takes them of each phenomenon in turn" in capsys.readouterr().out


def test_a_recording_of_some_items_is_replayed_with_those(tmp_path):
    path = written_pairs(tmp_path / "pairs.jsonl", PARADIGMS)
    whole = evaluate(path, "demo-causal", output=tmp_path / "runs")
    logs = tmp_path / "logs"
    assert invoke(["export", str(whole.folder), "--to", "lm-eval", "-o", str(logs)]) == 0
    in_turn = evaluate(path, f"replay:{logs}", limit=4)
    assert [item.id for item in in_turn.suite.items] == [
        item.id for item in evaluate(path, "demo-causal", limit=4).suite.items
    ]
    # As lm-eval --limit 4 leaves them: the first samples.
    [file] = logs.rglob("samples_*.jsonl")
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:4]), encoding="utf-8")
    replayed = evaluate(path, f"replay:{logs}", limit=4, output=tmp_path / "replayed")
    assert [item.id for item in replayed.suite.items] == [f"agreement_1/{n}" for n in range(4)]
    assert replayed.warnings[0] == "With --limit 4 the run has only the first 4 items of the suite."
    assert open_run(replayed.folder).outcomes().equals(replayed.outcomes())
    with pytest.raises(TableError, match="was not logged"):
        evaluate(path, f"replay:{logs}", limit=5)
