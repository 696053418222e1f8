"""The stored queries: each finds its sentence, and makes the pair that a speaker expects.

The sentences and trees in library_trees.txt were written by hand for this test.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cimento import UsageError
from cimento.corpus.edits import Editor, parse_change
from cimento.corpus.forms import Contexts, TreebankMorphology
from cimento.corpus.morphology.dictionaries import open_morphology
from cimento.corpus.queries import TreebankIndex
from cimento.corpus.queries.matching import find
from cimento.corpus.queries.parsing import open_query, stored_queries
from cimento.corpus.query_pairs import PairQuery, make_pairs
from cimento.corpus.treebanks import open_treebanks
from tests.helpers.site_pages import site_module
from tests.helpers.trees import FewForms, treebank

GROUPS = (
    "agreement",
    "government",
    "negation and polarity",
    "clitics",
    "binding",
    "islands",
    "tense and mood",
    "aspect",
    "word order",
)


@dataclass
class Case:
    """A sentence, the bad one that is expected of it, and the forms that a dictionary has."""

    query: str
    language: str
    good: str = ""
    bad: str = ""
    forms: list[tuple[str, ...]] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)


def cases() -> list[Case]:
    text = (Path(__file__).parent / "library_trees.txt").read_text(encoding="utf-8")
    made = []
    for block in text.strip().split("\n\n"):
        first, *lines = block.splitlines()
        _, query, language = first.split(" ")
        case = Case(query, language)
        for line in lines:
            key, _, rest = line.partition(" ")
            if key in ("good", "bad"):
                setattr(case, key, rest)
            elif key == "form":
                case.forms.append(tuple(rest.split(" ")))
            else:
                case.rows.append(line)
        made.append(case)
    return made


CASES = cases()


def test_every_stored_query_has_a_sentence_here():
    assert [case.query for case in CASES] == list(stored_queries())


def test_the_library_has_every_group_and_is_large():
    assert len(stored_queries()) >= 25
    assert list(dict.fromkeys(query.group for query in stored_queries().values())) == list(GROUPS)
    agreement = [q for q in stored_queries().values() if q.group == "agreement"]
    assert len(agreement) >= 5
    assert {code for query in stored_queries().values() for code in query.languages} == {
        "en", "es", "it", "pt", "ru",
    }  # fmt: skip


def drafts_of(case, index, *sources):
    stored = stored_queries()[case.query]
    query = PairQuery(
        name=stored.name,
        requests=stored.requests,
        change=parse_change(stored.change, stored.requests[0].nodes),
        controller=stored.controller,
        twin=stored.twin,
    )
    return make_pairs(index, query, Editor(sources, Contexts(index)))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.query)
def test_a_stored_query_finds_its_sentence_and_makes_the_expected_pair(case, tmp_path):
    stored = stored_queries()[case.query]
    assert case.language in stored.languages
    index = TreebankIndex(treebank(tmp_path, (case.good, case.rows)))
    assert sum(len(find(index, request)) for request in stored.requests) == 1
    if not case.bad:
        assert stored.change == ""
        return
    drafts = drafts_of(case, index, FewForms(*case.forms), TreebankMorphology(index))
    assert [(pair.good.text, pair.bad.text) for pair in drafts.pairs] == [(case.good, case.bad)]
    assert not drafts.reasons


NOUNS = ["1 la il DET Definite=Def|Gender={0}|Number={1}|PronType=Art 2 det",
         "2 lista lista NOUN Gender={0}|Number={1} 0 root",
         "3 di di ADP _ 4 case",
         "4 cose cosa NOUN Gender=Fem|Number=Plur 2 nmod"]  # fmt: skip
TAILS = {
    "noun-adjective-number": ["5 nuove nuovo ADJ Gender=Fem|Number=Plur 4 amod"],
    "noun-adjective-gender": ["5 nuove nuovo ADJ Gender=Fem|Number=Plur 4 amod"],
    "noun-participle-number": [
        "5 nate nascere VERB Gender=Fem|Number=Plur|Tense=Past|VerbForm=Part 4 acl"
    ],
    "relative-verb-number": [
        "5 che che PRON PronType=Rel 6 nsubj",
        "6 cantano cantare VERB Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin 4 acl:relcl",
    ],
}


@pytest.mark.parametrize(
    ("query", "gender", "number", "found"),
    [
        ("noun-adjective-number", "Fem", "Sing", 0),  # la lista di cose nuova
        ("noun-adjective-number", "Masc", "Sing", 1),  # *il libro di cose nuova
        ("noun-adjective-number", "Fem", "Plur", 1),
        ("noun-adjective-gender", "Masc", "Plur", 0),  # i libri di cose nuovi
        ("noun-adjective-gender", "Masc", "Sing", 1),
        ("noun-participle-number", "Fem", "Sing", 0),  # la lista di cose nata
        ("noun-participle-number", "Masc", "Sing", 1),
        ("relative-verb-number", "Masc", "Sing", 0),  # il libro di cose che canta
        ("relative-verb-number", "Masc", "Plur", 1),
    ],
)
def test_a_noun_before_that_agrees_with_the_other_form_makes_no_pair(
    query, gender, number, found, tmp_path
):
    rows = [row.format(gender, number) for row in NOUNS] + TAILS[query]
    text = " ".join(row.split(" ")[1] for row in rows)
    index = TreebankIndex(treebank(tmp_path, (text, rows)))
    [request] = stored_queries()[query].requests
    assert len(find(index, request)) == found


@pytest.mark.parametrize(("person", "found"), [("3", 1), ("1", 0), ("2", 0)])
def test_a_relative_verb_in_another_person_has_another_subject(person, found, tmp_path):
    """*È il paese che amo*: the other number, *che amiamo*, would be good too."""
    rows = [
        "1 è essere AUX Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin 3 cop",
        "2 il il DET Gender=Masc|Number=Sing 3 det",
        "3 paese paese NOUN Gender=Masc|Number=Sing 0 root",
        "4 che che PRON PronType=Rel 5 nsubj",
        f"5 V amare VERB Mood=Ind|Number=Sing|Person={person}|Tense=Pres|VerbForm=Fin 3 acl:relcl",
    ]
    index = TreebankIndex(treebank(tmp_path, ("è il paese che V", rows)))
    [request] = stored_queries()["relative-verb-number"].requests
    assert len(find(index, request)) == found


@pytest.mark.parametrize(
    ("subject", "person", "found"), [("", "1", 0), ("", "3", 1), ("Person=1|", "1", 1)]
)
def test_a_verb_with_a_subject_of_its_own_person_makes_a_pair(subject, person, found, tmp_path):
    """*Siamo tutti felici*: the other number, *sono tutti felici*, would be good too."""
    rows = [
        f"1 siamo essere AUX Mood=Ind|Number=Plur|Person={person}|Tense=Pres|VerbForm=Fin 3 cop",
        f"2 tutti tutto PRON Number=Plur|{subject}PronType=Tot 3 nsubj",
        "3 felici felice ADJ Number=Plur 0 root",
    ]
    index = TreebankIndex(treebank(tmp_path, ("siamo tutti felici", rows)))
    requests = stored_queries()["subject-verb-number"].requests
    assert sum(len(find(index, request)) for request in requests) == found


@pytest.mark.parametrize(("form", "pairs"), [("un'", 0), ("una", 1)])
def test_what_only_an_apostrophe_tells_apart_is_no_pair(form, pairs, tmp_path):
    """*Un anno* and *un'anno* sound alike, *un anno* and *una anno* do not."""
    feats = "Definite=Ind|Gender={}|Number=Sing|PronType=Art"
    few = FewForms(("un", "uno", "DET", feats.format("Masc")),
                   (form, "uno", "DET", feats.format("Fem")))  # fmt: skip
    rows = [f"1 un uno DET {feats.format('Masc')} 2 det",
            "2 anno anno NOUN Gender=Masc|Number=Sing 0 root"]  # fmt: skip
    index = TreebankIndex(treebank(tmp_path, ("un anno", rows)))
    drafts = drafts_of(Case("determiner-noun-gender", "it"), index, few)
    assert len(drafts.pairs) == pairs
    alike = "both sound alike: an apostrophe tells them apart"
    assert drafts.reasons[alike] == 1 - pairs


