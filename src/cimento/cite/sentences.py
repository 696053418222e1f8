"""Sentences about methods: what was evaluated, how texts were scored, and the results."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from cimento.cite.library import CitedWork, works_in
from cimento.errors import CimentoError, counted
from cimento.io.tables import REPLICATES
from cimento.io.values import grouped
from cimento.kinds.packages import (
    JUDGED_AGAIN,
    KINDS_IN_WORDS,
    MODELS,
    PARADIGM_KIND,
    PLUGINS,
    READERS,
    packages_in,
)
from cimento.kinds.stopped import AdaptiveRecord
from cimento.measures import find_measure
from cimento.records.blanks import FORCED_CHOICE
from cimento.records.computed import computed
from cimento.records.outcomes import STATISTICS
from cimento.records.store import blank_before, manifest_part
from cimento.statistics.design import SEQUENCE
from cimento.statistics.intervals import WILSON_CROSSED
from cimento.suites import JsonValue
from cimento.suites.naming import ALL_PREDICTIONS

if TYPE_CHECKING:
    from cimento.kinds.base import MethodFacts
    from cimento.kinds.run import Run
    from cimento.records.outcomes import Estimate


class RunFacts:
    """The facts of a run behind its methods, and its exports.

    Attributes:
        run: the run, for its outcomes and estimates.
        label: the name and revision of the model.
        manifest: the manifest of the run.
        meta: the suite's information about itself, such as its author.
        card: the model card of the run.
        asking: the settings under which the model was asked.
        policy: the scoring policy; empty for a recording, which was scored by another program.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.label = run, run.model
        self.manifest, self.meta = run.manifest, run.suite.meta
        self.card = manifest_part(run.manifest, "model")
        self.asking = manifest_part(run.manifest, "asking")
        recorded = self.card.get("kind") == "replay"
        self.policy = {} if recorded else manifest_part(self.asking, "policy")

    @cached_property
    def methods(self) -> MethodFacts:
        """The facts that only the run's paradigm knows."""
        return self.run.paradigm.presenter.methods(self.run)


