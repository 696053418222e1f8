"""The scale in the headings of own answers: proposed, and ratings beyond it are shown at once."""

import pytest

from cimento.judgments import how_read, judgments_of, read_judgments
from tests.app.test_people_results import choose, fill
from tests.helpers.app_user import visit

pytest.importorskip("nicegui")

from nicegui import ui

SENTENCES = [
    "A vizinha vendeu a bicicleta.",
    "Os gato dorme no sofá.",
    "Me contaram uma história boa.",
    "O ônibus que eu peguei ele atrasou.",
]
SCHOOLS = ["Ensino médio completo", "Ensino superior completo"] * 2
RATINGS = [["7", "1", "6", "2"], ["6", "55", "5", "3"], ["7", "2", "7", "1"], ["5", "1", "6", "2"]]


def wide():
    heads = ["Carimbo de data/hora", "Qual é a sua escolaridade?"]
    heads += [f"{n}. {text} (1-7)" for n, text in enumerate(SENTENCES, 1)]
    rows = [
        [f"2026/11/2{n} 10:02:11", school, *given]
        for n, (school, given) in enumerate(zip(SCHOOLS, RATINGS, strict=True))
    ]
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in [heads, *rows])


def grid():
    """As Google writes the rows of a grid: each in brackets behind its question."""
    given = wide().replace(" (1-7)", "]")
    for n in range(1, 5):
        given = given.replace(f"{n}. ", "Nota (1-7) [")
    return given


def long():
    rows = [
        [f"P{n}", school, text, rating]
        for n, (school, given) in enumerate(zip(SCHOOLS, RATINGS, strict=True), 1)
        for text, rating in zip(SENTENCES, given, strict=True)
    ]
    heads = ["participante", "escolaridade", "frase", "Nota (1-7)"]
    return "".join(";".join(row) + "\n" for row in [heads, *rows])


async def read(user, name, content):
    await user.open("/pt/people")
    fill(user, ui.select, "Língua das frases", "pt")
    await choose(user, name, content)


def ends_shown(user):
    values = {field.props.get("label"): field.value for field in user.find(ui.input).elements}
    return [values[f"A {end} avaliação possível"] for end in ("pior", "melhor")]


@pytest.mark.parametrize(("table", "row"), [(wide, 3), (long, 7), (grid, 3)])
def test_a_typing_error_beyond_the_scale_in_the_heading_is_shown_before_any_mean(
    table, row, tmp_path
):
    kept = tmp_path / "judgments" / "notas.parquet"

    async def walk(user):
        await read(user, "notas.csv", table())
        await user.should_see("uma escala de 1 a 7", retries=300)
        assert ends_shown(user) == ["1", "7"]
        await user.should_see("Fora dessa escala: 55 de ")
        await user.should_see(f"linha do arquivo: {row}")
        await user.should_not_see("Média das médias")
        user.find("Guardar a escala").click()
        await user.should_see("estão além", kind=ui.notification, retries=200)
        assert "55" in [one.value for one in judgments_of(read_judgments(kept))]
        user.find("Excluir as avaliações fora da escala").click()
        await user.should_see("A escala, guardada com as respostas", retries=300)
        await user.should_see("fora da escala de 1 a 7 (55), 1 no total")

    visit(tmp_path, walk)
    judgments = judgments_of(read_judgments(kept))
    assert sorted(one.value for one in judgments) == sorted(
        value for given in RATINGS for value in given if value != "55"
    )
    assert {one.scale for one in judgments} == {"1 to 7"}
    assert "escolaridade" in how_read(kept).partition("about the people")[2]


def test_a_scale_behind_each_question_is_no_part_of_the_sentence(tmp_path):
    async def walk(user):
        await read(user, "notas.csv", wide().replace('"55"', '"5"'))
        await user.should_see("uma escala de 1 a 7", retries=300)
        await user.should_see("sem a escala depois da frase")
        await user.should_not_see("Fora dessa escala")

    visit(tmp_path, walk)
    judgments = judgments_of(read_judgments(tmp_path / "judgments" / "notas.parquet"))
    assert {one.candidate for one in judgments} == {*SENTENCES}


def test_ends_other_than_those_of_the_heading_are_kept_where_somebody_sets_them(tmp_path):
    async def walk(user):
        await read(user, "notas.csv", long())
        await user.should_see("uma escala de 1 a 7", retries=300)
        fill(user, ui.input, "A melhor avaliação possível", "100")
        user.find("Guardar a escala").click()
        await user.should_see("A escala, guardada com as respostas", retries=300)

    visit(tmp_path, walk)
    judgments = judgments_of(read_judgments(tmp_path / "judgments" / "notas.parquet"))
    assert {one.scale for one in judgments} == {"1 to 100"}
    assert len(judgments) == 16


@pytest.mark.parametrize(("elsewhere", "is_proposed"), [(3, True), (4, False)])
def test_a_scale_in_headings_is_proposed_only_if_four_ratings_in_five_are_on_it(
    elsewhere, is_proposed, tmp_path
):
    ratings = iter(["55"] * elsewhere + ["4"] * (16 - elsewhere))  # 13 of 16 are 81%, 12 are 75%
    lines = long().splitlines()
    lines[1:] = [f"{line.rpartition(';')[0]};{next(ratings)}" for line in lines[1:]]
    seen = []

    async def walk(user):
        await read(user, "notas.csv", "\n".join(lines))
        await user.should_see("A pior avaliação possível", retries=300)
        seen.extend(ends_shown(user))

    visit(tmp_path, walk)
    assert seen == (["1", "7"] if is_proposed else ["", ""])
