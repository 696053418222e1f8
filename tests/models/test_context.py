"""What comes before a text: seen by the model, scored by nobody."""

from __future__ import annotations

import pytest
import torch

from cimento import InputError, Policy, UsageError, evaluate, evaluate_all
from cimento.cli.main import invoke
from cimento.engine.cache import MemoryCache
from cimento.evaluation.freetext import score_texts
from cimento.io.lines import read_contexts
from cimento.measures import surprisal_bits
from cimento.models.hf.files import locate
from cimento.models.hf.loading import load
from cimento.paradigms.regions.requests import region_requests
from cimento.suites.stimuli import Context
from tests.helpers import plain, zoo
from tests.helpers.judging import make_suite

CONTEXT = "Che cosa fanno le vicine?"
TEXT = "Cantano nell'orto."
# The kinds of tokenizer: bytes with a leading space, SentencePiece's mark, WordPiece.
CAUSAL = ("gpt2", "llama")
MASKED = ("bert", "xlm-roberta")


@pytest.fixture(scope="module", params=CAUSAL)
def causal_folder(request, tmp_path_factory):
    return zoo.save(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module", params=MASKED)
def masked_folder(request, tmp_path_factory):
    return zoo.save(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory):
    return zoo.save("gpt2", tmp_path_factory.mktemp("gpt2"))


def scorer_of(folder, **policy):
    return load(locate(str(folder)), policy=Policy(**policy), device="cpu")


def own_tokens(folder, name):
    """Context and text tokenized together, and which of the tokens are the text's."""
    whole = f"{CONTEXT} {TEXT}"
    tokens = plain.tokens_of(folder, whole)
    in_text = [start >= len(CONTEXT) + 1 for start in tokens.starts]
    kind = zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer]
    to_id = zoo.tokenizer(zoo.SPECIES[name].tokenizer).convert_tokens_to_ids
    return whole, tokens, in_text, to_id(list(kind.before)), to_id(list(kind.after))


def test_a_causal_model_has_read_the_context(causal_folder, request):
    name = request.node.callspec.params["causal_folder"]
    _, tokens, in_text, before, _ = own_tokens(causal_folder, name)
    logprobs = plain.causal(zoo.model(name), before, tokens.ids)
    expected = [
        surprisal_bits(value) for value, is_own in zip(logprobs, in_text, strict=True) if is_own
    ]

    table = score_texts([TEXT], scorer_of(causal_folder), contexts=[CONTEXT])

    assert table["surprisal_bits"].to_list() == pytest.approx(expected, abs=1e-4)
    assert table["position"].to_list() == list(range(1, len(expected) + 1))
    alone = score_texts([TEXT], scorer_of(causal_folder))
    assert abs(alone["surprisal_bits"].sum() - table["surprisal_bits"].sum()) > 0.01


def test_a_masked_model_sees_the_context(masked_folder, request):
    name = request.node.callspec.params["masked_folder"]
    whole, tokens, in_text, before, after = own_tokens(masked_folder, name)
    logprobs = plain.masked(
        zoo.model(name),
        before,
        tokens.ids,
        after,
        mask=zoo.tokenizer(zoo.SPECIES[name].tokenizer).mask_token_id,
        words=plain.word_numbers(whole, tokens.starts),
    )
    expected = [
        surprisal_bits(value) for value, is_own in zip(logprobs, in_text, strict=True) if is_own
    ]

    table = score_texts([TEXT], scorer_of(masked_folder), contexts=[CONTEXT])

    assert table["surprisal_bits"].to_list() == pytest.approx(expected, abs=1e-4)


def test_a_masked_region_leaves_its_context_to_be_seen(masked_folder, request):
    name = request.node.callspec.params["masked_folder"]
    _, tokens, in_text, before, after = own_tokens(masked_folder, name)
    mask = zoo.tokenizer(zoo.SPECIES[name].tokenizer).mask_token_id
    shown = [mask if is_own else token for token, is_own in zip(tokens.ids, in_text, strict=True)]
    with torch.no_grad():
        logits = zoo.model(name)(input_ids=torch.tensor([[*before, *shown, *after]])).logits[0]
    logprobs = logits.log_softmax(-1)[len(before) :]
    expected = sum(
        surprisal_bits(logprobs[index, token].item())
        for index, (token, is_own) in enumerate(zip(tokens.ids, in_text, strict=True))
        if is_own
    )

    table = score_texts([TEXT], scorer_of(masked_folder, pll="region"), contexts=[CONTEXT])

    assert table["surprisal_bits"].sum() == pytest.approx(expected, abs=1e-4)


def test_a_first_token_after_a_context_has_a_score_without_bos(gpt2):
    scorer = scorer_of(gpt2, bos="none")

    assert score_texts([TEXT], scorer)["surprisal_bits"][0] is None
    assert score_texts([TEXT], scorer, contexts=[CONTEXT])["surprisal_bits"].null_count() == 0