def names_in_row(names: Sequence[str]) -> str:
    """Names in a row, with *and* before the last."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def order_of(card: Mapping[str, JsonValue]) -> str:
    """What an n-gram model is, whose name does not say so; empty for other models."""
    order = manifest_part(card, "details").get("order")
    return f"n-gram model of order {order}" if order else ""


BIASED = (
    "where to stop depends on the answers, so the proportion itself leans to 0 or 1: the interval"
    " is what holds"
)
"""What is said of the proportion of items of an adaptive run."""


def adaptive_sentences(run: RunFacts) -> list[str]:
    """A sentence on how an adaptive run chose its items and why it stopped; none for others."""
    went = AdaptiveRecord.of(run.manifest)
    if went is None:
        return []
    until = (
        f"in random order (seed {went.seed}) until the proportion of correct ones among all"
        f" {went.of_items} was known to within ±{went.precision:g} by a 95% confidence sequence,"
        " which holds whenever one stops [@waudbysmith2024]"
    )
    if went.is_whole:
        return [f"Items were to be asked {until}, but all were asked before it was."]
    return [f"Items were asked {until}; this took {went.asked}, and {BIASED}."]


def cite_keys(keys: Iterable[str]) -> str:
    """A citation of some works; empty if there are none."""
    cited = "; ".join(f"@{key}" for key in dict.fromkeys(keys))
    return f" [{cited}]" if cited else ""


def cite_source(text: str) -> str:
    """A citation of the works named in a source."""
    return cite_keys(work.key for work in works_in(text))


MEASURES_IN_WORDS = {
    "lp": "log-probability (lp)",
    "meanlp": "mean log-probability per token (meanlp)",
    "penlp": "log-probability penalized for length (penlp)",
    "ppl": "perplexity (ppl)",
    "pppl": "pseudo-perplexity (pppl)",
}
"""The usual measures of sentences, each mapped to its name in prose."""


def measure_phrase(name: str, *, brief: bool = False) -> str:
    """A measure with its formula, unit, direction and source; in brief, its name and source."""
    try:
        known = find_measure(name)
    except CimentoError:
        return name  # the measure is from a plug-in that is not installed here
    if brief:
        return f"{MEASURES_IN_WORDS.get(known.name, known.name)}{cite_source(known.source)}"
    unit = f"in {known.unit}, " if known.unit else ""
    better = "higher" if known.higher_is_better else "lower"
    return f"{known.name}, {known.formula} ({unit}{better} is better){cite_source(known.source)}"


def plugged_works(runs: Sequence[RunFacts]) -> dict[str, CitedWork]:
    """The works behind the measures of some runs, including those known only to plug-ins."""
    works: dict[str, CitedWork] = {}
    for run in runs:
        for name in run.methods.measures:
            try:
                source = find_measure(name).source
            except CimentoError:
                continue  # the measure is from a plug-in that is not installed here
            works |= {work.key: work for work in works_in(source)}
    return works


_PLL = {
    "within-word-l2r": "each token was predicted with itself and the later tokens of its word"
    " masked [@kauf2023]",
    "original": "each token was predicted with only itself masked [@salazar2020]",
    "whole-word": "each token was predicted with all tokens of its word masked [@kauf2023]",
    "region": "each token was predicted with all tokens of its region masked",
}
_SEGMENTERS = {
    "icu": "In scripts without spaces, words were those of ICU's dictionaries (icu4py {version}).",
    "bars": "In scripts without spaces, words were those between the bars of the suite.",
}
_SECRET = ("token", "key", "secret", "password", "auth")
_NO_ANSWER = "Their answers were recorded elsewhere and matched with the suite; no model was run."


def scoring_sentences(run: RunFacts) -> list[str]:
    """Sentences on how the model was asked, including settings that never vary in cimento."""
    kind = str(run.card.get("kind", ""))
    if kind == "replay":
        return [_NO_ANSWER]
    policy = run.policy
    # What a masked model says at a mask has no rule for the tokens of a text.
    filled = kind == "masked" and not run.methods.scores_texts
    scored = [] if filled else [_KINDS.get(kind, _causal)(run)]
    sentences = [*scored, *_boundary(run)]
    if policy.get("punctuation") == "keep":
        sentences.append("Punctuation marks were part of the word next to them.")
    elif policy.get("punctuation") == "split":
        sentences.append(
            "Texts were split into words at blanks; punctuation marks were separate words."
        )
    if rule := _SEGMENTERS.get(str(policy.get("segmenter"))):
        versions = manifest_part(run.manifest, "versions")
        sentences.append(rule.format(version=versions.get("icu4py", "of unknown version")))
    if blank_before(run.manifest):
        sentences.append("Every text was preceded by a blank.")
    return [*sentences, *_context(run), *_window(policy), *_arguments(policy)]


def _causal(run: RunFacts) -> str:
    head = (
        "The score of a token was its log-probability given the tokens before it, normalized over"
        " the vocabulary in at least float32 and summed in float64"
    )
    mark = run.card.get("bos")
    if mark:
        return f"{head}; {mark} preceded the first token (rule {run.policy.get('bos', 'auto')})."
    return f"{head}; nothing preceded the first token (rule {run.policy.get('bos', 'none')})."


def _masked(run: RunFacts) -> str:
    rule = str(run.policy.get("pll", ""))
    return (
        "Scores were pseudo-log-likelihoods [@salazar2020]:"
        f" {_PLL.get(rule, f'masking followed the rule {rule}')}."
    )


def _diffusion(run: RunFacts) -> str:
    samples, seed = run.policy.get("mc_samples"), run.policy.get("mc_seed")
    return (
        "Log-likelihoods were lower bounds [@nie2025], by their equation 6, estimated from"
        f" {samples} random sets of masked tokens (seed {seed}) in {REPLICATES} independent"
        " replicates; margins within their 95% Monte Carlo error decided nothing."
    )


def _seq2seq(_: RunFacts) -> str:
    return (
        "The score of a token was its log-probability given the source that the encoder read (empty"
        " where a text had no context) and the tokens of the text before it."
    )


_KINDS = {"causal": _causal, "masked": _masked, "seq2seq": _seq2seq, "diffusion": _diffusion}


def _boundary(run: RunFacts) -> list[str]:
    marks, policy = run.card.get("boundary"), run.policy
    if not marks:
        asked = policy.get("boundary", "none") != "none"
        return ["This tokenizer needed no correction for word boundaries."] if asked else []
    end = "with" if policy.get("boundary_eos", True) else "without"
    first = policy.get("boundary_first", "initial")
    sentence = (
        f"Words were corrected for where they may end ({marks} marks, {end} the end of the text,"
        f" first word: {first}) [@pimentel2024]."
    )
    return [sentence]


def _context(run: RunFacts) -> list[str]:
    context = manifest_part(run.asking, "context")
    if context.get("column"):
        return [
            f"Each text was preceded by an unscored context, from the column {context['column']}."
        ]
    if context.get("text"):
        text = json.dumps(context["text"], ensure_ascii=False)
        return [f"Each text was preceded by an unscored context: {text}."]
    return []


def _window(policy: Mapping[str, JsonValue]) -> list[str]:
    if policy.get("window") != "sliding":
        return []
    stride = policy.get("stride")
    moved = f" moved by {stride} tokens" if stride is not None else ""
    return [f"Texts longer than the model's window were scored in sliding windows{moved}."]


def _arguments(policy: Mapping[str, JsonValue]) -> list[str]:
    """A sentence on the options for transformers; values that may be secret are left out."""
    sentences = []
    for subject, option in (("model", "model_args"), ("tokenizer", "tokenizer_args")):
        shown = [
            name
            if any(word in name.lower() for word in _SECRET)
            else f"{name} = {json.dumps(value)}"
            for name, value in manifest_part(policy, option).items()
        ]
        if shown:
            sentences.append(f"The {subject} was loaded with {', '.join(shown)}.")
    return sentences


def plugin_sentences(run: RunFacts) -> list[str]:
    """Sentences on the packages of plug-ins, their options, and a later judging; none without."""
    parts = grouped(
        (package, _plugin_in_words(run, kind, name))
        for kind, name, package in packages_in(run.manifest)
    )
    said = [
        f"T{names_in_row(those)[1:]} {'is' if len(those) == 1 else 'are'} from the package"
        f" {package}."
        for package, those in parts.items()
    ]
    paradigm = run.run.paradigm.name
    if paradigm in manifest_part(run.manifest, PLUGINS, PARADIGM_KIND):
        options = run.run.options.model_dump(mode="json")
        values = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
        if values:
            said.append(f"The options of {paradigm} were {names_in_row(values)}.")
    again = manifest_part(run.manifest, JUDGED_AGAIN)
    if again:
        judges = [f"cimento {again.get('cimento')}"]
        judges += dict.fromkeys(str(package) for _, _, package in packages_in(again))
        said.append(f"The answers were judged again with {names_in_row(judges)}.")
    return said


def _plugin_in_words(run: RunFacts, kind: str, name: str) -> str:
    """A plug-in within a sentence: its kind, and what it was asked by; it begins with *the*."""
    if kind == READERS:
        return f"the reader of {name} files"
    named = str(run.manifest.get("named") or name) if kind == MODELS else name
    return f"the {KINDS_IN_WORDS.get(kind, kind)} {named}"


def outcome_sentences(facts: RunFacts) -> list[str]:
    """Sentences on intervals and on rates by length alone; none if nothing is right or wrong."""
    shares = [one for one in stated(facts) if one.is_share]
    usual = [one for one in shares if one.interval_method != SEQUENCE]
    which = "Accuracies" if len(usual) == len(shares) else "Other accuracies"
    made = [one for one in usual if one.low is not None]
    intervals = [_intervals(facts, made, which)] if made else []
    return [*intervals, *_by_length(shares)]


def results(facts: RunFacts) -> list[str]:
    """The number of verdicts and the main numbers with their intervals, in one text for a run."""
    estimates = stated(facts)
    judged = any(one.is_share for one in estimates)
    said = [
        *([_verdicts(facts)] if judged else []),
        *(f"{_subject(one)} {_value(one)}." for one in _reported(facts, estimates)),
    ]
    return [" ".join(said)] if said else []


def _reported(facts: RunFacts, estimates: Sequence[Estimate]) -> list[Estimate]:
    """The headline; where it is the rate of one question of several, the rates of all."""
    return [
        one
        for one in estimates
        if one.value is not None
        and (one.role == "headline" or (facts.methods.one_by_one and one.is_share))
    ]


def stated(facts: RunFacts) -> list[Estimate]:
    """The estimates over all items, without details."""
    estimates = facts.run.estimates()
    return [one for one in estimates if not one.group and one.role != "detail"]


def named_shares(facts: RunFacts) -> list[Estimate]:
    """The accuracies of a run on the measure that its text names; those of others are not."""
    estimates = stated(facts)
    named = next((one.method for one in estimates if one.role == "headline"), "")
    others, counts = {*facts.methods.measures} - {named}, facts.methods.counts
    return [
        one
        for one in estimates
        if one.is_share
        and one.method not in others
        and (not counts or (one.question, one.method) in counts)
    ]


def single_verdicts(shares: Sequence[Estimate]) -> list[Estimate]:
    """The accuracies of a run whose verdicts are counted: a conjunction of others adds none."""
    single = [one for one in shares if one.question != ALL_PREDICTIONS]
    return single or [*shares]


def on_questions(facts: Sequence[RunFacts]) -> str:
    """How many verdicts are on each question, where items have several that are counted one by one.

    Args:
        facts: of runs; nothing is said where the paradigm of one names no questions.
    """
    n_verdicts: dict[str, int] = {}
    for run in facts if all(run.methods.counts for run in facts) else ():
        for one in named_shares(run):
            name = "the choice" if one.question == FORCED_CHOICE else one.question
            n_verdicts[name] = n_verdicts.get(name, 0) + one.n + (one.unscored or 0)
    several = [f"{n:,} on {name}" for name, n in n_verdicts.items()]
    return f" ({', '.join(several)})" if len(several) > 1 else ""


def _verdicts(facts: RunFacts) -> str:
    """A sentence on the number of verdicts behind the accuracies of a run."""
    shares = single_verdicts(named_shares(facts))
    tied, unscored = (sum(getattr(one, name) or 0 for one in shares) for name in LEFT)
    total = counted(sum(one.n for one in shares) + unscored, "verdict") + on_questions([facts])
    ties = counted(tied, "was a tie", "were ties") if tied else "none was a tie"
    were = "was" if unscored == 1 else "were"
    left = f", and {unscored:,} could not be scored and {were} excluded" if unscored else ""
    return f"Of {total}, {ties}{left}."


LEFT = ("tied", "unscored")


def _intervals(facts: RunFacts, shares: Sequence[Estimate], which: str) -> str:
    head = f"{which} have Wilson 95% confidence intervals [@wilson1927]"
    if not any(share.clustered for share in shares):
        return f"{head}."
    together = facts.methods.together or "some items"
    return (
        f"{head}, computed with the effective number of verdicts because {together} belong together"
        f" {sources_of(shares)}."
    )


def sources_of(shares: Sequence[Estimate]) -> str:
    """The sources of the effective number; the weight of clusters and two rules are cimento's."""
    crossed = any(share.interval_method == WILSON_CROSSED for share in shares)
    sources = ["@korn1998", "@franco2019", *(["@cameron2011"] if crossed else [])]
    return f"[{'; '.join(sources)}], by cimento's own weight and limits [@cimento]"


