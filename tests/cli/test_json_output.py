"""What commands print with ``--json``: one object, as a schema that comes with cimento says.

Beside these tests, tests/helpers/json_output.py checks each ``--json`` that any other test prints.
"""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator, ValidationError

from cimento.cli.main import invoke
from tests.helpers.json_output import (
    KEYWORDS,
    commands_with_json,
    one_of_each_kind,
    read_schema,
    validator,
)

HANDED_ON = {"cluster slurm", "cluster prefetch"}
"""Commands that prepare a run and pass ``--json`` on to it."""

CONLLU = """# sent_id = {id}
# text = Piove ma esco.
1\tPiove\tpiovere\tVERB\tV\t_\t0\troot\t_\t_
2\tma\tma\tCCONJ\tCC\t_\t3\tcc\t_\t_
3\tesco\tuscire\tVERB\tV\t_\t1\tconj\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\tFS\t_\t1\tpunct\t_\t_

"""


def test_every_command_with_json_has_a_schema():
    definitions = read_schema("commands")["$defs"]

    named = {name.replace(" ", "-") for name in set(commands_with_json()) - HANDED_ON}
    assert named == set(definitions)


@pytest.mark.parametrize("name", ["commands", "summary", "table"])
def test_schemas_are_schemas_with_an_id(name):
    schema = read_schema(name)

    Draft202012Validator.check_schema(schema)
    assert schema["$id"].startswith("urn:cimento:")


def test_schemas_ask_nothing_that_one_of_each_kind_could_hide():
    def keywords(schema):
        words = set(schema)
        for child in (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()):
            words |= keywords(child)
        others = (schema.get(name) for name in ("items", "additionalProperties"))
        for child in (*others, *schema.get("anyOf", ())):
            words |= keywords(child) if isinstance(child, dict) else set()
        return words

    names = ("summary", "commands", "table")
    assert set().union(*(keywords(read_schema(name)) for name in names)) <= KEYWORDS


def test_one_of_each_kind_keeps_every_fault():
    right = {"verdict": "pass", "margin": 0.5, "parts": [1, 2]}
    faults = [
        {"verdict": "passed", "margin": 0.25, "parts": [1, 2]},
        {"verdict": "fail", "margin": 2.0, "parts": [3]},
        {"verdict": "pass", "margin": None, "parts": [1, 2]},
        {"verdict": "pass", "margin": 0.5, "parts": [1, "2"]},
        {"verdict": "pass", "margin": 0.5},
    ]
    many = [dict(right, margin=number / 7) for number in range(1, 6)]
    assert len(one_of_each_kind(many)) == 1
    for fault in faults:
        kept = one_of_each_kind({"items": [*many, fault, *many]})["items"]
        assert one_of_each_kind(fault) in kept
        assert len(kept) == 2


@pytest.mark.parametrize("command", sorted(set(commands_with_json()) - HANDED_ON))
def test_a_list_or_an_empty_object_is_no_output(command):
    for wrong in ([], "text"):
        with pytest.raises(ValidationError):
            validator(command).validate(wrong)


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "it_tiny-ud-test.conllu"
    path.write_text("".join(CONLLU.format(id=f"s{k}") for k in range(3)), encoding="utf-8")
    return str(path)


