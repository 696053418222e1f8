"""What the fuzzers found, each kept as the file that showed it."""

from __future__ import annotations

import json
import zipfile

import pytest

from cimento.annotate.second import read_judgments as read_second
from cimento.cli.main import invoke
from cimento.corpus.inventories import open_inventory
from cimento.errors import CimentoError, Fault, FormulaError, InputError, ModelError
from cimento.models.recorded import parse_spec
from cimento.stories.question_answers import read_answers
from cimento.studies.islands.human import read_judgments as read_islands
from cimento.suites.formula import parse
from cimento.suites.load import load_suites
from tests.fuzzing import readers, seeds
from tests.fuzzing import seeds_more as more
from tests.stories import TRIPLES


def written(path, content):
    path.write_bytes(content)
    return path


def test_a_member_of_an_archive_without_a_name(tmp_path):
    content = seeds.zipped({"x": b"", "a/suite.json": seeds.SYNTAXGYM})
    with zipfile.ZipFile(written(tmp_path / "a.zip", content), "a") as archive:
        archive.filelist[0].filename = ""
        archive._didModify = True

    assert [each.suite.name for each in load_suites(tmp_path / "a.zip")] == ["lampade"]


def test_a_member_of_an_archive_that_does_not_unpack(tmp_path):
    content = bytearray(seeds.zipped({"suite.json": seeds.SYNTAXGYM}))
    content[45:75] = b"\xff" * 30

    with pytest.raises(InputError, match="cannot be unpacked"):
        load_suites(written(tmp_path / "a.zip", bytes(content)))


@pytest.mark.parametrize(
    "name", ["a" * 400, "\\0", "/etc/hostname", "../../../../../../etc/hostname"]
)
def test_a_task_may_not_name_just_any_file(tmp_path, name):
    task = seeds.LM_EVAL.replace(b"data.jsonl", f'"{name}"'.encode())

    with pytest.raises(InputError, match="there is no file"):
        load_suites(written(tmp_path / "task.yaml", task))


def test_ratings_of_the_islands_without_a_column_too_short_or_off_the_scale(tmp_path):
    def refused(old, new, said):
        rows = written(tmp_path / "rows.csv", more.ISLAND_ROWS.replace(old, new))
        with pytest.raises(InputError, match=said):
            read_islands(rows)

    refused(b"item_number", b"number", "the column item_number is missing")
    refused(b",6,1.1", b",1e308,1.1", "People rated from 1 to 7")
    short = written(tmp_path / "short.csv", more.ISLAND_ROWS.replace(b",2,-0.9", b""))
    assert len(read_islands(short)) == 2  # a row without a rating is no rating


@pytest.mark.parametrize(
    "content",
    [b"\xff\n", b'{"row": "1", "annotator": "a", "plausible": true}', b"[1]", b'{"row": true}'],
)
def test_second_judgments_of_other_kinds(tmp_path, content):
    with pytest.raises(InputError):
        read_second(written(tmp_path / "a.jsonl", content), stories=TRIPLES)


def test_a_rating_whose_square_is_no_number(tmp_path):
    table = seeds.RATED["accomplit"].replace(b"\t6.2\t", b"\t1e200\t")

    with pytest.raises(InputError, match="mean is '1e200' and not a number"):
        readers.rated(written(tmp_path / "a.tsv", table))


def test_long_cells_are_not_quoted_whole():
    fault = Fault("CIM-S001", "error", "items.tsv", "x" * 100_000, "Correct it.")
    error = InputError(where="a", seen="y" * 100_000, todo="Correct it.")

    assert len(str(fault)) < 1_000
    assert str(fault).endswith("Correct it.")
    assert len(str(error)) < 3_000
    assert str(error).endswith("Correct it.")


def test_a_message_does_not_steer_the_terminal(tmp_path, capsys):
    table = "item\tcondition\ttext\n\x1b[2J\x9b31m\u202e1\tmatch\ta |b\n".encode()
    (tmp_path / "suite").mkdir()
    written(tmp_path / "suite" / "items.tsv", table)
    written(tmp_path / "suite" / "suite.toml", seeds.NATIVE_TOML)

    assert invoke(["run", str(tmp_path / "suite"), "-m", "demo-causal"]) == 2

    said = capsys.readouterr().err
    assert said.replace("\n", "").isprintable()


def test_a_long_formula_is_shown_where_it_is_wrong():
    with pytest.raises(FormulaError) as caught:
        parse("(1;%a%) + " * 500 + "? < 2")

    *_, formula, caret = str(caught.value).split("\n")
    assert formula[caret.index("^")] == "?"
    assert len(formula) < 200


def test_a_url_in_a_message_has_no_password():
    error = ModelError(where="server https://me:secret@models.test/v1", seen="is away")

    assert str(error) == "server https://models.test/v1: is away."


def test_a_pattern_that_could_search_for_ever():
    def read(pattern):
        tokenizer = {"type": "word", "cased": True, "drop_token_pattern": pattern}
        return parse_spec(json.dumps({"vocabulary": {}, "tokenizer": tokenizer}), where="spec")

    assert read("[.,;]+").tokenizer.type == "word"
    for pattern in ("(a+)+b", "(a|a)*b", "(?:a*){9}", "a" * 300):
        with pytest.raises(CimentoError, match="without end"):
            read(pattern)


def test_a_bomb_of_entities_is_told_as_what_it_is(tmp_path):
    bomb = b'<!DOCTYPE x [<!ENTITY a "b">]><dimlex>&a;</dimlex>'

    with pytest.raises(InputError, match="declares XML entities"):
        open_inventory(str(written(tmp_path / "a.xml", bomb)))


@pytest.mark.parametrize("content", [b"[1]\n", b"null\n", b"5\n", b'{"logprobs_nats": 5}\n'])
def test_answers_to_questions_that_are_no_objects(tmp_path, content):
    with pytest.raises(InputError, match="cannot be read"):
        read_answers(written(tmp_path / "answers.jsonl", content))
