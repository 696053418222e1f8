"""What a masked model does not see while it predicts a token, and the scores that follow."""

from __future__ import annotations

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cimento import Asking, Policy, evaluate
from cimento.engine.cache import MemoryCache
from cimento.evaluation.freetext import score_texts
from cimento.measures import surprisal_bits
from cimento.models.hf.files import locate
from cimento.models.hf.layout import masked_positions
from cimento.models.hf.loading import load
from cimento.paradigms import Score
from cimento.paradigms.regions.requests import region_requests
from tests.helpers import zoo
from tests.helpers.judging import make_suite

RULES = ("original", "within-word-l2r", "whole-word", "region")
GOLDEN_NAMES = {
    "original": "original",
    "within-word-l2r": "within_word_l2r",
    "whole-word": "within_word_mlm",
}
MODELS = ("bert", "xlm-roberta", "roberta")

UNITS = st.lists(st.integers(0, 3), min_size=1, max_size=8).map(
    lambda steps: [-1, *sorted(steps), -1]
)


@pytest.fixture(scope="module", params=MODELS)
def folder(request, tmp_path_factory):
    return zoo.save(request.param, tmp_path_factory.mktemp(request.param))


def scorer_of(folder, pll):
    return load(locate(str(folder)), policy=Policy(pll=pll), device="cpu")


def asking(pll):
    return Asking(policy=Policy(pll=pll), device="cpu")


class Plain:
    """One masked copy at a time through the model's own forward pass, without cimento."""

    def __init__(self, folder):
        from transformers import AutoModelForMaskedLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForMaskedLM.from_pretrained(folder).eval()

    def surprisal_nats(self, text, stretch):
        """Of the tokens that begin in `stretch`, all of them masked at once."""
        made = self.tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
        chosen = [
            index
            for index, (start, end) in enumerate(made["offset_mapping"])
            if not made["special_tokens_mask"][index]
            and stretch[0] <= _first_character(text, start) < max(stretch[1], end)
            and _first_character(text, start) < stretch[1]
        ]
        ids = torch.tensor([made["input_ids"]])
        shown = ids.clone()
        shown[0, chosen] = self.tokenizer.mask_token_id
        with torch.no_grad():
            logprobs = self.model(input_ids=shown).logits[0].log_softmax(-1)
        return -sum(logprobs[index, ids[0, index]].item() for index in chosen)


def _first_character(text, start):
    return len(text) - len(text[start:].lstrip())


def test_a_word_of_three_tokens():
    units = [-1, 0, 1, 1, 1, 2, -1]

    assert masked_positions(units, 3, rule="original") == [3]
    assert masked_positions(units, 3, rule="within-word-l2r") == [3, 4]
    assert masked_positions(units, 3, rule="whole-word") == [2, 3, 4]
    assert masked_positions(units, 3, rule="region") == [2, 3, 4]


@settings(deadline=None)
@given(UNITS, st.data())
def test_each_rule_hides_what_the_one_before_hides_and_nothing_of_another_word(units, data):
    index = data.draw(st.integers(1, len(units) - 2))

    hidden = [set(masked_positions(units, index, rule=rule)) for rule in RULES]

    assert hidden[0] == {index}
    assert hidden[0] <= hidden[1] <= hidden[2] == hidden[3]
    assert all(units[i] == units[index] for positions in hidden for i in positions)


@pytest.mark.golden
@pytest.mark.parametrize("rule", GOLDEN_NAMES)
def test_the_sets_are_those_of_the_published_code(shared, rule):
    path = shared / "golden" / "syntaxgym" / "recipe" / "mlm_mask_sets.json"
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    assert len(cases) >= 4
    for case in cases:
        units = [-1 if number is None else number for number in case["word_ids"]]
        expected = case["masked_positions"][GOLDEN_NAMES[rule]]
        scored = [index for index, unit in enumerate(units) if unit >= 0]
        assert [positions[0] for positions in expected] == scored
        for index, positions in zip(scored, expected, strict=True):
            assert masked_positions(units, index, rule=rule) == sorted(positions)


def test_whole_words_are_masked_at_once(folder):
    text = "Le vicine dell'ortolano annaffiavano volentieri."
    plain = Plain(folder)
    words = ["Le", "vicine", "dell", "'", "ortolano", "annaffiavano", "volentieri", "."]

    table = score_texts([text], scorer_of(folder, "whole-word"), words=True)

    assert table["word"].to_list() == words
    start = 0
    for word, bits in zip(words, table["surprisal_bits"], strict=True):
        start = text.index(word, start)
        stretch = (start, start + len(word))
        expected = surprisal_bits(-plain.surprisal_nats(text, stretch))
        # No token begins in a word that is inside a token of the word before.
        assert (bits or 0.0) == pytest.approx(expected, abs=1e-4)
    assert table["surprisal_bits"].drop_nulls().len() >= len(words) - 1


