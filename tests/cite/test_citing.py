"""References and the methods paragraph of runs: every work is known, every option is told."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections import Counter

import pytest

import cimento
from cimento import Meta, Policy, Run, TableError, open_run, open_runs
from cimento.cite import bibtex, cited_works, methods_paragraph
from cimento.cite.library import bibtex_key, from_text, library, works_in
from cimento.cli.main import invoke
from cimento.measures import MEASURES
from cimento.paradigms import MethodFacts
from cimento.suites.builtin import builtin_names, find_suite
from tests.helpers.made_runs import MadeSuite, made_run, outcomes_of

KINDS = (
    "it-islands",
    "it-acceptability",
    "it-connectives-cloze",
    "es-agreement-templates",
    "es-stories",
)


@pytest.fixture(scope="module")
def stored(runs_of_every_kind):
    """These runs, by the suite's name."""
    return {run.suite.name: run for run in open_runs(runs_of_every_kind)}


def made(**changes) -> Run:
    """A run of a made-up paradigm: what only a paradigm knows is given."""
    card = {"name": "m", "kind": "causal", "bos": "<s>", "revision": "ab" * 20, "dtype": "float32"}
    manifest = {
        "model": card | changes.pop("model", {}),
        "asking": {"policy": dataclasses.asdict(Policy(**changes.pop("policy", {})))},
        "suite": {"name": "s", "sha256": "cd" * 32},
        "versions": {"python": "3.11.7"},
        "cimento": "0.1.0",
    } | changes.pop("manifest", {})
    meta = changes.pop("meta", Meta("s", language="it"))
    run = made_run("m@abababa", outcomes_of("++="), manifest=manifest)
    run.paradigm.presenter.facts = MethodFacts(counted="3 items in 2 conditions", **changes)
    return dataclasses.replace(run, suite=MadeSuite(meta))


def test_works_are_complete_and_named_once():
    dois = Counter(
        work.fields["doi"].lower() for work in library().values() if "doi" in work.fields
    )

    assert max(dois.values()) == 1
    for key, work in library().items():
        assert bibtex_key(key) == key
        assert work.authors
        assert work.title
        assert 1890 < int(work.fields["year"]) < 2100
        assert "--" in work.fields.get("pages", "1--2") or work.fields["pages"].isalnum()


@pytest.mark.parametrize("measure", MEASURES.values(), ids=lambda measure: measure.name)
def test_what_measures_come_from_can_be_cited(measure):
    assert {work.key for work in works_in(measure.source)} <= library().keys()


def test_what_starter_suites_come_from_can_be_cited():
    tomls = [path / "suite.toml" for path in map(find_suite, builtin_names())]
    texts = [tomllib.loads(path.read_text("utf-8"))["meta"].get("reference", "") for path in tomls]

    assert {work.key for text in texts for work in works_in(text)} <= library().keys()


def test_a_text_without_a_known_work_is_kept_as_it_is():
    (work,) = works_in("Rossi 2031, doi:10.1234/abc.5")

    assert work.fields == {"note": "Rossi 2031, doi:10.1234/abc.5", "doi": "10.1234/abc.5"}
    assert work.key == "rossi-2031-doi-10-1234-abc-5"
    assert works_in("") == ()


def test_bibtex_of_an_author_is_not_touched():
    entry = "@article{rossi,\n  title = {A {\\`e} B},\n}"
    work = from_text(entry)

    assert work.key == "rossi"
    assert bibtex([work]) == entry + "\n"


def test_an_entry_as_bibtex_has_it():
    text = bibtex([library()["sprouse2016"]])

    # Compared with the entry that the publisher's page offers.
    assert text == (
        "@article{sprouse2016,\n"
        "  author = {Sprouse, Jon and Caponigro, Ivano and Greco, Ciro and Cecchetto, Carlo},\n"
        "  title = {{Experimental syntax and the variation of island effects in English and"
        " Italian}},\n"
        "  journal = {Natural Language \\& Linguistic Theory},\n"
        "  year = {2016},\n  volume = {34},\n  number = {1},\n  pages = {307--344},\n"
        "  doi = {10.1007/s11049-015-9286-8},\n}\n"
    )
    assert library()["sprouse2016"].short == "Sprouse et al. 2016"
    assert library()["kauf2023"].short == "Kauf and Ivanova 2023"
    assert library()["student1908"].line.startswith("Student (1908). The probable error")


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_run_has_a_paragraph_whose_works_are_all_there(stored, name):
    run = stored[name]
    paragraph = methods_paragraph([run], appendix=True, form="markdown")
    cited = set(re.findall(r"@([\w-]+)(?=[;\]])", paragraph))

    assert cited == {reference.key for reference in cited_works([run], appendix=True)}
    assert {name, "cimento", "paszke2019"} <= cited
    assert f"We used the suite {name} (" in paragraph
    assert str(run.manifest["suite"]["sha256"])[:12] in paragraph
    assert str(run.manifest["model"]["revision"])[:12] in paragraph
    assert str(run.manifest["model"]["tokenizer"])[:12] in paragraph
    assert "<|bos|> preceded the first token (rule auto)" in paragraph
    assert re.search(r"limited to (the first 3 items|3 items \(each )", paragraph)
    assert "\n" not in paragraph


