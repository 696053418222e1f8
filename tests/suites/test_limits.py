"""``--limit`` leaves the first items of each phenomenon, template, label or type in turn."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cimento import evaluate, open_run
from cimento.kinds.registry import load_suite
from cimento.suites.cloze import expand_suite
from cimento.suites.limits import of_each


def limited(name: str, limit: int):
    loaded = load_suite(name)
    return loaded.paradigm.reader.limited(loaded.suite, limit)


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


def test_stories_of_each_type_are_left():
    asked = limited("it-stories", 6).asked
    assert Counter(story.type for story in asked) == {None: 2, "order": 2, "cloze": 2}


@pytest.mark.parametrize("name", ["it-islands", "it-stories"])
def test_a_limited_run_is_opened_with_the_items_that_were_asked(name, tmp_path):
    stored = evaluate(name, "demo-causal", limit=5, output=tmp_path)
    again = open_run(stored.folder)
    assert again.outcomes().equals(stored.outcomes())
    assert again.n_items == 5


@given(st.lists(st.sampled_from("abc"), max_size=12), st.integers(0, 12))
def test_every_group_has_as_many_as_any_other_or_all_of_its_items(groups, limit):
    kept = of_each(groups, limit)
    assert kept == sorted(set(kept))
    assert len(kept) == min(limit, len(groups))
    counts = Counter(groups[place] for place in kept)
    full = Counter(groups)
    most = max(counts.values(), default=0)
    assert all(counts[group] >= most - 1 or counts[group] == full[group] for group in full)
    # A higher limit keeps what a lower one left.
    assert set(kept) <= set(of_each(groups, limit + 1))
