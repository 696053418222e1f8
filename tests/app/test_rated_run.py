"""A run of rated sentences at step 4, and what a masked model's value is called at step 5."""

import io

import openpyxl
import pytest

from cimento.app.beside_ratings import beside_own
from cimento.app.beside_sentences import measure_of
from cimento.app.words import words
from cimento.app.workspace import Workspace
from cimento.kinds.run import open_run
from tests.helpers.app_user import visit
from tests.helpers.command_line import invoke

pytest.importorskip("nicegui")

RATED = {
    "La ragazza che ho visto ieri legge il giornale.": (6.5, "accordo giusto"),
    "Le ragazze legge il giornale.": (2.0, "accordo sbagliato"),
    "Il cane dei vicini abbaia ogni notte.": (6.0, "accordo giusto"),
    "I cani abbaia.": (1.5, "accordo sbagliato"),
    "Il treno per Pisa parte alle otto.": (6.8, "accordo giusto"),
}


def ran(folder, model):
    suite = folder / "suites" / "giudizi.csv"
    suite.parent.mkdir(exist_ok=True)
    rows = [f"{text};{rating};{kind}" for text, (rating, kind) in RATED.items()]
    suite.write_text("\n".join(["frase;giudizio;tipo", *rows, ""]), encoding="utf-8")
    command = ["run", str(suite), "-m", model, "--language", "it", "-o", str(folder / "runs")]
    assert invoke(command) == 0
    [stored] = Workspace(folder).runs()
    return open_run(stored.path)


def test_every_rated_sentence_is_beside_the_model_with_what_to_beware_of(tmp_path):
    ran(tmp_path, "demo-causal")
    got = []

    async def flow(user):
        await user.open("/it/read?suite=giudizi")
        await user.should_see("giudizi", retries=300)
        user.find("Mostra i risultati").click()
        await user.should_see("i suoi numeri non dicono nulla sulla lingua", retries=300)
        await user.should_see("Con meno di 10 frasi non fidarti")
        await user.should_see("Le frasi hanno da 3 a 9 parole")
        for text in RATED:
            await user.should_see(text)
        user.find("Frase per frase (Excel)").click()
        got.append((await user.download.next()).content)

    visit(tmp_path, flow)
    head, *rows = openpyxl.load_workbook(io.BytesIO(got[0])).active.iter_rows(values_only=True)
    table = {row["Frase"]: row for row in (dict(zip(head, cells, strict=True)) for cells in rows)}
    assert {text: (row["Media"], row["tipo"]) for text, row in table.items()} == RATED
    by_people = sorted(RATED, key=lambda text: -RATED[text][0])
    assert [table[text]["Rango per le persone"] for text in by_people] == [1, 2, 3, 4, 5]


DESIGN = """regions = ["sentence"]
kind = "acceptability"

[meta]
name = "tempi"
language = "it"

[[predictions]]
formula = "(*;%giusta%) < (*;%sbagliata%)"
name = "giusta"

[ratings]
low = 1
high = 7
"""
VERSIONS = {
    "Domani parto per Torino.": ("1", "giusta", 6.0),
    "Domani partiva per Torino.": ("1", "sbagliata", 2.5),
    "Ieri abbiamo visto un film.": ("2", "giusta", 6.5),
    "Ieri vedremo un film.": ("2", "sbagliata", 1.5),
}


def test_versions_of_an_item_have_a_report_beside_their_prediction(tmp_path):
    suite = tmp_path / "suites" / "tempi"
    suite.mkdir(parents=True)
    (suite / "suite.toml").write_text(DESIGN, encoding="utf-8")
    rows = [f"{i}\t{name}\t{text}\t{rating}" for text, (i, name, rating) in VERSIONS.items()]
    table = "\n".join(["item\tcondition\ttext\trating", *rows, ""])
    (suite / "items.tsv").write_text(table, encoding="utf-8")
    command = ["run", str(suite), "-m", "demo-causal", "-o", str(tmp_path / "runs")]
    assert invoke(command) == 0

    async def flow(user):
        await user.open("/it/read?suite=tempi")
        await user.should_see("tempi", retries=300)
        user.find("Mostra i risultati").click()
        await user.should_see("Frase per frase", retries=300)
        for text in VERSIONS:
            await user.should_see(text)
        await user.should_see("Resoconto", retries=300)

    visit(tmp_path, flow)


@pytest.mark.parametrize(
    ("model", "called"),
    [("demo-causal", "log-probability"), ("demo-masked", "pseudo-log-likelihood")],
)
def test_the_value_of_a_masked_model_is_called_a_pseudo_log_likelihood(tmp_path, model, called):
    row = beside_own(ran(tmp_path, model), "lp")
    assert measure_of(row, words("en")).startswith(called)
    assert [one.rated.mean for one in row.sentences] == [rating for rating, _ in RATED.values()]
