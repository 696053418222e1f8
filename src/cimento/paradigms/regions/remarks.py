"""Remarks on the scores of a run: first tokens without a score, and errors of estimated scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cimento.errors import counted
from cimento.io.tables import NO_LEFT_CONTEXT
from cimento.measures.regions import count_first_tokens
from cimento.paradigms.regions.judging import (
    judged_rows,
    judged_tokens,
    margin_errors,
    options_of,
    questions,
    tokens_of,
)
from cimento.paradigms.regions.predictions import UNDECIDED
from cimento.records.store import manifest_part

if TYPE_CHECKING:
    from cimento.kinds.run import Run


def first_token_remarks(run: Run) -> Iterator[str]:
    """A warning about items whose first token has no left context, with possible remedies."""
    if options_of(run).unscored_first != "missing":
        return
    tokens = tokens_of(run)
    if not count_first_tokens(tokens):
        return
    table = run.outcomes()
    without = table["value"].is_null() & table["reason"].str.contains(NO_LEFT_CONTEXT, literal=True)
    if without.any():
        model = run.manifest.get("model")
        device = str(model.get("device", "")) if isinstance(model, dict) else ""
        yield f"Nothing comes before the first token of these sentences. {_cure(device, run)}"
    asked, plain = questions(run), judged_rows(run, tokens)
    judged = table.filter(table["question"].is_in(asked))  # suites of ratings have others too
    if not asked or judged.height != plain.height:
        return
    freed = (plain["verdict"] == "unscored") & (judged["verdict"] != "unscored")
    if n := int(freed.gather_every(len(asked), len(asked) - 1).sum()):
        yield (
            f"In {n} of {counted(run.n_items, 'item')} all sentences begin with the same token,"
            " which has no left context: it makes no difference to the verdict, so they are judged"
            " from the second token on."
        )


def _cure(device: str, run: Run) -> str:
    """The ways to judge sentences whose first token has no left context."""
    if run.model_kind == "replay":
        way = "Record them again with a token before the texts."
    elif device == "server":
        way = (
            "Have the server put a BOS token there, or give --context with the token that begins"
            " the model's texts ('<|endoftext|>', '<s>') where the server reads it as one, or"
            " with a sentence."
        )
    else:
        way = "Give --bos auto, or bos-or-eos."
    return (
        f"{way} Or --unscored-first drop leaves first tokens out of every sentence; pairs that"
        " begin with different words are then not compared fairly."
    )


def monte_carlo_remarks(run: Run) -> Iterator[str]:
    """A remark on scores that are estimates: their samples, their errors, what they leave open."""
    import numpy as np

    errors = margin_errors(run, judged_tokens(run))
    known = np.concatenate(errors) if errors else np.array([])
    known = known[np.isfinite(known)]
    if not len(known):
        return
    policy = manifest_part(run.manifest, "asking", "policy")
    reasons = run.outcomes()["reason"]
    n_open = int((reasons == UNDECIDED).sum())
    yield (
        f"Scores are estimates from {policy.get('mc_samples')} samples (seed"
        f" {policy.get('mc_seed')}). In 95 of 100 such samples a margin is off by at most"
        f" {np.median(known):.2g} bits (median). One that is within its own error decides nothing:"
        f" {n_open} of {counted(len(reasons), 'verdict')}. Four times the samples (--mc-samples)"
        " halve the errors."
    )


# --- What a suite declares
