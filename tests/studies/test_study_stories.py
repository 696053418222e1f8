"""The study of GITA4CALAMITA: every computed value of the reference, prompts and draws by hash."""

from __future__ import annotations

import csv
import functools
import json
from collections.abc import Mapping

import pytest

from cimento.cli.main import invoke
from cimento.paradigms.stories.prompts import PAPER_DRAWS, Shots, choose_shots
from cimento.paradigms.stories.recordings import RecordedAnswers, read_responses
from cimento.studies.stories import TABLE_3, published_model, study_record
from cimento.studies.stories.prompts import gemma, llama
from cimento.studies.stories.text import differing, metric_sections
from cimento.suites.formats.stories import read_stories
from cimento.suites.stories import OPTIONS, PAIRS, STATES, STORY, TIERS, TierAnswer
from tests.helpers.some_slow import some_slow

pytestmark = pytest.mark.golden

MODELS = (
    "Meta-Llama-3.1-8B",
    "Meta-Llama-3.1-8B-Instruct",
    "Meta-Llama-3.1-70B-Instruct",
    "gemma-2-27b",
    "gemma-2-9b-it",
)


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "golden/stories"


@pytest.fixture(scope="module")
def stories(folder):
    return read_stories(folder / "dataset/gita4calamita.jsonl").stories


@pytest.fixture(scope="module")
def record_of(folder, stories):
    """From a model to its record, made once."""

    @functools.cache
    def make(model):
        responses = read_responses(folder / f"responses/{model}.jsonl", stories=stories)
        return study_record(stories, responses, seed=1, draws=5_000)

    return make


def differences(expected, computed, path=""):
    """Places where something expected is missing or differs by more than its tolerance."""
    if isinstance(expected, Mapping):
        for key, value in expected.items():
            if not isinstance(computed, Mapping) or key not in computed:
                yield f"{path}/{key} is missing"
            else:
                yield from differences(value, computed[key], f"{path}/{key}")
    elif isinstance(expected, list):
        if not isinstance(computed, list) or len(computed) != len(expected):
            yield f"{path}: {computed} instead of {expected}"
        else:
            for place, (one, other) in enumerate(zip(expected, computed, strict=True)):
                yield from differences(one, other, f"{path}/{place}")
    elif isinstance(expected, float):
        tolerance = (
            0.01 if "bootstrap" in path else 1e-12 if path.startswith("/paper_code") else 1e-9
        )
        if not isinstance(computed, int | float) or abs(computed - expected) > tolerance:
            yield f"{path}: {computed} instead of {expected}"
    elif expected != computed:
        yield f"{path}: {computed} instead of {expected}"


@pytest.mark.slow
@pytest.mark.parametrize("model", some_slow(MODELS, quick=2))
def test_every_value_of_a_model_is_that_of_the_reference(folder, record_of, model):
    record = record_of(model)
    expected = json.loads((folder / f"expected/{model}.json").read_text())
    assert list(differences(expected, record)) == []
    assert set(record) - set(expected) == {"more"}
    for tier, counts in record["more"]["prompts"].items():
        assert counts["equal_prompts"] == counts["prompts"], tier
        if counts["equal_draws"] is not None:
            assert counts["equal_draws"] == counts["draws"], tier


@pytest.mark.slow
def test_all_recorded_prompts_are_rebuilt(record_of):
    total = sum(
        counts["equal_prompts"]
        for model in MODELS
        for counts in record_of(model)["more"]["prompts"].values()
    )
    # "2,408 golden prompts": every line of responses/ that has a hash.
    assert total == 2408


@pytest.mark.slow
@pytest.mark.parametrize("model", ["Meta-Llama-3.1-70B", "gemma-2-27b-it", "gemma-2-9b"])
def test_other_models_meet_the_logs_of_the_authors(shared, stories, model):
    path = shared / f"data/stories/more_responses/{model}.jsonl"
    record = study_record(stories, read_responses(path, stories=stories), seed=1, draws=100)
    sections = metric_sections(record)
    assert differing(sections) == 0
    equal = sum(cell.equal is True for cell in sections[0].cells)
    # The third tier of the largest model is not among the recorded answers.
    assert equal == (7 if model == "Meta-Llama-3.1-70B" else 10)


def test_the_printed_table_is_met(record_of):
    for model in MODELS:
        log, table = metric_sections(record_of(model))
        assert differing([log, table]) == 0
        known = 4 if model == "Meta-Llama-3.1-70B-Instruct" else 10
        both = zip(log.cells, table.cells, strict=True)
        assert sum(one.equal is True and other.equal is True for one, other in both) == known


