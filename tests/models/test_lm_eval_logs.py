"""Logs of lm-evaluation-harness as recordings: stored runs of pairs, blanks and stories."""

from __future__ import annotations

import json

import polars as pl
import pytest

from cimento import InputError, TableError, evaluate, export, open_runs
from cimento.cli.main import invoke
from cimento.models.recorded import is_log, one_log, read_logs
from cimento.suites import Meta
from cimento.suites.cloze import ClozeItem, ClozeSuite, Option
from cimento.suites.formats.stories import record, write_jsonl
from cimento.suites.stories import OPTIONS, TIERS, Story

TIME = "2024-09-10T14-20-57.812707"


def sample(doc, pairs, values, *, greedy="False"):
    """A line as lm-eval 0.4 writes it."""
    return {
        "doc_id": 0,
        "doc": doc,
        "arguments": {f"gen_args_{k}": {"arg_0": a, "arg_1": b} for k, (a, b) in enumerate(pairs)},
        "resps": [[[str(value), greedy]] for value in values],
        "filtered_resps": [[str(value), greedy] for value in values],
    }


def write_log(folder, task, samples, *, model="org/tiny", time=TIME):
    folder.mkdir(parents=True, exist_ok=True)
    lines = "\n".join(json.dumps(sample) for sample in samples)
    (folder / f"samples_{task}_{time}.jsonl").write_text(lines + "\n", encoding="utf-8")
    config = {"model": "hf", "model_args": f"pretrained={model},dtype=bfloat16"}
    (folder / f"results_{time}.json").write_text(json.dumps({"config": config}), encoding="utf-8")
    return folder


