"""The table of materials of Sprouse et al. 2016, read as it was released."""

from __future__ import annotations

import json

import pytest

from cimento import load_suite

TABLE = """Island Type;Clause type;Condition 1;Condition 2;item number;sentence
Adjunct island;WH;Long;Island;1;Che cosa sei triste se vendo?
Adjunct island;WH;Long;non-island;1;Che cosa speri che io venda?
Adjunct island;WH;Short;Island;1;Chi è triste se vendo la bicicletta?
Adjunct island;WH;Short;non-island;1;Chi spera che io venda la bicicletta?
Complex NP;RC;Long;Island;1;Ho visto la bicicletta che hai sentito la voce che vendo.
Complex NP;RC;Long;non-island;1;Ho visto la bicicletta che hai sentito che vendo.
Complex NP;RC;Short;Island;1;Ho visto chi ha sentito la voce che vendo la bicicletta.
Complex NP;RC;Short;non-island;1;Ho visto chi ha sentito che vendo la bicicletta.
"""


def test_its_columns_are_the_design(tmp_path):
    path = tmp_path / "materials.csv"
    path.write_text(TABLE, encoding="utf-8")
    suite = load_suite(path, language="it").suite
    assert dict(suite.factors) == {
        "distance": ("short", "long"),
        "structure": ("nonisland", "island"),
    }
    assert [item.id for item in suite.items] == ["wh_adjunct-1", "rc_complex_np-1"]
    worst = suite.items[0].conditions[0]
    assert (worst.name, worst.regions[0].text) == ("long_island", "Che cosa sei triste se vendo?")
    assert worst.columns["phenomenon"] == "wh_adjunct"
    assert any("long_island" in prediction.formula for prediction in suite.predictions)


@pytest.mark.golden
def test_the_released_table_has_the_sentences_of_the_released_suites(shared):
    folder = shared / "data/authors/islands-master/outputs/sprouse"
    suite = load_suite(folder / "Experiment 2 materials - Italian.csv", language="it").suite
    assert len(suite.items) == 64
    # The suites write the straight apostrophe and a final mark where the table has none.
    plain = {
        (condition.name, _plain(condition.regions[0].text))
        for item in suite.items
        for condition in item.conditions
    }
    paths = [path for path in folder.glob("*.jsonl") if path.name[:3] in ("wh_", "rc_")]
    assert len(paths) == 7
    for path in paths:
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        records = [record for record in lines if "long_island" in record]
        assert len(records) == 8
        for record in records:
            for name in suite.condition_names:
                assert (name, _plain(record[name])) in plain


def _plain(text):
    return text.replace("\u2019", "'").rstrip(" .?")
