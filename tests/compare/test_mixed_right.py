"""The table of mixed models of right and wrong."""

from __future__ import annotations

import random

import pytest

from cimento.compare import mixed_right
from cimento.errors import UsageError
from cimento.paired.item_outcomes import ItemOutcomes


def outcomes(models=2, clusters=8, each=4, seed=2):
    source = random.Random(seed)  # noqa: S311  # keeps no secret
    items = [f"{cluster}-{n}" for cluster in range(clusters) for n in range(each)]
    ease = {item: source.gauss(0.3, 1) for item in items}
    shift = {(m, c): source.gauss(m, 0.9) for m in range(models) for c in range(clusters)}
    return [
        ItemOutcomes(
            suite="s", question="q", model=f"m{m}",
            right={
                item: ease[item] + shift[m, int(item.split("-")[0])] + source.gauss(0, 1.5) > 0
                for item in items
            },
            clusters={item: item.split("-")[0] for item in items},
        )
        for m in range(models)
    ]  # fmt: skip


def test_models_are_compared_with_slopes_by_cluster_and_a_doubtful_fit_has_no_numbers(monkeypatch):
    monkeypatch.setattr(mixed_right, "item_outcomes", lambda _runs: outcomes())
    grid = mixed_right.right_grid([])
    formulas = [row[2] for row in grid.rows]
    assert formulas[0] == "right ~ model + (1 + model | cluster) + (1 | item)"
    for row in grid.rows:
        assert row[3:7] == ("32", "8", "m1", "m0")
        numbers, remark = row[7:-1], row[-1]
        assert (remark == "-") != all(cell == "-" for cell in numbers)
    if grid.rows[0][-1] != "-":
        assert formulas[1:] == ["right ~ model + (1 | cluster) + (1 | cluster:model) + (1 | item)"]


def test_runs_of_one_model_have_no_such_table(monkeypatch):
    monkeypatch.setattr(mixed_right, "item_outcomes", lambda _runs: outcomes(models=1))
    with pytest.raises(UsageError, match="two models"):
        mixed_right.right_models([])
