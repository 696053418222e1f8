"""What is fuzzed: each reads a path and does with it what a command would do first."""

from __future__ import annotations

import contextlib
from pathlib import Path

from cimento.errors import InputError
from cimento.io.parsing import parse_json
from cimento.models.settings import Policy
from tests.fuzzing.seeds_more import CACHE_KEYS

TEXT = "Le lampade"


def suite(path: Path) -> object:
    """Suites, checked and planned."""
    from cimento import Suite, load_suites
    from cimento.paradigms.regions.requests import region_requests

    suites = [loaded_suite.suite for loaded_suite in load_suites(path)]
    return [region_requests(suite) for suite in suites if isinstance(suite, Suite)]


def zorro(path: Path) -> object:
    """Two lines a pair."""
    from cimento.paradigms.regions.requests import region_requests
    from cimento.suites.load import open_suite

    return region_requests(open_suite(path, format_="zorro").suite)


def lm_eval(folder: Path) -> object:
    """A task with its data."""
    return suite(folder / "task.yaml")


def rated(path: Path) -> object:
    """Rated sentences."""
    from cimento.suites.formats.ratings import read_rated
    from cimento.suites.load import open_suite
    from cimento.suites.ratings import rated_of

    is_table = path.is_file() and path.name != "suite.toml"
    return read_rated(path) if is_table else rated_of(open_suite(path).suite)


def forced_choices(path: Path) -> object:
    """People's choices between two sentences."""
    from cimento.paradigms.ratings.people import read_forced_choices

    return read_forced_choices(path)


def variants(path: Path) -> object:
    """Variants of a suite, applied to one."""
    from cimento.suites import Condition, Item, Meta, Region, Suite
    from cimento.suites.variants import read_variants, vary

    item = Item("1", (Condition("match", (Region("Le lampade sono {who.verb}"),)),))
    varied = Suite(Meta("x"), ("all",), (), (item,))
    return [vary(varied, variant) for variant in read_variants(path)]


def formula(path: Path) -> object:
    """A formula, read, written and read again."""
    from cimento.suites.formula import canonical, parse

    tree = parse(path.read_bytes().decode("utf-8", "replace"))
    assert parse(canonical(tree)) == tree
    return tree


def cloze(path: Path) -> object:
    """A suite with blanks."""
    from cimento.paradigms.cloze.files import load_cloze

    return load_cloze(path)


def candidates(path: Path) -> object:
    """Candidates that were judged."""
    from cimento.paradigms.cloze.judgments import read_judged_candidates

    return read_judged_candidates(path)


def description(path: Path) -> object:
    """Templates to be built, with the forms that they give themselves."""
    from cimento.paradigms.cloze.building import generate, read_description

    return generate(read_description(path), dictionary=None, ask=None)


def choices_of_people(path: Path) -> object:
    """How many people chose what."""
    from cimento.paradigms.cloze.people import read_option_counts
    from cimento.suites.cloze import ClozeItem

    return read_option_counts(path, [ClozeItem("1", "Piove, ", " esco.")])


def notebooks(path: Path) -> object:
    """The notebooks of the Brazilian study, each read as either of them."""
    from cimento.paradigms.cloze import portuguese as study

    records = []
    for read in (study.read_multiwords, study.read_predictions, study.read_templates):
        with contextlib.suppress(InputError):
            records.append(read(path))
    return records


def lm_eval_log(path: Path) -> object:
    """Samples that lm-eval logged."""
    from cimento.models.recorded import read_logs

    return read_logs(path)


def snapshot(path: Path) -> object:
    """The workbook of the Brazilian study."""
    from cimento.paradigms.cloze.portuguese import read_snapshot

    return read_snapshot(path)


def fills(path: Path) -> object:
    """Recorded candidates."""
    from cimento.paradigms.cloze.recording import read_recorded_candidates

    return read_recorded_candidates(str(path))


def treebank(path: Path) -> object:
    """Sentences, malformed ones noted, with the connectives in them."""
    from cimento.corpus.conllu import read_sentences

    tokens = [list(sentence.tokens()) for sentence in read_sentences(path, skipped=[])]
    return tokens, list(read_sentences(path))


def inventory(path: Path) -> object:
    """An inventory of connectives."""
    from cimento.corpus.connectives.lexicons import open_inventory

    return open_inventory(str(path))


def rule(path: Path) -> object:
    """A rule of what counts as a connective."""
    from cimento.corpus.connectives.matching import open_rule

    return open_rule(str(path))


def published(path: Path) -> object:
    """Published counts."""
    from cimento.corpus.connectives.frequencies import read_published

    return read_published(path)


def unimorph(path: Path) -> object:
    """A dictionary of forms."""
    return _dictionary(f"unimorph:{path}")


def delaf(path: Path) -> object:
    """A dictionary of forms."""
    return _dictionary(f"delaf:{path}")


def _dictionary(name: str) -> object:
    from cimento.corpus.morphology.dictionaries import FileMorphology, open_morphology

    dictionary = open_morphology(name, language="it")
    try:
        return dictionary.analyze("dormo"), dictionary.inflect("gatto")
    finally:
        if isinstance(dictionary, FileMorphology):
            dictionary.close()


def grammar(folder: Path) -> object:
    """A grammar with its lexicon."""
    from cimento.corpus.grammar_files import read_grammar

    return read_grammar(folder)


