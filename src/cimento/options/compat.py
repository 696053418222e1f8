"""The conventions of other tools as settings, to reproduce a number and then vary it.

A bundle sets how texts are scored and how answers are judged; an option that is given explicitly
overrides it. docs/measures.md lists behavior of each tool that no setting reproduces. Reports name
the conventions used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cimento.errors import need_known
from cimento.models.settings import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Compat:
    """The conventions of one tool.

    Attributes:
        tool: its name and version, and the code that was read.
        policy: the policy by which it scores texts.
        judging: its judging, as options of the paradigms of sentences.
        measures: the measures by which it compares sentences, the stored one first; empty if it
            compares regions.
    """

    tool: str
    policy: Policy
    judging: Mapping[str, object]
    measures: tuple[str, ...] = ()


OURS = Compat(tool="cimento", policy=Policy(), judging={})

COMPAT: Mapping[str, Compat] = {
    "minicons": Compat(
        tool="minicons 0.3.39, minicons/scorer.py",
        policy=Policy(
            # IncrementalLMScorer.encode calls the tokenizer as it is; bos_token is off by default.
            bos="tokenizer",
            # MaskedLMScorer.sequence_score masks one token at a time by default.
            pll="original",
        ),
        judging={
            "compat": "minicons",
            # compute_stats scores ids[1:]: where the tokenizer put nothing before the text, its
            # first token is in no sum and no mean.
            "unscored_first": "drop",
            # sequence_score: the default reduction is the mean over the scored tokens.
            "measure": "meanlp",
        },
        measures=("meanlp",),
    ),
    "lm-eval": Compat(
        tool="lm-evaluation-harness 0.4.13, models/huggingface.py and api/task.py, task blimp",
        policy=Policy(
            # prefix_token_id: the tokenizer's BOS, else its EOS; the text is tokenized without
            # special tokens after it.
            bos="bos-or-eos",
            # The sentence is a continuation of the empty text, and target_delimiter is a blank.
            leading_blank=True,
        ),
        judging={
            "compat": "lm-eval",
            # acc compares sums of log-probabilities. acc_norm, below, divides them by the number of
            # characters of the sentence, without the blank.
            "measure": "lp",
            # The right sentence is number 0 and numpy.argmax takes the first of equals.
            "ties": "pass",
        },
        measures=("lp", "mean-char"),
    ),
    "babylm": Compat(
        tool="BabyLM evaluation-pipeline-2025, sentence_zero_shot, backends causal and mlm",
        policy=Policy(
            # dataset.py calls the tokenizer as it is.
            bos="tokenizer",
            # process_mlm_sentences masks one token at a time; special tokens cover no character
            # and are left out.
            pll="original",
        ),
        judging={
            "compat": "babylm",
            # The targets are tokens[1:]: a first token that nothing precedes is not scored.
            "unscored_first": "drop",
            # compute_results.py adds up log-probabilities, at temperature 1 by default.
            "measure": "lp",
            # The right sentence is number 0 and torch.max takes the first of equals.
            "ties": "pass",
        },
        measures=("lp",),
    ),
    "syntaxgym": Compat(
        tool="syntaxgym-core 0.8a1 with lm-zoo's HuggingFaceBackend",
        # tokenize(add_special_tokens=True): what the tokenizer puts there itself.
        policy=Policy(bos="tokenizer"),
        judging={
            "compat": "syntaxgym",
            # get_surprisals gives the first token a surprisal of 0.
            "unscored_first": "zero",
            # Formulas, their tolerance included, are read in bits; < and > are strict, so that a
            # tie is not a pass.
            "unit": "bits",
            "ties": "tie",
        },
    ),
}
"""The conventions of each tool, by name."""


def find_compat(name: str) -> Compat:
    """The conventions of a tool.

    Raises:
        UsageError: there is no tool of this name.
    """
    need_known(name, COMPAT, where="--compat", seen=f"the conventions of {name!r} are not known")
    return COMPAT[name]