PRINTED = 150
"""Words of a paragraph that a paper prints, citations among them."""


@pytest.mark.parametrize("name", KINDS)
def test_a_paper_prints_a_short_paragraph_without_the_protocol(stored, name):
    run = stored[name]
    said = methods_paragraph([run])

    start = r"We evaluated demo-causal \(1.3M parameters, revision 91bca5d\) on (the first )?3 "
    assert re.match(start, said)
    assert ("the first 3 " in said) is (not run.manifest["in_turn"])
    assert f" suite {name} (" in said
    assert len(said.split()) <= PRINTED
    assert not re.search(r"SHA-256|tokenizer|rule |was used|In all runs|%[a-z]", said)
    assert "Scores were computed in float32" in said
    judged = [one for one in run.estimates() if one.is_share and not one.group]
    assert ("unscored" in said) == bool(judged)
    assert ("hance" in said) == (bool(judged) and name != "it-islands")  # reported by DD
    compared = any(one.is_of_predictions for one in judged)
    assert ("are ties (counted as failures), 0 near ties (below 0.00011 bits)" in said) == compared
    scored = run.paradigm.presenter.methods(run).scores_texts
    assert ("<|bos|> before the first token" in said) == scored
    assert "\n" not in said
    cited = set(re.findall(r"@([\w-]+)(?=[;\]])", methods_paragraph([run], form="markdown")))
    assert cited == {reference.key for reference in cited_works([run], appendix=False)}
    assert cited <= {reference.key for reference in cited_works([run])}


def test_the_paragraph_of_many_runs_is_no_list_of_them(stored):
    said = methods_paragraph([*stored.values()])

    assert "demo-causal (1.3M parameters, revision 91bca5d) on 5 test suites" in said
    assert len(said.split()) <= 75 * len(KINDS)
    assert "Wilson" not in said  # 3 items of each are too few for an interval


def test_the_paragraph_names_the_suites_and_says_which_a_sentence_is_about(stored):
    said = methods_paragraph([*stored.values()])

    listed = re.search("on 5 test suites, (.*) and (it-[a-z]+) [(].*[)], with cimento", said)
    assert [name for name in KINDS if name in listed[0]] == [*KINDS]
    assert (
        "In the suites es-agreement-templates and it-connectives-cloze, an expected answer" in said
    )
    assert "In the suite it-acceptability, we correlated log-probability (lp) (Lau" in said
    alone = methods_paragraph([stored["it-acceptability"]])
    assert ". We correlated log-probability (lp) (Lau" in alone


def test_a_sentence_about_one_of_two_models_of_a_suite_names_it():
    suite = cimento.pairs([("Le case sono alte.", "Le case è alte.")] * 3, language="it")
    causal, masked = (cimento.evaluate(suite, f"demo-{kind}") for kind in ("causal", "masked"))
    said = methods_paragraph([causal.judge(measures="meanlp"), masked])
    assert f"with {causal.model}, we compared the sentences of each item by mean log-prob" in said
    assert f"with {masked.model}, for each item we summed the token surprisals" in said
    assert f"with {causal.model}" not in methods_paragraph([causal, masked])


def test_how_blanks_were_filled_is_said_of_each_kind_of_model(tmp_path):
    models = ("-m", "demo-causal", "-m", "demo-masked")
    invoke(["run", "it-idioms", *models, "--limit", "3", "-o", str(tmp_path)])
    runs = open_runs(tmp_path)
    for said in (methods_paragraph(runs), methods_paragraph(runs, appendix=True)):
        assert "pseudo-log-likelihood" not in said
        assert "the most probable tokens at one mask, given the text on both sides" in said
        assert "the most probable next tokens after the text before the blank" in said
    brief = methods_paragraph(runs)
    assert "Kauf" not in brief
    assert "Candidates of causal models were the most probable next tokens" in brief


