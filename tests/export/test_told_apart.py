"""Several runs of one model and suite in the tables that exports join."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

from cimento.cli.main import invoke
from tests.helpers.benchmarks import say_fetched_from

_FORMATS = ("float32", "float64")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Two runs of one table of pairs in two number formats, as a dataset and for R."""
    folder = tmp_path_factory.mktemp("formats")
    pairs = folder / "pairs.tsv"
    pairs.write_text("good\tbad\nLe luci sono accese.\tLe luci è accese.\n", "utf-8")
    run = ["run", str(pairs), "-m", "demo-causal", "--language", "it", "-o", f"{folder}/runs"]
    for number_format in _FORMATS:
        assert invoke([*run, "--dtype", number_format]) == 0
    for target in ("hf-dataset", "r"):
        assert invoke(["export", f"{folder}/runs", "--to", target, "-o", f"{folder}/{target}"]) == 0
    return folder


def models_of(table: pl.DataFrame) -> Counter[str]:
    return Counter(table["model"].to_list())


def test_two_number_formats_of_a_model_are_two_models_in_a_dataset(exported):
    for path in (exported / "hf-dataset" / "data").glob("*.parquet"):
        first, second = models_of(pl.read_parquet(path)).items()
        assert {name.partition(" ")[2] for name, _ in (first, second)} == {
            f"(dtype={number_format})" for number_format in _FORMATS
        }
        assert first[1] == second[1], path.name
    rows = (exported / "hf-dataset" / "README.md").read_text("utf-8").splitlines()
    results = [row for row in rows if row.startswith("| pairs ")]
    assert len(results) == len(set(results)) == 2


def test_two_number_formats_of_a_model_are_two_models_for_r(exported):
    for name in ("outcomes", "estimates", "scores"):
        counts = models_of(pl.read_csv(exported / "r" / f"{name}.csv", infer_schema=False))
        assert sorted(label.partition(" ")[2] for label in counts) == [
            f"(dtype={number_format})" for number_format in _FORMATS
        ]
        assert len(set(counts.values())) == 1


def test_two_number_formats_of_a_model_are_told_apart_on_its_card(exported):
    say_fetched_from(exported / "runs", "lab/suites")
    command = ["export", f"{exported}/runs", "--to", "eval-results", "--dataset", "lab/suites"]
    assert invoke([*command, "-o", f"{exported}/cards"]) == 0
    (path,) = (exported / "cards").rglob("*.yaml")
    notes = [row for row in path.read_text("utf-8").splitlines() if row.startswith("  notes")]
    assert [f"; dtype={number_format};" in row for number_format in _FORMATS for row in notes] in (
        [True, False, False, True],
        [False, True, True, False],
    )