def test_a_word_goes_through_the_model_once_however_many_tokens_it_has(folder):
    scorer = scorer_of(folder, "whole-word")
    encoded = scorer.encode([Score(text="Annaffiavano volentieri.")])
    assert len(encoded[0].wanted) > 5
    rows = []
    hook = scorer._model.base_model.encoder.register_forward_pre_hook(
        lambda _module, args, _given: rows.append(len(args[0])),
        with_kwargs=True,
    )
    scorer.score(encoded)
    hook.remove()

    assert sum(rows) == 3


def test_a_region_is_masked_as_a_whole_and_what_is_around_it_is_seen(folder):
    plain = Plain(folder)
    texts = {
        "match": "Le chiavi del cassetto | sono state smarrite | ieri sera.",
        "mismatch": "Le chiavi del cassetto | è stata smarrita | ieri sera.",
    }
    suite = make_suite(["(2;%match%) < (2;%mismatch%)"], [texts])

    run = evaluate(suite, scorer_of(folder, "region"), pll="region")

    requests = run.table("requests").filter(region=2)
    assert requests.height == 2
    for number, text, start, end in requests.select("request", "text", "start", "end").iter_rows():
        value = -run.table("tokens").filter(request=number)["logprob_nats"].sum()
        assert value == pytest.approx(plain.surprisal_nats(text, (start, end)), abs=1e-4)


@pytest.fixture
def cut_in_two_ways():
    """One sentence, two conditions that cut it differently."""
    texts = {
        "early": "Le chiavi | del cassetto sono state smarrite.",
        "late": "Le chiavi del cassetto | sono state smarrite.",
    }
    return make_suite(["(2;%early%) > (2;%late%)"], [texts])


def test_a_sentence_cut_in_two_ways_is_asked_twice_only_where_regions_are_masked(cut_in_two_ways):
    assert len(region_requests(cut_in_two_ways).asked) == 1

    plan = region_requests(cut_in_two_ways, by_region=True)

    assert [request.regions for request in plan.asked] == [
        ((0, 9), (10, 43)),
        ((0, 22), (23, 43)),
    ]
    assert plan.places["request"].to_list() == [0, 0, 1, 1]
    assert [request.wanted for request in plan.asked] == [((10, 43),), ((23, 43),)]


def test_each_cut_has_its_own_scores_and_the_cache_keeps_them_apart(folder, cut_in_two_ways):
    plain = Plain(folder)
    scorer = scorer_of(folder, "region")
    cache = MemoryCache()
    for _ in ("empty cache", "warm cache"):
        run = evaluate(cut_in_two_ways, scorer, pll="region", cache=cache)
        for condition, stretch in {"early": (10, 43), "late": (23, 43)}.items():
            place = run.table("requests").filter(condition=condition, region=2)
            tokens = run.table("tokens").filter(request=place["request"][0])
            expected = plain.surprisal_nats(place["text"][0], stretch)
            assert -tokens["logprob_nats"].sum() == pytest.approx(expected, abs=1e-4)


def test_a_text_without_regions_is_one_region(folder):
    text = "Le chiavi sono smarrite."

    table = score_texts([text], scorer_of(folder, "region"), asking=asking("region"))

    expected = surprisal_bits(-Plain(folder).surprisal_nats(text, (0, len(text))))
    assert table["surprisal_bits"].sum() == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    "text", ["Le vicine  annaffiavano", "Le vicine ", "Le   vicine \t  dormono  "]
)
def test_blanks_between_blanks_are_part_of_no_word(folder, text):
    """Beside a loop over transformers that hides the later tokens of the tokenizer's own words.

    Of blanks before others or at the end some tokenizers make one word; each is hidden by itself.
    """
    plain = Plain(folder)
    made = plain.tokenizer(text, return_offsets_mapping=True)
    words, ids = made.word_ids(), torch.tensor([made["input_ids"]])
    expected = []
    for index, word in enumerate(words):
        if word is None:
            continue
        shown = ids.clone()
        start, end = made["offset_mapping"][index]
        is_apart = not text[start:end].strip() and not text[end : end + 1].strip()
        hidden = [later for later in range(index, len(words)) if words[later] == word]
        hidden = [index] if is_apart else hidden
        shown[0, hidden] = plain.tokenizer.mask_token_id
        with torch.no_grad():
            logprobs = plain.model(input_ids=shown).logits[0].log_softmax(-1)
        expected.append(logprobs[index, ids[0, index]].item())
    scorer = scorer_of(folder, "within-word-l2r")
    [values] = scorer.score(scorer.encode([Score(text=text)]))
    assert [*values] == pytest.approx(expected, abs=1e-5)
