"""What every starter suite must be: complete, balanced, and different only where it says so."""

from __future__ import annotations

import unicodedata
from collections import Counter
from itertools import product

import pytest

from cimento import Condition, Suite
from cimento.suites.formula import parse, references
from cimento.suites.load import inspect_suite
from cimento.suites.stimuli import stimulus_text
from tests.helpers.starter import FOLDER, NAMES, starter_suite

STATUS = "draft, not yet reviewed by native speakers"
TWIN = "-adversarial"
ITEMS_AT_LEAST = 20
AGREEMENT = tuple(name for name in NAMES if "agreement" in starter_suite(name).meta.tags)
TWINS = tuple(name for name in NAMES if name.endswith(TWIN))
FACTORIAL = tuple(name for name in NAMES if starter_suite(name).factors)


def target_of(suite: Suite) -> int:
    """The index of the one region that the predictions look at."""
    regions = {
        reference.region for p in suite.predictions for reference in references(parse(p.formula))
    }
    assert len(regions) == 1
    (region,) = regions
    assert isinstance(region, int)
    return region - 1


def texts(condition: Condition) -> list[str]:
    return [region.text for region in condition.regions]


def without(condition: Condition, index: int) -> list[tuple[str, bool]]:
    """Texts and joints of a condition's regions, but for one."""
    kept = [(region.text, region.glued) for region in condition.regions]
    del kept[index]
    return kept


def test_the_languages_and_phenomena_promised_are_there():
    agreement = ("subject-verb", "subject-predicative", "determiner-noun-adjective")
    promised = {
        f"{language}-{phenomenon}{twin}"
        for language, phenomenon, twin in product(("it", "es", "pt", "ru"), agreement, ("", TWIN))
    } | {"it-islands", "en-filler-gap", "en-subject-verb", f"en-subject-verb{TWIN}"}
    promised |= {
        f"{language}-{phenomenon}{twin}"
        for language, clitic in (("it", "clitic-participle"), ("es", "object-clitic"))
        for phenomenon, twin in product(
            ("relative-clause-verb", clitic, "pronoun-antecedent"), ("", TWIN)
        )
    }
    assert promised <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEverySuite:
    def test_passes_every_check_without_a_warning(self, name):
        suite, faults = inspect_suite(FOLDER / name)
        assert suite == starter_suite(name)
        assert faults == ()

    def test_says_what_it_is(self, name):
        suite = starter_suite(name)
        meta = suite.meta
        assert meta.name == name
        assert meta.language == name.split("-")[0]
        assert meta.license == "CC-BY-4.0"
        assert meta.status == STATUS
        assert meta.version
        assert meta.author
        assert name in meta.citation
        phenomena = {item.column("phenomenon") for item in suite.items}
        assert meta.phenomenon or None not in phenomena

    def test_has_a_readme_with_status_and_license(self, name):
        readme = (FOLDER / name / "README.md").read_text(encoding="utf-8")
        flowing = " ".join(readme.split())
        assert readme.startswith(f"# {name}\n")
        assert f"Status: {STATUS}" in flowing
        assert "License: CC BY 4.0" in flowing
        suite = starter_suite(name)
        for prediction in suite.predictions:
            assert f"`{prediction.formula}`" in readme
        for number, region in enumerate(suite.region_names, start=1):
            assert f"{number} `{region}`" in flowing

    def test_has_items_enough_in_each_phenomenon(self, name):
        counts = Counter(item.column("phenomenon") for item in starter_suite(name).items)
        assert min(counts.values()) >= ITEMS_AT_LEAST

    def test_items_are_complete(self, name):
        suite = starter_suite(name)
        for item in suite.items:
            assert [condition.name for condition in item.conditions] == list(suite.condition_names)
            for condition in item.conditions:
                assert len(condition.regions) == len(suite.region_names)

    def test_formulas_name_what_exists(self, name):
        suite = starter_suite(name)
        regions = {"*", *range(1, len(suite.region_names) + 1)}
        assert suite.predictions
        for prediction in suite.predictions:
            named = references(parse(prediction.formula))
            assert {reference.region for reference in named} <= regions
            assert {reference.condition for reference in named} <= set(suite.condition_names)
            assert prediction.comment.endswith(".")

    def test_sentences_are_clean(self, name):
        for item, condition in starter_suite(name).stimuli():
            sentence = stimulus_text(condition)
            where = f"{item.id}, {condition.name}: {sentence}"
            assert sentence == " ".join(sentence.split()), where
            assert sentence[0].isupper(), where
            assert sentence[-1] in ".?", where
            assert not set(sentence[:-1]) & set(".?!|’"), where
            assert " ," not in sentence, where
            assert unicodedata.is_normalized("NFC", sentence), where

    def test_no_sentence_twice_in_an_item_or_as_a_good_one(self, name):
        suite = starter_suite(name)
        for item in suite.items:
            assert len({stimulus_text(condition) for condition in item.conditions}) == len(
                item.conditions
            )
        first = Counter(stimulus_text(item.conditions[0]) for item in suite.items)
        assert first.most_common(1)[0][1] == 1


