"""Which sequences share a batch."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Asking, UsageError
from cimento.cli.main import invoke
from cimento.evaluation.freetext import score_texts
from cimento.models.hf.batches import batches
from cimento.models.hf.causal import CausalScoring
from cimento.models.hf.layout import ModelLayout
from cimento.models.hf.shapes import Passes
from cimento.models.registry import open_scorer
from cimento.models.settings import BatchLimits
from cimento.paradigms import Score
from tests.helpers.plain import TEXTS

RUN = ["run", "en-subject-verb", "-m", "demo-causal", "--limit", "2", "--no-cache"]
LENGTHS = st.lists(st.integers(1, 40), max_size=80)


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 200), st.booleans())
def test_every_sequence_is_in_one_batch_and_no_batch_is_too_large(lengths, budget, mixed):
    packed = list(batches(lengths, limits=BatchLimits(tokens=budget), mixed=mixed))

    assert sorted(index for batch in packed for index in batch) == list(range(len(lengths)))
    for batch in packed:
        widths = [lengths[index] for index in batch]
        assert widths[0] == max(widths)
        assert len(batch) == 1 or widths[0] * len(batch) <= budget
        assert mixed or len(set(widths)) == 1


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 200))
def test_what_is_half_full_is_not_padded_any_more(lengths, budget):
    for batch in batches(lengths, limits=BatchLimits(tokens=budget)):
        widths = [lengths[index] for index in batch]
        first_shorter = next((n for n, width in enumerate(widths) if width < widths[0]), None)
        if first_shorter is not None:
            assert widths[0] * first_shorter * 2 < budget


def test_many_copies_of_two_lengths():
    lengths = [4, 3, 4, 3, 4, 3, 3, 3]

    assert list(batches(lengths, limits=BatchLimits(tokens=16))) == [[0, 2, 4], [1, 3, 5, 6, 7]]
    assert list(batches(lengths, limits=BatchLimits(tokens=64))) == [[0, 2, 4, 1, 3, 5, 6, 7]]


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 20), st.none() | st.integers(1, 200), st.booleans())
def test_a_number_of_sequences_is_that_of_the_batch(lengths, most, tokens, mixed):
    limits = BatchLimits(sequences=most, tokens=tokens)
    packed = list(batches(lengths, limits=limits, mixed=mixed))

    assert sorted(index for batch in packed for index in batch) == list(range(len(lengths)))
    assert all(len(batch) <= most for batch in packed)
    if tokens is None and mixed:
        # As everywhere: all batches are full but the last.
        assert [len(batch) for batch in packed[:-1]] == [most] * (len(packed) - 1)


class Rows:
    """How many texts went through a model at once."""

    def __init__(self, monkeypatch, scorer) -> None:
        self.counts: list[int] = []
        base = scorer.inside().model.base_model
        forward = base.forward

        def counted(*args, **kwargs):
            self.counts.append((args[0] if args else kwargs["input_ids"]).shape[0])
            return forward(*args, **kwargs)

        monkeypatch.setattr(base, "forward", counted)


def encoded_by(scorer):
    texts = [f"{chr(97 + number)} le lampade erano accese" for number in range(20)]
    return scorer.encode([Score(text=text) for text in texts])


def test_sixteen_is_sixteen_masked_copies_and_not_sixteen_tokens(monkeypatch):
    scorer = open_scorer("demo-masked", Asking(batch_size=16, device="cpu"))
    rows = Rows(monkeypatch, scorer)

    scorer.score(encoded_by(scorer))

    assert set(rows.counts[:-1]) == {16}
    assert 1 <= rows.counts[-1] <= 16


def test_sixteen_is_sixteen_texts_and_not_sixteen_tokens(monkeypatch):
    scorer = open_scorer("demo-causal", Asking(device="cpu"))
    limits = Asking(batch_size=16).limits
    layout = ModelLayout(thin="head", pad=True)
    passes = Passes(model=scorer.inside().model, layout=layout, limits=limits)
    scoring = CausalScoring(passes, packing=False)
    rows = Rows(monkeypatch, scorer)

    scoring.score(encoded_by(scorer))

    assert rows.counts == [16, 4]


@pytest.mark.parametrize("model", ["demo-causal", "demo-masked"])
def test_scores_do_not_depend_on_the_size_of_batches(model):
    bits = [
        score_texts(TEXTS[::3], model, asking=asking)["surprisal_bits"].to_list()
        for asking in (Asking(), Asking(batch_size=1), Asking(batch_size=3), Asking(batch_tokens=9))
    ]

    for other in bits[1:]:
        assert other == pytest.approx(bits[0], abs=1e-4)


@pytest.mark.parametrize("wrong", [0, -1, "many", 1.5])
@pytest.mark.parametrize("name", ["batch_size", "batch_tokens"])
def test_what_is_no_limit_is_refused(name, wrong):
    with pytest.raises(UsageError, match=f"{name}.*auto"):
        Asking(**{name: wrong})


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {}),
        (["--batch-size", "auto", "--batch-tokens", "auto"], {}),
        (["--batch_size", "16"], {"batch_size": 16}),
        (["--batch-size", "16", "--batch-tokens", "900"], {"batch_size": 16, "batch_tokens": 900}),
    ],
)
def test_the_command_line_says_it(tmp_path, options, expected):
    assert invoke([*RUN, *options, "-o", str(tmp_path)]) == 0

    [manifest] = [json.loads(path.read_text()) for path in tmp_path.rglob("manifest.json")]
    stored = {key: manifest["asking"][key] for key in ("batch_size", "batch_tokens")}
    assert stored == {"batch_size": "auto", "batch_tokens": "auto"} | expected
    assert "token_budget" not in manifest["asking"]


def test_a_run_file_says_it(tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(
        'suites = ["en-subject-verb"]\nmodels = ["demo-causal"]\nlimit = 2\nno_cache = true\n'
        'batch_size = 7\nbatch_tokens = "auto"\n'
    )
    assert invoke(["run", str(file), "-o", str(tmp_path / "runs")]) == 0

    [manifest] = [json.loads(path.read_text()) for path in tmp_path.rglob("manifest.json")]
    assert manifest["asking"]["batch_size"] == 7
    assert manifest["run_file"]["batch_size"] == 7


@pytest.mark.parametrize("wrong", ["0", "some", "2.5"])
def test_a_wrong_size_is_told(capsys, wrong):
    assert invoke([*RUN, "--batch-size", wrong]) == 2
    assert "Give a whole number from 1, or auto" in " ".join(capsys.readouterr().err.split())