def test_one_text_after_two_contexts_is_two_texts(gpt2):
    scorer = scorer_of(gpt2)

    both = score_texts([TEXT, TEXT, TEXT], scorer, contexts=[CONTEXT, "", CONTEXT])

    sums = [table["surprisal_bits"].to_list() for table in both.partition_by("text")]
    assert sums[0] == sums[2]
    assert sums[0] != sums[1]
    assert sums[1] == pytest.approx(score_texts([TEXT], scorer)["surprisal_bits"].to_list())


def test_there_is_one_context_for_each_text(gpt2):
    with pytest.raises(UsageError, match="1 for 2 texts"):
        score_texts([TEXT, TEXT], scorer_of(gpt2), contexts=[CONTEXT])


@pytest.fixture
def questions():
    """Two items whose conditions have what comes before them in a column."""
    columns = [{"before": "Che cosa fanno?"}, {"before": ""}]
    items = [{"match": "Le zie | cantano.", "mismatch": "Le zie | canta."}] * 2
    return make_suite(["(2;%match%) < (2;%mismatch%)"], items, columns=columns)


def test_a_column_tells_what_stands_before_each_stimulus(questions):
    plan = region_requests(questions, context=Context(column="before"))

    assert [request.context for request in plan.asked] == ["Che cosa fanno?"] * 2 + [""] * 2
    assert [request.text for request in plan.asked] == ["Le zie cantano.", "Le zie canta."] * 2
    assert region_requests(questions).asked[0].context == ""
    everywhere = region_requests(questions, context=Context(text=" Ecco. "))
    assert [request.context for request in everywhere.asked] == ["Ecco.", "Ecco."]


def test_a_run_scores_regions_after_their_context(gpt2, questions):
    run = evaluate(questions, str(gpt2), context_column="before", device="cpu")

    table = run.table("requests").filter(item="1", condition="match", region=2)
    assert table["context"].to_list() == ["Che cosa fanno?"]
    tokens = run.table("tokens").filter(request=table["request"][0])
    whole = "Che cosa fanno? Le zie cantano."
    logprobs = plain.causal(
        zoo.model("gpt2"),
        [zoo.tokenizer("byte-bpe").bos_token_id],
        plain.tokens_of(gpt2, whole).ids,
    )
    assert tokens["logprob_nats"].to_list() == pytest.approx(logprobs[-tokens.height :], abs=1e-4)


def test_runs_with_and_without_context_are_stored_apart(gpt2, questions, tmp_path):
    scorer = scorer_of(gpt2)
    cache = MemoryCache()
    for context in ("", "Ecco.", "Vedi.", "Ecco."):
        [run] = evaluate_all(
            questions, scorer, context=context, output=tmp_path / "runs", cache=cache
        )
        assert run.manifest["asking"]["context"] == {"text": context, "column": ""}

    assert len(list((tmp_path / "runs").rglob("manifest.json"))) == 3


def test_a_column_that_is_not_there_is_named(questions):
    with pytest.raises(UsageError, match=r"no column 'befor'.*Did you mean 'before'"):
        region_requests(questions, context=Context(column="befor"))
    with pytest.raises(UsageError, match="both given"):
        region_requests(questions, context=Context(text="Ecco.", column="before"))


def test_lines_of_contexts_belong_to_texts_in_order(tmp_path):
    path = tmp_path / "contexts.txt"
    path.write_text("Uno.\n\nTre.\n", encoding="utf-8")

    assert read_contexts(path, ["a", "b", "c"], remark=str) == ["Uno.", "", "Tre."]
    with pytest.raises(InputError, match="3 lines for 2 texts"):
        read_contexts(path, ["a", "b"], remark=str)


def test_the_command_line_takes_contexts(gpt2, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CIMENTO_CACHE_DIR", str(tmp_path / "cache"))
    texts, contexts = tmp_path / "texts.txt", tmp_path / "contexts.txt"
    texts.write_text(f"{TEXT}\n{TEXT}\n", encoding="utf-8")
    contexts.write_text(f"{CONTEXT}\n\n", encoding="utf-8")
    shown = {}
    for name, options in {
        "file": ["--context-file", str(contexts)],
        "same": ["--context", CONTEXT],
        "none": [],
    }.items():
        assert invoke(["score", str(texts), "-m", str(gpt2), "--device", "cpu", *options]) == 0
        rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
        shown[name] = [[float(row[3]) for row in rows if row[0] == number] for number in "12"]
    with_context, without = shown["file"]
    for number in range(2):
        assert shown["same"][number] == pytest.approx(with_context, abs=1e-4)
        assert shown["none"][number] == pytest.approx(without, abs=1e-4)
    assert sum(with_context) != pytest.approx(sum(without), abs=0.01)

    both = ["--context", CONTEXT, "--context-file", str(contexts)]
    assert invoke(["score", str(texts), "-m", str(gpt2), *both]) == 2
    assert "Give one of the two" in capsys.readouterr().err


def test_recorded_sentences_keep_the_context_they_had(tmp_path, questions):
    path = tmp_path / "recorded.tsv"
    path.write_text("sentence_id\ttoken_id\ttoken\tsurprisal\n1\t1\tLe\t1.0\n", encoding="utf-8")

    with pytest.raises(UsageError, match="context= with a recording"):
        evaluate(questions, f"replay:{path}", context="Ecco.")