def island_judgments(path: Path) -> object:
    """Ratings of the Italian island study."""
    from cimento.studies.islands.human import read_island_ratings

    return read_island_ratings(path)


def stories(path: Path) -> object:
    """Stories, with an audit of them."""
    from cimento.paradigms.stories.checks import audit
    from cimento.suites.formats.stories import is_stories, read_stories

    is_stories(path)
    return audit(read_stories(path))


def responses(path: Path) -> object:
    """Recorded answers about stories."""
    from cimento.paradigms.stories.recordings import read_responses
    from tests.helpers.stories import TRIPLES

    return read_responses(path, stories=TRIPLES)


def second_judgments(path: Path) -> object:
    """Judgments of a second person."""
    from cimento.people.annotate.second_annotator import read_story_judgments
    from tests.helpers.stories import TRIPLES

    return read_story_judgments(path, stories=TRIPLES)


def dialogues(path: Path) -> object:
    """Recorded dialogues in which stories are written."""
    from cimento.people.annotate.stories import play, read_recorded

    return [play(dialogue, ()) for dialogue in read_recorded(path)]


def pcibex(path: Path) -> object:
    """Results of PCIbex."""
    from cimento.intake.forms import programs
    from cimento.judgments.pcibex import read_pcibex
    from cimento.judgments.roles import usual_columns

    return read_pcibex(path, usual_columns(programs()["pcibex"], alone=True))


def jspsych(path: Path) -> object:
    """Trials of jsPsych."""
    from cimento.intake.forms import programs
    from cimento.judgments.jspsych import read_jspsych
    from cimento.judgments.roles import usual_columns

    return read_jspsych(path, usual_columns(programs()["jspsych"], alone=True))


def prolific(path: Path) -> object:
    """Submissions of Prolific."""
    from cimento.judgments.formats import read_prolific

    return read_prolific(path)


def column_map(path: Path) -> object:
    """Which column is which field of a judgment."""
    from cimento.judgments.roles import read_map

    return read_map(path)


def survey(path: Path) -> object:
    """A survey."""
    from cimento.people.surveys import read_design

    return read_design(path)


def observations(path: Path) -> object:
    """Reading times, as a table of texts."""
    from cimento.people.reading_times import read_observations

    return read_observations(path)


def recording(path: Path) -> object:
    """Recorded surprisals, matched with a suite: reader and alignment."""
    from cimento.models.recorded import replay
    from tests.fuzzing import seeds
    from tests.helpers.suites_on_disk import write

    spec = write(path.with_name("spec.json"), seeds.SPEC)
    return replay(_recorded_suite(path), path, spec=spec)


def spec(path: Path) -> object:
    """A model spec, and what it makes of a recording."""
    from cimento.models.recorded import replay
    from tests.fuzzing import seeds
    from tests.helpers.suites_on_disk import write

    recorded = write(path.with_name("recorded.tsv"), seeds.RECORDING)
    return replay(_recorded_suite(path), recorded, spec=path)


def _recorded_suite(path: Path) -> object:
    from cimento.suites.load import open_suite
    from tests.fuzzing import seeds
    from tests.helpers.suites_on_disk import write

    return open_suite(write(path.with_name("lampade.json"), seeds.SYNTAXGYM)).suite


def arpa(path: Path) -> object:
    """An n-gram model, asked."""
    from cimento.models.ngram import load_ngrams, locate_ngrams

    scorer = load_ngrams(locate_ngrams(path), policy=Policy())
    return scorer.card


def unigrams(path: Path) -> object:
    """Counts of tokens."""
    from cimento.measures.normalizing import load_unigrams

    return load_unigrams(str(path), language="it")


def adapter(folder: Path) -> object:
    """The config of an adapter."""
    from cimento.models.hf.files import find_adapter

    return find_adapter(folder)


def server_answer(path: Path) -> object:
    """What a server says of a text."""
    from cimento.models.server.answers import read_text_scores

    try:
        answer = parse_json(path.read_bytes())
    except ValueError:  # the client asks again
        return None
    return read_text_scores(answer, TEXT, where="server")


def free_text(path: Path) -> object:
    """Texts to score."""
    from cimento.io.lines import read_lines

    return read_lines(path, remark=str)


def model_args(path: Path) -> object:
    """Options for transformers."""
    from cimento.models.hf.arguments import for_transformers, parse_model_args, refuse_ours

    args = parse_model_args(path.read_bytes().decode("utf-8", "replace").split("\n"))
    refuse_ours(args)
    return for_transformers(args, quantized=False, device="cpu")


def run(folder: Path) -> object:
    """A stored run, judged again and put into a report, with the scores of its regions."""
    from cimento.kinds.run import open_runs
    from cimento.paradigms.regions.judging import scores_of
    from cimento.records.summary import Summary

    runs = open_runs([folder])
    return Summary(runs=tuple(run.summary() for run in runs)).to_json(), [*map(scores_of, runs)]


def cache(folder: Path) -> object:
    """A cache: looked up, checked, written."""
    from cimento.engine.cache import FileCache, get_scores, put_scores

    kept = FileCache(folder)
    try:
        scores = get_scores(kept, CACHE_KEYS)
        assert all(scores[key] == {0: -1.0, 1: -2.5} for key in scores)
        kept.verify()
        put_scores(kept, {CACHE_KEYS[0]: {0: -1.0}})
        return kept.count()
    finally:
        kept.close()