def test_an_n_gram_model_is_called_one():
    run = made(model={"name": "b2", "details": {"order": "2", "read_by": "ArpaModel"}})
    assert "b2 (n-gram model of order 2, revision ababab" in methods_paragraph([run])
    assert "b2 (n-gram model of order 2, " in methods_paragraph([run], appendix=True)


def test_the_appendix_says_over_what_holm_corrects():
    run = cimento.evaluate("it-islands", "demo-causal")
    said = methods_paragraph([run], appendix=True)
    assert "bootstrap (Hall 1988), used for 8 to 200 items (9,999 draws, seed 0)." in said
    assert "over all phenomena and measures of a model on the suite" in said
    assert "wh-licensing" not in said
    run = cimento.evaluate("en-filler-gap", "demo-causal", limit=6)
    said = methods_paragraph([run], appendix=True)
    assert "over all effects of a model on the suite, in all windows" in said


def test_degrees_that_an_author_expects_are_never_called_ratings_of_people(stored):
    run = stored["it-acceptability"]
    for appendix in (False, True):
        said = methods_paragraph([run], appendix=appendix)
        assert "sentences with degrees expected by the author" in said
        assert not re.search("mean rating|rated sentence|with the ratings", said)
    assert "with the author's expected degree by Spearman" in methods_paragraph([run])


def test_what_holds_in_all_suites_again_is_said_so():
    runs = [
        made(brief=(f"We looked at {name}.", "We counted."), meta=Meta(name)) for name in ("a", "b")
    ]
    said = methods_paragraph(runs)
    assert "In the suite a, we looked at a. In all suites, we counted. In the suite b, we" in said


def test_many_suites_are_counted_and_few_are_named():
    runs = [made(brief=(f"We saw {n > 0}.",), meta=Meta(f"s{n}")) for n in range(10)]
    said = methods_paragraph(runs)
    assert " on 10 test suites with cimento" in said
    assert "In the suite s0, we saw False. In 9 of the suites, we saw True." in said


def test_the_paragraph_counts_ties_and_says_what_they_count_as():
    run = made(brief=("We looked.",))
    # Nothing is known of near ties, as nothing is compared by margins.
    assert "We looked. Of 3 verdicts, 1 is a tie (counted as failures)" in methods_paragraph([run])
    run = made(brief=("We looked.",))
    run.paradigm.judge.made = outcomes_of("++-")
    assert "Of 3 verdicts, 0 were unscored." in methods_paragraph([run])
    run = made(brief=("We looked.",))
    run.paradigm.judge.made = ()
    assert "ties" not in methods_paragraph([run])


def test_sources_are_those_of_what_they_stand_behind(stored):
    said = methods_paragraph([stored["it-islands"]], form="markdown", appendix=True)

    assert "in bits [@shannon1948]" in said
    assert "predictions [@hu2020] compare" in said
    assert "bits [@hu2020]" not in said
    assert "antithetic" not in "".join(work.title.lower() for work in library().values())


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_a_suite_that_nobody_signed_has_no_entry(form):
    run = made(meta=Meta("acc", language="it"))

    assert "acc" not in {reference.key for reference in cited_works([run])}
    assert "{acc," not in bibtex(cited_works([run]))
    for appendix in (False, True):
        assert "(acc)" not in methods_paragraph([run], form=form, appendix=appendix)
        assert "suite acc" in methods_paragraph([run], form=form, appendix=appendix)


def test_what_a_kind_of_suite_alone_does_is_said_of_it(stored):
    said = {
        name: methods_paragraph([run], appendix=True, form="markdown")
        for name, run in stored.items()
    }

    assert "distance (short, long) and structure (nonisland, island)" in said["it-islands"]
    assert "penlp, LP / ((5 + n) / 6)^0.8" in said["it-acceptability"]
    assert "@lau2020; @wu2016" in said["it-acceptability"]
    assert (
        "by the rules sentence (the whole text with the option in it), left"
        in (said["it-connectives-cloze"])
    )
    assert "bootstrap" not in said["it-connectives-cloze"]
    assert "3 worked examples (fixed, seed 1234)" in said["es-stories"]
    assert "bootstrap" not in said["es-stories"]


