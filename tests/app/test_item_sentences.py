"""Items of compared sentences one by one: on the page of results, and in files."""

import io

import openpyxl
import pytest

from cimento.app.breakdowns import parts_of
from cimento.app.conclusions import results_beside
from cimento.app.item_sentences import items_grid
from cimento.app.words import words
from cimento.app.workspace import Workspace
from cimento.cli.main import invoke
from cimento.documents import grid_file
from cimento.kinds.run import open_runs
from tests.helpers.app_user import visit

PAIRS = """\
Fenómeno,good,bad
concordancia,Las casas son altas.,Las casas es altas.
concordancia,El niño canta en el coro.,El niño cantan en el coro.
auxiliar,María ha llegado tarde.,María es llegado tarde.
"""
ISLANDS = """\
Ítem,Estructura,Dependencia,Oración
1,no isla,corta,¿Quién cree que Ana vendió el piso?
1,no isla,larga,¿Qué cree Luis que Ana vendió?
1,isla,corta,¿Quién oyó el rumor de que Ana vendió el piso?
1,isla,larga,¿Qué oyó Luis el rumor de que Ana vendió?
2,no isla,corta,¿Quién dice que Eva pintó la puerta?
2,no isla,larga,¿Qué dice Juan que Eva pintó?
2,isla,corta,¿Quién niega el hecho de que Eva pintó la puerta?
2,isla,larga,¿Qué niega Juan el hecho de que Eva pintó?
"""


def run_of(folder, name, table, *options, models=("demo-causal",)):
    (folder / f"{name}.csv").write_text(table, encoding="utf-8")
    asked = [part for model in models for part in ("-m", model)]
    command = ["run", str(folder / f"{name}.csv"), *asked, "--language", "es", *options]
    assert invoke([*command, "-o", str(folder / "runs")]) == 0
    paths = [stored.path for stored in Workspace(folder).runs()]
    return list(open_runs(paths)), results_beside(paths)


def sheet_of(grid):
    """The rows of a table's workbook, each by its headings."""
    book = openpyxl.load_workbook(io.BytesIO(grid_file(grid, ".xlsx")))
    header, *rows = book.active.iter_rows(values_only=True)
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_each_pair_has_its_sentences_values_margin_and_result(tmp_path):
    (run,), (result,) = run_of(tmp_path, "pares", PAIRS, "--columns=phenomenon=Fenómeno")
    grid = items_grid(run, result, words("es"))
    right = dict(run.outcomes().select("item", "right").iter_rows())
    rows = sheet_of(grid)
    assert len(rows) == 3
    for line, row in zip(PAIRS.splitlines()[1:], rows, strict=True):
        phenomenon, good, bad = line.split(",")
        assert row["Fenómeno"] == phenomenon
        assert (row["oraciones buenas"], row["oraciones malas"]) == (good, bad)
        of_bad, of_good = (
            row[f"surprisal en bits: oraciones {which}"] for which in ("malas", "buenas")
        )
        assert row["Margen (bits)"] == pytest.approx(of_bad - of_good)
        is_right = of_good < of_bad
        assert right[row["Ítem"]] == is_right
        assert row["Resultado"] == ("correcto" if is_right else "incorrecto")


def test_each_item_of_a_design_has_its_four_sentences_and_its_difference_of_differences(tmp_path):
    (run,), (result,) = run_of(tmp_path, "islas", ISLANDS)
    rows = sheet_of(items_grid(run, result, words("es")))
    cells = ("no isla + corta", "no isla + larga", "isla + corta", "isla + larga")
    sentences = [line.split(",", 3)[3] for line in ISLANDS.splitlines()[1:]]
    assert [row[cell] for row in rows for cell in cells] == sentences
    for row in rows:
        plain, long, island, both = (row[f"surprisal en bits: {cell}"] for cell in cells)
        assert row["DD (bits)"] == pytest.approx((both - long) - (island - plain))
        assert row["Resultado"] == ("correcto" if row["DD (bits)"] > 0 else "incorrecto")


def test_shares_by_phenomenon_of_several_models_are_one_table_for_a_paper(tmp_path):
    models = ("demo-causal", "demo-masked")
    options = "--columns=phenomenon=Fenómeno"
    runs, _ = run_of(tmp_path, "pares", PAIRS, options, models=models)
    (grid,) = parts_of(runs, words("es"))
    rows = sheet_of(grid)
    last = {(row["Modelo"], row["Fenómeno"]): row for row in rows}
    assert len(last) == len(rows) == 4
    for run in runs:
        of_run = run.outcomes().rows(named=True)
        for phenomenon in ("concordancia", "auxiliar"):
            row = last[run.model, phenomenon]
            known = [one["right"] for one in of_run if one["group:phenomenon"] == phenomenon]
            assert (row["Acertados"], row["Ítems"]) == (sum(known), len(known))
            assert row["Proporción"] == pytest.approx(sum(known) / len(known))


def test_the_page_has_the_items_and_files_of_them_and_of_phenomena(tmp_path):
    run_of(tmp_path, "pares", PAIRS, "--columns=phenomenon=Fenómeno")

    async def flow(user):
        await user.open("/es/read?suite=pares")
        user.find(marker="read").click()
        await user.should_see("Todos los ítems, uno por uno", retries=200)
        await user.should_see("María es llegado tarde.")
        user.find(marker="tab-tables").click()
        await user.should_see("pares. Por fenómeno", retries=200)
        await user.should_see(marker="file-pares-1.xlsx")

    visit(tmp_path, flow)
