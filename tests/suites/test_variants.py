"""Variants of suites: what changes, what stays, and where it came from."""

from __future__ import annotations

import pytest

from cimento import InputError, UsageError
from cimento.cli.main import invoke
from cimento.suites import sentence
from cimento.suites.load import open_suite
from cimento.suites.variants import Variant, open_slots, read_variants, vary
from tests.helpers.suites_on_disk import write, write_folder

TOML = """\
regions = ["main", "embedded"]

[meta]
name = "regali"
version = "0.2.0"
language = "it"

[[predictions]]
formula = "(*;%che%) < (*;%se%)"
"""
ITEMS = """\
item	condition	text
1	che	Io penso | che io abbia apprezzato il regalo.
1	se	Io chiedo | se io abbia apprezzato il regalo.
2	che	Lei pensa | che Ada abbia letto l'articolo.
2	se	Lei chiede | se Ada abbia letto l'articolo.
"""


@pytest.fixture
def suite(tmp_path):
    return open_suite(write_folder(tmp_path / "regali", toml=TOML, items=ITEMS)).suite


def texts(suite) -> dict[tuple[str, str], str]:
    return {(item.id, condition.name): sentence(condition) for item, condition in suite.stimuli()}


def test_whole_words_are_replaced_in_every_item(suite):
    varied = vary(suite, Variant(name="bruno", replace={"io": "Bruno"}), sha256="abc")
    sentences = texts(varied.suite)
    assert sentences["1", "che"] == "Bruno penso che Bruno abbia apprezzato il regalo."
    # "io" in a longer word, and an item without it, stay as they are
    assert sentences["2", "che"] == texts(suite)["2", "che"]
    assert (varied.changed, varied.sentences, varied.untouched) == (("1",), 2, ("2",))
    assert varied.suite.name == "regali-bruno"
    assert varied.suite.extra["provenance"] == {
        "suite": "regali",
        "version": "0.2.0",
        "sha256": "abc",
        "variant": "bruno",
        "replace": {"io": "Bruno"},
    }
    assert varied.suite.predictions == suite.predictions


def test_longer_phrases_go_first_and_capitals_are_kept(suite):
    variant = Variant(
        name="noi", replace={"io": "noi", "io abbia": "noi abbiamo", "io penso": "noi pensiamo"}
    )
    sentences = texts(vary(suite, variant).suite)
    assert sentences["1", "che"] == "Noi pensiamo che noi abbiamo apprezzato il regalo."
    assert sentences["1", "se"] == "Noi chiedo se noi abbiamo apprezzato il regalo."


def test_only_some_conditions_and_items(suite):
    variant = Variant(name="x", replace={"abbia": "avesse"}, conditions=("se",), items=("2",))
    varied = vary(suite, variant)
    sentences = texts(varied.suite)
    assert sentences["2", "se"] == "Lei chiede se Ada avesse letto l'articolo."
    assert varied.sentences == 1
    assert sentences["1", "se"] == texts(suite)["1", "se"]


def test_an_elided_article_is_a_word_of_its_own(suite):
    sentences = texts(vary(suite, Variant(name="y", replace={"articolo": "annuncio"})).suite)
    assert sentences["2", "se"] == "Lei chiede se Ada abbia letto l'annuncio."


def test_slots_are_filled_with_forms_that_agree(tmp_path):
    items = ITEMS.replace("che io abbia", "che {chi.s} {chi.v}").replace(
        "se io abbia", "se {chi.s} {chi.v}"
    )
    made = open_suite(write_folder(tmp_path / "s", toml=TOML, items=items)).suite
    assert open_slots(made) == ("chi.s", "chi.v")
    toml = """
[slots]
chi = { s = "io", v = "abbia" }

[[variants]]
name = "io"

[[variants]]
name = "loro"
slots = { chi = { s = "i nonni", v = "abbiano" } }
"""
    first, second = read_variants(write(tmp_path / "v.toml", toml))
    assert texts(vary(made, first).suite)["1", "se"].endswith("se io abbia apprezzato il regalo.")
    other = vary(made, second).suite
    assert texts(other)["1", "che"] == "Io penso che i nonni abbiano apprezzato il regalo."
    assert open_slots(other) == ()


def test_a_filler_at_the_beginning_gets_a_capital(tmp_path):
    items = ITEMS.replace("Io penso", "{chi} penso")
    made = open_suite(write_folder(tmp_path / "s", toml=TOML, items=items)).suite
    sentences = texts(vary(made, Variant(name="x", slots={"chi": "stasera"})).suite)
    assert sentences["1", "che"].startswith("Stasera penso")


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        (Variant(name="x", replace={"gatto": "cane"}), "nothing in the suite"),
        (Variant(name="x", replace={"io": "tu"}, conditions=("sse",)), "no condition 'sse'"),
        (Variant(name="x", replace={"io": "tu"}, items=("7",)), "no item '7'"),
        (Variant(name="x", slots={"chi": "io"}), "no slot 'chi'"),
    ],
)
def test_variants_that_do_not_fit_the_suite(suite, variant, message):
    with pytest.raises(UsageError, match=message):
        vary(suite, variant)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "is not TOML"),
        ("", r"has no \[\[variants\]\]"),
        ("variants = [3]", "is not a table"),
        ('[[variants]]\nname = "a b"', "name is 'a b'"),
        ('[[variants]]\nname = "a"\nreplce = {}', "Did you mean 'replace'"),
        ('[[variants]]\nname = "a"\nreplace = { "io" = 3 }', "replace is not a table"),
        ('[[variants]]\nname = "a"\nconditions = "se"', "conditions is not a list"),
        ('[[variants]]\nname = "a"\n[[variants]]\nname = "a"', "two variants"),
        ("[slots]\nchi = 3\n[[variants]]\nname = 'a'", "the slot chi holds 3"),
    ],
)
def test_files_that_hold_no_variants(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_variants(write(tmp_path / "v.toml", text))


@pytest.mark.usefixtures("suite")
def test_the_command_writes_suites_and_says_what_changed(tmp_path, capsys):
    variants = write(
        tmp_path / "v.toml",
        '[[variants]]\nname = "lui"\ncomment = "Third person."\n'
        'replace = { "io abbia" = "lui abbia" }\n',
    )
    out = tmp_path / "variants"
    command = ["suites", "vary", str(tmp_path / "regali"), "--variants", str(variants)]
    assert invoke([*command, "-o", str(out)]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:4] == ["lui", "1", "2", "1"]
    written = open_suite(out / "regali-lui").suite
    assert written.meta.comment == "Third person."
    provenance = written.extra["provenance"]
    assert isinstance(provenance, dict)
    assert provenance["replace"] == {"io abbia": "lui abbia"}
    assert len(str(provenance["sha256"])) == 64


@pytest.mark.golden
def test_a_published_variation_is_made_from_its_suite(shared):
    folder = shared / "data" / "islands" / "italian" / "suites"
    base = open_suite(folder / "madeddu_2022-10_wh_whether.jsonl").suite
    published = open_suite(folder / "variation__wh_whether_island2_wh_whether.jsonl").suite
    made = vary(base, Variant(name="parlamentare", replace={"io": "il parlamentare"})).suite
    assert len(texts(published)) == 236
    assert texts(made) == texts(published)