def test_options_are_said_as_they_were():
    run = made(
        policy={"bos": "none", "leading_blank": True, "window": "sliding", "stride": 64},
        model={"bos": "", "boundary": "word-start"},
        sentences=("Sentences were compared by penlp [@lau2020].",),
        design="cross two factors",
    )
    paragraph = methods_paragraph([run], appendix=True)

    assert "(Italian, 3 items in 2 conditions, SHA-256 cdcdcdcdcdcd)" in paragraph
    assert "Its items cross two factors. The model was" in paragraph
    assert "nothing preceded the first token (rule none)" in paragraph
    assert "Every text was preceded by a blank." in paragraph
    assert "sliding windows moved by 64 tokens" in paragraph
    assert "compared by penlp (Lau et al. 2020)" in paragraph
    assert "(word-start marks" in paragraph
    assert "(Pimentel and Meister 2024)" in paragraph
    assert "Of 3 verdicts, 1 was a tie. Accuracy" in paragraph
    assert "Accuracy (all) was 0.667 (2 of 3; no interval: 3 values, and" in paragraph


def test_what_belongs_together_is_said():
    run = made(together="items of one verb")
    run.paradigm.judge.made = outcomes_of("++=---", cluster={"0": "x", "1": "x"})

    assert "because items of one verb belong together" in methods_paragraph([run], appendix=True)
    # Korn and Graubard's is the variance with t; the weight and the limits are nobody else's.
    for form in (True, False):
        said = methods_paragraph([run], appendix=form, form="markdown")
        assert "[@korn1998; @franco2019], by cimento's own weight and limits [@cimento]" in said


def test_judging_of_regions_is_said_as_it_was(stored):
    run = stored["it-islands"].judge(
        ties="pass", unscored_first="drop", measures=["penlp", "lp"], compat="minicons"
    )
    paragraph = methods_paragraph([run], appendix=True)

    assert "count as successes" in paragraph
    assert "was excluded from every sum" in paragraph
    assert "whole sentences of an item by penlp" in paragraph
    assert "also judged by lp" in paragraph
    assert "Conventions were those of minicons." in paragraph


@pytest.mark.parametrize(
    ("rule", "key"), [("within-word-l2r", "kauf2023"), ("original", "salazar2020")]
)
def test_pseudo_likelihoods_cite_their_source(rule, key):
    run = made(model={"kind": "masked"}, policy={"pll": rule})

    assert key in {reference.key for reference in cited_works([run])}
    assert "Scores were pseudo-log-likelihoods" in methods_paragraph([run], appendix=True)


def test_a_secret_in_an_option_is_not_told():
    run = made(policy={"model_args": {"token": "hf_verysecret", "attn_implementation": "eager"}})
    said = methods_paragraph([run], appendix=True)

    assert "hf_verysecret" not in said
    assert 'attn_implementation = "eager"' in said


def test_of_several_runs_what_they_share_is_said_once(stored):
    one, other = stored["it-islands"], stored["it-connectives-cloze"]
    said = methods_paragraph([one, other], appendix=True)

    assert said.count("The score of a token was") == 1
    assert said.count("The model was demo-causal") == 1
    assert said.startswith("We used 2 suites: it-islands (Italian, ")
    assert "; it-connectives-cloze (Italian, " in said
    assert "The items of it-islands cross the factors" in said
    assert said.count("version 0.") == 2  # of the suites, each in its citation
    assert "it-islands: The 4 predictions" in said
    assert "it-connectives-cloze: The candidates for a blank were" in said
    # Each run is named once, above the sentences about it alone.
    assert [line.partition(":")[0] for line in said.split("\n\n")[1:]] == [
        "it-islands",
        "it-connectives-cloze",
    ]
    assert not re.search(r"In all runs|in no share|no pass|\b0 were", said)
    assert methods_paragraph([one, one], appendix=True) == methods_paragraph([one], appendix=True)


def test_latex_is_escaped_and_cites():
    run = made(meta=Meta("a_b & 100%", citation="x"), sentences=("(1;%a%) < (1;%b%)",))
    said = methods_paragraph([run], appendix=True, form="latex")

    assert "We used the suite a\\_b \\& 100\\% (" in said
    assert "\\citep{a-b-100}" in said
    assert "(1;\\%a\\%) \\textless{} (1;\\%b\\%)" in said
    assert methods_paragraph([], form="latex") == ""


