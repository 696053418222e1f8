"""Tasks of lm-evaluation-harness: written, read back, and refused where they are something else."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import polars as pl
import pytest
import yaml

from cimento import InputError, open_runs
from cimento.cli.main import invoke
from cimento.suites.builtin import find_suite
from cimento.suites.load import open_suite, opened, suite_paths
from tests.helpers.servers.loopback import serve

TASK = """
include: base.yaml
task: verbs
doc_to_choice: "{{[wrong, right]}}"
doc_to_target: 1
"""
BASE = """
dataset_path: json
dataset_kwargs: {data_files: verbs.jsonl}
output_type: multiple_choice
"""
DATA = '{"wrong": "Il sole splendono.", "right": "Il sole splende.", "level": 2}\n'


def task(folder: Path, **changed: str) -> Path:
    files = {"verbs.yaml": TASK, "base.yaml": BASE, "verbs.jsonl": DATA}
    for name, text in {**files, **{k.replace("_", "."): v for k, v in changed.items()}}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / "verbs.yaml"


def test_a_task_is_read_with_what_it_includes(tmp_path: Path) -> None:
    loaded = open_suite(task(tmp_path))
    assert (loaded.format, loaded.suite.name) == ("lm-eval", "verbs")
    (item,) = loaded.suite.items
    assert item.condition("good").regions[0].text == "Il sole splende."
    assert item.condition("bad").regions[0].text == "Il sole splendono."
    assert item.column("level") == "2"


@pytest.mark.parametrize(
    ("changed", "seen"),
    [
        ({"base_yaml": "dataset_path: org/verbs\n"}, "Fetch the dataset org/verbs"),
        ({"verbs_yaml": TASK.replace("target: 1", "target: label")}, "not a task of minimal"),
        ({"verbs_yaml": TASK.replace("[wrong, right]", "choices")}, "not a task of minimal"),
        ({"verbs_yaml": "process_docs: !function utils.f\n"}, "not YAML that can be read safely"),
        ({"verbs_yaml": "include: verbs.yaml\n"}, "without end"),
        ({"verbs_yaml": "- a\n"}, "there are no keys"),
        ({"verbs_jsonl": '{"wrong": "a"}\n'}, "row 1: there is no text in 'right'"),
        ({"verbs_jsonl": "{"}, "is not JSON"),
    ],
)
def test_other_tasks_are_refused(tmp_path: Path, changed: dict[str, str], seen: str) -> None:
    with pytest.raises(InputError, match=seen):
        open_suite(task(tmp_path, **changed))


GROUP = "group: mine\ntask: [verbs, nouns]\n"


def test_a_folder_of_tasks_is_read_by_its_tasks_and_not_by_their_data(tmp_path: Path) -> None:
    """A table says nothing about the blank before its sentences, which changes scores."""
    pair = DATA.replace("wrong", "sentence_bad").replace("right", "sentence_good")
    named = TASK.replace("[wrong, right]", "[sentence_bad, sentence_good]")
    more = {"more_jsonl": pair, "group_yaml": GROUP, "other_yml": "task: nothing\n"}
    task(tmp_path, verbs_yaml=named, verbs_jsonl=pair, **more)
    (tmp_path / "model.yaml").write_text("pretrained: gpt2\n", "utf-8")
    assert [path.name for path in suite_paths(tmp_path)] == ["more.jsonl", "verbs.yaml"]
    (tmp_path / "more.jsonl").unlink()
    with opened(tmp_path) as folder:
        assert [open_suite(path).suite.leading_blank for path in suite_paths(folder)] == [True]


def test_a_folder_says_what_is_wrong_with_its_tasks(tmp_path: Path) -> None:
    path = task(tmp_path, base_yaml="dataset_path: org/verbs\n")
    assert suite_paths(tmp_path) == [tmp_path / "verbs.jsonl"]  # a table beside a task of the hub
    (tmp_path / "verbs.jsonl").unlink()
    assert suite_paths(tmp_path) == [path]
    with pytest.raises(InputError, match="Fetch the dataset org/verbs"):
        open_suite(path)
    task(tmp_path)
    (tmp_path / "verbs.jsonl").unlink()
    assert suite_paths(tmp_path) == [path]  # rather than leaving it out without a word
    with pytest.raises(InputError, match=r"there is no file 'verbs\.jsonl'"):
        open_suite(path)
    for number in range(60):
        (tmp_path / f"{number}.yaml").write_text("include: #task" + "x" * 40_000, "utf-8")
    with pytest.raises(InputError, match="Give them one by one"):
        suite_paths(tmp_path)


def test_a_group_is_told_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a group, which only names its tasks"):
        open_suite(task(tmp_path, verbs_yaml=GROUP))


def test_the_name_of_a_task_is_not_lost_where_its_data_have_another(tmp_path: Path, capsys) -> None:
    named = TASK.replace("target: 1", 'target: 1\nmetadata: {version: "1.0"}')
    path = task(tmp_path, verbs_yaml=named, verbs_jsonl=DATA.replace("}", ', "UID": "agree"}'))
    command = ["suites", "convert", str(path), "--to"]
    assert invoke([*command, "lm-eval", "-o", str(tmp_path / "again")]) == 0
    (again,) = suite_paths(tmp_path / "again")
    assert (open_suite(again).suite.name, open_suite(again).suite.meta.version) == ("verbs", "1.0")
    assert invoke([*command, "blimp", "-o", str(tmp_path / "pairs")]) == 2
    assert "which the column UID gives as agree" in capsys.readouterr().err


def test_a_suite_comes_back_from_a_task(tmp_path: Path) -> None:
    folder = tmp_path / "task"
    command = ["suites", "convert", "es-subject-verb", "--to", "lm-eval", "-o", str(folder)]
    assert invoke(command) == 2
    assert invoke([*command, "--allow-loss"]) == 0
    written = yaml.safe_load((folder / "es_subject_verb.yaml").read_text(encoding="utf-8"))
    assert written["doc_to_choice"] == "{{[sentence_good, sentence_bad]}}"
    assert (written["doc_to_target"], written["output_type"]) == (0, "multiple_choice")
    again = open_suite(folder / "es_subject_verb.yaml").suite
    suite = open_suite(find_suite("es-subject-verb")).suite
    assert len(again.items) == len(suite.items) * len(suite.predictions)
    first = suite.items[0].condition("match")
    assert again.items[0].condition("good").regions[0].text == " ".join(
        region.text for region in first.regions if region.text
    )


def test_pairs_become_a_task_without_loss_and_with_their_language(tmp_path: Path) -> None:
    table = tmp_path / "pairs.tsv"
    table.write_text("good\tbad\nSolen skinner.\tSolen skinne.\n", "utf-8")
    command = ["suites", "convert", str(table), "--language", "no", "--to", "lm-eval"]
    assert invoke([*command, "-o", str(tmp_path / "task")]) == 0
    again = open_suite(tmp_path / "task" / "pairs.yaml").suite
    assert (again.meta.language, len(again.items)) == ("no", 1)


def test_a_language_of_the_command_line_is_no_loss(tmp_path: Path, capsys) -> None:
    table = tmp_path / "pairs.tsv"
    table.write_text("good\tbad\nLe luci sono qui.\tLe luci è qui.\n", "utf-8")
    command = ["suites", "convert", str(table), "--language", "it"]
    for target, suffix in (("blimp", ".jsonl"), ("minicons", ".tsv")):
        assert invoke([*command, "--to", target, "-o", str(tmp_path / f"{target}-1.0")]) == 0
        assert "give --language it where you read it" in capsys.readouterr().err
        # A name without a suffix gets that by which the file can be read again.
        written = tmp_path / f"{target}-1.0{suffix}"
        assert len(open_suite(written).suite.items) == 1


PAIRS = (
    ("Il sole splende.", "Il sole splendono."),
    ("Le lampade sono accese.", "Le lampade è accese."),
    ("La nave parte domani.", "La nave partono domani."),
)


@pytest.fixture
def suites(tmp_path: Path):
    """From what is in a task besides the usual to its file; the pairs alone as BLiMP JSONL."""
    rows = [json.dumps({"sentence_good": good, "sentence_bad": bad}) for good, bad in PAIRS]

    def made(more: str = "") -> Path:
        folder = Path(tempfile.mkdtemp(dir=tmp_path))
        (folder / "pairs.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
        (folder / "pairs.yaml").write_text(
            "task: pairs\ndataset_path: json\ndataset_kwargs: {data_files: pairs.jsonl}\n"
            'output_type: multiple_choice\ndoc_to_text: ""\ndoc_to_target: 0\n'
            f'doc_to_choice: "{{{{[sentence_good, sentence_bad]}}}}"\n{more}',
            encoding="utf-8",
        )
        return folder / "pairs.yaml"

    return made


def sums(suite: Path, model: str, folder: Path, *options: str) -> list[float]:
    """The summed log-probability of each sentence, as a run stores it."""
    out = tempfile.mkdtemp(dir=folder)
    assert invoke(["run", str(suite), "-m", model, "-o", out, "--no-cache", *options]) == 0
    [run] = open_runs(out)
    table = (
        run.table("tokens")
        .group_by("request", maintain_order=True)
        .agg(pl.col("logprob_nats").sum())
    )
    return table["logprob_nats"].to_list()


BLANK, NONE = 'target_delimiter: " "\n', 'target_delimiter: ""\n'


@pytest.mark.parametrize(
    ("compat", "more", "same"),
    [
        ([], "", "--leading-blank"),
        ([], NONE, "--no-leading-blank"),
        (["--compat", "lm-eval"], NONE, "--no-leading-blank"),
        pytest.param([], BLANK, "--leading-blank", marks=pytest.mark.slow),
        pytest.param(["--compat", "lm-eval"], "", "--leading-blank", marks=pytest.mark.slow),
        pytest.param(["--compat", "lm-eval"], BLANK, "--leading-blank", marks=pytest.mark.slow),
    ],
)
def test_the_delimiter_says_whether_a_blank_stands_before(
    suites, zoo_folder, tmp_path, compat, more, same
):
    model = str(zoo_folder("gpt2"))
    task = suites(more)
    jsonl = task.with_suffix(".jsonl")
    other = "--no-leading-blank" if same == "--leading-blank" else "--leading-blank"

    totals = sums(task, model, tmp_path, *compat)
    others = sums(jsonl, model, tmp_path, *compat, other)

    # The pairs alone say nothing of a blank, so that the option does.
    assert totals == pytest.approx(sums(jsonl, model, tmp_path, *compat, same), abs=1e-5)
    assert totals != pytest.approx(others, abs=1e-2)
    # What is on the command line wins.
    assert sums(task, model, tmp_path, *compat, other) == pytest.approx(others, abs=1e-5)


@pytest.mark.parametrize(("delimiter", "before"), [(" ", " "), ("", "")])
def test_scores_are_those_of_the_harness_worked_out_by_hand(
    suites, zoo_folder, tmp_path, delimiter, before
):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = zoo_folder("gpt2")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    start = tokenizer.bos_token_id
    if start is None:
        start = tokenizer.eos_token_id
    expected = []
    for sentence in (text for pair in PAIRS for text in pair):
        # api/task.py: the continuation is target_delimiter + choice, after an empty context.
        ids = tokenizer(before + sentence, add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            logits = model(torch.tensor([[start, *ids]])).logits[0, :-1]
        chosen = logits.log_softmax(-1)[range(len(ids)), ids]
        expected.append(chosen.sum().item())

    totals = sums(suites(f"target_delimiter: {delimiter!r}\n"), str(folder), tmp_path,
                 "--compat", "lm-eval")  # fmt: skip
    assert totals == pytest.approx(expected, abs=2e-4)


def test_the_delimiter_is_kept_in_the_copy_and_by_rerun(suites, zoo_folder, tmp_path, capsys):
    task, model = suites(), str(zoo_folder("gpt2"))
    out = tmp_path / "runs"
    assert invoke(["run", str(task), "-m", model, "-o", str(out), "--no-cache"]) == 0
    [manifest] = out.rglob("manifest.json")
    copy = manifest.parent / "suite" / "suite.toml"
    assert "leading_blank = true" in copy.read_text(encoding="utf-8")
    assert open_suite(copy.parent).suite.leading_blank is True
    assert invoke(["rerun", str(out), "-o", str(tmp_path / "again")]) == 0
    capsys.readouterr()
    assert invoke(["show", str(out)]) == 0
    assert invoke(["cite", "--methods", str(out)]) == 0
    assert "Every text was preceded by a blank" in capsys.readouterr().out


def test_logs_of_a_run_have_the_blank_that_was_scored(tmp_path: Path) -> None:
    for delimiter in (" ", ""):
        path = task(tmp_path, verbs_yaml=TASK + f"target_delimiter: '{delimiter}'\n")
        out = tmp_path / f"runs{delimiter}"
        assert invoke(["run", str(path), "-m", "demo-causal", "-o", str(out), "--log-samples"]) == 0
        (samples,) = out.rglob("samples_verbs_*.jsonl")
        [row] = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
        assert row["arguments"]["gen_args_0"]["arg_1"] == f"{delimiter}Il sole splende."
        (results,) = out.rglob("results_*.json")
        config = json.loads(results.read_text("utf-8"))["config"]
        assert config["model_args"]["leading_blank"] == str(delimiter == " ")


def test_a_run_that_was_stored_with_another_delimiter_is_not_shown(suites, zoo_folder, tmp_path):
    model, out = str(zoo_folder("gpt2")), str(tmp_path / "runs")
    for more in ("", 'target_delimiter: ""\n'):
        assert invoke(["run", str(suites(more)), "-m", model, "-o", out, "--no-cache"]) == 0
    first, second = (run.table("tokens")["logprob_nats"].sum() for run in open_runs(out))
    assert first != pytest.approx(second, abs=1e-3)


def test_servers_are_sent_the_blank_too(suites, tmp_path, fresh_cache):
    sent = []
    with serve() as server:
        for more in ("", 'target_delimiter: ""\n'):
            server.prompts.clear()
            out = tempfile.mkdtemp(dir=tmp_path)
            command = ["run", str(suites(more)), "-m", server.address, "-o", out]
            assert invoke([*command, "--unscored-first", "drop"]) == 0
            sent.append(sorted(server.prompts))
    assert fresh_cache.is_dir()
    sentences = sorted(text for pair in PAIRS for text in pair)
    assert sent == [[f" {sentence}" for sentence in sentences], sentences]


def test_workers_are_told_of_the_blank(suites, zoo_folder, tmp_path):
    model = str(zoo_folder("gpt2"))
    alone = sums(suites(), model, tmp_path)

    assert sums(suites(), model, tmp_path, "--workers", "2") == alone


@pytest.mark.parametrize(
    ("more", "named", "others"),
    [
        ("", [], ["CIM-S008"]),
        ('metadata: {version: 3}\nnum_fewshot: 0\ndescription: ""\nvalidation_split: train\n', [],
         ["CIM-S008"]),
        ("metric_list: [{metric: acc, aggregation: mean}, {metric: acc_norm}]\n", [], ["CIM-S008"]),
        ("tag: blimp\nshould_decontaminate: true\n", ["none: tag, should_decontaminate."],
         ["may change scores"]),
        ('target_delimiter: "\\n"\n', ["may change scores: target_delimiter."], []),
        ("num_fewshot: 5\nfewshot_split: train\n", ["scores: num_fewshot, fewshot_split."], []),
        ("metric_list: [{metric: brier_score}]\n", ["scores: metric_list."], []),
        ("target_delimiter: 7\n", ["scores: target_delimiter."], []),
    ],
)  # fmt: skip
def test_every_field_that_is_not_honored_is_named(suites, more, named, others):
    faults = [fault for fault in open_suite(suites(more)).faults if fault.code == "CIM-S008"]
    said = " ".join(f"{fault.code} {fault.seen}" for fault in faults)

    for name in named:
        assert name in said
    for other in others:
        assert other not in said


def test_a_text_before_the_choices_is_named(suites):
    task = suites()
    text = task.read_text(encoding="utf-8").replace('doc_to_text: ""', 'doc_to_text: "Which?"')
    task.write_text(text, encoding="utf-8")

    [said] = [fault.seen for fault in open_suite(task).faults if fault.code == "CIM-S008"]
    assert "may change scores: doc_to_text." in said


@pytest.mark.parametrize(("more", "written"), [("", " "), ('target_delimiter: ""\n', "")])
def test_a_written_task_says_what_stands_before(suites, tmp_path, more, written):
    folder = tmp_path / "written"
    command = ["suites", "convert", str(suites(more)), "--to", "lm-eval", "-o", str(folder)]
    assert invoke([*command, "--allow-loss"]) == 0
    plain = yaml.safe_load((folder / "pairs.yaml").read_text(encoding="utf-8"))

    assert plain["target_delimiter"] == written
    assert open_suite(folder / "pairs.yaml").suite.leading_blank is bool(written)


def test_a_written_task_names_the_folder_that_it_is_in(tmp_path):
    folder = tmp_path / "pairs"
    command = ["suites", "convert", "en-subject-verb", "--to", "lm-eval", "--allow-loss"]
    assert invoke([*command, "-o", str(folder)]) == 0
    [path] = folder.glob("*.yaml")
    task = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert task["dataset_kwargs"] == {"data_files": "pairs/en_subject_verb.jsonl"}
