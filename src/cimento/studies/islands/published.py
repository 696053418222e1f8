"""Numbers that papers print and no released file holds, with the digits as printed."""

from __future__ import annotations

from collections.abc import Mapping

SALAZAR_ISLANDS: Mapping[str, str] = {
    "bert-base-cased": "73.6",
    "bert-large-cased": "77.0",
    "roberta-base": "80.7",
    "roberta-large": "83.4",
}
"""Accuracy in % on BLiMP's islands (Salazar et al. 2020, table 7,
doi:10.18653/v1/2020.acl-main.240)."""

LAU_CORRELATIONS: Mapping[tuple[str, str], str] = {
    ("none", "real"): "0.940",
    ("none", "random"): "0.911",
    ("real", "random"): "0.891",
}
"""Pearson's r between mean ratings in two contexts (Lau et al. 2020, doi:10.1162/tacl_a_00315)."""

WILCOX_ISLAND_TERM: Mapping[str, tuple[str, str]] = {
    "GPT2": ("4.644074247141063", "8.14748767e-13"),
    "GPT3": ("4.149528653291653", "1.9513316420905e-08"),
    "GRNN": ("6.928859501145799", "1.751821e-15"),
    "JRNN": ("7.757521691887355", "4.7187125e-14"),
    "LLAMA": ("6.048823024936169", "3.95301143769e-09"),
    "NGRAM": ("-2.325413e-13", "0.9999996329936136"),
}
"""The three-way term of wh-islands in bits, and its p (Wilcox, Futrell and Levy 2023,
doi:10.1162/ling_a_00491, the notebook released with it)."""

KOBZEVA_TABLES: Mapping[str, Mapping[str, tuple[str, str, str, str]]] = {
    "gpt2": {
        "Norwegian RC obj": ("1.1", "5.7", "-0.7", "-4.6"),
        "Norwegian RC end": ("-1.4", "-6.9", "0.1", "0.9"),
        "Norwegian Wh obj": ("0.5", "4.8", "-0.5", "-4.4"),
        "Norwegian Wh end": ("-0.9", "-5.4", "0.3", "2.2"),
        "English Wh obj": ("0.4", "5.5", "0.4", "5.1"),
        "English Wh end": ("-0.8", "-6.7", "-0.6", "-5.4"),
    },
    "lstm": {
        "Norwegian RC obj": ("0.8", "6.2", "-0.2", "-1.6"),
        "Norwegian RC end": ("-1.2", "-6.7", "-0.04", "-0.3"),
        "Norwegian Wh obj": ("0.8", "6.8", "-0.4", "-3.7"),
        "Norwegian Wh end": ("-1.2", "-6.9", "0.05", "0.4"),
        "English Wh obj": ("0.3", "4.4", "0.4", "3.8"),
        "English Wh end": ("-0.2", "-3.4", "-0.5", "-4.5"),
    },
}
"""Intercept, its t, effect of the complementizer, its t, of ``filler effect ~ complementizer +
(1 | item)``, by region (Kobzeva, Arehalli, Linzen and Kush 2023, tables of the released code)."""

BLIMP_ERRATUM_PARADIGM = "coordinate_structure_constraint_complex_left_branch"

THESIS_MODELS: Mapping[str, str] = {
    "geppetto": "GePpeTto",
    "bert-base-italian-xxl-cased": "BERT-it-xxl-cased",
    "gilberto": "GilBERTo",
}
"""Part of a model's name, in small letters, to its name in the tables of the 2022 study."""
