"""What the fuzzers found, each kept as the file that showed it."""

from __future__ import annotations

import itertools
import json
import struct
import urllib.request
import zipfile
from hashlib import sha256

import pytest

from cimento import CimentoError, InputError, ModelError, SuiteError, TableError, load_suites
from cimento.cli.main import invoke
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.morphology import from_unimorph
from cimento.errors import Fault, FormulaError
from cimento.io.parsing import whole_number
from cimento.io.templates import filled
from cimento.io.transport import opener
from cimento.models.hf.files import locate, model_kind
from cimento.models.hf.loading import count_parameters
from cimento.models.recorded.reading import parse_spec
from cimento.paradigms.cloze.judgments import expectations
from cimento.paradigms.stories.answers import parse_reply
from cimento.people.annotate.second_annotator import read_story_judgments as read_second
from cimento.records.store import RunFolder
from cimento.studies.islands.human import read_island_ratings as read_islands
from cimento.suites.formula import parse
from cimento.suites.published import https_only
from tests.fuzzing import readers, seeds
from tests.fuzzing import readers_more as more_readers
from tests.fuzzing import seeds_files as files
from tests.fuzzing import seeds_more as more
from tests.helpers.stories import TRIPLES


def written(path, content):
    path.write_bytes(content)
    return path


def test_a_member_of_an_archive_without_a_name(tmp_path):
    content = seeds.zipped({"x": b"", "a/suite.json": seeds.SYNTAXGYM})
    with zipfile.ZipFile(written(tmp_path / "a.zip", content), "a") as archive:
        archive.filelist[0].filename = ""
        archive._didModify = True

    assert [suite.suite.name for suite in load_suites(tmp_path / "a.zip")] == ["lampade"]


def test_a_member_of_an_archive_that_does_not_unpack(tmp_path):
    content = bytearray(seeds.zipped({"suite.json": seeds.SYNTAXGYM}))
    content[45:75] = b"\xff" * 30

    with pytest.raises(InputError, match="cannot be unpacked"):
        list(load_suites(written(tmp_path / "a.zip", bytes(content))))


def test_keys_of_a_task_that_are_no_text(tmp_path, capsys):
    written(tmp_path / "data.jsonl", seeds.BLIMP)
    task = written(tmp_path / "task.yaml", seeds.LM_EVAL + b"\n0: more\non: more\n")

    assert invoke(["suites", "check", str(task)]) == 0
    assert "may change scores: 0, True." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    "name", ["a" * 400, "\\0", "/etc/hostname", "../../../../../../etc/hostname"]
)
def test_a_task_may_not_name_just_any_file(tmp_path, name):
    task = seeds.LM_EVAL.replace(b"data.jsonl", f'"{name}"'.encode())

    with pytest.raises(InputError, match="there is no file"):
        list(load_suites(written(tmp_path / "task.yaml", task)))


def test_ratings_of_the_islands_without_a_column_too_short_or_off_the_scale(tmp_path):
    def refused(old, new, said):
        rows = written(tmp_path / "rows.csv", more.ISLAND_ROWS.replace(old, new))
        with pytest.raises(InputError, match=said):
            read_islands(rows)

    refused(b"item_number", b"number", "the column item_number is missing")
    refused(b",6,1.1", b",1e308,1.1", "People rated from 1 to 7")
    short = written(tmp_path / "short.csv", more.ISLAND_ROWS.replace(b",2,-0.9", b""))
    assert len(read_islands(short)) == 2  # a row without a rating is not a rating


@pytest.mark.parametrize(
    "content",
    [b"\xff\n", b'{"row": "1", "annotator": "a", "plausible": true}', b"[1]", b'{"row": true}'],
)
def test_second_judgments_of_other_kinds(tmp_path, content):
    with pytest.raises(InputError):
        read_second(written(tmp_path / "a.jsonl", content), stories=TRIPLES)


def test_a_rating_whose_square_is_no_number(tmp_path):
    table = seeds.RATED["accomplit"].replace(b"\t6.2\t", b"\t1e200\t")

    with pytest.raises(InputError, match="mean is '1e200', not a number"):
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

    assert str(error) == "server https://models.test/v1 is away."


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


@pytest.mark.parametrize(
    "name", ["/etc/hostname", "../../../../../../etc/hostname", "a\\0b", "/dev/zero"]
)
def test_a_task_may_not_include_just_any_file(tmp_path, name):
    task = seeds.LM_EVAL + f'include: "{name}"\n'.encode()

    with pytest.raises(InputError, match=r"which it includes|read safely"):
        list(load_suites(written(tmp_path / "task.yaml", task)))


