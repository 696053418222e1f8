"""``cimento suites probe``: a classifier on sentence vectors, as a contrast to probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cimento.cli.console import show, show_json
from cimento.cli.flags import command_of, run_option
from cimento.errors import UsageError, counted
from cimento.io.inline_markup import columns
from cimento.options import Options, Texts, option

if TYPE_CHECKING:
    from cimento.paradigms.ratings.probe import Probe


class ProbeOptions(Options):
    """The suites, the models, and the classifier."""

    suites: Texts = option(..., "Built-in names or paths.")
    models: Texts = run_option("models")
    layer: int = option(-1, "Layer of the vectors: 0 are the embeddings, -1 is the last.")
    folds: int = option(5, "Parts of the items, each classified from the others.", ge=2)
    language: str = run_option("language")
    device: str = run_option("device")
    seed: int = run_option("seed")
    as_json: bool = option(default=False, help="Print JSON.", flags=("--json",))


def _probe_suites(options: ProbeOptions) -> None:
    """Classify sentences as acceptable by a logistic regression on a model's sentence vectors.

    It is a supervised contrast: fitted to the labels of other items, where probabilities are judged
    without any. Labels come from predictions, from columns grammaticality or label, or from
    ratings above the middle of the scale. No item is in the part that classifies it.
    """
    from cimento.models.hf.scorer import Inspectable
    from cimento.models.hf.sites import sentence_vectors
    from cimento.models.registry import open_scorer
    from cimento.models.settings import Asking
    from cimento.paradigms.ratings.probe import labelled, probe
    from cimento.paradigms.registry import load_suites, sentence_suite

    if not options.models:
        raise UsageError(where="--model", seen="no models are given", todo="Give -m MODEL.")
    loaded = [sentence_suite(one) for one in load_suites(options.suites, language=options.language)]
    sentences = {suite.name: labelled(suite) for suite in loaded}
    probes: list[Probe] = []
    for model in options.models:
        scorer = open_scorer(model, Asking(device=options.device))
        if not isinstance(scorer, Inspectable):
            raise UsageError(
                where=f"--model {model}",
                seen="its hidden states cannot be seen",
                todo="Give a model that is loaded here: a folder, or a name on the hub.",
            )
        inside = scorer.inside()
        for name, one in sentences.items():
            vectors = sentence_vectors(inside, one.texts, layer=options.layer)
            probes.append(
                probe(
                    one,
                    vectors,
                    suite=name,
                    model=scorer.card.label,
                    layer=options.layer,
                    folds=options.folds,
                    seed=options.seed,
                )
            )
    if options.as_json:
        show_json({"probes": probes})
    else:
        show(_as_text(probes))


probe_suites = command_of(ProbeOptions, _probe_suites, positional="suites", metavar="SUITE...")


def _as_text(probes: list[Probe]) -> str:
    rows = [("suite", "model", "sentences", "acceptable", "AUC", "95 % interval", "right", "MCC")]
    rows += [
        (
            one.suite,
            one.model,
            str(one.sentences),
            str(one.acceptable),
            "-" if one.auc is None else f"{one.auc:.3f}",
            "-" if one.low is None else f"[{one.low:.3f}, {one.high:.3f}]",
            f"{one.accuracy:.3f}",
            "-" if one.mcc is None else f"{one.mcc:.3f}",
        )
        for one in probes
    ]
    fitted = "Logistic regression on the mean of the tokens' hidden states, fitted to other items"
    notes = [
        f"{fitted} ({probes[0].folds} folds).",
        "AUC: how often an acceptable sentence is above one that is not; 0.5 by chance.",
    ]
    left_out = {one.suite: one.left_out for one in probes if one.left_out}
    notes += [
        f"{suite}: {counted(number, 'sentence is', 'sentences are')} left out, in the middle of the"
        " scale or without a rating."
        for suite, number in left_out.items()
    ]
    reasons = dict.fromkeys(one.reason for one in probes if one.reason)
    notes += [f"Not there: {reason}." for reason in reasons]
    return "\n".join([columns(rows), "", *notes])
