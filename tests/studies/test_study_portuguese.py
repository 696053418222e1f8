"""The study of Brazilian Portuguese, redone from the files that its authors released, unchanged.

The expected values in the folder of golden values were computed by other code from the same files;
see its README.
"""

from __future__ import annotations

import json

import pytest

from cimento import Meta, UsageError
from cimento.cli.main import invoke
from cimento.paradigms.cloze.detecting import MULTIWORD, SHEET, SYNTACTIC
from cimento.paradigms.cloze.files import read_cloze, write_cloze
from cimento.paradigms.cloze.portuguese import SNAPSHOT, read_multiwords, read_templates
from cimento.studies.portuguese import (
    NUMBERS,
    PARTS,
    numbers_of,
    part,
    table,
    verb_readings,
)
from cimento.studies.portuguese.data import StudyData, load_study
from cimento.suites.cloze import ClozeSuite, expand_templates
from tests.helpers.some_slow import some_slow

pytestmark = pytest.mark.golden

WITH_EXPECTED_CELLS = (1, 4, 6, 7, 8, 10, 11, 13)


@pytest.fixture(scope="session")
def folder(shared):
    return shared / "data/authors/portuguese"


@pytest.fixture(scope="session")
def reference(shared):
    return shared / "golden/portuguese"


@pytest.fixture(scope="session")
def data(folder) -> StudyData:
    return load_study(folder)


@pytest.fixture
def read_once(data, folder, monkeypatch):
    """The command is given the files as they have been read, which takes a second."""

    def loaded(path):
        assert path == folder
        return data

    monkeypatch.setattr("cimento.studies.portuguese.data.load_study", loaded)


@pytest.fixture(scope="session")
def expected(reference):
    return lambda name: json.loads((reference / "expected" / f"{name}.json").read_text("utf-8"))


