"""What a run says of every item of an agreement suite: ratios, verdict, and what may confound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cimento.measures.regions import FinalMarkRule
from cimento.paradigms.regions.judging import ALL, judged_suite, tokens_of, values_of
from cimento.suites.published import language_code
from cimento.verdicts.contrast import Contrast, find_contrast, items_with_other_contexts
from cimento.verdicts.ratio import probability_ratios

if TYPE_CHECKING:
    import polars as pl

    from cimento.runs.run import Run
    from cimento.suites.model import JsonValue, Suite
    from cimento.verdicts.ratio import ItemRatio


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRun:
    """One agreement suite with one model.

    Attributes:
        model: its label.
        language: ISO 639-1 code.
        suite: as it was judged.
        contrast: what its predictions compare.
        ratios: of every item.
        passed: item to whether all predictions hold; None where that is not known.
        n_tokens: item to condition to the number of tokens in the target.
        other_contexts: items whose conditions differ elsewhere than in the target.
        details: what the run recorded of its model.
        kind: of the model, such as ``causal``; empty where it is not known.
    """

    model: str
    language: str
    suite: Suite
    contrast: Contrast
    ratios: Sequence[ItemRatio]
    passed: Mapping[str, bool | None]
    n_tokens: Mapping[str, Mapping[str, int]]
    other_contexts: Sequence[str]
    details: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""

    @property
    def chance(self) -> float:
        """How often the target would be the least surprising of all forms by chance."""
        return 1 / (1 + len(self.contrast.alternatives))


def agreement_run(
    run: Run, *, regions: Sequence[int] = (), final_marks: FinalMarkRule = "keep"
) -> AgreementRun:
    """What a run says of every item.

    Args:
        run: of a suite whose predictions compare one region of a grammatical condition with the
            same region of others.
        regions: the target's, where the predictions leave it open.
        final_marks: whether punctuation at the end of the target counts.

    Raises:
        UsageError: the predictions do not say what is compared.
    """
    suite = judged_suite(run)
    contrast = find_contrast(suite, regions=regions)
    values = values_of(run, final_marks=final_marks)
    verdicts = run.outcomes().filter(question=ALL).select("item", "verdict")
    return AgreementRun(
        model=run.model,
        language=language_code(suite.meta.language),
        suite=suite,
        contrast=contrast,
        ratios=probability_ratios(values, contrast),
        passed={
            item: None if verdict == "unscored" else verdict == "pass"
            for item, verdict in verdicts.iter_rows()
        },
        n_tokens=target_tokens(tokens_of(run), run.table("requests"), contrast.regions),
        other_contexts=items_with_other_contexts(suite, contrast),
        details=_details(run.manifest.get("model")),
        kind=run.model_kind,
    )


def _details(model: JsonValue) -> dict[str, str]:
    """What a manifest says of a model, as text."""
    details = model.get("details") if isinstance(model, dict) else None
    found = details if isinstance(details, dict) else {}
    return {key: value for key, value in found.items() if isinstance(value, str)}


def target_tokens(
    tokens: pl.DataFrame, requests: pl.DataFrame, regions: Sequence[int]
) -> dict[str, dict[str, int]]:
    """How many tokens begin in some regions.

    Args:
        tokens: a table of the schema ``answers.TOKENS``.
        requests: a table of the schema ``answers.REQUESTS``.
        regions: their numbers, from 1.

    Returns:
        Item to condition to the number.
    """
    import polars as pl

    wanted = requests.filter(pl.col("region").is_in(list(regions)))
    inside = wanted.join(tokens, on="request", suffix="_token").filter(
        pl.col("end_token") > pl.col("start"), pl.col("start_token") < pl.col("end")
    )
    counted = inside.group_by("item", "condition").agg(pl.col("position").n_unique().alias("n"))
    found: dict[str, dict[str, int]] = {}
    for item, condition, n in counted.iter_rows():
        found.setdefault(item, {})[condition] = n
    return found
