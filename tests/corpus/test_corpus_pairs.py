"""From a treebank to a suite: selection, draw, replacement, decisions, finished suites."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cimento
from cimento import InputError, Meta
from cimento.cli.main import invoke
from cimento.corpus.connectives import DecisionKind
from cimento.corpus.connectives.extraction import (
    SentenceLimits,
    candidate_sentences,
    count_clauses,
    draw_candidates,
    follows,
    select_connectives,
    selected_inventory,
)
from cimento.corpus.connectives.inventories import (
    Passage,
    passage_of,
    ranked_candidates,
    regions_of,
    replaced,
    spelled,
    write_inventory,
)
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.connectives.matching import open_rule
from cimento.corpus.decisions import (
    as_table,
    columns_of,
    decision_rows,
    decision_suite,
    read_decisions,
)
from cimento.corpus.treebanks import open_treebanks
from cimento.intake.tables import read_suite_table
from cimento.paradigms.cloze.files import load_cloze
from cimento.suites.stimuli import join_regions
from tests.helpers.rated import load_rated

SAMPLE = Path(cimento.__file__).parent / "data" / "corpus" / "sample"
INVENTORY = open_inventory("it-connectives")
PAPER = open_rule("paper")


def sample():
    return open_treebanks([SAMPLE])


def by_id():
    (file,) = sample()
    return {sentence.id: sentence for sentence in file.sentences()}


def drawn(per=3, seed=0, **more):
    candidates = list(candidate_sentences(sample(), INVENTORY, PAPER, limits=SentenceLimits()))
    return draw_candidates(candidates, INVENTORY.names, per=per, seed=seed, fewer=True, **more)


def place(text):
    """A passage of a text whose connective is in double brackets."""
    before, rest = text.split("[[")
    form, after = rest.split("]]")
    return Passage(before + form + after, len(before), len(before + form))


# --- Passages


def test_a_connective_that_opens_its_sentence_is_joined_to_the_one_before():
    sentences = by_id()
    passage = passage_of(
        sentences["treno-3"], (1,), needs_before=";", previous=sentences["treno-2"]
    )
    assert passage.text == (
        "Quando è arrivato, i viaggiatori dormivano; tuttavia nessuno ha protestato."
    )
    assert (passage.form, passage.joined) == ("tuttavia", "treno-2")
    assert "joined with ';'" in passage.edit
    question = replace(sentences["treno-2"], text="Chi dormiva?")
    passage = passage_of(sentences["treno-3"], (1,), needs_before=";", previous=question)
    assert passage.text == "Chi dormiva? Tuttavia nessuno ha protestato."


def test_what_cannot_be_taken_out_of_a_text_is_said():
    sentences = by_id()
    assert passage_of(sentences["treno-3"], (1,), needs_before=";").startswith("it opens")
    assert passage_of(sentences["varie-4"], (1, 3)) == "it has parts with other words between them"
    assert passage_of(sentences["treno-6"], (5,)) == "it is a part of a token"
    other = replace(sentences["treno-6"], text="Un altro testo.")
    assert passage_of(other, (1,)) == "the text is not that of the tokens"
    assert passage_of(sentences["varie-3"], (1, 2, 3)).form == "A meno che"


def test_only_neighbors_in_a_document_follow_each_other():
    sentences = by_id()
    assert follows(sentences["treno-2"], sentences["treno-3"])
    assert not follows(sentences["treno-1"], sentences["treno-3"])
    assert not follows(sentences["mercato-6"], replace(sentences["treno-1"], id="mercato-7"))


def test_clauses_are_verbs_and_copulas_but_no_auxiliaries():
    sentences = by_id()
    assert count_clauses(sentences["mercato-3"]) == 1
    assert count_clauses(sentences["lavoro-5"]) == 2
    assert count_clauses(sentences["medico-4"]) == 2
    assert count_clauses(sentences["scuola-4"]) == 3


@pytest.mark.parametrize(
    "text",
    ["Esco [[e]] canto.", "[[Se]] piove, resto.", "Andiamo [[dov']]è nata.", "Vieni, [[o]]?"],
)
def test_regions_join_to_the_text_again(text):
    passage = place(text)
    assert join_regions(regions_of(passage))[0] == passage.text


# --- Replacement


@pytest.mark.parametrize(
    ("text", "name", "result"),
    [
        ("Esco [[ma]] entro.", "e", "Esco ed entro."),
        ("Esco [[ma]] è tardi.", "e", "Esco ed è tardi."),
        ("Esco [[ma]] canto.", "e", "Esco e canto."),
        ("Esco [[ed]] entro.", "ma", "Esco ma entro."),
        ("Esco [[ma]] ora.", "o", "Esco o ora."),
        ("[[Quando]] piove, resto.", "se", "Se piove, resto."),
        ("[[E]] poi piove.", "ma", "Ma poi piove."),
        ("ESCO [[MA]] CANTO.", "però", "ESCO PERÒ CANTO."),
        ("Andiamo [[dov']]è nata.", "quando", "Andiamo quando è nata."),
        ("Andiamo [[quando]] è nata.", "dove", "Andiamo dov'è nata."),
        ("Andiamo [[dov']]è nata.", "come", "Andiamo com'è nata."),
        ("Vengo, [[ma]] io resto.", "anche", "Vengo, anch'io resto."),
    ],
)
def test_case_elision_and_euphonic_d_are_adjusted(text, name, result):
    assert replaced(place(text), INVENTORY[name]).text == result


def test_a_blank_takes_no_elision():
    assert spelled(INVENTORY["dove"], place("Andiamo [[quando]] è nata."), elide=False) == "dove"


words = st.text(alphabet="abceioèàz ,.", max_size=20)


@given(words, words, st.sampled_from(INVENTORY.names), st.sampled_from(INVENTORY.names))
@settings(deadline=None)
def test_only_the_connective_is_replaced_and_the_original_can_be_had_back(
    before, after, connective, other
):
    start = (before + " ").lstrip()
    text = f"{start}{connective} {after}"
    passage = Passage(text, len(start), len(start) + len(connective))
    changed = replaced(passage, INVENTORY[other])
    assert changed.before == passage.before
    assert changed.after.lstrip(" ") == passage.after.lstrip(" ")
    assert changed.form.lower() in {other, INVENTORY[other].euphonic, INVENTORY[other].elided}
    assert replaced(changed, INVENTORY[connective]).text.replace("ed ", "e ") == text.replace(
        "ed ", "e "
    ) or (INVENTORY[connective].elided or INVENTORY[connective].euphonic)


def test_candidates_are_ranked_by_class_and_sense():
    sentences, blanks = DecisionKind.SENTENCES, DecisionKind.BLANKS
    implausible = [
        candidate.name for candidate in ranked_candidates(sentences, INVENTORY["ma"], INVENTORY)
    ]
    assert implausible[:2] == ["e", "o"]  # the same class, another sense
    assert set(implausible[-5:]) == {"anche", "mentre", "però", "invece", "tuttavia"}
    plausible = ranked_candidates(blanks, INVENTORY["quando"], INVENTORY)
    assert [replacement.name for replacement in plausible[:3]] == ["se", "come", "mentre"]
    assert plausible[0].same_class
    assert plausible[0].shared == ("Contingency.Condition",)
    opposite = {
        candidate.name: candidate.shared
        for candidate in ranked_candidates(blanks, INVENTORY["poi"], INVENTORY)
    }
    assert opposite["prima"] == ()  # precedence is not succession


# --- Selection and draw


def test_the_most_frequent_are_taken_and_what_is_left_out_has_a_reason(tmp_path):
    selection = select_connectives(sample(), INVENTORY, PAPER, top=2, exclude={"e": "trial"})
    assert [(selected.connective, selected.n, selected.rank) for selected in selection[:2]] == [
        ("e", 7, 1),
        ("dove", 5, 2),
    ]
    assert [selected.connective for selected in selection if selected.taken] == ["dove"]
    assert selection[0].reason == "trial"
    assert selection[2].reason == "not among the first 2"
    # Those that share the last rank are all taken.
    assert (
        sum(
            connective.taken
            for connective in select_connectives(sample(), INVENTORY, PAPER, top=3, exclude={})
        )
        == 7
    )
    o = next(selected for selected in selection if selected.connective == "o")
    assert (o.n, o.infinitive) == (3, 1)  # Potevamo tornare subito o dormire in albergo.
    path = tmp_path / "mine.toml"
    kept = selected_inventory(INVENTORY, selection)
    write_inventory(kept, path)
    assert open_inventory(str(path)) == replace(kept, name="it-connectives")


def test_the_draw_is_the_same_with_the_same_seed_and_takes_no_sentence_twice():
    first, again, other = drawn(seed=1), drawn(seed=1), drawn(seed=2)
    assert first == again
    assert first != other
    places = Counter(
        name
        for candidates in first.values()
        for candidate in candidates
        for name in (candidate.hit.sentence_id, candidate.passage.joined)
        if name
    )
    assert max(places.values()) == 1
    avoid = frozenset(
        (candidate.hit.sha256, candidate.hit.sentence_id) for candidate in first["ma"]
    )
    assert {e.hit.sentence_id for e in drawn(seed=1, avoid=avoid)["ma"]}.isdisjoint(
        e.hit.sentence_id for e in first["ma"]
    )


def test_strata_are_taken_in_turn():
    sentences = list(candidate_sentences(sample(), INVENTORY, PAPER, limits=SentenceLimits()))
    taken = draw_candidates(sentences, ["e"], per=3, seed=0)["e"]
    thirds = sorted(sentence.words for sentence in sentences if sentence.hit.connective == "e")[
        2::2
    ]
    assert sorted(sum(pick.words >= third for third in thirds[:2]) for pick in taken) == [0, 1, 2]


def test_too_few_sentences_are_refused():
    candidates = list(candidate_sentences(sample(), INVENTORY, PAPER, limits=SentenceLimits()))
    with pytest.raises(InputError, match=r"not 9 usable sentences .*: e 7"):
        draw_candidates(candidates, ["e", "se"], per=9, seed=0)


def test_single_sentences_are_not_joined():
    reasons: Counter[str] = Counter()
    candidates = list(
        candidate_sentences(
            sample(), INVENTORY, PAPER, limits=SentenceLimits(join=False), reasons=reasons
        )
    )
    assert not any(candidate.passage.joined for candidate in candidates)
    assert list(reasons) == ["it opens its sentence, and the one before is not there to join it to"]


# --- Decisions


@pytest.fixture
def table(tmp_path):
    """A table of decisions with one cell or more changed."""

    def written(section=DecisionKind.SENTENCES, change=None, **cells):
        rows = decision_rows(drawn(), INVENTORY, section=section, per=3, with_text=True, propose=1)
        for row in rows:
            row.update({"grammaticality": "yes", "drop": "", "reason": ""})
        rows[4 if change is None else change].update(cells)
        path = tmp_path / "decisions.tsv"
        path.write_text(as_table(rows, columns_of(section, with_text=True)), encoding="utf-8")
        return path

    return written


def test_ids_count_over_the_section_and_leave_gaps(table):
    read = read_decisions(table(drop="yes", reason="ambiguous"), sample(), INVENTORY)
    numbers = {decision.id for decision in read}
    assert {"e 1", "e 2", "se 4"} <= numbers
    assert sum(bool(decision.dropped) for decision in read) == 1
    suite = decision_suite(read, INVENTORY, meta=Meta("mine"))
    assert len(suite.items) == len(read) - 1
    for item in suite.items:
        good, bad = item.conditions
        assert good.columns["sentence_id"] == f"{item.id}A"
        assert bad.columns["sentence_id"] == f"{item.id}NA"
        assert good.columns["replacement"] != good.columns["connective"]
        assert (good.regions[0].text, good.regions[2].text) == (
            bad.regions[0].text, bad.regions[2].text,
        )  # fmt: skip


def test_quotation_marks_that_a_spreadsheet_changes_are_no_other_text(tmp_path):
    """Programs read a cell that begins with a mark as a quoted one, and write marks twice."""
    quoted = tmp_path / "it_quoted.conllu"
    rows = [
        '1\t"\t"\tPUNCT\t_\t_\t2\tpunct\t_\tSpaceAfter=No',
        "2\tPiove\tpiovere\tVERB\t_\tMood=Ind|VerbForm=Fin\t0\troot\t_\tSpaceAfter=No",
        '3\t"\t"\tPUNCT\t_\t_\t2\tpunct\t_\t_',
        "4\te\te\tCCONJ\t_\t_\t5\tcc\t_\t_",
        "5\ttira\ttirare\tVERB\t_\tMood=Ind|VerbForm=Fin\t2\tconj\t_\t_",
        "6\tvento\tvento\tNOUN\t_\t_\t5\tobj\t_\tSpaceAfter=No",
        "7\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_",
    ]
    text = '# sent_id = q-1\n# text = "Piove" e tira vento.\n' + "\n".join(rows) + "\n\n"
    quoted.write_text(text, encoding="utf-8")
    drawn, decided = tmp_path / "drawn.tsv", tmp_path / "decided.tsv"
    asked = ["corpus", "pairs", str(quoted), "--per", "1", "--fewer", "--text", "-o", str(drawn)]
    assert invoke(asked) == 0
    head, row = (line.split("\t") for line in drawn.read_text(encoding="utf-8").splitlines())
    cells = dict(zip(head, row, strict=True))
    assert cells["text"] == '"Piove" [[e]] tira vento.'
    for changed in ("Piove [[e]] tira vento.", '"""Piove"" [[e]] tira vento."'):
        cells |= {"text": changed, "replacement": "ma", "grammaticality": "yes"}
        decided.write_text("\t".join(head) + "\n" + "\t".join(cells.values()) + "\n", "utf-8")
        [decision] = read_decisions(decided, open_treebanks([quoted]), INVENTORY)
        assert decision.passage.marked == '"Piove" [[e]] tira vento.'