def test_a_negative_word_of_another_clause_needs_no_negation(tmp_path):
    rows = ["1 non non ADV _ 2 advmod",
            "2 dorme dormire VERB Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin 0 root",
            "3 : : PUNCT _ 5 punct",
            "4 mai mai ADV _ 5 advmod",
            "5 dormire dormire VERB VerbForm=Inf 2 parataxis"]  # fmt: skip
    index = TreebankIndex(treebank(tmp_path, ("non dorme: mai dormire", rows)))
    assert not find(index, stored_queries()["negative-concord"].requests[0])


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.language == "ru" and case.forms], ids=lambda c: c.query
)
def test_a_large_dictionary_has_the_same_forms(case, tmp_path):
    """pymorphy3, with all its readings, makes the Russian pairs that were written by hand."""
    pytest.importorskip("pymorphy3")
    index = TreebankIndex(treebank(tmp_path, (case.good, case.rows)))
    drafts = drafts_of(case, index, open_morphology("pymorphy3"))
    assert [pair.bad.text for pair in drafts.pairs] == [case.bad]


def test_a_unimorph_file_gives_forms_that_the_treebank_lacks(tmp_path):
    case = next(case for case in CASES if case.query == "subject-verb-number")
    table = tmp_path / "ita"
    table.write_text(
        "cantare\tcanta\tV;IND;PRS;3;SG\ncantare\tcantano\tV;IND;PRS;3;PL\n", encoding="utf-8"
    )
    index = TreebankIndex(treebank(tmp_path / "trees", (case.good, case.rows)))
    unimorph = open_morphology(f"unimorph:{table}", language="it")
    drafts = drafts_of(case, index, unimorph, TreebankMorphology(index))
    assert [pair.bad.text for pair in drafts.pairs] == [case.bad]
    unimorph.close()