def records(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def masked(item):
    return f"{item.before}[MASK]{item.after}"


class TestReading:
    """What is read of each file is what other code had read of it."""

    @pytest.mark.slow
    def test_the_judgments_of_both_states(self, data, reference):
        text = (reference / "grammar_judgments.tsv").read_text("utf-8")
        wanted = [line.split("\t") for line in text.removesuffix("\n").split("\n")[1:]]
        fits = {True: "s", False: "n", None: ""}
        rows = [
            [
                row.candidate.item,
                str(row.candidate.rank),
                row.candidate.text,
                round(row.candidate.probability, 9),
                ";".join(row.candidate.tags),
                fits[row.candidate.fits],
                "; ".join(row.candidate.remarks),
                str(int(row.in_snapshot)),
                fits[row.snapshot_fits],
                str(int(row.snapshot_first)),
            ]
            for row in data.judged
        ]
        assert len(rows) == 12320
        assert sorted(rows) == sorted(
            [*row[:3], round(float(row[3]), 9), *row[4:]] for row in wanted
        )

    def test_instances_and_their_labels(self, data, reference):
        wanted = {record["id"]: record for record in records(reference / "grammar_instances.jsonl")}
        assert {instance.item.id for instance in data.instances} == set(wanted)
        for instance in data.instances:
            known = wanted[instance.item.id]
            assert instance.key == (known["template"], known["seed"], known["text"])
            assert (instance.case, instance.tense) == (known["paper_case"], known["paper_case_alt"])
            assert set(instance.categories) == set(known["seed_categories"])
            if known["dimension"] == "subject_agreement":
                assert sorted(verb_readings(instance)) == sorted(known["ling_tense_person"])

    def test_multiword_items_and_their_candidates(self, data, reference):
        wanted = [
            (record["id"], record["text"], record["answer"], record["cue"], record["mwe"])
            for record in records(reference / "mwe_items.jsonl")
        ]
        assert wanted == [
            (item.id, masked(item), *item.targets, item.columns["cue"], item.columns["expression"])
            for item in data.cells
        ]
        recorded = {
            (record["model"], record["id"]): record["top10"]
            for record in records(reference / "mwe_predictions.jsonl")
        }
        texts: dict[tuple[str, str], list[str]] = {}
        for model, candidates in data.predictions.items():
            for candidate in candidates:
                texts.setdefault((model, candidate.item), []).append(candidate.text)
        assert texts == recorded

    def test_templates_make_the_instances_that_the_study_asked(self, data, folder):
        templates = read_templates(folder / SYNTACTIC)
        assert sum(template.n_slots for template in templates) == 1248
        made = expand_templates(templates)
        assert len(made.items) == len({item.id for item in made.items}) == 1232
        assert {
            (item.columns["template"], item.columns["seed"], masked(item)) for item in made.items
        } == {instance.key for instance in data.instances}

    def test_forms_in_two_categories_are_reported_and_keep_both(self, data):
        made = expand_templates(data.templates)
        asked = {instance.key[:2]: set(instance.categories) for instance in data.instances}
        assert len(made.shared) == 16
        for shared_form in made.shared:
            assert set(shared_form.categories) == asked[shared_form.template, shared_form.form]

    def test_written_as_suites_they_are_read_back_whole(self, folder, tmp_path):
        suites = (
            ClozeSuite(Meta("t"), templates=tuple(read_templates(folder / SYNTACTIC))),
            ClozeSuite(Meta("m"), items=tuple(read_multiwords(folder / MULTIWORD))),
        )
        for suite in suites:
            reading = read_cloze(write_cloze(suite, tmp_path / suite.name))
            assert reading.suite == suite
            codes = {fault.code for fault in reading.faults}
            assert codes <= {"CIM-C010", "CIM-C012", "CIM-C015"}


@pytest.mark.parametrize(
    ("names", "tables"),
    [
        ((SHEET,), (4, 9, 11, 13)),
        ((SNAPSHOT,), range(4, 14)),
        ((MULTIWORD,), (1, 2, 3)),
        ((SYNTACTIC,), ()),
        pytest.param((SHEET, SNAPSHOT), range(4, 14), marks=pytest.mark.slow),
    ],
)
def test_each_file_gives_its_tables_alone(data, folder, tmp_path, names, tables):
    for name in names:
        (tmp_path / name).symlink_to(folder / name)
    part_of = load_study(tmp_path)
    assert numbers_of(part_of) == tuple(tables)
    for number in tables:
        record = table(part_of, number)
        assert record == table(data, number, part_of.states)


@pytest.mark.slow
def test_its_recordings_run_like_a_model_and_give_its_numbers(folder, tmp_path, capsys):
    """P@1, P@10 pooled: 1057 of 1232, 9164 of 12319; passive 148 of 175, as in the tables."""
    judgments = str(folder / SHEET)
    asked = [judgments, "-m", f"replay:{judgments}"]
    assert invoke(["run", *asked, "-o", str(tmp_path / "runs")]) == 0
    capsys.readouterr()
    options = ["--judgments", judgments, "--by", "dimension", "--json"]
    options += ["--not-expected", "sujeito oculto", "--not-expected", "sujeito indeterminado"]
    options += ["--not-expected", "não sujeito"]
    assert invoke(["analyze", "profile", str(tmp_path / "runs"), *options]) == 0
    (profile,) = json.loads(capsys.readouterr().out)["profiles"]
    cells = {dimension["name"]: dimension for dimension in profile["dimensions"]}
    counts = {
        name: [(share["correct"], share["n"]) for share in cell["fitting"]]
        for name, cell in cells.items()
    }
    assert counts["all"] == [(1057, 1232), (9164, 12319)]
    assert counts["passive"] == [(148, 175), (1381, 1750)]
    deviant = cells["subject_agreement"]["not_expected"]
    assert (deviant["of_judged"]["correct"], deviant["of_judged"]["n"]) == (1451, 2760)
    assert deviant["above"] == 37
    assert cells["passive"]["clusters"] == 13


class TestTables:
    @pytest.mark.parametrize("number", WITH_EXPECTED_CELLS)
    def test_cells_are_exactly_the_expected_ones(self, data, expected, number):
        wanted = expected(f"table{number:02d}")
        record = table(data, number)
        assert record["cells"] == wanted["cells"]
        assert record.get("micro") == wanted.get("micro")
        assert record.get("aggregation") == wanted.get("aggregation")

    @pytest.mark.parametrize("number", range(4, 14))
    def test_the_snapshot_gives_what_is_printed_but_for_one_cell(self, data, number):
        """The paper has 0.77 for P@10 of "tu"; the data have 2 of 130."""
        wrong = [
            (cell["case"], cell["snapshot_equals_paper"])
            for cell in table(data, number)["cells"]
            if cell["snapshot_equals_paper"] != [True, True]
        ]
        assert wrong == ([("Tu", [True, False])] if number == 10 else [])

    @pytest.mark.parametrize("state", ["snapshot", "release"])
    def test_one_state_alone_says_nothing_of_the_other(self, data, state):
        both, one = table(data, 13), table(data, 13, [state])
        other = {"snapshot": "release", "release": "snapshot"}[state]
        for cell, whole in zip(one["cells"], both["cells"], strict=True):
            assert cell == {key: whole[key] for key in whole if not key.startswith(other)}

    def test_table_2_prints_lists_and_hits(self, data, expected):
        record, wanted = table(data, 2), expected("table02")
        for key in ("paper", "large_gt_base_at1", "large_lt_base_at10", "reproducible"):
            assert record[key] == wanted[key]
        assert record["hits"]["W1"]["livro aberto"] == {"base": [4, 5], "large": [4, 4]}

    def test_table_3_is_what_is_printed(self, data):
        record = table(data, 3)
        assert record["computed"] == record["paper"]
        assert record["equals_paper"] == {"W1": True, "W2": True}
        assert [len(names) for names in record["computed"].values()] == [8, 7]

    def test_an_unknown_table_is_refused(self, data):
        with pytest.raises(UsageError, match="there is no table 14"):
            table(data, 14)


class TestParts:
    def test_hits(self, data, expected):
        assert expected("mwe_hits_at_k").items() <= part(data, "hits").items()

    def test_hits_per_expression(self, data, expected):
        assert expected("mwe_hits_per_mwe").items() <= part(data, "per-mwe").items()

    def test_per_template(self, data, expected):
        record = part(data, "per-template")
        assert len(record) == 83
        assert all(record[name] == wanted for name, wanted in expected("per_template").items())

    def test_confidence(self, data, expected):
        record = part(data, "confidence")
        for name, wanted in expected("confidence_by_template").items():
            assert record[name] == pytest.approx(wanted, abs=1e-9), name

    def test_profiles_of_the_model_whose_candidates_were_released(self, data, expected):
        assert (
            part(data, "profiles")["bertimbau-large"] == expected("pos_profiles")["bertimbau-large"]
        )

    def test_person(self, data, expected):
        assert part(data, "person")["person"] == expected("subject_corrected_person")["person"]

    def test_tenses_have_the_instances_that_persons_have(self, data):
        counts = {
            name: sum(cell["p10"]["n"] for cell in part(data, name)[name].values())
            for name in ("person", "tense")
        }
        assert counts == {"person": 2760, "tense": 2760}

    def test_automatic_evaluation(self, data, expected):
        assert expected("auto_eval").items() <= part(data, "auto").items()

    def test_mcnemar(self, data, expected):
        tests = {
            (test["k"], test["a"], test["b"], test["words"]): test for test in part(data, "mcnemar")
        }
        assert len(tests) == 18
        for wanted in expected("mcnemar"):
            test = tests[wanted["k"], wanted["a"], wanted["b"], wanted["words"]]
            numbers = {key for key in wanted if key not in ("a", "b", "words")}
            assert {key: test[key] for key in numbers} == pytest.approx(
                {key: wanted[key] for key in numbers}, rel=1e-12, abs=0
            )

    def test_claims(self, data, expected):
        record = part(data, "claims")
        for name, wanted in expected("claims").items():
            assert record[name]["paper"] == wanted["paper"], name
            assert record[name]["computed"] == pytest.approx(wanted["computed"], rel=1e-12), name
            # "off by one row" was said here of a difference
            equal = wanted["verdict"] == "equal"
            assert record[name]["verdict"] == ("equal" if equal else "differs"), name

    def test_a_last_digit_that_is_off_differs_and_says_what_would_explain_it(self, data):
        record = part(data, "claims")
        assert record["mwe_gain_base"]["verdict"] == "equal"
        large = record["mwe_gain_large"]
        assert (large["paper"], large["computed"]) == ([12.72, 15.75], [12.73, 15.76])
        assert large["verdict"] == "differs"
        assert "rounded percentages would give the printed ones" in large["how"]
        assert "one row less would give" in record["hidden_subject"]["how"]
        # Table 6 and the sheet agree (35 of 54).
        person = record["second_person"]
        assert (person["paper"], person["computed"]) == (64.1, 64.81)
        assert person["verdict"] == "differs"

    def test_every_rate_has_an_interval_or_says_why_not(self, data):
        for number in (1, *range(4, 14)):
            record = table(data, number)
            assert len(record["intervals"]) == len(record["cells"])
        connectors = table(data, 11)["intervals"]
        # 3 of 3 sentences made from one template
        assert all(connector["release"]["p1"]["low"] is None for connector in connectors)
        assert connectors[0]["release"]["p1"]["reason"] == "1 cluster: an interval needs 5 or more"
        large = table(data, 1)["intervals"][2]["k1"]
        # Wilson's interval of 87 in 165 independent ones is 45.1 to 60.2
        assert large["low"] < 45.1
        assert large["high"] > 60.2
        tests = table(data, 13)["intervals"]
        assert all(test["release"]["p10"]["low"] is not None for test in tests)
        # the mean over 12 templates that are all 100
        assert tests[3]["release"]["p1"]["high"] == 100.0
        assert tests[3]["release"]["p1"]["low"] < 90

    def test_passives_share_sentences_and_the_interval_knows_it(self, data):
        clusters = part(data, "clusters")["passive"]
        feminine = clusters["f_sg"]
        shared = (feminine["instances"], feminine["base_sentences"], feminine["in_largest"])
        assert shared == (28, 3, 22)
        assert (feminine["p1"]["low"], feminine["p1"]["high"]) == (None, None)
        assert feminine["p1"]["reason"] == "3 clusters: an interval needs 5 or more"
        # Wilson's interval of 70 in 73 independent ones is 88.6 to 98.6.
        assert clusters["m_sg"]["p1"]["low"] < 88.6
        assert clusters["m_sg"]["p1"]["high"] > 98.6

    def test_an_unknown_part_is_refused(self, data):
        with pytest.raises(UsageError, match="there is no 'claim'"):
            part(data, "claim")


class TestCommand:
    @pytest.mark.slow
    def test_json_of_one_table(self, data, folder, capsys):
        assert (
            invoke(["study", "portuguese", "--data", str(folder), "--table", "12", "--json"]) == 0
        )
        assert json.loads(capsys.readouterr().out) == table(data, 12)

    @pytest.mark.usefixtures("read_once")
    def test_json_of_one_state(self, data, folder, capsys):
        arguments = ["--data", str(folder), "--table", "5", "--state", "release", "--json"]
        assert invoke(["study", "portuguese", *arguments]) == 0
        assert json.loads(capsys.readouterr().out) == table(data, 5, ["release"])

    @pytest.mark.slow
    @pytest.mark.usefixtures("read_once")
    @pytest.mark.parametrize("name", some_slow(PARTS, quick=2))
    def test_every_part_is_printed(self, data, folder, capsys, name):
        assert invoke(["study", "portuguese", "--data", str(folder), "--what", name]) == 0
        assert capsys.readouterr().out.strip()
        assert invoke(["study", "portuguese", "--data", str(folder), "--what", name, "--json"]) == 0
        record = part(data, name)
        whole = {"rows": record} if isinstance(record, list) else record
        assert json.loads(capsys.readouterr().out) == whole

    @pytest.mark.slow
    def test_all_tables_as_text(self, folder, capsys):
        assert invoke(["study", "portuguese", "--data", str(folder)]) == 0
        out, err = capsys.readouterr()
        for number in NUMBERS:
            assert f"Table {number}. " in out
        assert "11 candidates of 11738 not judged" in err
        assert "1 candidate of 12320 not judged" in err

    def test_an_empty_folder_says_what_is_looked_for_and_where_it_is(self, tmp_path, capsys):
        assert invoke(["study", "portuguese", "--data", str(tmp_path)]) == 2
        said = capsys.readouterr().err
        assert "none of the study's files is there" in said
        for name in (SHEET, SNAPSHOT, MULTIWORD, SYNTACTIC, "github.com/rswilkens"):
            assert name in said