def test_keys_of_other_people_s_bibtex_are_cited_whatever_marks_they_have():
    entry = "@article{DBLP:journals/x/Rossi31,\n  title = {A B},\n}"
    run = made(meta=Meta("s", citation=entry))

    assert "[@DBLP:journals/x/Rossi31]" in methods_paragraph([run], appendix=True, form="markdown")
    assert "\\citep{DBLP:journals/x/Rossi31}" in methods_paragraph(
        [run], appendix=True, form="latex"
    )
    assert ") (DBLP:journals/x/Rossi31). The" in methods_paragraph([run], appendix=True)
    assert cited_works([run])[0].ready == entry


def test_a_work_of_which_only_a_text_is_known_is_named_by_it():
    run = made(meta=Meta("s", reference="Rossi 2031, unpublished"))
    said = methods_paragraph([run], appendix=True)

    assert ") after earlier work (Rossi 2031, unpublished). The" in said
    assert from_text("Rossi " * 30).short.endswith(" ...")


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_words_of_a_suite_that_look_like_a_citation_are_words(form):
    run = made(meta=Meta("blank [@nobody2031]", citation="x"))

    assert "@nobody2031" in methods_paragraph([run], appendix=True, form=form)
    assert "nobody2031" not in {reference.key for reference in cited_works([run])}


def test_a_name_with_marks_of_tex_keeps_its_braces():
    run = made(meta=Meta("s", author="Smith & {Sons}"))

    assert "  author = {{Smith \\& \\{Sons\\}}}," in bibtex(cited_works([run]))


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(TableError, match="not the folder of a finished run"):
        open_run(tmp_path)


def test_the_command_prints_bibtex_or_the_paragraph(runs_of_every_kind, stored, capsys):
    path = str(runs_of_every_kind)
    capsys.readouterr()

    assert invoke(["cite", path]) == 0
    entries = capsys.readouterr().out
    assert entries.count("\n@") + 1 == len(cited_works(list(stored.values())))
    assert invoke(["cite", path, "--methods", "--format", "latex"]) == 0
    assert "\\citep{" in capsys.readouterr().out
    assert invoke(["cite", path, "--methods"]) == 0
    brief = capsys.readouterr().out
    assert "\nReferences\n" in brief
    assert "SHA-256" not in brief
    assert invoke(["cite", path, "--methods", "--appendix"]) == 0
    both = capsys.readouterr().out
    assert both.startswith(brief.partition("\n")[0])
    assert "SHA-256" in both
    assert both.count("\n- ") >= brief.count("\n- ")
    assert invoke(["cite", path, "--appendix", "--format", "markdown"]) == 0
    assert "SHA-256" in capsys.readouterr().out


def test_a_form_without_a_paragraph_is_refused(tmp_path, capsys):
    assert invoke(["cite", str(tmp_path), "--format", "latex"]) == 2
    assert "Add --methods" in capsys.readouterr().err
    assert invoke(["cite", str(tmp_path)]) == 2


@pytest.mark.slow
def test_the_methods_paragraph_tells_chance_length_and_precision(tmp_path):
    command = ["run", "it-islands", "-m", "demo-causal", "--dtype", "bfloat16", "--device", "cpu"]
    assert invoke([*command, "--limit", "30", "-o", str(tmp_path)]) == 0
    [run] = open_runs(tmp_path)
    names = {"DD", "both", "island", "distance"}
    rates = [e for e in run.estimates() if e.is_of_predictions and not e.group]
    single = [e for e in rates if e.question in names]
    assert len(single) == len(names)
    near, judged = sum(e.near_tied or 0 for e in single), sum(e.n for e in single)
    text = methods_paragraph([run], appendix=True)

    assert near
    assert (
        f"A margin below {run.manifest['model']['rounding_bits']:g} bits may depend on the batch"
        f" size or the machine (the error of bfloat16, measured with this model); {near} of"
        f" the {judged} verdicts have such a margin." in text
    )
    assert (
        "Chance levels assume independent values from one distribution, and thus conditions of"
        " equal length: 0.500, counted over all orders; 0.207, simulated from standard normal"
        " values (262,144"
        " draws, seed 0)." in text
    )
    assert (
        "Conditions differ in their number of tokens: if all tokens had the same surprisal,"
        " accuracy would be 0" in text
    )


def test_nothing_is_said_of_numbers_where_nothing_is_judged():
    run = made()
    run.paradigm.judge.made = ()
    text = methods_paragraph([run], appendix=True)

    assert "verdicts" not in text
    assert "Wilson" not in text