def test_a_name_that_is_none_names_close_ones_and_a_file_is_read(tmp_path):
    with pytest.raises(UsageError, match=r"Did you mean .*'subject-verb-number'"):
        open_query("subject-verb-numbr")
    path = tmp_path / "mine.req"
    path.write_text("pattern { V [upos=VERB] }", encoding="utf-8")
    query = open_query(str(path))
    assert (query.name, query.requests[0].nodes) == ("mine", ("V",))


@pytest.mark.golden
def test_the_page_has_the_numbers_of_matches_in_the_shared_treebanks(shared):
    index = TreebankIndex(open_treebanks([shared / "data" / "treebanks"]))
    page = site_module("queries").queries_page()
    shown = {
        cells[1].strip(" `"): cells[4].strip().replace(",", "")
        for cells in (line.split("|") for line in page.splitlines() if line.startswith("| `"))
        if len(cells) == 9
    }
    assert list(shown) == list(stored_queries())
    for name, stored in stored_queries().items():
        matches = {
            (match.sentence, *sorted(match.words.items()))
            for request in stored.requests
            for match in find(index, request)
        }
        assert shown[name] == (str(len(matches)) if "it" in stored.languages else ""), name


@pytest.mark.golden
@pytest.mark.slow
def test_the_page_has_the_numbers_of_pairs_in_the_shared_treebanks(shared):
    path = Path(__file__).parents[2] / "scripts" / "query_table.py"
    folder = str(shared / "data" / "treebanks")
    done = subprocess.run(  # noqa: S603  # our own script
        [sys.executable, str(path), folder, "it", "--check"], check=False
    )
    assert done.returncode == 0