@pytest.mark.slow
def test_models_are_compared(folder, capsys):
    arguments = [
        "study",
        "stories",
        "--data",
        str(folder / "dataset/gita4calamita.jsonl"),
        "--json",
        "--draws",
        "100",
    ]
    for model in MODELS:
        arguments += ["--responses", str(folder / f"responses/{model}.jsonl")]
    assert invoke(arguments) == 0
    output = json.loads(capsys.readouterr().out)
    expected = json.loads((folder / "expected_paired_story_class.json").read_text())
    assert set(output["models"]) == set(MODELS)
    assert set(output["paired_story_class"]) == set(expected)
    assert list(differences(expected, output["paired_story_class"])) == []
    # Holm over ten tests: the smallest p times ten.
    smallest = min(output["paired_story_class"].values(), key=lambda pair: pair["test"]["p"])
    assert smallest["p_holm"] == pytest.approx(10 * smallest["test"]["p"])
    assert "effective number of items" in smallest["test"]["method"]


@pytest.mark.slow
def test_tables_are_printed(folder, capsys):
    arguments = [
        "study",
        "stories",
        "--data",
        str(folder / "dataset/gita4calamita.jsonl"),
        "--draws",
        "100",
    ]
    for model in ("gemma-2-27b", "gemma-2-9b-it"):
        arguments += ["--responses", str(folder / f"responses/{model}.jsonl")]
    assert invoke(arguments) == 0
    output = capsys.readouterr().out
    assert "Verifiability          0.0168    4/238   0.0168  yes" in output
    assert "Verifiability           1.681    4/238     1.68  yes" in output
    shown = " ".join(output.split())
    assert "gemma-2-27b vs gemma-2-9b-it 32 130" in shown
    assert "physical_state 15 15 15 15" in shown


def three_models(folder):
    """The command about three of the models."""
    arguments = ["study", "stories", "--data", str(folder / "dataset/gita4calamita.jsonl")]
    arguments += ["--draws", "100", "--json"]
    for model in ("gemma-2-27b", "gemma-2-9b-it", "Meta-Llama-3.1-70B-Instruct"):
        arguments += ["--responses", str(folder / f"responses/{model}.jsonl")]
    return arguments


@pytest.mark.slow
def test_the_tables_and_figures_of_the_paper_are_written(folder, tmp_path, capsys):
    assert invoke([*three_models(folder), "-o", str(tmp_path)]) == 0
    written = {path.name for path in tmp_path.iterdir()}
    assert {f"table-{n}{end}" for n in (2, 3) for end in (".txt", ".csv", ".tex")} <= written
    assert {"flow.svg", "states-2.svg", "details.txt"} <= written
    tex = (tmp_path / "table-3.tex").read_text()
    assert "gemma-2-27b & 45.22 & 27.83 & 27.87 & 79.83 & 6.30 & 5.22 & 7.44" in tex
    assert "gemma-2-27b (published) & 45.22 & 27.83 & 27.87 & 79.83 & 6.30" in tex
    assert "\\textbf{74.16} & \\textbf{99.13}" in tex
    capsys.readouterr()


@pytest.mark.slow
def test_the_tables_of_the_paper_have_the_corrected_groups(folder, tmp_path, capsys):
    arguments = [*three_models(folder), "--grouping", "corrected"]
    assert invoke([*arguments, "-o", str(tmp_path)]) == 0
    rows = list(csv.DictReader((tmp_path / "table-3.csv").read_text().splitlines()))
    # below the ten published rows
    assert rows[12]["model"] == "Meta-Llama-3.1-70B-Instruct"
    metrics = [name for name in rows[0] if name.endswith("_percent")]
    assert metrics[:2] == ["Accuracy_all_percent", "Accuracy_cloze_percent"]
    assert rows[12][metrics[4]] == ""
    assert rows[12]["Accuracy_all_percent_n"]
    # The constant answer "false" of the synthetic systems.
    shown = [[f"{float(row[name] or 0):.2f}" for name in metrics[:5]] for row in rows]
    assert ["67.04", "100.00", "100.00", "0.00", "24.79"] in shown
    capsys.readouterr()


@pytest.mark.slow
def test_the_logs_of_the_authors_are_enough(shared, capsys):
    """No file of ours, not even the stories: lm-eval's samples hold them."""
    results = shared / "data/authors/stories/results"
    arguments = ["study", "stories", "--responses", str(results), "--draws", "100"]
    assert invoke([*arguments, "--json"]) == 0
    models = json.loads(capsys.readouterr().out)["models"]
    assert set(models) == {"Meta-Llama-3.1-8B", "gemma-2-27b"}
    asked = {"Meta-Llama-3.1-8B": [356, 156, 63], "gemma-2-27b": [356, 66, 15]}
    for name, record in models.items():
        for section in metric_sections(record):
            assert [cell.equal for cell in section.cells] == [True] * 10
        rebuilt = record["more"]["prompts"].values()
        for key in ("prompts", "equal_prompts", "draws", "equal_draws"):
            assert [row[key] for row in rebuilt] == asked[name]
    assert invoke(arguments) == 0
    out = capsys.readouterr().out
    assert "plausible, by the field type           117      117  yes" in out
    assert out.count("(published)") == 10