@pytest.mark.parametrize(
    ("cells", "seen"),
    [
        ({"replacement": ""}, "no other connective is chosen"),
        ({"replacement": "sebbene"}, "no connective 'sebbene'"),
        ({"replacement": "se"}, "'se' is the connective itself"),
        ({"grammaticality": "maybe"}, "grammaticality is 'maybe'"),
        ({"grammaticality": ""}, "grammaticality is ''"),
        ({"drop": "yes"}, "dropped without a reason"),
        ({"drop": "perhaps"}, "drop is 'perhaps'"),
        ({"id": "e 1"}, "the id is also that of row"),
        ({"id": "se 1"}, "the number 1 is there twice"),
        ({"id": "boh"}, "the id is 'boh'"),
        ({"sha256": "0"}, "no treebank has the sha256"),
        ({"sent_id": "x-1"}, "no sentence 'x-1'"),
        ({"token_id": "99"}, "no token '99'"),
        ({"joined": "x-9"}, "'x-9' does not come before"),
        ({"text": "changed"}, "the text is not that of the treebank"),
    ],
)
def test_a_decision_that_cannot_be_is_named_with_its_row(table, cells, seen):
    with pytest.raises(InputError) as refused:
        read_decisions(table(**cells), sample(), INVENTORY)
    assert seen in str(refused.value)
    assert "decisions.tsv" in str(refused.value)