def printed(capsys, *arguments: str) -> dict:
    """The one object that a command prints."""
    capsys.readouterr()
    assert invoke([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert isinstance(printed, dict)
    return printed


def test_runs_of_several_kinds_are_one_object(runs_of_every_kind, tmp_path, capsys):
    asked = ["it-subject-verb", "it-connectives-cloze", "-m", "demo-causal", "--limit", "2"]

    record = printed(capsys, "run", *asked, "-o", str(tmp_path))
    assert [run["paradigm"] for run in record["runs"]] == ["regions", "cloze"]
    assert len(printed(capsys, "judge", str(runs_of_every_kind))["runs"]) == 5
    assert printed(capsys, "cluster", "collect", *asked, "-o", str(tmp_path))["runs"]
    assert (
        printed(capsys, "cluster", "collect", *asked, "-o", str(tmp_path), "--check")["missing"]
        == []
    )
    assert printed(capsys, "plan", *asked)["plan"] == 2


def test_commands_on_stored_runs_print_one_object(runs_of_every_kind, tmp_path, capsys):
    islands = str(runs_of_every_kind / "it-islands")

    assert printed(capsys, "compare", islands, islands)["models"] is None
    assert printed(capsys, "analyze", "profile", str(runs_of_every_kind / "it-connectives-cloze"))[
        "profiles"
    ]
    assert printed(capsys, "rerun", islands, "-o", str(tmp_path))["runs"]


@pytest.mark.parametrize("names", [["it-subject-verb"], ["it-subject-verb", "it-idioms"]])
def test_commands_on_suites_print_one_object_however_many_there_are(names, capsys):
    for command in ("check", "audit"):
        assert len(printed(capsys, "suites", command, *names)["suites"]) == len(names)


def test_other_commands_print_one_object(treebank, tmp_path, capsys):
    text = tmp_path / "texts.txt"
    text.write_text("La casa è ___.\nIl gatto è ___.\n", encoding="utf-8")

    asked = [str(text), "-m", "demo-causal", "--options", "nera|nuova"]
    assert len(printed(capsys, "fill", *asked)["texts"]) == 2
    assert printed(capsys, "corpus", "search", treebank)["hits"]
    assert printed(capsys, "corpus", "connectives", treebank)
    assert printed(capsys, "corpus", "check", treebank)["files"]


def test_lists_are_objects(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path))
    named = {suite["name"]: suite for suite in printed(capsys, "suites", "list")["suites"]}
    assert named["it-subject-verb"]["language"] == "it"
    assert {
        dataset["name"] for dataset in printed(capsys, "suites", "list", "--remote")["datasets"]
    } > {"blimp"}
    models = {model["name"]: model["kind"] for model in printed(capsys, "models", "list")["models"]}
    assert models.items() >= {"demo-causal": "causal", "demo-masked": "masked"}.items()
    assert printed(capsys, "models", "cache", "info")["texts"] == 0
    assert printed(capsys, "models", "cache", "verify")["problems"] == []


def test_every_kind_of_run_and_item_is_shown_as_json(runs_of_every_kind, capsys):
    runs = printed(capsys, "show", str(runs_of_every_kind))["runs"]
    assert len(runs) == 5
    for run in runs:
        # Pages name a story by its row and its own id.
        item = "0: 0" if run["paradigm"] == "stories" else run["outcomes"][0]["item"]
        [shown] = printed(capsys, "show", run["folder"], item)["runs"]
        assert (shown["suite"], shown["model"], shown["id"]) == (run["suite"], run["model"], item)
    islands = next(run for run in runs if run["paradigm"] == "regions")
    [shown] = printed(capsys, "show", islands["folder"], islands["outcomes"][0]["item"])["runs"]
    pieces = [
        piece
        for strip in shown["strips"]
        for region in strip["regions"]
        for piece in region["pieces"]
    ]
    assert "".join(piece["text"] for piece in pieces).startswith(shown["strips"][0]["text"])
    assert any(piece["surprisal_bits"] for piece in pieces)


def test_surprisals_are_by_text(tmp_path, capsys):
    text = tmp_path / "texts.txt"
    text.write_text("Le zie cantano.\n\nIl cane dorme.\n", encoding="utf-8")
    asked = ["score", str(text), "-m", "demo-causal"]

    tokens, words, marks = (
        printed(capsys, *asked, *more)["texts"]
        for more in ((), ("--words",), ("--end-marks", "?."))
    )
    for texts in (tokens, words, marks):
        assert [row["text"] for row in texts] == ["Le zie cantano.", "Il cane dorme."]
    assert [row["word"] for row in words[0]["scores"]][:2] == ["Le", "zie"]
    sums = [sum(row["surprisal_bits"] for row in texts[1]["scores"]) for texts in (tokens, words)]
    assert sums[0] == pytest.approx(sums[1])
    assert marks[0]["scores"][0]["mark"] == "?"


@pytest.mark.parametrize(
    ("name", "n_items", "facts"),
    [
        ("it-subject-verb", 24, {"predictions", "conditions", "regions"}),
        ("it-acceptability", 120, {"predictions", "conditions"}),
        ("it-idioms", 100, {"kind"}),
        ("es-agreement-templates", 124, {"kind"}),
        ("it-stories", 180, set()),
    ],
)
def test_suites_of_every_kind_are_shown_as_json(name, n_items, facts, capsys):
    [suite] = printed(capsys, "suites", "show", name, "--items", "2")["suites"]
    assert (suite["name"], suite["n_items"], len(suite["items"])) == (name, n_items, 2)
    assert suite.keys() >= facts | {"paradigm", "language", "license"}


def test_the_json_of_a_story_is_what_is_printed_of_it(capsys):
    asked = ["suites", "prompts", "it-stories", "--row", "2", "--set", "shots=1"]
    record = printed(capsys, *asked)
    assert invoke(asked) == 0
    text = capsys.readouterr().out
    assert record["prompts"][0]["tier"] == "story_class"
    for prompt in record["prompts"]:
        assert prompt["right"] in prompt["options"]
        assert prompt["prompt"] in text
        assert prompt["prompt_sha256"] in text


def test_citations_are_records_with_their_paragraphs(runs_of_every_kind, capsys):
    folder = str(runs_of_every_kind / "it-islands")
    plain = printed(capsys, "cite", folder)
    assert (plain["methods"], plain["appendix"]) == (None, None)
    assert "cimento" in {work["key"] for work in plain["references"]}
    assert all(work["bibtex"].startswith("@") for work in plain["references"])
    both = printed(capsys, "cite", folder, "--methods", "--appendix")
    assert "it-islands" in both["methods"]
    assert both["appendix"] != both["methods"]


def test_observations_are_rows_and_may_be_written_too(tmp_path, capsys):
    table = tmp_path / "times.csv"
    table.write_text("text,position,word,rt\n1,1,Il,300\n1,2,cane,320\n", encoding="utf-8")
    file = tmp_path / "joined.csv"
    asked = ["analyze", "reading-times", str(table), "-m", "demo-causal", "-o", str(file)]
    rows = printed(capsys, *asked)["observations"]
    assert [row["word"] for row in rows] == ["Il", "cane"]
    assert rows[1]["surprisal_bits_1"] == rows[0]["surprisal_bits"]
    assert file.is_file()


def test_templates_and_annotators_may_have_any_name():
    counts = {"generated": 8, "kept": 8, "removed": [], "added": [], "reviewed": 8}
    validator("suites build templates").validate({"passive_2": counts})
    with pytest.raises(ValidationError):
        validator("suites build templates").validate({"passive_2": 8})
    annotators = read_schema("commands")["$defs"]["annotate-candidates"]["properties"]["annotators"]
    assert list(Draft202012Validator(annotators).iter_errors({"eva": "eight"}))


def test_a_table_that_a_command_writes_is_as_its_schema_says(tmp_path, capsys):
    runs = str(tmp_path / "runs")
    asked = ["run", "it-subject-verb", "-m", "demo-causal", "-m", "demo-masked", "-o", runs]
    assert invoke([*asked, "--limit", "4"]) == 0
    for command in (["compare", runs], ["study", "connectives"]):
        assert invoke([*command, "-o", str(tmp_path / command[0])]) == 0
    capsys.readouterr()
    assert invoke(["report", runs, "--table", "results", "--format", "json"]) == 0
    written = [*tmp_path.glob("study/*.json"), *tmp_path.glob("compare/*.json")]
    assert {path.parent.name for path in written} == {"study", "compare"}
    texts = [capsys.readouterr().out, *(path.read_text("utf-8") for path in written)]
    whole = Draft202012Validator(read_schema("table"))
    for text in texts:
        table = json.loads(text)
        whole.validate(table)
        assert table["rows"]
        rows = Draft202012Validator(table["schema"])
        for row in table["rows"]:
            rows.validate(row)
            assert list(row) == table["columns"]
    for part in ("rows", "schema", "title"):
        assert not whole.is_valid({name: value for name, value in table.items() if name != part})
