"""Values computed from scored tokens: one for each region, and measures of each sentence.

Pure functions on stored tables and plain records; no model. `regions` gives what predictions over
regions compare, `sentence` and `registry` the measures of whole sentences, `scores` these for
every sentence of a run.
"""

from __future__ import annotations

from cimento.measures.regions import RegionValues, region_metric, region_values
from cimento.measures.registry import (
    MEASURES,
    Measure,
    columns_needed,
    find_measure,
    find_measures,
    judged_on,
)
from cimento.measures.scores import NOT_ASKED, corrected
from cimento.measures.sentence import (
    BITS_PER_NAT,
    Missing,
    Sentence,
    Unit,
    Value,
    corpus_perplexity,
    surprisal_bits,
    total,
)

__all__ = [
    "BITS_PER_NAT",
    "MEASURES",
    "NOT_ASKED",
    "Measure",
    "Missing",
    "RegionValues",
    "Sentence",
    "Unit",
    "Value",
    "columns_needed",
    "corpus_perplexity",
    "corrected",
    "find_measure",
    "find_measures",
    "judged_on",
    "region_metric",
    "region_values",
    "surprisal_bits",
    "total",
]