@pytest.mark.parametrize("nested", ["[" * 4_000, "{a: " * 4_000, "- " * 4_000])
def test_yaml_that_is_nested_very_deeply(tmp_path, nested):
    with pytest.raises(InputError, match="more than 50 levels"):
        list(load_suites(written(tmp_path / "task.yaml", nested.encode())))


def test_a_message_of_very_many_lines_is_short_and_says_what_to_do():
    message = str(InputError(where="a.csv", seen="there are " + "x,y\n" * 20_000, todo="Mend it."))
    assert len(message) < 20_010
    assert message.startswith("a.csv: there are x,y\nx,y")
    assert message.endswith("x,y\n. Mend it.")


def test_a_factorial_table_of_a_header_alone(tmp_path):
    with pytest.raises(SuiteError, match="no row below the header"):
        list(load_suites(written(tmp_path / "items.tsv", b"item\tcondition\tsentence\n")))


def test_connectives_without_letters(tmp_path):
    lines = open_inventory(
        str(written(tmp_path / "list.txt", "ma\r / # none\n/\nperò/pero\n".encode()))
    )
    reading = b'[{"features": "cong."}]'
    nvdb = b'{" ": ' + reading + b', "ma": ' + reading + b"}"
    of_json = open_inventory(str(written(tmp_path / "nvdb.json", nvdb)))

    assert [connective.name for connective in lines.connectives] == ["ma", "però"]
    assert [connective.name for connective in of_json.connectives] == ["ma"]


@pytest.mark.parametrize("tag", ["V;" + "/".join(["X"] * 99_999), "V;" + ";".join(["1/3"] * 99)])
def test_tags_with_very_many_readings(tag):
    assert 1 <= len(from_unimorph(tag)) <= 2


def test_tags_with_more_readings_than_anybody_reads():
    some = ";".join(f"{a}/{b}" for a, b in itertools.combinations(["1", "2", "3", "SG", "PL"], 2))
    assert len(from_unimorph(some)) == 256


def test_a_date_that_is_none_in_yaml(tmp_path):
    with pytest.raises(InputError, match="is not YAML that can be read safely"):
        list(load_suites(written(tmp_path / "task.yaml", seeds.LM_EVAL + b"since: 2001-99-99\n")))


@pytest.mark.parametrize(
    "expected", ["{a.__class__.__mro__}", "{a!r}", "{a:>900000000}", "{0}", "{a[0]}", "{}"]
)
def test_an_expectation_names_columns_and_evaluates_nothing(expected):
    with pytest.raises(KeyError):
        filled(expected, {"a": "ADJ"})
    with pytest.raises(InputError, match="names a column it has not"):
        expectations({"1": {"expected": expected, "a": "ADJ"}})


def test_a_template_is_filled_with_what_it_names_and_no_more():
    assert filled("ADJ Gender={g}|{n}", {"g": "Fem", "n": "{g}"}) == "ADJ Gender=Fem|{g}"
    assert filled("{ a } b", {" a ": "1"}) == "1 b"
    with pytest.raises(ValueError, match="characters"):
        filled("{a}" * 1_000, {"a": "b" * 1_000})


@pytest.mark.parametrize("text", ["9" * 5_000, "²", "-1", "1.0", ""])
def test_what_is_no_whole_number(text):
    assert whole_number(text) is None


def test_whole_numbers():
    assert [whole_number(text) for text in ("0", "007", "١٢")] == [0, 7, 12]


COUNTED = b"item\toption\tcount\n1\tma\t"
RANKED = b"item\trank\tcandidate\tlogprob_nats\n1\t1\tma\t"
DECIDED = b'{"item":[],"candidate":"a","fits":"yes","remarks":[],"at":""}\n'


@pytest.mark.parametrize(
    ("read", "file", "content", "said"),
    [
        (readers.choices_of_people, "a.tsv", COUNTED + b"9" * 5_000, "count is"),
        (readers.fills, "a.tsv", RANKED + b"1000\n", "log-prob"),
        (
            readers.arpa,
            "a.arpa",
            b"\\data\\\nngram 1=" + b"9" * 5_000 + b"\n",
            "not an n-gram model",
        ),
        (readers.treebank, "a.conllu", b"9" * 5_000 + b"\ta" + b"\t_" * 8 + b"\n\n", "the ID is"),
        (
            more_readers.cloze_of_a_study,
            "a.tsv",
            files.STUDY_CLOZE.replace(b"none=2", "none=²".encode()),
            "choices has",
        ),
        (more_readers.journal, "annotations/anna.jsonl", DECIDED, "is not a decision"),
    ],
)
def test_numbers_and_values_of_other_kinds(tmp_path, read, file, content, said):
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    written(path, content)

    with pytest.raises(InputError, match=said):
        read(path if path.parent == tmp_path else tmp_path)


