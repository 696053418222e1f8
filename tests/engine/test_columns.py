"""Columns read off the logits: entropy, rank, the raw output; in the engine and in the cache."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
import scipy.special
import scipy.stats
import torch

import cimento
from cimento import Asking, UsageError
from cimento.engine.cache import FileCache, MemoryCache
from cimento.engine.scores import ask
from cimento.io.tables import COLUMNS, parse_columns
from cimento.models.hf.heads import read_columns
from cimento.models.registry import open_scorer
from cimento.paradigms import Score
from cimento.testing.models import uniform_scorer
from tests.engine.test_requests import make_suite
from tests.helpers import zoo
from tests.helpers.plain import TEXTS, tokens_of

PAIR = {"good": "I fiumi del nord | scorrono | lenti.", "bad": "I fiumi del nord | scorre | lenti."}


def answered(model, *texts, columns=(), cache=None, **asking):
    chosen = Asking(columns=columns, device="cpu", **asking)
    return ask(
        [Score(text) for text in texts],
        open_scorer(str(model), chosen),
        policy=chosen.policy,
        cache=cache or MemoryCache(),
        columns=columns,
    )


def read(logits, targets, columns=COLUMNS):
    rows = torch.arange(len(targets))
    return read_columns(torch.tensor(logits), rows, torch.tensor(targets), columns).numpy()


def test_columns_of_random_logits_are_what_scipy_and_numpy_say():
    rng = np.random.default_rng(7)
    logits = (10 * rng.standard_normal((30, 50))).astype(np.float32)
    targets = rng.integers(0, 50, size=30)
    target_logits = logits[np.arange(30), targets].astype(np.float64)
    wide = logits.astype(np.float64)

    logprob, logit, whole, entropy, rank = read(logits, targets).T

    expected = scipy.special.log_softmax(wide, axis=1)[np.arange(30), targets]
    np.testing.assert_allclose(logprob, expected, atol=1e-5)
    np.testing.assert_array_equal(logit, target_logits)
    sums = scipy.special.logsumexp(scipy.special.log_expit(wide), axis=1)
    np.testing.assert_allclose(whole, sums, atol=1e-5)
    np.testing.assert_allclose(
        entropy, scipy.stats.entropy(scipy.special.softmax(wide, axis=1), axis=1), atol=1e-5
    )
    ranked = scipy.stats.rankdata(-wide, axis=1, method="min")[np.arange(30), targets]
    np.testing.assert_array_equal(rank, ranked)


def test_columns_by_hand():
    even = read([[0.0, 0.0, 0.0, 0.0]], [2])[0]
    assert even.tolist() == pytest.approx(
        [-math.log(4), 0.0, math.log(2), math.log(4), 1.0], abs=1e-6
    )
    # 0 outputs of exactly minus infinity, as some models have for what may never come.
    closed = read([[1.0, -math.inf, 1.0]], [0])[0]
    assert closed[3] == pytest.approx(math.log(2), abs=1e-6)
    assert closed[4] == 1
    assert read([[3.0, 5.0, 4.0, 3.0]], [0])[0][4] == 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_large_logits_stay_finite(dtype):
    logits = torch.tensor([[-104.5, -800.0, 0.0, 88.0]] * 4, dtype=dtype)
    table = read_columns(logits, torch.arange(4), torch.arange(4), COLUMNS)
    assert torch.isfinite(table).all()
    assert table[:, 0].tolist() == pytest.approx([-192.5, -888.0, -88.0, 0.0], abs=1e-4)


@pytest.mark.golden
def test_golden_log_softmax_of_toy_logits(shared):
    golden = json.loads((shared / "golden/islands/toy_scoring.json").read_text(encoding="utf-8"))
    masked, traps = golden["masked_from_logits"], golden["numerical_traps"]

    table = read(masked["logits_at_masked_position"], masked["token_ids"])
    trap = read([traps["logits"]] * 4, [0, 1, 2, 3])

    assert table[:, 0].tolist() == pytest.approx(masked["token_logprob_softmax"], abs=1e-6)
    assert trap[:, 0].tolist() == pytest.approx(traps["log_softmax"], abs=1e-4)


@pytest.mark.parametrize("species", ["gpt2", "bloom", "bert", "xlm-roberta"])
def test_columns_of_a_model_are_those_of_its_plain_pass(tmp_path, species):
    folder = zoo.save(species, tmp_path / species)
    masked = zoo.SPECIES[species].masked
    policy = cimento.Policy(pll="original")

    table = answered(folder, *TEXTS[:6], columns=COLUMNS, policy=policy)

    model, kind = zoo.model(species), zoo.TOKENIZERS[zoo.SPECIES[species].tokenizer]
    ids_of = zoo.tokenizer(zoo.SPECIES[species].tokenizer).convert_tokens_to_ids
    before, after = ids_of(list(kind.before)), ids_of(list(kind.after))
    for number, text in enumerate(TEXTS[:6]):
        rows = table.filter(pl.col("request") == number)
        ids = tokens_of(folder, text).ids
        assert rows["token_id"].to_list() == ids
        for position, token in enumerate(ids):
            sequence = torch.tensor([[*before, *ids, *after]])
            index = len(before) + position
            if masked:
                sequence[0, index] = ids_of("<mask>" if species == "xlm-roberta" else "[MASK]")
            with torch.no_grad():
                logits = model(input_ids=sequence).logits[0, index - (not masked)].double()
            row = rows.row(position, named=True)
            assert row["logprob_nats"] == pytest.approx(
                logits.log_softmax(0)[token].item(), abs=1e-4
            )
            assert row["logit"] == pytest.approx(logits[token].item(), abs=1e-4)
            entropy = torch.distributions.Categorical(logits=logits).entropy()
            assert row["entropy_nats"] == pytest.approx(entropy.item(), abs=1e-4)
            gap = (logits - logits[token]).abs().sort().values[1]
            if gap > 1e-4:
                assert row["rank"] == 1 + (logits > logits[token]).sum().item()


def test_log_probabilities_are_the_same_with_and_without_columns(tmp_path):
    for species in ("llama", "roberta"):
        folder = zoo.save(species, tmp_path / species)
        plain = answered(folder, *TEXTS)
        full = answered(folder, *TEXTS, columns=COLUMNS)
        assert full.select(plain.columns).drop("logprob_nats").equals(plain.drop("logprob_nats"))
        difference = (full["logprob_nats"] - plain["logprob_nats"]).abs().max()
        assert difference <= 1e-6


def test_a_token_without_score_has_no_columns(tmp_path):
    folder = zoo.save("gpt2", tmp_path / "gpt2")
    table = answered(folder, TEXTS[0], columns=("rank", "logit"), policy=cimento.Policy(bos="none"))
    first, *others = table.rows(named=True)
    assert (first["logprob_nats"], first["rank"], first["logit"]) == (None, None, None)
    assert all(row["rank"] >= 1 for row in others)
    assert table.schema["rank"] == pl.Int64()


def test_columns_are_kept_beside_the_answers_and_add_to_them(tmp_path, monkeypatch):
    folder = zoo.save("gpt2", tmp_path / "gpt2")
    cache = FileCache(tmp_path / "cache")
    plain = answered(folder, *TEXTS[:3], cache=cache)
    full = answered(folder, *TEXTS[:3], columns=COLUMNS, cache=cache)

    def no_model(*_arguments):
        raise AssertionError("the model was asked again")

    monkeypatch.setattr("cimento.models.hf.causal.CausalScorer.score", no_model)
    monkeypatch.setattr("cimento.models.hf.causal.CausalScorer.score_columns", no_model)
    assert answered(folder, *TEXTS[:3], columns=COLUMNS, cache=cache).equals(full)
    assert answered(folder, *TEXTS[:3], columns=("rank",), cache=cache)["rank"].equals(full["rank"])
    kept = answered(folder, *TEXTS[:3], cache=cache)
    assert kept.drop("logprob_nats").equals(plain.drop("logprob_nats"))
    assert cache.verify() == []
    assert cache.count() == 3
    cache.close()


def test_the_tables_of_a_run_hold_the_columns_that_a_measure_needs(tmp_path):
    folder = zoo.save("gpt2", tmp_path / "gpt2")
    suite = make_suite("(*;%good%) < (*;%bad%)", PAIR)

    run = cimento.evaluate(
        suite,
        str(folder),
        device="cpu",
        store=("rank",),
        measures="lp-l",
        output=tmp_path / "runs",
    )

    [stored] = cimento.open_runs([tmp_path / "runs"])
    assert {"logit", "rank"} <= set(stored.table("tokens").columns)
    assert stored.outcomes().equals(run.outcomes())
    assert run.outcomes()["verdict"].is_in(["pass", "fail"]).all()


@pytest.mark.parametrize("measure", ["lp-l", "penlp-l:1", "lp-nl"])
def test_a_model_without_logits_says_so(measure):
    suite = make_suite("(*;%good%) < (*;%bad%)", PAIR)
    with pytest.raises(UsageError, match="nothing but log-probabilities"):
        cimento.evaluate(suite, uniform_scorer(9), measures=measure)


def test_column_names_are_checked():
    assert parse_columns(["rank,logit", "rank"]) == ("logit", "rank")
    assert parse_columns([]) == ()
    with pytest.raises(UsageError, match="Did you mean 'entropy_nats'"):
        parse_columns(["entropy_bits"])