def pairs_suite(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("good\tbad\nIl gatto dorme.\tIl gatto dormono.\nPiove.\tPiovono.\n", "utf-8")
    return path


def test_a_log_of_pairs_becomes_a_stored_run(tmp_path):
    texts = [("Il gatto dorme.", "Il gatto dormono."), ("Piove.", "Piovono.")]
    values = [(-10.0, -12.5), (-7.0, -6.0)]
    samples = [
        sample({"n": k}, [("", text) for text in pair], value)
        for k, (pair, value) in enumerate(zip(texts, values, strict=True))
    ]
    log = write_log(tmp_path / "logs" / "org__tiny", "blimp_it", samples[::-1])
    run = evaluate(pairs_suite(tmp_path), f"replay:{tmp_path / 'logs'}", output=tmp_path / "runs")
    assert run.outcomes()["verdict"].to_list() == ["pass", "fail"]
    assert run.model.startswith("org/tiny@")
    assert run.folder is not None
    assert is_log(log)


def test_a_log_made_with_a_limit_is_replayed_with_that_limit(tmp_path, capsys):
    pair = [("", "Il gatto dorme."), ("", "Il gatto dormono.")]
    log = write_log(tmp_path / "logs", "blimp_it", [sample({}, pair, (-10.0, -12.5))])
    command = ["run", str(pairs_suite(tmp_path)), "-m", f"replay:{log}", "-o", str(tmp_path / "o")]

    assert invoke(command) != 0
    assert "If it was made with --limit N, give --limit N here too." in capsys.readouterr().err
    assert invoke([*command, "--limit", "1"]) == 0
    [run] = open_runs(tmp_path / "o")
    assert run.outcomes()["verdict"].to_list() == ["pass"]


def test_what_was_exported_for_lm_eval_is_read_back(tmp_path):
    first = evaluate(pairs_suite(tmp_path), "demo-causal")
    export([first], "lm-eval", tmp_path / "logs")
    again = evaluate(pairs_suite(tmp_path), f"replay:{tmp_path / 'logs'}")
    columns = ["item", "question", "verdict"]
    assert again.outcomes().select(columns).equals(first.outcomes().select(columns))
    margins = [run.outcomes()["value"].to_list() for run in (first, again)]
    assert margins[1] == pytest.approx(margins[0], rel=1e-12)


def test_the_newest_log_of_a_task_counts_and_the_oldest_form_is_read(tmp_path):
    texts = ["Il gatto dorme.", "Il gatto dormono.", "Piove.", "Piovono."]
    old = [sample({}, [("", text) for text in texts], [-1.0, -2.0, -3.0, -4.0])]
    new = sample({}, [], [-2.0, -1.0, -4.0, -3.0])
    new["arguments"] = [["", text] for text in texts]
    new["resps"] = [[[value, False]] for value in (-2.0, -1.0, -4.0, -3.0)]
    write_log(tmp_path / "logs", "t", old)
    write_log(tmp_path / "logs", "t", [new], time="2025-01-01T00-00-00.1")
    run = evaluate(pairs_suite(tmp_path), f"replay:{tmp_path / 'logs'}")
    assert run.outcomes()["verdict"].to_list() == ["fail", "fail"]


@pytest.mark.parametrize(
    ("asked", "rule"),
    [
        (lambda word: ("Ho fame,", f" {word}"), "left"),
        (lambda word: ("", f"Ho fame, {word} mangio."), "sentence"),
        (lambda word: (f"Ho fame, {word}", " mangio."), "continuation"),
    ],
)
def test_a_log_of_blanks_becomes_a_run_by_the_rule_it_was_asked_by(tmp_path, asked, rule):
    options = (Option("quindi"), Option("benché", "implausible"))
    item = ClozeItem("fame", "Ho fame, ", " mangio.", options)
    suite = ClozeSuite(Meta("it-t", language="it"), items=(item,))
    log = write_log(
        tmp_path / "logs", "t", [sample({}, [asked(o.text) for o in options], (-2.0, -3.0))]
    )
    run = evaluate(suite, f"replay:{log}")
    chosen = run.outcomes().filter(pl.col("question") == "choice", pl.col("verdict") != "unscored")
    assert chosen["method"].to_list() == [rule]
    assert chosen["verdict"].to_list() == ["pass"]


def stories():
    sentences = ("Ada apre il frigo.", "Ada prende il latte.", "Ada beve.", "Ada esce.", "Piove.")
    swapped = (sentences[1], sentences[0], *sentences[2:])
    return (
        Story(row=0, story_id=0, type=None, example_id="0", sentences=sentences, plausible=True),
        Story(
            row=1, story_id=0, type="order", example_id="0-O0", sentences=swapped, plausible=False,
            breakpoint=1, confl_sents=(0,), state="open", idx=0,
        ),
    )  # fmt: skip


def story_log(folder, *, model="org/tiny", right=True):
    """Three tasks; later tiers are asked about the implausible story alone."""
    for tier in TIERS:
        asked = stories() if tier == TIERS[0] else stories()[1:]
        samples = []
        for story in asked:
            prompt = f"Read.\n\n{' '.join(stories()[0].sentences)} \nTrue?\n\n"
            prompt += f"{' '.join(story.sentences)} \nTrue?"
            pairs = [(prompt, f" {label}") for label in OPTIONS[tier]]
            values = [float((label == story.gold(tier)) == right) for label in OPTIONS[tier]]
            samples.append(sample(record(story), pairs, values))
        write_log(folder, f"my_{tier}", samples, model=model)
    return folder


def test_a_log_of_stories_becomes_a_stored_run(tmp_path):
    path = write_jsonl(stories(), tmp_path / "stories.jsonl")
    log = story_log(tmp_path / "logs")
    run = evaluate(path, f"replay:{log}")
    verdicts = run.outcomes().filter(pl.col("question").is_in(TIERS))["verdict"]
    assert set(verdicts) == {"pass"}


def test_logs_that_cannot_be_used_are_refused(tmp_path):
    with pytest.raises(InputError, match="there are no samples_TASK_TIME"):
        read_logs(tmp_path)
    log = write_log(tmp_path / "a", "t", [sample({}, [("", "Piove.")], [-1.0])])
    with pytest.raises(TableError, match="was not logged"):
        evaluate(pairs_suite(tmp_path), f"replay:{log}")
    with pytest.raises(TableError, match="this has 3 regions"):
        evaluate("it-subject-verb", f"replay:{log}")
    path = write_jsonl(stories(), tmp_path / "stories.jsonl")
    with pytest.raises(InputError, match="no task with the options of a tier: t"):
        evaluate(path, f"replay:{log}")
    write_log(tmp_path / "b", "t", [])
    with pytest.raises(InputError, match="the logs of several models"):
        one_log(tmp_path)
    (tmp_path / "b" / f"samples_t_{TIME}.jsonl").write_text('{"doc": 1}\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 1: it is not a sample"):
        read_logs(tmp_path / "b")