def test_a_reply_with_an_endless_number():
    assert parse_reply("conflict_detec", "9" * 5_000).reason == "no such sentence"


def test_thoughts_are_left_out_and_those_without_end_are_told():
    said = "<think>Falso?</think> <THINKING>Sì.</THINKING> Vero."

    assert parse_reply("story_class", said).label == "true"
    assert parse_reply("story_class", f"{said} <think> falso").reason == "reasoning cut short"


@pytest.mark.parametrize(
    "pattern", ["a*a*a*b", ".+.+x", "(a|a)(a|a)(a|a)(a|a)b", "a?a?a?a?aaaa", "[ab]*c{2}"]
)
def test_patterns_that_take_long_are_refused(pattern):
    tokenizer = {"type": "word", "cased": True, "drop_token_pattern": pattern}

    with pytest.raises(CimentoError, match="without end"):
        parse_spec(json.dumps({"vocabulary": {}, "tokenizer": tokenizer}), where="spec")


@pytest.mark.parametrize("pattern", ["[*+?{(]+", r"\*+", "^[-!?._,]+$", "(?:a|b)?c"])
def test_patterns_with_one_repetition_are_taken(pattern):
    tokenizer = {"type": "word", "cased": True, "drop_token_pattern": pattern}
    text = json.dumps({"vocabulary": {}, "tokenizer": tokenizer})

    assert parse_spec(text, where="spec").tokenizer.drop_token_pattern == pattern


def test_a_manifest_that_names_files_outside_of_its_run(tmp_path):
    manifest = {"files": {"/dev/zero": "", "../outside": sha256(b"x").hexdigest()}}
    run = tmp_path / "run"
    run.mkdir()
    written(tmp_path / "outside", b"x")

    with pytest.raises(TableError, match="is not what the run stored"):
        RunFolder(run).verify({"files": {"../outside": manifest["files"]["../outside"]}})
    RunFolder(run).verify({"files": {"/dev/zero": ""}})  # said to be missing, and it is


def test_a_link_to_a_device_is_not_read(tmp_path):
    folder = tmp_path / "suite"
    folder.mkdir()
    written(folder / "suite.toml", seeds.NATIVE_TOML)
    (folder / "items.tsv").symlink_to("/dev/zero")

    with pytest.raises(InputError, match=r"is a device.*no file"):
        list(load_suites(folder))


@pytest.mark.parametrize("base", [".", "../here", "a" * 5_000])
def test_an_adapter_of_an_adapter_is_told(tmp_path, base):
    folder = tmp_path / "here"
    folder.mkdir()
    config = {"peft_type": "LORA", "base_model_name_or_path": base}
    written(folder / "adapter_config.json", json.dumps(config).encode())

    with pytest.raises(CimentoError, match=r"an adapter itself|no such folder|neither a folder"):
        locate(str(folder))


@pytest.mark.parametrize("architectures", [5, [1, None], {"a": 1}, "GPT2LMHeadModel", None])
def test_architectures_of_other_kinds(tmp_path, architectures):
    written(tmp_path / "config.json", json.dumps({"architectures": architectures}).encode())

    with pytest.raises(ModelError, match="neither a causal nor a masked"):
        model_kind(locate(str(tmp_path)))


@pytest.mark.parametrize(
    "header", [b"[1]", b"[" * 5_000, b'{"a": {"shape": ["x"]}}', b'{"a": {"shape": [1e9]}}',
               b'{"a": {"shape": [%s]}}' % (b"9" * 300)]
)  # fmt: skip
def test_weights_whose_header_is_damaged_are_not_counted(tmp_path, header):
    written(tmp_path / "model.safetensors", struct.pack("<Q", len(header)) + header)

    assert count_parameters(tmp_path) is None


def test_a_download_stays_on_the_secure_web():
    handlers = opener("https://data.test/", allowed=https_only).handlers
    [handler] = [
        handler for handler in handlers if isinstance(handler, urllib.request.HTTPRedirectHandler)
    ]
    request = urllib.request.Request("https://data.test/a.zip")  # not opened

    with pytest.raises(InputError, match="is not https"):
        handler.redirect_request(request, None, 302, "", {}, "http://data.test/a.zip")
    assert handler.redirect_request(request, None, 302, "", {}, "https://b.test/").host == "b.test"


def test_a_place_in_a_survey_that_no_table_can_hold(tmp_path):
    content = more.PCIBEX.replace(b",1,0,trial", b",77777777777777777777,0,trial")

    with pytest.raises(InputError, match="position is '77777777777777777777'"):
        more_readers.answers_pcibex(written(tmp_path / "results.csv", content))