@pytest.mark.parametrize("name", AGREEMENT)
class TestAgreementSuites:
    def test_conditions_differ_in_the_target_alone(self, name):
        suite = starter_suite(name)
        target = target_of(suite)
        for item in suite.items:
            match = item.condition("match")
            for condition in item.conditions:
                assert without(condition, target) == without(match, target), item.id
                assert condition.columns == match.columns, item.id
            forms = [condition.regions[target].text for condition in item.conditions]
            assert len(set(forms)) == len(forms), item.id
            assert all(len(form.split()) == len(forms[0].split()) for form in forms), item.id

    def test_each_alternative_has_its_prediction(self, name):
        suite = starter_suite(name)
        region = target_of(suite) + 1
        assert suite.condition_names[0] == "match"
        assert [prediction.formula for prediction in suite.predictions] == [
            f"({region};%match%) < ({region};%{alternative}%)"
            for alternative in suite.condition_names[1:]
        ]

    def test_numbers_and_genders_are_balanced(self, name):
        suite = starter_suite(name)
        features = {"number", "gender"} & set(suite.column_names)
        assert features
        for feature in features:
            # Empty where the feature is not there: the Russian plural has no gender.
            counts = Counter(value for item in suite.items if (value := item.column(feature)))
            assert len(counts) >= 2
            assert len(set(counts.values())) == 1, counts

    def test_no_noun_is_used_more_than_twice(self, name):
        suite = starter_suite(name)
        named = [
            region for region in ("subject", "noun", "noun_phrase") if region in suite.region_names
        ]
        region = suite.region_names.index(named[0])
        nouns = Counter(item.conditions[0].regions[region].text.split()[-1] for item in suite.items)
        assert nouns.most_common(1)[0][1] <= 2

    def test_the_target_is_not_the_last_word(self, name):
        suite = starter_suite(name)
        target = target_of(suite)
        for item in suite.items:
            assert any(texts(item.conditions[0])[target + 1 :]), item.id


@pytest.mark.parametrize("name", TWINS)
def test_twins_differ_by_the_attractor_alone(name):
    suite, plain = starter_suite(name), starter_suite(name.removesuffix(TWIN))
    attractor = suite.region_names.index("attractor")
    assert suite.region_names[:attractor] + suite.region_names[attractor + 1 :] == (
        plain.region_names
    )
    assert target_of(suite) - target_of(plain) == 1
    assert [item.id for item in suite.items] == [item.id for item in plain.items]
    assert suite.condition_names == plain.condition_names
    for item, other in zip(suite.items, plain.items, strict=True):
        assert item.column("number") == other.column("number")
        for mine, theirs in zip(item.conditions, other.conditions, strict=True):
            assert mine.regions[attractor].text, item.id
            assert without(mine, attractor) == [
                (region.text, region.glued) for region in theirs.regions
            ]


def test_every_adversarial_suite_is_a_twin():
    assert {name.removesuffix(TWIN) for name in TWINS} <= set(NAMES)
    adversarial = {name for name in NAMES if "adversarial" in starter_suite(name).meta.tags}
    assert adversarial == set(TWINS)


@pytest.mark.parametrize("name", FACTORIAL)
def test_factorial_suites_cross_their_levels(name):
    suite = starter_suite(name)
    cells = list(product(*suite.factors.values()))
    seen: dict[str, set[tuple[str, ...]]] = {}
    for item in suite.items:
        combinations = [
            tuple(condition.columns[factor] for factor in suite.factors)
            for condition in item.conditions
        ]
        assert sorted(combinations) == sorted(cells), item.id
        for condition, cell in zip(item.conditions, combinations, strict=True):
            seen.setdefault(condition.name, set()).add(cell)
    assert all(len(cells_seen) == 1 for cells_seen in seen.values())


