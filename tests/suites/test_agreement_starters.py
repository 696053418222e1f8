"""Six agreement phenomena in each language, and attractors that are what their columns say."""

from __future__ import annotations

import pytest

from tests.helpers.starter import NAMES, starter_suite

TWIN = "-adversarial"
LANGUAGES = ("it", "es", "pt", "ru")
TOLD = tuple(name for name in NAMES if "attractor_differs_in" in starter_suite(name).column_names)
NUMBERED = tuple(
    name
    for name in NAMES
    if {"number", "attractor_number"} <= set(starter_suite(name).column_names)
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_six_phenomena_of_24_items_plain_and_adversarial(language):
    plain = {
        name
        for name in NAMES
        if name.startswith(f"{language}-")
        and not name.endswith(TWIN)
        and "agreement" in starter_suite(name).meta.tags
    }
    assert len(plain) == 6
    for name in sorted(plain):
        assert name + TWIN in NAMES
        assert len(starter_suite(name).items) == len(starter_suite(name + TWIN).items) == 24


@pytest.mark.parametrize("name", TOLD)
def test_attractors_differ_in_what_the_column_says(name):
    """Attractors differ in number, in gender or in both, each as often as the others."""
    suite = starter_suite(name)
    counts: dict[str | None, int] = {}
    for item in suite.items:
        feature = item.column("attractor_differs_in")
        counts[feature] = counts.get(feature, 0) + 1
        if "attractor_number" not in suite.column_names:
            continue
        # Suites without a column `number` have singular subjects or heads only.
        number = item.column("attractor_number") != (item.column("number") or "singular")
        gender = item.column("attractor_gender") != item.column("gender")
        if "number" in suite.column_names:
            assert feature == {(1, 0): "number", (0, 1): "gender", (1, 1): "both"}[number, gender]
        else:
            assert feature == ("number" if number else "gender")
            assert gender
    assert len(set(counts.values())) == 1, counts


@pytest.mark.parametrize("name", NUMBERED)
def test_attractors_have_the_other_number_unless_another_column_says_so(name):
    for item in starter_suite(name).items:
        differs = item.column("attractor_number") != item.column("number")
        assert differs == (item.column("attractor_differs_in") != "gender"), item.id
