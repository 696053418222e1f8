"""Tables of prefixes and stimuli: both shapes are read, and what is written is read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from cimento import Condition, InputError, Item, Meta, Prediction, Region, Suite, SuiteError
from cimento.cli.main import invoke
from cimento.suites import sentence
from cimento.suites.formats.writing import convert, losses
from cimento.suites.load import open_suite


def write(folder: Path, text: str, name: str = "stimoli.tsv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


LONG = (
    "item\tcondition\tprefix\tstimulus\tsuffix\tverb\n"
    "1\tgood\tLe sarte del paese\tcuciono\tgli orli.\tcucire\n"
    "1\tbad\tLe sarte del paese\tcuce\tgli orli.\tcucire\n"
    "2\tgood\tIl nonno di Ada\tpesca\tle trote.\tpescare\n"
    "2\tbad\tIl nonno di Ada\tpescano\tle trote.\tpescare\n"
)


def test_a_row_for_each_condition(tmp_path: Path) -> None:
    loaded = open_suite(write(tmp_path, LONG))
    suite = loaded.suite

    assert loaded.format == "minicons"
    assert suite.region_names == ("prefix", "stimulus", "suffix")
    assert [prediction.formula for prediction in suite.predictions] == ["(2;%good%) < (2;%bad%)"]
    bad = suite.items[1].condition("bad")
    assert sentence(bad) == "Il nonno di Ada pescano le trote."
    assert bad.columns == {"verb": "pescare"}


@pytest.mark.parametrize(
    ("header", "good", "bad"),
    [
        (
            "id\tprefix_acceptable\tprefix_unacceptable\tproperty_phrase",
            ("Il merlo", "vola."),
            ("La talpa", "vola."),
        ),
        (
            "id\tprefix_good\tprefix_bad\tcontinuation",
            ("Il merlo", "vola."),
            ("La talpa", "vola."),
        ),
    ],
)
def test_a_row_for_each_pair_with_two_prefixes(
    header: str, good: tuple[str, str], bad: tuple[str, str], tmp_path: Path
) -> None:
    suite = open_suite(write(tmp_path, f"{header}\na7\tIl merlo\tLa talpa\tvola.\n")).suite
    (item,) = suite.items

    assert item.id == "a7"
    texts = [
        tuple(region.text for region in condition.regions[:2]) for condition in item.conditions
    ]
    assert texts == [good, bad]
    names = [condition.name for condition in item.conditions]
    assert suite.predictions[0].formula == f"(2;%{names[0]}%) < (2;%{names[1]}%)"


def test_a_row_for_each_pair_with_two_stimuli_and_no_ids(tmp_path: Path) -> None:
    text = "prefix,stimulus_good,stimulus_bad\nLas llaves,brillan.,brilla.\nEl tren,sale.,salen.\n"
    suite = open_suite(write(tmp_path, text, "pares.csv")).suite

    assert [item.id for item in suite.items] == ["1", "2"]
    assert sentence(suite.items[1].condition("bad")) == "El tren salen."


def test_conditions_of_other_names_make_no_prediction(tmp_path: Path) -> None:
    suite = open_suite(write(tmp_path, LONG.replace("good", "plural").replace("bad", "odd"))).suite
    assert suite.predictions == ()
    assert suite.condition_names == ("plural", "odd")


def test_a_table_without_these_columns_is_refused(tmp_path: Path) -> None:
    from cimento.suites.formats.sentences import read_minicons

    with pytest.raises(SuiteError, match="prefix, stimulus and condition are missing"):
        read_minicons(write(tmp_path, "prefix\tword\nLa nave\tparte\n"))


def regions_suite(*, glued: bool = False, formula: str = "(2;%good%) < (2;%bad%)") -> Suite:
    def condition(name: str, verb: str) -> Condition:
        regions = (Region("La zia"), Region(verb, glued=glued), Region("domani"), Region("."))
        return Condition(name, regions, {"verb": "tornare"})

    item = Item("x-1", (condition("good", "torna"), condition("bad", "tornano")))
    return Suite(
        meta=Meta(name="viaggi"),
        region_names=("subject", "verb", "when", "end"),
        predictions=(Prediction(formula),),
        items=(item,),
        join="detok",
    )


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "viaggi.tsv"
    with pytest.raises(InputError, match="the division into 4 regions"):
        convert(regions_suite(), "minicons", path)
    convert(regions_suite(), "minicons", path, allow_loss=True)

    assert path.read_text(encoding="utf-8").splitlines() == [
        "item\tcondition\tprefix\tstimulus\tsuffix\tverb",
        "x-1\tgood\tLa zia\ttorna\tdomani.\ttornare",
        "x-1\tbad\tLa zia\ttornano\tdomani.\ttornare",
    ]
    again = open_suite(path).suite
    assert again.predictions[0].formula == "(2;%good%) < (2;%bad%)"
    assert sentence(again.items[0].condition("good")) == "La zia torna domani."


def test_predictions_about_sentences_make_the_sentence_the_stimulus(tmp_path: Path) -> None:
    suite = regions_suite(formula="(*;%good%) < (*;%bad%)")
    convert(suite, "minicons", tmp_path / "v.tsv", allow_loss=True)
    lines = (tmp_path / "v.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[1] == "x-1\tgood\t\tLa zia torna domani.\t\ttornare"


def test_what_is_lost_is_said() -> None:
    assert losses(regions_suite(formula="(2;%good%) + 1 < (2;%bad%)"), "minicons") == [
        "the division into 4 regions",
        "predictions other than that the good condition is less surprising",
    ]


def test_a_target_written_together_with_its_context_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="written together with what precedes it"):
        convert(regions_suite(glued=True), "minicons", tmp_path / "v.tsv", allow_loss=True)


def test_the_command_converts_both_ways(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, native = write(tmp_path, LONG), tmp_path / "suite"
    assert invoke(["suites", "convert", str(table), "-o", str(native)]) == 0
    back = tmp_path / "back.tsv"
    code = invoke(["suites", "convert", str(native), "-o", str(back), "--to", "minicons"])
    assert code == 0, capsys.readouterr().err
    assert back.read_text(encoding="utf-8") == LONG