class TestItalianIslands:
    SUITE = starter_suite("it-islands")

    def regions(self, item, structure: str, distance: str) -> list[str]:
        condition = item.condition(f"{distance}_{structure}")
        return [region.text for region in condition.regions]

    def test_four_phenomena_of_forty_items_and_one_of_twenty(self):
        counts = Counter(item.column("phenomenon") for item in self.SUITE.items)
        forty = dict.fromkeys(("whether", "complex_np", "subject", "adjunct"), 40)
        assert counts == {**forty, "relative_clause": 20}

    def test_sentences_of_an_item_are_of_one_length(self):
        for item in self.SUITE.items:
            lengths = {len(stimulus_text(condition).split()) for condition in item.conditions}
            assert len(lengths) == 1, item.id

    @pytest.mark.parametrize("distance", ["short", "long"])
    def test_the_matrix_clause_does_not_tell_the_island(self, distance):
        """Else a DD that arises before the island begins is taken for an island effect."""
        for item in self.SUITE.items:
            plain, island = (self.regions(item, s, distance) for s in ("nonisland", "island"))
            assert plain[0] == island[0], item.id
            assert plain[1] != island[1], item.id

    def test_subjects_and_objects_change_places(self):
        """The four sentences have the same words but for what is extracted from where."""
        for item in self.SUITE.items:
            if item.column("phenomenon") != "subject":
                continue
            for distance in ("short", "long"):
                plain, island = (
                    sorted(self.regions(item, s, distance)[1].rstrip("?").split())
                    for s in ("nonisland", "island")
                )
                assert plain == island, item.id
            assert self.regions(item, "island", "long")[0].startswith("Di chi "), item.id

    def test_one_word_for_another_makes_the_island(self):
        """Of indirect questions and of adjuncts in the same mood."""
        for item in self.SUITE.items:
            number = int(item.id[-2:])
            if item.column("phenomenon") == "whether" or (
                item.column("phenomenon") == "adjunct" and number <= 20
            ):
                for distance in ("short", "long"):
                    first, rest = zip(
                        *(
                            self.regions(item, s, distance)[1].split(" ", 1)
                            for s in ("nonisland", "island")
                        ),
                        strict=True,
                    )
                    assert first[0] == "che", item.id
                    assert first[1] != "che", item.id
                    assert rest[0] == rest[1], item.id

    def test_relative_clauses_have_the_nouns_of_the_clauses_they_are_compared_with(self):
        for item in self.SUITE.items:
            if item.column("phenomenon") != "relative_clause":
                continue
            clause, relative = (self.regions(item, s, "long")[1] for s in ("nonisland", "island"))
            assert clause.startswith("che "), item.id
            assert relative.startswith("de"), item.id
            assert clause.split()[-2:] == relative.split()[-2:], item.id


@pytest.mark.parametrize("name", ["en-filler-gap", "it-filler-gap"])
def test_conditions_of_filler_gap_suites_are_named_by_their_factors(name):
    """`wh` stands for who and what; `cosa` and `che` are the words themselves."""
    suite = starter_suite(name)
    levels = {"en": ("wh", "that"), "it": ("cosa", "che")}[suite.meta.language]
    assert suite.factors["filler"] == levels
    assert suite.condition_names == tuple(
        f"{filler}_{gap}" for filler, gap in product(levels, ("gap", "nogap"))
    )


def test_portuguese_suites_say_that_they_are_brazilian_and_russian_ones_have_one_spelling():
    """A language code has no variety; the folders of every kind of suite are looked at."""
    folders = {language: sorted(FOLDER.glob(f"{language}-*")) for language in ("pt", "ru")}
    assert len(folders["pt"]) == 17
    for folder in folders["pt"]:
        assert "Brazilian Portuguese" in (folder / "suite.toml").read_text(encoding="utf-8")
        limits = (folder / "README.md").read_text(encoding="utf-8").partition("## Known limits")[2]
        assert "European Portuguese" in limits
    for folder in folders["ru"]:
        for table in folder.glob("*.tsv"):
            assert "ё" not in table.read_text(encoding="utf-8").lower()


def test_each_phenomenon_of_the_rated_sentences_has_two_of_each_degree():
    rows = (FOLDER / "it-acceptability" / "items.tsv").read_text(encoding="utf-8").splitlines()
    counts = Counter(tuple(row.split("\t")[3:5]) for row in rows[1:])
    assert set(counts.values()) == {2}
    assert len(counts) == 60
    assert len({row.split("\t")[2] for row in rows}) == len(rows)