def _by_length(shares: Sequence[Estimate]) -> list[str]:
    """A sentence on the accuracies expected from length alone, if that differs from chance."""
    off = [
        f"{share.by_length:.3f} ({share.question})"
        for share in shares
        if share.off_by_length and share.by_length is not None
    ]
    if not off:
        return []
    stated = (
        "Conditions differ in their number of tokens: if all tokens had the same surprisal,"
        f" accuracy would be {names_in_row(off)}."
    )
    return [stated]


def _subject(one: Estimate) -> str:
    statistic = STATISTICS.get(one.statistic, one.statistic[:1].upper() + one.statistic[1:])
    about = ", ".join(filter(None, (one.question, one.method)))
    return f"{statistic} ({about}) was"


def _value(one: Estimate) -> str:
    of = f"{one.right} of {one.n}" if one.is_share else f"n = {one.n}"
    if one.low is None or one.high is None:
        reason = one.reason.replace(": ", ", and ", 1)
        return f"{one.value:.3f} ({of}; no interval: {reason})"
    return f"{one.value:.3f} ({of}; 95% interval [{one.low:.3f}, {one.high:.3f}])"


def computed_sentences(runs: Iterable[RunFacts]) -> list[str]:
    """A sentence on where models computed, and in which number formats; none if no card says it."""
    places: dict[str, dict[str, None]] = {}
    for run in runs:
        if place := computed(run.card):
            places.setdefault(place, {})[str(run.card.get("name", run.label))] = None
    if len(places) <= 1:
        return [f"Scores were computed {place}." for place in places]
    parts = [f"those of {names_in_row([*names])} {place}" for place, names in places.items()]
    return [f"Scores were computed in several ways: {'; '.join(parts)}."]
