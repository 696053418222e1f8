"""More of what is fuzzed: corpora, judgments, journals, models and runs of every kind."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory


def concordance(path: Path) -> object:
    """Lines of a concordance, made into sentences."""
    from cimento.corpus.texts import concordance_sentences, read_concordance

    return concordance_sentences(read_concordance(path), name="prova", seed=1, shortest=1)


def messages(path: Path) -> object:
    """Messages, masked."""
    from cimento.corpus.texts import Masks, read_messages
    from cimento.corpus.texts import message_sentences as sentences

    return sentences(read_messages(path), masks=Masks(hashtags="word"), name="prova")


def wording(path: Path) -> object:
    """The wording of inferences, put around a sentence."""
    from cimento.corpus.connectives.lexicons import open_inventory
    from cimento.corpus.inference import inferences, open_wording
    from cimento.suites import Condition, Item, Meta, Region, Suite

    regions = tuple(map(Region, ("Esco", "se", "smette di piovere.")))
    item = Item("1", (Condition("acceptable", regions, {"connective": "se"}),))
    suite = Suite(Meta("prova", language="it"), ("before", "connective", "after"), (), (item,))
    phrasing = open_wording(str(path))
    return inferences(suite, open_inventory("it-connectives"), phrasing, seed=1, ambiguous="first")


def treebank_folder(folder: Path) -> object:
    """A treebank with the license that its README tells."""
    from cimento.corpus.treebanks import open_treebanks

    return open_treebanks([folder])


def decisions(path: Path) -> object:
    """Decisions about the sentences of a treebank."""
    from cimento.corpus.connectives.lexicons import open_inventory
    from cimento.corpus.decisions import open_decisions, read_decisions
    from cimento.corpus.treebanks import open_treebanks
    from cimento.errors import InputError
    from tests.fuzzing.seeds_more import CONLLU
    from tests.helpers.suites_on_disk import write

    files = open_treebanks([write(path.with_name("it_prova-ud-test.conllu"), CONLLU)])
    inventory = open_inventory("it-connectives")
    try:
        open_decisions(path, files, inventory)
    except InputError:
        return read_decisions(path, files, inventory)
    return read_decisions(path, files, inventory)


def review(path: Path) -> object:
    """A sheet that comes back from a reviewer."""
    from cimento.people.annotate.spreadsheets import import_review
    from tests.helpers.suites_on_disk import write_folder

    with TemporaryDirectory() as name:
        suite = write_folder(Path(name) / "suite")
        return import_review(suite, path, Path(name) / "reviewed", reviewer="A. Rossi")


def judged(path: Path) -> object:
    """Decisions about candidates, in a table that was sent around."""
    from cimento.people.annotate.candidates import CandidateTask
    from cimento.people.annotate.spreadsheets import read_candidates

    tasks = [CandidateTask("1", "quindi", "Piove, ", " esco.", {})]
    return read_candidates(path, tasks)


def journal(folder: Path) -> object:
    """Decisions of one person, as they were written down."""
    from cimento.people.annotate import Journal

    return Journal(folder, "anna").decisions


def stored_judgments(path: Path) -> object:
    """A judgments table."""
    from cimento.judgments import read_judgments

    return read_judgments(path)


def answers_long(path: Path) -> object:
    """Answers, one in each row."""
    return _imported(path, "long")


def answers_wide(path: Path) -> object:
    """Answers, one person in each row."""
    return _imported(path, "wide")


def answers_pcibex(path: Path) -> object:
    """Results of PCIbex, as judgments."""
    return _imported(path, "pcibex")


def answers_jspsych(path: Path) -> object:
    """Trials of jsPsych, as judgments."""
    return _imported(path, "jspsych")


def answers_of_contents(path: Path) -> object:
    """Answers whose form is told by what is in the file, as judgments."""
    return _imported(path, None)


def _imported(path: Path, form: str | None) -> object:
    from typing import cast

    from cimento.judgments import table_of
    from cimento.people.annotate.importing import questions_by_name, read_answers
    from cimento.people.annotate.rows import AnswerForm, ImportOptions
    from tests.helpers.suites_on_disk import write_folder

    suite = write_folder(path.with_name("suite"))
    options = ImportOptions(
        form=cast("AnswerForm | None", form), places=questions_by_name([suite]), secret=b"s" * 32
    )
    return table_of(read_answers([path], options).judgments)


def survey_answers(path: Path) -> object:
    """The answers that a survey server keeps."""
    from cimento.people.surveys.administration import judgments_in, people_csv

    return judgments_in(path), people_csv(path)


def cloze_of_a_study(path: Path) -> object:
    """Items of the study of connectives, with what people chose."""
    from cimento.studies.connectives.cloze import (
        choice_counts,
        chosen_by_people,
        read_cloze_section,
        table_5,
    )

    section = read_cloze_section(path)
    people = choice_counts(section.suite, chosen_by_people(section))
    return people, table_5(section.suite, section.completions)


def completions(path: Path) -> object:
    """A model's completions of such items."""
    from cimento.studies.connectives.cloze import read_cloze_section
    from tests.fuzzing.seeds_files import STUDY_CLOZE
    from tests.helpers.suites_on_disk import write

    return read_cloze_section(write(path.with_name("cloze.tsv"), STUDY_CLOZE), path)


