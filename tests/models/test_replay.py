"""Recorded surprisals beside a suite: the tables, the warnings, the refusals."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from cimento import Suite, TableError, UsageError
from cimento.io.tables import TOKENS, validate_table
from cimento.measures import NoValue, region_values
from cimento.models.recorded import Replay, replay
from cimento.paradigms.regions.requests import region_requests
from tests.helpers.judging import judged, make_suite

FORMULA = "(2;%match%) < (2;%mismatch%)"
SUITE = make_suite(
    [FORMULA],
    [
        {"match": "Le lampade | erano | accese.", "mismatch": "Le lampade | era | accese."},
        {"match": "Il cane | dorme | qui.", "mismatch": "Il cane | dormono | qui."},
    ],
)
SENTENCES = [
    [("Le", 0.0), ("lampade", 9.5), ("erano", 3.25), ("accese", 6.0), (".", 0.5), ("</s>", 0.25)],
    [("Le", 0.0), ("lampade", 9.5), ("<unk>", 11.5), ("accese", 6.5), (".", 0.5), ("</s>", 0.25)],
    [("Il", 0.0), ("cane", 8.0), ("dorme", 5.0), ("qui", 4.0), (".", 1.0), ("</s>", 0.5)],
    [("Il", 0.0), ("cane", 8.0), ("dormono", 5.0), ("qui", 4.0), (".", 1.0), ("</s>", 0.5)],
]
SPEC = {
    "name": "un modello",
    "vocabulary": {"unk_types": ["<unk>"], "suffix_types": ["</s>"], "special_types": ["<pad>"]},
    "tokenizer": {"type": "word", "cased": True},
}


def write(folder: Path, sentences=SENTENCES) -> Path:
    lines = ["sentence_id\ttoken_id\ttoken\tsurprisal"]
    lines += [
        f"{s}\t{t}\t{token}\t{surprisal}"
        for s, sentence in enumerate(sentences, start=1)
        for t, (token, surprisal) in enumerate(sentence, start=1)
    ]
    path = folder / "grnn.tsv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_spec(folder: Path) -> Path:
    path = folder / "spec.json"
    path.write_text(json.dumps(SPEC), encoding="utf-8")
    return path


def replayed(folder: Path, sentences=SENTENCES, *, suite: Suite = SUITE, **options) -> Replay:
    return replay(suite, write(folder, sentences), spec=write_spec(folder), **options)


def places_of(suite: Suite) -> pl.DataFrame:
    """What a recording is asked for: each region of each stimulus by itself."""
    return region_requests(suite, all_tokens=True, merged=False).places


def values(recorded: Replay, suite: Suite = SUITE):
    return region_values(recorded.tokens, places_of(suite), metric="sum")


def test_region_values_are_the_recorded_bits(tmp_path):
    recorded = replayed(tmp_path)
    validate_table(recorded.tokens, TOKENS, where="test")
    regions = values(recorded)
    assert regions.unit == "bits"
    assert regions.values == {
        "1": {"match": (9.5, 3.25, 6.75), "mismatch": (9.5, 11.5, 7.25)},
        "2": {"match": (8.0, 5.0, 5.5), "mismatch": (8.0, 5.0, 5.5)},
    }


def test_verdicts_with_a_tie(tmp_path):
    recorded = replayed(tmp_path)
    outcomes = judged(SUITE, recorded.tokens, places_of(SUITE)).outcomes()
    assert outcomes["verdict"].to_list() == ["pass", "tie"]
    assert outcomes["value"][0] == pytest.approx(8.25)


def test_one_request_for_each_stimulus(tmp_path):
    suite = make_suite([], [{"a": "Piove | oggi.", "b": "Piove | oggi."}])
    sentences = [
        [("Piove", 1.0), ("oggi", 2.0), (".", 3.0)],
        [("Piove", 4.0), ("oggi", 5.0), (".", 6.0)],
    ]
    recorded = replayed(tmp_path, sentences, suite=suite)
    assert recorded.stimuli == (("1", "a"), ("1", "b"))
    assert places_of(suite)["request"].to_list() == [0, 0, 1, 1]
    assert places_of(suite)["needed"].all()
    assert values(recorded, suite).values == {"1": {"a": (1.0, 5.0), "b": (4.0, 11.0)}}


def test_rows_of_the_tokens_table(tmp_path):
    recorded = replayed(tmp_path)
    rows = recorded.tokens.filter(pl.col("request") == 1).rows(named=True)
    assert [row["token"] for row in rows] == [token for token, _ in SENTENCES[1]]
    unknown, end = rows[2], rows[5]
    assert (unknown["start"], unknown["end"], unknown["region"]) == (11, 14, 2)
    assert unknown["surprisal_bits"] == 11.5
    assert unknown["logprob_nats"] == pytest.approx(-11.5 * math.log(2))
    assert (end["position"], end["start"], end["end"], end["region"]) == (5, 22, 22, 3)
    assert end["token_id"] is None
    assert end["unscored_reason"] is None


def test_nats_stay_nats(tmp_path):
    recorded = replayed(tmp_path, unit="nats")
    assert "surprisal_bits" not in recorded.tokens.columns
    regions = values(recorded)
    assert regions.unit == "nats"
    assert regions.values["1"]["match"] == (9.5, 3.25, 6.75)
    outcomes = judged(SUITE, recorded.tokens, places_of(SUITE)).outcomes()
    assert outcomes["value"][0] == pytest.approx(8.25 / math.log(2))


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        (math.nan, "recorded as NaN"),
        (math.inf, "recorded as infinity"),
        (-math.inf, "recorded as minus infinity"),
    ],
)
def test_what_is_not_finite_is_unscored(tmp_path, recorded, reason):
    sentences = [[*SENTENCES[0][:2], ("erano", recorded), *SENTENCES[0][3:]], *SENTENCES[1:]]
    replays = replayed(tmp_path, sentences)
    row = replays.tokens.row(2, named=True)
    assert row["logprob_nats"] is None
    assert row["surprisal_bits"] is None
    assert row["unscored_reason"] == reason
    regions = values(replays)
    assert regions.unit == "bits"
    assert regions.values["1"]["match"] == (9.5, NoValue(reason), 6.75)
    outcomes = judged(SUITE, replays.tokens, places_of(SUITE)).outcomes()
    assert outcomes.select("verdict", "reason").row(0) == ("unscored", f"(2;%match%): {reason}")
    assert "Tokens recorded as NaN or infinity: 1 of 24." in replays.warnings


def test_special_tokens_are_in_no_region(tmp_path):
    sentences = [[("<pad>", 50.0), *SENTENCES[0], ("<pad>", 70.0)], *SENTENCES[1:]]
    recorded = replayed(tmp_path, sentences)
    assert "<pad>" not in recorded.tokens["token"]
    assert values(recorded).values["1"]["match"] == (9.5, 3.25, 6.75)


def test_the_card_names_the_file_by_its_content(tmp_path):
    card = replayed(tmp_path).card
    # In a folder with the file that `write` makes: sha256sum grnn.tsv
    digest = "23071f4787927d5e54f9f7bbd130e30ba5488e9badee5c116c919569df3da133"
    assert (card.name, card.kind, card.revision) == ("grnn", "replay", digest)
    assert card.details == {"recorded_unit": "bits", "spec": "un modello"}


def test_a_spec_is_part_of_the_card(tmp_path):
    sentences = [sentence[:-1] for sentence in SENTENCES]
    sentences[1][2] = ("era", 11.5)
    path = write(tmp_path, sentences)
    plain, specified = replay(SUITE, path), replay(SUITE, path, spec=write_spec(tmp_path))
    assert plain.card.revision == specified.card.revision
    assert plain.card.tokenizer != specified.card.tokenizer
    assert plain.tokens.equals(specified.tokens)


def test_warnings_tell_of_unknown_words(tmp_path):
    [warning] = replayed(tmp_path).warnings
    assert warning.startswith("Unknown words")
    assert warning.endswith("1 in all, 1 different: era.")


def test_warnings_tell_of_tokens_placed_by_length(tmp_path):
    suite = make_suite([], [{"a": "«Vieni» | oggi.", "b": "«Vai» | oggi."}])
    sentences = [[("▁``Vieni", 1.0), ("▁oggi.", 2.0)], [("▁``Vai", 1.0), ("▁oggi.", 2.0)]]
    spec = tmp_path / "spec.json"
    tokenizer = {"type": "subword", "cased": True, "metaspace": "▁"}
    spec.write_text(json.dumps({"vocabulary": {}, "tokenizer": tokenizer}), encoding="utf-8")
    [warning] = replay(suite, write(tmp_path, sentences), spec=spec).warnings
    assert warning.endswith("2 in all: ▁``Vieni, ▁``Vai.")


def test_warnings_tell_of_log_probabilities(tmp_path):
    sentences = [[(token, -surprisal) for token, surprisal in sentence] for sentence in SENTENCES]
    assert any("log-probabilities" in warning for warning in replayed(tmp_path, sentences).warnings)


@pytest.mark.parametrize("sentences", [SENTENCES[:3], [*SENTENCES, SENTENCES[0]]])
def test_another_number_of_sentences_is_refused(tmp_path, sentences):
    with pytest.raises(TableError) as caught:
        replayed(tmp_path, sentences)
    assert f"holds {len(sentences)} sentences" in caught.value.seen
    assert "has 4 (2 items with their conditions)" in caught.value.seen


def test_sentences_in_another_order_are_refused(tmp_path):
    with pytest.raises(TableError) as caught:
        replayed(tmp_path, [*SENTENCES[:2], SENTENCES[3], SENTENCES[2]])
    assert "sentence 3 (line 14; item '2', condition 'match'), token 3 ('dormono'), region 2" in (
        caught.value.where
    )
    assert "'dorme qui.'" in caught.value.seen


def test_without_a_spec_the_message_asks_for_one(tmp_path):
    with pytest.raises(TableError, match="Give the model spec with spec=") as caught:
        replay(SUITE, write(tmp_path))
    assert "sentence 1" in caught.value.where
    assert "token 6 ('</s>')" in caught.value.where


def test_a_unit_that_there_is_not(tmp_path):
    with pytest.raises(UsageError, match="no unit 'hartleys'"):
        replayed(tmp_path, unit="hartleys")


def test_nothing_heavy_is_imported_before_it_is_needed():
    heavy = "{'torch', 'transformers', 'polars', 'pydantic', 'numpy'}"
    code = f"import sys, cimento.models.recorded; sys.exit(bool({heavy} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603  # our own code


def test_a_recording_of_a_copy_with_accents_taken_apart_is_of_the_same_suite_and_says_so(tmp_path):
    suite = make_suite([FORMULA], [{"match": "Chi | è | là.", "mismatch": "Chi | sei | là."}])
    sentences = [
        [("Chi", 1.0), ("e\u0300", 2.5), ("la\u0300", 3.0), (".", 0.5), ("</s>", 0.25)],
        [("Chi", 1.0), ("sei", 7.5), ("la\u0300", 3.0), (".", 0.5), ("</s>", 0.25)],
    ]
    recorded = replayed(tmp_path, sentences, suite=suite)
    assert values(recorded, suite).values == {
        "1": {"match": (1.0, 2.5, 3.75), "mismatch": (1.0, 7.5, 3.75)}
    }
    [said] = recorded.warnings
    assert said.startswith("Recorded with accents or apostrophes spelled differently")
    assert "2 sentences" in said