def test_what_is_missing_is_said(folder, tmp_path, capsys):
    lines = (folder / "responses/gemma-2-27b.jsonl").read_text().splitlines()
    tier = [line for line in lines if "story_class" in line]
    part, unscored = tmp_path / "part.jsonl", tmp_path / "unscored.jsonl"
    part.write_text("\n".join(tier[:20]))
    unscored.write_text("\n".join([*tier[1:], '{"doc": 0, "task": "story_class", "ll": [NaN, 0]}']))
    data = str(folder / "dataset/gita4calamita.jsonl")
    arguments = ["study", "stories", "--data", data, "--draws", "100", "--responses"]
    assert invoke([*arguments, str(part)]) == 0
    assert "336 of 356 stories that reached it lack answers" in capsys.readouterr().out
    assert invoke([*arguments, str(unscored)]) == 0
    output = capsys.readouterr().out
    assert "Accuracy, Plausible Accuracy: without the stories that have no score (1)." in output
    assert "Order Verifiability: no value: this tier was not asked." in output


def test_two_files_of_one_name_are_refused(folder, capsys):
    path = str(folder / "responses/gemma-2-27b.jsonl")
    data = str(folder / "dataset/gita4calamita.jsonl")
    assert (
        invoke(["study", "stories", "--data", data, "--responses", path, "--responses", path]) == 2
    )
    assert "two files are called 'gemma-2-27b'" in capsys.readouterr().err


def scored(row, tier, chosen, *, tie=False):
    """An answer of the artificial systems: the option chosen 0.0, the others -5.0."""
    values = tuple(-1.0 if tie else 0.0 if option == chosen else -5.0 for option in OPTIONS[tier])
    return TierAnswer(row=row, tier=tier, options=OPTIONS[tier], logprobs_nats=values)


SYSTEMS = {
    "gold": lambda story, tier: story.gold(tier),
    "always_false_majority": lambda _, tier: ("false", "3 and 4", "open")[TIERS.index(tier)],
    "always_true": lambda _, tier: ("true", "0 and 1", "power")[TIERS.index(tier)],
    "all_ties": lambda _, tier: ("false", "0 and 1", "power")[TIERS.index(tier)],
    "false_gold_conflict_wrong_state": lambda story, tier: (
        "false",
        story.gold("conflict_detec"),
        "solid",
    )[TIERS.index(tier)],
}


def answers_of(name, stories):
    """What a system answers, each tier asked only where the one before was right."""
    reached, answers = list(stories), []
    for tier in TIERS:
        if tier != STORY:
            reached = [story for story in reached if not story.plausible]
        chosen = {story.row: SYSTEMS[name](story, tier) for story in reached}
        answers += [
            scored(row, tier, label, tie=name == "all_ties") for row, label in chosen.items()
        ]
        reached = [story for story in reached if chosen[story.row] == story.gold(tier)]
    return tuple(answers)


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_artificial_systems_get_what_they_should(folder, stories, name):
    expected = json.loads((folder / "synthetic/expected.json").read_text())
    responses = RecordedAnswers(model=name, answers=answers_of(name, stories))
    record = study_record(stories, responses, seed=1, draws=100)
    assert list(differences(expected[name], record)) == []
    assert set(json.loads((folder / "synthetic/systems.json").read_text())) - {"_ll"} == set(
        SYSTEMS
    )


def test_the_draws_of_the_first_tier_are_drawn_again(folder, stories):
    expected = json.loads((folder / "fewshot_story_class_seed1234.json").read_text())
    shots = choose_shots(
        STORY, stories, stories, Shots(n=3, mode=PAPER_DRAWS, seed=expected["seed"])
    )
    assert [[shot.row for shot in drawn] for drawn in shots] == expected["shots"]


def test_labels_stand_in_the_order_of_the_study(folder):
    tasks = json.loads((folder / "tasks.json").read_text())
    assert {tier: list(OPTIONS[tier]) for tier in TIERS} == {
        tier: tasks[tier]["choices"] for tier in TIERS
    }
    assert (len(PAIRS), len(STATES)) == (10, 14)


def test_published_figures_are_those_of_the_reference(folder):
    only = json.loads((folder / "published_only.json").read_text())
    for name in ("Mistral-7B-v0.3", "Mistral-7B-Instruct-v0.3"):
        assert published_model(name).metrics_txt == only[name]
    for model in MODELS:
        assert set(published_model(model).table3_percent) == set(TABLE_3)
    assert published_model("somebody-else") is None


def test_templates_write_turns_with_their_marks():
    turns = [
        ("system", "Rispondi. "),
        ("user", "Piove? "),
        ("assistant", "No"),
        ("user", "E ora?"),
    ]
    assert gemma(turns[1:]) == (
        "<bos><start_of_turn>user\nPiove?<end_of_turn>\n<start_of_turn>model\nNo<end_of_turn>\n"
        "<start_of_turn>user\nE ora?<end_of_turn>\n<start_of_turn>model\n"
    )
    text = llama(turns)
    assert text.startswith("<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting")
    assert "26 Jul 2024\n\nRispondi.<|eot_id|>" in text
    assert text.endswith("E ora?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n")