def expected(path: Path) -> object:
    """Expected statistics of a study."""
    from cimento.studies.connectives.text import compare_statistics, read_expected

    values = read_expected(path)
    return compare_statistics(values, values)


def models_table(path: Path) -> object:
    """What is known of models."""
    from cimento.studies.agreement.models import read_models

    return read_models(path)


def judged_sheet(path: Path) -> object:
    """The sheet of the Brazilian study."""
    from cimento.paradigms.cloze.portuguese import read_released_sheet

    return read_released_sheet(path)


def dictionary_index(path: Path) -> object:
    """The index of a dictionary of forms."""
    from cimento.corpus.morphology.index import DictionaryIndex

    index = DictionaryIndex(path)
    try:
        return [index.find(key, word) for key in ("form", "lemma") for word in ("dormo", "gatto")]
    finally:
        index.close()


def reply(path: Path) -> object:
    """What a server answers to a chat, and what is read from it."""
    from cimento.io.parsing import parse_json
    from cimento.models.server.model import reply_in
    from cimento.paradigms.stories.answers import parse_reply, parse_words
    from cimento.suites.stories import TIERS

    try:
        answer = parse_json(path.read_bytes())
    except ValueError:  # the client asks again
        return None
    replies = [reply_in(answer, chat=chat, options=()) for chat in (True, False)]
    texts = [written.text for written in replies if written is not None]
    return [
        [*(parse_reply(tier, text) for tier in TIERS), parse_words(text, {"vero": "true"})]
        for text in texts
    ]


def contexts(path: Path) -> object:
    """What comes before texts."""
    from cimento.io.lines import read_contexts

    return read_contexts(path, ["Esco.", "Piove."], remark=str)


def model_files(folder: Path) -> object:
    """A model by its files: config, tokenizer, the headers of its weights."""
    from cimento.models.hf.files import locate
    from cimento.models.hf.loading import size_up
    from cimento.models.settings import Policy

    return size_up(locate(str(folder)), policy=Policy())


def adapted(folder: Path) -> object:
    """An adapter, and the model that it belongs on."""
    from cimento.models.hf.files import locate

    return locate(str(folder))


def run(folder: Path) -> object:
    """A stored run of any kind, exported and compared."""
    from cimento.export.data import RunData
    from cimento.kinds.run import open_run
    from cimento.paired.item_outcomes import item_outcomes

    opened = open_run(folder)
    return opened.outcomes(), RunData(opened).results, item_outcomes([opened])


def cloze_run(folder: Path) -> object:
    """A stored run of a suite with blanks."""
    from cimento.kinds.run import open_run

    opened = open_run(folder)
    return opened.summary(with_outcomes=True), opened.paradigm.presenter.text([opened]), run(folder)


def summary(path: Path) -> object:
    """What a run says, in one record."""
    from cimento.records.summary import Summary

    return Summary.from_json(path.read_bytes().decode("utf-8", "replace"))


def unit(path: Path) -> object:
    """The result of a unit of a run."""
    from cimento.engine.units import facts_of, read_result

    return facts_of(path), read_result(path)


def query(path: Path) -> object:
    """A query of treebanks, and what it finds in one."""
    from cimento.corpus.queries import TreebankIndex
    from cimento.corpus.queries.matching import find
    from cimento.corpus.queries.parsing import open_query
    from cimento.corpus.treebanks import open_treebanks
    from tests.fuzzing.seeds_more import CONLLU

    stored = open_query(str(path))
    treebank = path.with_name("it_prova-ud-test.conllu")
    treebank.write_bytes(CONLLU)
    index = TreebankIndex(open_treebanks([treebank]))
    return [find(index, request) for request in stored.requests]


def change(path: Path) -> object:
    """A change that makes the bad sentence of a pair."""
    from cimento.corpus.edits import parse_change
    from cimento.io.files import read_utf8

    return parse_change(read_utf8(path).strip(), ("V", "N"))


def run_file(path: Path) -> object:
    """A run file, with the options of a run."""
    from cimento.cli.run_file import with_run_file
    from cimento.options import RunOptions

    return with_run_file(RunOptions, {"suites": [str(path)]})
