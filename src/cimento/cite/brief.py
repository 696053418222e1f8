"""Sentences of the paragraph of a paper: who was evaluated on what, scored, counted, by chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cimento.cite.sentences import (
    LEFT,
    RunFacts,
    named_shares,
    names_in_row,
    on_questions,
    order_of,
    single_verdicts,
    sources_of,
    stated,
)
from cimento.errors import counted
from cimento.io.parsing import whole_number
from cimento.io.values import grouped
from cimento.kinds.partial import taken_items
from cimento.kinds.stopped import AdaptiveRecord
from cimento.records.blanks import FORCED_CHOICE, MEAN_CHANCE
from cimento.records.effects import effects_among
from cimento.records.outcomes import Estimate, best_constant
from cimento.records.standing import exact_p
from cimento.records.store import manifest_part
from cimento.statistics.design import SEQUENCE
from cimento.statistics.unequal_chances import UNEQUAL_CHANCES
from cimento.suites import JsonValue
from cimento.suites.languages import ENGLISH

MOST_NAMED, MOST_LISTED = 3, 8
"""Most suites or models that it describes one by one, and most that its first sentence names."""


def evaluated(runs: Sequence[RunFacts], cited: Callable[[RunFacts], str]) -> str:
    """A sentence on which models were evaluated on which suites, as in a paper.

    Args:
        runs: the runs.
        cited: function that returns the citation of a suite.
    """
    models = dict.fromkeys(model_in_brief(run.card, label=run.label) for run in runs)
    by_suite = grouped((run.meta.name, run) for run in runs)
    suites = [_suite_in_brief(several, cited(several[0])) for several in by_suite.values()]
    named = [f"{name}{cited(several[0])}" for name, several in by_suite.items()]
    labels = list(dict.fromkeys(run.label for run in runs))
    recorded = all(run.card.get("kind") == "replay" for run in runs)
    did = "judged recorded answers of" if recorded else "evaluated"
    return (
        f"We {did} {_few(list(models), labels, 'models')} on"
        f" {_few(suites, named, f'{_of_all(runs)}test suites')} with cimento [@cimento]."
    )


def _of_all(runs: Sequence[RunFacts]) -> str:
    """The language of all suites, with a blank after it; empty if there are several."""
    codes = {run.meta.language for run in runs}
    language = ENGLISH.get(next(iter(codes)), "") if len(codes) == 1 else ""
    return f"{language} " if language else ""


def reviewed(runs: Sequence[RunFacts]) -> list[str]:
    """Sentences on the states of review that suites give; none where no suite gives one.

    Args:
        runs: the runs.
    """
    names_by_state = grouped((run.meta.status, run.meta.name) for run in runs)
    every = {run.meta.name for run in runs}
    said = []
    for state, names in names_by_state.items():
        those = [*dict.fromkeys(names)]
        of = "" if len(those) == len(every) else f" of {in_suites(those).removeprefix('In ')}"
        said += [f"Status{of}: {state.rstrip('.')}."] if state else []
    return said


def in_suites(names: Sequence[str]) -> str:
    """Where a sentence holds that is about some suites only."""
    if len(names) > MOST_NAMED:
        return f"In {len(names)} of the suites"
    return f"In the {'suite' if len(names) == 1 else 'suites'} {names_in_row(names)}"


def _suite_in_brief(runs: Sequence[RunFacts], cited: str) -> str:
    """The suite and the number of its items, by model if the numbers differ."""
    meta = runs[0].meta
    language = ENGLISH.get(meta.language, meta.language)
    suite = " ".join(filter(None, ("the", language, "suite", meta.name)))
    asked: dict[str, list[str]] = {}
    for run in runs:
        items = run.methods.counted
        if run.asking.get("limit") is not None:
            items = taken_items(run.manifest, items)
        went = AdaptiveRecord.of(run.manifest)
        to = f", adaptively to ±{went.precision:g}" if went and not went.is_whole else ""
        asked.setdefault(items, []).append(f"{run.card.get('name', run.label)}{to}")
    counts = [
        f"{counted} ({', '.join(dict.fromkeys(models))})" if len(asked) > 1 else counted
        for counted, models in asked.items()
    ]
    return f"{' and '.join(counts)} of {suite}{cited}"


def _few(described: Sequence[str], names: Sequence[str], what: str) -> str:
    """A few things described one by one, more of them by name, very many by their number."""
    if len(described) <= MOST_NAMED:
        return names_in_row(described)
    return f"{len(names)} {what}" + (
        f", {names_in_row(names)}," if len(names) <= MOST_LISTED else ""
    )


def model_in_brief(card: Mapping[str, JsonValue], *, label: str) -> str:
    """A model with its size and revision, as in a paper.

    Args:
        card: its card, as in a manifest.
        label: its name and revision, if the card does not name it.
    """
    details = manifest_part(card, "details")
    number = whole_number(str(details.get("parameters", "")))
    size = "" if number is None else f"{_rounded(number)} parameters"
    revision = str(card.get("revision") or "")[:_SHORT]
    parts = (size, order_of(card), revision and f"revision {revision}")
    known = ", ".join(filter(None, parts))
    name = str(card.get("name", label))
    return f"{name} ({known})" if known else name


_SHORT = 7


def _rounded(number: int) -> str:
    """A number of parameters as written in papers: ``1.3M``, ``7B``."""
    for size, letter in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number / size:.1f}".removesuffix(".0") + letter
    return str(number)


def scored_in_brief(run: RunFacts) -> list[str]:
    """Sentences on how tokens were scored, if it was not in the usual way."""
    if not run.methods.scores_texts:
        return []
    rule = str(run.policy.get("pll", ""))
    if run.card.get("kind") == "masked" and rule in PLL_IN_BRIEF:
        return [f"Masked models were scored by pseudo-log-likelihood, {PLL_IN_BRIEF[rule]}."]
    if run.card.get("kind") == "diffusion":
        return ["Masked diffusion models were scored by their likelihood bound [@nie2025]."]
    if run.card.get("boundary"):
        return ["Token probabilities were corrected for word boundaries [@pimentel2024]."]
    return []


PLL_IN_BRIEF = {
    "within-word-l2r": "masking each token with the later tokens of its word [@kauf2023]",
    "original": "masking one token at a time [@salazar2020]",
    "whole-word": "masking whole words [@kauf2023]",
    "region": "masking whole regions [@salazar2020]",
}
"""The rules of pseudo-log-likelihoods, each mapped to its description in prose."""


def computed_in_brief(runs: Sequence[RunFacts]) -> list[str]:
    """A sentence on number formats and on what preceded the first token; none if neither is known.

    Where models differ, each has its own; of very many, only the formats are named.
    """
    ways: dict[str, dict[str, None]] = {}
    for run in runs:
        form = str(run.card.get("dtype") or "")
        way = ", ".join(filter(None, (f"in {form}" if form else "", _before_first(run))))
        if way:
            ways.setdefault(way, {})[str(run.card.get("name", run.label))] = None
    if len(ways) == 1:
        return [f"Scores were computed {next(iter(ways))}."]
    if any(len(models) > MOST_LISTED for models in ways.values()):
        return [f"Scores were computed {' or '.join(ways)}."] if ways else []
    said = "; ".join(f"of {names_in_row([*models])} {way}" for way, models in ways.items())
    return [f"Scores were computed, {said}."] if ways else []


def _before_first(run: RunFacts) -> str:
    """What a causal model read before the first token of a text; empty for other models."""
    if run.card.get("kind") != "causal" or not run.methods.scores_texts or not run.policy:
        return ""
    return f"with {run.card.get('bos') or 'nothing'} before the first token"


def counted_in_brief(runs: Sequence[RunFacts]) -> list[str]:
    """Sentences on verdicts, chance and intervals; none if nothing was judged."""
    by_run = [named_shares(run) for run in runs]
    if not any(by_run):
        return []
    # A design is reported by DD, and its accuracies, with their chance, by the appendix.
    others = [
        (run, those)
        for run, those in zip(runs, by_run, strict=True)
        if not effects_among(run.run.estimates())
    ]
    reported = [one for _, those in others for one in those]
    sequenced = [one for one in reported if one.interval_method == SEQUENCE]
    which = "Other accuracies" if sequenced else "Accuracies"
    head = f"{which} have 95% Wilson intervals [@wilson1927]"
    together = dict.fromkeys(
        run.methods.together or "some items"
        for run in runs
        if any(one.is_share and one.clustered for one in stated(run))
    )
    whose = together.popitem()[0] if len(together) == 1 else "items of one cluster"
    clusters = f", with {whose} clustered {sources_of(reported)}"
    clustered = any(one.clustered for one in reported)
    usual = [one for one in reported if one not in sequenced and one.low is not None]
    return [
        _verdicts_in_brief(by_run, on_questions(runs)),
        *(_chance_in_brief([run for run, _ in others], reported) if others else []),
        *([f"{head}{clusters if clustered else ''}."] if usual else []),
    ]


def _verdicts_in_brief(by_run: Sequence[Sequence[Estimate]], questions: str) -> str:
    """A sentence on ties, near ties and what could not be scored, from the accuracies of runs."""
    shares = [one for those in by_run for one in those]
    single = [one for those in by_run for one in single_verdicts(those)]
    tied, unscored, near = (
        sum(getattr(one, name) or 0 for one in single) for name in (*LEFT, "near_tied")
    )
    compared = [one for one in single if one.is_of_predictions]
    rule = "successes" if any(map(_ties_pass, shares)) else "failures"
    bits = next((one.near_tie_bits for one in compared if one.near_tied is not None), None)
    ties = "is a tie" if tied == 1 else "are ties"
    were = "was" if unscored == 1 else "were"
    has_ties = bool(compared or tied)
    left = [
        *([f"{tied:,} {ties} (counted as {rule})"] if has_ties else []),
        *([f"{counted(near, 'near tie')} (below {bits:g} bits)"] if bits is not None else []),
        f"{unscored:,} unscored" if has_ties else f"{unscored:,} {were} unscored",
    ]
    total = counted(sum(one.n for one in single) + unscored, "verdict")
    return f"Of {total}{questions}, {names_in_row(left)}."


def _chance_in_brief(runs: Sequence[RunFacts], shares: Sequence[Estimate]) -> list[str]:
    """A sentence on chance, and on what lengths alone or a constant answer reach beyond it."""
    levels = [one.chance for one in shares if one.chance is not None]
    if not levels:
        return ["There is no level of chance."]
    led = [one.by_length for one in shares if one.off_by_length and one.by_length is not None]
    whole = [[*run.run.estimates()] for run in runs]
    constants = [
        constant.value
        for estimates in whole
        for one in estimates
        if one.role == "headline" and (constant := best_constant(one, estimates))
    ]
    more = [
        *([f"lengths alone give {_from_to(led)}"] if led else []),
        *([f"the best constant answer {_from_to(constants)}"] if constants else []),
    ]
    by_chance = [one for one in shares if one.chance is not None]
    of_choices = all(one.question == FORCED_CHOICE for one in by_chance)
    chance = "Chance of a choice" if of_choices else "Chance"
    mean = any(one.chance_method == MEAN_CHANCE for one in by_chance)
    over = " on average" if of_choices and mean else ""
    over += _exact_tests(by_chance)
    rest = f"; {names_in_row(more)}" if more else ""
    return [f"{chance} is {_from_to(levels)}{over}{rest}."]


def _exact_tests(shares: Sequence[Estimate]) -> str:
    """The exact tests of choices among given words against their chance; empty without any."""
    tested = [
        one.p_method == UNEQUAL_CHANCES
        for one in shares
        if one.question == FORCED_CHOICE and exact_p(one, one.chance) is not None
    ]
    kinds = [
        *(["binomial"] if not all(tested) else []),
        *(["Poisson binomial [@hong2013]"] if any(tested) else []),
    ]
    of = "; choices have" if any(one.question != FORCED_CHOICE for one in shares) else ", with"
    return f"{of} exact {names_in_row(kinds)} tests" if kinds else ""


def _from_to(values: Sequence[float]) -> str:
    ends = (f"{end:.3f}" for end in (min(values), max(values)))
    return " to ".join(dict.fromkeys(ends))


def _ties_pass(share: Estimate) -> bool:
    return bool(share.tied) and (share.right or 0) > (share.passed or 0)
