"""Values computed from scored tokens: values of regions and measures of sentences.

All functions are pure: they take stored tables and plain records, and no model. `regions` computes
the values that predictions over regions compare, `sentence` holds the measures of whole
sentences, and `scores` computes these for every sentence of a run.
"""

from __future__ import annotations

from cimento.io.values import BITS_PER_NAT, Missing, Unit, Value, surprisal_bits, total
from cimento.measures.named import columns_needed, find_measure, find_measures, judged_on
from cimento.measures.regions import RegionValues, region_metric, region_values
from cimento.measures.scores import NOT_ASKED, corrected
from cimento.measures.sentence import MEASURES, Measure, Sentence, corpus_perplexity

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
