"""Suites while a model trains: what is logged and stored, and that training is left alone."""

from __future__ import annotations

import json
import logging
import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from transformers import EarlyStoppingCallback, Trainer, TrainerCallback, TrainingArguments

import cimento
from cimento import (
    CimentoError,
    UsageError,
    evaluate_while_training,
    live_scorer,
    open_runs,
)
from cimento.cli.main import invoke
from cimento.evaluation.callback import logged
from cimento.models import undisturbed
from cimento.models.hf.causal import CausalScorer
from cimento.models.settings import BatchLimits
from cimento.models.weights import weights_digest
from tests.helpers import zoo

SUITE = "it-subject-verb"
STEPS = 6
OTHERS = ("llama", "mpt", "falcon-alibi", "gemma3")


class Heard(TrainerCallback):
    """What a logger such as TensorBoard's is told: numbers, by step."""

    def __init__(self) -> None:
        self.logs: list[tuple[int, dict[str, float]]] = []

    def on_log(self, args, state, control, logs=None, **more):  # noqa: ARG002  # as the base class
        self.logs.append((state.global_step, dict(logs)))


def trainer(folder: Path, name: str = "gpt2", **options) -> Trainer:
    """A tiny model about to train for six steps, evaluated every two and stored every three."""
    tokens = zoo.tokenizer(zoo.SPECIES[name].tokenizer)
    if tokens.pad_token is None:
        tokens.pad_token = tokens.eos_token or tokens.convert_ids_to_tokens(0)
    ids = tokens(list(zoo.SENTENCES[:8]), padding=True, return_tensors="pt")["input_ids"]
    rows = [{"input_ids": sequence, "labels": sequence} for sequence in ids]
    torch.manual_seed(7)
    settings = {
        "max_steps": STEPS,
        "eval_strategy": "steps",
        "eval_steps": 2,
        "save_steps": 3,
        "logging_steps": 2,
        "per_device_train_batch_size": 2,
        "learning_rate": 1e-2,
        "report_to": [],
        "use_cpu": True,
        "disable_tqdm": True,
        "dataloader_pin_memory": False,
        **options,
    }
    return Trainer(
        zoo.model(name),
        TrainingArguments(str(folder / "out"), **settings),
        train_dataset=rows,
        eval_dataset=rows[:2],
        processing_class=tokens,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A training with the callback: its folder, the callback, what was logged, the trainer."""
    folder = tmp_path_factory.mktemp("training")
    made, heard = trainer(folder), Heard()
    callback = evaluate_while_training(made, [SUITE], name="tiny", output=folder / "runs")
    made.add_callback(heard)
    made.train()
    return folder, callback, heard, made


@pytest.mark.parametrize(
    "name",
    [
        "gpt2",
        pytest.param("bert-cased", marks=pytest.mark.slow),
        *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS),
    ],
)
def test_training_is_the_same_to_the_bit_with_and_without(name, tmp_path):
    plain = trainer(tmp_path / "plain", name)
    plain.train()
    watched = trainer(tmp_path / "watched", name)
    evaluate_while_training(watched, [SUITE], output=None)
    watched.train()
    assert weights_digest(plain.model) == weights_digest(watched.model)
    losses = [
        [entry["loss"] for entry in training.state.log_history if "loss" in entry]
        for training in (plain, watched)
    ]
    assert losses[0] == losses[1]
    assert weights_digest(plain.model) != weights_digest(zoo.model(name))


PAIRS = {
    "it": ("Il cane dorme.\tIl cane dormono.", "Le vicine parlano.\tLe vicine parla."),
    "pt": ("O gato dorme.\tO gato dormem.", "As vizinhas falam.\tAs vizinhas fala."),
}


def test_two_languages_of_a_set_are_logged_by_set_and_language(tmp_path):
    for code, rows in PAIRS.items():
        (tmp_path / "agreement" / code).mkdir(parents=True)
        text = "\n".join(["sen\twrong_sen", *rows]) + "\n"
        (tmp_path / "agreement" / code / "data.tsv").write_text(text, encoding="utf-8")
    made = trainer(tmp_path, max_steps=2)
    suites = [tmp_path / "agreement" / code for code in PAIRS]
    callback = evaluate_while_training(made, suites, output=tmp_path / "runs")
    made.train()
    rates = {name for name in callback.history[2] if name.endswith("_accuracy")}
    assert rates == {"eval_agreement-it_accuracy", "eval_agreement-pt_accuracy"}
    stored = {run.suite_name for run in open_runs(tmp_path / "runs")}
    assert stored == {"agreement-it", "agreement-pt"}


def test_suites_that_truly_share_a_name_are_refused_with_what_to_do(tmp_path):
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "verbs.tsv").write_text(
            "good\tbad\n" + PAIRS["it"][folder == "other"] + "\n", encoding="utf-8"
        )
    suites = [tmp_path / folder / "verbs.tsv" for folder in ("one", "other")]
    with pytest.raises(UsageError) as refused:
        evaluate_while_training(trainer(tmp_path), suites, output=None)
    assert all(str(path) in refused.value.seen for path in suites)
    assert refused.value.todo.startswith("Give a suite once; rename one of two")


@pytest.mark.slow
def test_mixed_precision_is_taken_off_for_the_scores_alone(tmp_path):
    plain = trainer(tmp_path / "plain", bf16=True)
    plain.train()
    watched = trainer(tmp_path / "watched", bf16=True)
    callback = evaluate_while_training(watched, [SUITE], output=None)
    watched.train()
    assert weights_digest(plain.model) == weights_digest(watched.model)
    watched.processing_class.save_pretrained(tmp_path / "watched" / "out" / "checkpoint-6")
    stored = cimento.evaluate(SUITE, str(tmp_path / "watched" / "out" / "checkpoint-6"))
    assert callback.history[6] == pytest.approx(logged(stored))


def test_a_batch_is_as_large_as_was_asked_for(tmp_path, monkeypatch):
    limits = []

    class Heard(CausalScorer):
        def __init__(self, *args, **options):
            limits.append(options["limits"])
            super().__init__(*args, **options)

    monkeypatch.setattr("cimento.models.hf.causal.CausalScorer", Heard)
    watched = trainer(tmp_path, max_steps=2)
    evaluate_while_training(watched, [SUITE], output=None, batch_size=5)
    watched.train()
    assert set(limits) == {BatchLimits(sequences=5)}


@pytest.mark.slow
def test_a_run_in_training_is_repeated_from_its_checkpoint(trained, tmp_path, capsys):
    folder, _, _, made = trained
    [run] = (folder / "runs" / SUITE).glob("tiny-step0000003@*")
    codes, changed = [], []
    for step in (3, 6):
        checkpoint = folder / "out" / f"checkpoint-{step}"
        made.processing_class.save_pretrained(checkpoint)
        arguments = ["rerun", str(run), "-m", str(checkpoint), "-o", f"{tmp_path}/{step}", "--json"]
        codes.append(invoke(arguments))
        files = json.loads(capsys.readouterr().out)["runs"][str(run)]
        changed.append([file["name"] for file in files if not file["same"]])
    assert codes == [0, 1]
    assert changed[0] == []
    assert "model: revision" in changed[1]

    assert invoke(["rerun", str(run), "-o", str(tmp_path)]) == 2
    assert "Give it with -m, such as the checkpoint of its step." in capsys.readouterr().err


def test_each_step_is_asked_once_at_evaluations_and_checkpoints(trained):
    _, callback, heard, _ = trained
    assert sorted(callback.history) == [2, 3, 4, 6]
    key = f"eval_{SUITE}_accuracy"
    assert [step for step, logs in heard.logs if key in logs] == [2, 3, 4, 6]


def test_numbers_that_are_logged_are_those_of_the_stored_checkpoint(trained):
    folder, callback, _, made = trained
    made.processing_class.save_pretrained(folder / "out" / "checkpoint-3")
    stored = cimento.evaluate(SUITE, str(folder / "out" / "checkpoint-3"))
    assert callback.history[3] == pytest.approx(logged(stored))
    (live,) = [run for run in open_runs([folder / "runs"]) if "step0000003" in run.model]
    margins = [run.outcomes()["value"].to_numpy() for run in (live, stored)]
    np.testing.assert_allclose(margins[0], margins[1], atol=1e-4)


def test_every_prediction_and_all_of_them_are_logged_by_name(trained):
    folder, callback, _, _ = trained
    run = next(run for run in open_runs(folder / "runs") if "step0000006" in run.model)
    rates = {estimate.question: estimate for estimate in run.estimates() if not estimate.group}
    every = rates["all predictions"]
    assert callback.history[6] == {
        f"eval_{SUITE}_number": rates["number"].value,
        f"eval_{SUITE}_person": rates["person"].value,
        f"eval_{SUITE}_all_predictions": every.value,
        f"eval_{SUITE}_accuracy": every.value,
        f"eval_{SUITE}_accuracy_low": every.low,
        f"eval_{SUITE}_accuracy_high": every.high,
    }


def test_runs_are_stored_by_step_and_sort_by_it(trained):
    folder, _, _, made = trained
    runs = open_runs([folder / "runs"])
    names = [run.model.partition("@")[0] for run in runs]
    assert names == [f"tiny-step{step:07d}" for step in (2, 3, 4, 6)]
    model = runs[-1].manifest["model"]
    assert model["revision"] == weights_digest(made.model)
    assert model["kind"] == "causal"
    assert json.loads((runs[-1].folder / "manifest.json").read_text("utf-8"))


def test_steps_are_compared_as_a_curve(trained, capsys, tmp_path):
    folder, _, _, _ = trained
    curve = tmp_path / "curve.csv"
    assert invoke(["compare", str(folder / "runs"), "--figure", str(curve)]) == 0
    capsys.readouterr()
    assert [row["step"] for row in pl.read_csv(curve).iter_rows(named=True)] == [2, 3, 4, 6]


def test_a_checkpoint_can_be_chosen_by_a_suite(tmp_path):
    made = trainer(
        tmp_path,
        save_steps=2,
        metric_for_best_model=f"eval_{SUITE}_accuracy",
        load_best_model_at_end=True,
    )
    callback = evaluate_while_training(made, [SUITE], output=None)
    made.train()
    accuracies = [rates[f"eval_{SUITE}_accuracy"] for rates in callback.history.values()]
    assert made.state.best_metric == max(accuracies)


KEY = f"eval_{SUITE}_accuracy"


def asked_again(made: Trainer) -> dict[str, float]:
    """What is logged for the weights that are in the model now, asked without the callback."""
    tokens = made.processing_class
    with undisturbed(made.model):
        return logged(cimento.evaluate(SUITE, made.model, tokenizer=tokens))


def test_an_evaluation_after_the_best_checkpoint_was_loaded_is_of_its_weights(tmp_path):
    """The lowest accuracy counts as the best here, so that it is not that of the last step."""
    made = trainer(
        tmp_path,
        save_steps=2,
        learning_rate=0.1,
        metric_for_best_model=KEY,
        greater_is_better=False,
        load_best_model_at_end=True,
    )
    callback = evaluate_while_training(made, [SUITE], name="tiny", output=tmp_path / "runs")
    made.train()
    best = int(made.state.best_model_checkpoint.rpartition("-")[2])
    before = dict(callback.history)
    stored = {run.model for run in open_runs(tmp_path / "runs")}
    assert before[best] != before[STEPS], "the case is not the one that is tested"

    metrics = made.evaluate()
    assert {name: metrics[name] for name in before[best]} == before[best]
    assert before[best] == pytest.approx(asked_again(made))
    # Nothing new was learned of step 6, and the weights of the best step have their run.
    assert callback.history == before
    assert {run.model for run in open_runs(tmp_path / "runs")} == stored


@pytest.mark.slow
def test_a_second_training_is_asked_anew_at_its_steps(tmp_path):
    made = trainer(tmp_path, learning_rate=0.1, save_strategy="no")
    start = {name: tensor.clone() for name, tensor in made.model.state_dict().items()}
    callback = evaluate_while_training(made, [SUITE], name="tiny", output=tmp_path / "runs")
    made.train()
    first = callback.history
    assert len(open_runs(tmp_path / "runs")) == 3

    made.model.load_state_dict(start)
    made.args.learning_rate = 1e-7
    made.train()
    assert sorted(callback.history) == [2, 4, 6]
    assert callback.history[6] == pytest.approx(asked_again(made))
    assert callback.history[6] != first[6], "the case is not the one that is tested"
    assert len(open_runs(tmp_path / "runs")) == 6
    logs = [entry[KEY] for entry in made.state.log_history if KEY in entry]
    assert logs == [rates[KEY] for rates in callback.history.values()]


@pytest.mark.slow
def test_weights_loaded_after_training_are_asked_and_not_called_a_step(tmp_path):
    made = trainer(tmp_path, max_steps=2, learning_rate=0.1, save_strategy="no")
    start = {name: tensor.clone() for name, tensor in made.model.state_dict().items()}
    callback = evaluate_while_training(made, [SUITE], name="tiny", output=tmp_path / "runs")
    made.train()
    made.model.load_state_dict(start)
    before = dict(callback.history)
    metrics = made.evaluate()
    expected = asked_again(made)
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)
    assert callback.history == before
    names = sorted(run.model.partition("@")[0] for run in open_runs(tmp_path / "runs"))
    assert names == ["tiny", "tiny-step0000002"]


def test_the_model_and_all_random_numbers_are_left_as_they_were():
    model = zoo.model("gpt2").train()
    model.transformer.h[0].eval()
    model.config.use_cache = True
    torch.manual_seed(3)
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002  # what libraries still use
    expected = torch.rand(2), random.random(), np.random.rand()  # noqa: NPY002, S311  # no secret
    torch.manual_seed(3)
    random.seed(3)
    np.random.seed(3)  # noqa: NPY002
    with undisturbed(model):
        assert not model.training
        torch.rand(5), random.random(), np.random.rand()  # noqa: NPY002, S311  # no secret
    drawn = torch.rand(2), random.random(), np.random.rand()  # noqa: NPY002, S311  # no secret
    assert torch.equal(expected[0], drawn[0])
    assert expected[1:] == drawn[1:]
    assert model.training
    assert model.config.use_cache is True
    assert not model.transformer.h[0].training
    assert model.transformer.h[1].training


def test_a_model_in_memory_scores_as_the_one_in_its_folder(zoo_folder):
    tokens = zoo.tokenizer(zoo.SPECIES["llama"].tokenizer)
    live = live_scorer(zoo.model("llama"), tokens, name="mine")
    texts = list(zoo.SENTENCES[:4])
    tables = [cimento.score(texts, model) for model in (live, str(zoo_folder("llama")))]
    np.testing.assert_allclose(*(t["surprisal_bits"].to_numpy() for t in tables), atol=1e-5)


def test_texts_that_begin_with_the_padding_token_are_not_taken_for_padded_ones(monkeypatch):
    heard = []
    monkeypatch.setattr("transformers.modeling_utils.logger.warning_once", heard.append)
    model, tokens = zoo.model("gpt2").eval(), zoo.tokenizer(zoo.SPECIES["gpt2"].tokenizer)
    model.config.pad_token_id = tokens.bos_token_id
    cimento.evaluate(SUITE, model, tokenizer=tokens, bos="bos-or-eos", limit=3)
    assert heard == []


def test_what_a_data_set_did_to_a_tokenizer_is_no_other_tokenizer():
    tokens, model = zoo.tokenizer(zoo.SPECIES["llama"].tokenizer), zoo.model("llama")
    tokens.pad_token = tokens.pad_token or tokens.eos_token
    before = live_scorer(model, tokens, name="mine").card.tokenizer
    tokens(["Lei dorme."], padding="max_length", truncation=True, max_length=16)
    assert tokens.backend_tokenizer.padding
    assert tokens.backend_tokenizer.truncation
    assert live_scorer(model, tokens, name="mine").card.tokenizer == before


def test_a_model_in_training_mode_is_refused():
    tokens = zoo.tokenizer(zoo.SPECIES["gpt2"].tokenizer)
    with pytest.raises(UsageError, match=r"model.eval\(\)"):
        live_scorer(zoo.model("gpt2").train(), tokens, name="mine")


def test_other_processes_are_silent(tmp_path):
    made = trainer(tmp_path)
    callback = evaluate_while_training(made, [SUITE], output=tmp_path / "runs")
    made.state.is_world_process_zero = False
    metrics = {"eval_loss": 1.0}
    callback.on_evaluate(made.args, made.state, made.control, model=made.model, metrics=metrics)
    assert metrics == {"eval_loss": 1.0}
    assert callback.history == {}
    assert not (tmp_path / "runs").exists()


def test_what_cannot_be_asked_is_found_before_training(tmp_path):
    made = trainer(tmp_path)
    with pytest.raises(CimentoError, match="no-such-suite"):
        evaluate_while_training(made, ["no-such-suite"])
    with pytest.raises(UsageError, match="batchsize"):
        evaluate_while_training(made, [SUITE], batchsize=5)
    with pytest.raises(UsageError, match="no prediction 7"):
        evaluate_while_training(made, [SUITE], predictions="7")
    with pytest.raises(UsageError, match="it is given twice"):
        evaluate_while_training(made, [SUITE, SUITE])
    made.processing_class = None
    with pytest.raises(UsageError, match="processing_class=tokenizer"):
        evaluate_while_training(made, [SUITE])


def test_what_is_given_in_a_wrong_place_is_named(tmp_path):
    made = trainer(tmp_path)
    model, tokenizer = made.model.eval(), made.processing_class
    with pytest.raises(UsageError, match="GPT2LMHeadModel is not a Trainer"):
        evaluate_while_training(model, [SUITE])
    with pytest.raises(UsageError, match="suites: there are none"):
        evaluate_while_training(made, [])
    with pytest.raises(UsageError, match="the model in training is float32"):
        evaluate_while_training(made, [SUITE], dtype="bf16")
    with pytest.raises(UsageError, match="str is not a model of transformers in memory"):
        live_scorer("gpt2", tokenizer, name="m")
    with pytest.raises(UsageError, match="tokenizer of 'm': str is not a tokenizer"):
        live_scorer(model, "gpt2", name="m")
    with pytest.raises(UsageError, match="int is not a tokenizer"):
        cimento.evaluate(SUITE, model, tokenizer=3)


def test_a_model_that_breaks_down_does_not_end_the_training(tmp_path, caplog):
    made = trainer(tmp_path)
    callback = evaluate_while_training(made, [SUITE], output=None)
    with torch.no_grad():
        next(made.model.parameters()).fill_(float("nan"))
    with caplog.at_level(logging.WARNING):
        callback.on_save(made.args, made.state, made.control, model=made.model)
    assert callback.history == {0: {}}
    assert "step 0" in caplog.text


@pytest.mark.parametrize(("is_after", "steps"), [(True, 6), (False, 10)])
def test_training_stops_when_the_rate_of_a_suite_no_longer_rises(is_after, steps, tmp_path):
    """By the Trainer's own callback, which must come after ours to see the suite's rate.

    Without learning, the rate of step 2 is the best; after two evaluations more, training stops.
    """
    best = {"metric_for_best_model": f"eval_{SUITE}_accuracy", "load_best_model_at_end": True}
    made = trainer(tmp_path, max_steps=10, learning_rate=0.0, save_steps=2, **best)
    stopping = EarlyStoppingCallback(early_stopping_patience=2)
    if not is_after:
        made.add_callback(stopping)
    evaluate_while_training(made, [SUITE], output=None)
    if is_after:
        made.add_callback(stopping)
    made.train()
    assert made.state.global_step == steps