@pytest.mark.parametrize(
    ("cells", "seen"),
    [
        ({"plausible": ""}, "no other connective is chosen"),
        ({"implausible": "ma | o"}, "write 3 different ones"),
        ({"implausible": "ma | ma | o"}, "write 3 different ones"),
        ({"implausible": "ma | o | se"}, "'se' is the connective itself"),
    ],
)
def test_options_of_cloze_items_are_checked(table, cells, seen):
    with pytest.raises(InputError) as refused:
        read_decisions(table(DecisionKind.BLANKS, **cells), sample(), INVENTORY)
    assert seen in str(refused.value)


def test_a_table_that_is_none_is_refused(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("a\tb\n1\t2\n")
    with pytest.raises(InputError, match="Start from a table"):
        read_decisions(path, sample(), INVENTORY)


# --- Commands


def filled(path):
    parsed, _ = read_suite_table(path.read_bytes(), path)
    rows = [{**row.cells, "grammaticality": "yes"} for row in parsed.rows]
    path.write_text(as_table(rows, parsed.columns), encoding="utf-8")


def test_the_whole_way_to_suites_that_load(tmp_path, capsys):
    pairs, cloze = tmp_path / "p.tsv", tmp_path / "c.tsv"
    common = [str(SAMPLE), "--per", "1", "--propose", "--seed", "3"]
    assert invoke(["corpus", "pairs", *common, "-o", str(pairs)]) == 0
    filled(pairs)
    assert invoke(["corpus", "finish", str(pairs), str(SAMPLE), "-o", str(tmp_path / "mine")]) == 0
    rated = load_rated(tmp_path / "mine")
    assert len(rated.rated.sentences) == 36
    assert rated.suite.meta.license == "CC BY 4.0"
    assert rated.suite.extra["sources"][0]["sha256"] == sample()[0].sha256
    arguments = ["corpus", "pairs", *common, "--section", "cloze", "--avoid", str(pairs), "--fewer"]
    assert invoke([*arguments, "-o", str(cloze)]) == 0
    out = tmp_path / "cloze"
    assert invoke(["corpus", "finish", str(cloze), str(SAMPLE), "-o", str(out)]) == 0
    loaded = load_cloze(out)
    assert loaded.items[0].id == "e 1cl"
    assert len(loaded.items) >= 14
    for item in loaded.items:
        assert [option.role for option in item.options] == [
            "target", "plausible", "implausible", "implausible", "implausible",
        ]  # fmt: skip
        shown = item.columns["order"].split(" ; ")
        assert sorted(shown) == sorted(option.text for option in item.options)
    sentences = {
        line.split("\t")[5]
        for path in (pairs, cloze)
        for line in path.read_text(encoding="utf-8").splitlines()[1:]
    }
    assert len(sentences) == 18 + len(loaded.items)
    capsys.readouterr()
    assert invoke(["suites", "check", str(tmp_path / "mine"), str(out)]) == 0


def test_a_treebank_that_may_not_be_passed_on_leaves_ids_only(tmp_path, capsys):
    closed = ["--license", "CC BY-NC-SA 4.0"]
    path, out = tmp_path / "p.tsv", tmp_path / "mine"
    arguments = ["corpus", "pairs", str(SAMPLE), "--per", "1", "--propose", *closed]
    assert invoke([*arguments, "-o", str(path)]) == 0
    assert "Ids only" in capsys.readouterr().err
    assert "text" not in path.read_text(encoding="utf-8").splitlines()[0].split("\t")
    filled(path)
    finish = ["corpus", "finish", str(path), str(SAMPLE), *closed, "-o", str(out)]
    assert invoke(finish) == 0
    assert [path.name for path in out.iterdir()] == ["decisions.tsv"]
    # Who has the treebank makes the suite of what was written.
    again = ["corpus", "finish", str(out / "decisions.tsv"), str(SAMPLE), *closed, "--text"]
    assert invoke([*again, "-o", str(tmp_path / "whole")]) == 0
    assert load_rated(tmp_path / "whole").suite.meta.license == "CC BY-NC-SA 4.0"


def test_selection_is_printed_and_written(tmp_path, capsys):
    out = tmp_path / "mine.toml"
    arguments = ["corpus", "select", str(SAMPLE), "--top", "1", "-o", str(out)]
    assert invoke([*arguments, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["connectives"][0]
    assert (first["connective"], first["taken"], first["infinitive_share"]) == ("e", True, 0.0)
    assert open_inventory(str(out)).names == ("e",)
    assert invoke([*arguments, "--exclude", "e"]) == 2
    assert "Say why" in capsys.readouterr().err
    assert invoke([*arguments, "--exclude", "boh=x"]) == 2
