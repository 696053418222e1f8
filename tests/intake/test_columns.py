"""Columns whose roles somebody chooses, on the command line, in suite.toml and in Python."""

from __future__ import annotations

import re
import shlex

import pytest

import cimento
from cimento import CimentoError, InputError, SuiteError, UsageError, load_suite
from cimento.cli.main import main
from cimento.intake.known import known_forms
from cimento.intake.roles import ROLES

TABLE = """N.,Frase A,Frase B,Punti
1,Il cane dorme.,Il cane dormono.,4
2,I gatti dormono.,I gatti dorme.,5
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "frasi.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def texts(loaded):
    return [[one.regions[0].text for one in item.conditions] for item in loaded.suite.items]


def checked(path, *options):
    """The exit code of ``suites check``."""
    with pytest.raises(SystemExit) as ended:
        main(["suites", "check", str(path), "--language", "it", *options])
    return ended.value.code or 0


def test_the_option_that_a_refusal_names_makes_the_table_read_as_it_says(table, capsys):
    assert checked(table) == 2
    option = re.search(r"--columns '[^']*'", capsys.readouterr().err)[0]
    assert checked(table, *shlex.split(option)) == 0
    said = capsys.readouterr().err
    assert (
        'Read as pairs: good = "Frase A", bad = "Frase B", item = "N."; 2 items;'
        ' kept, not scored: "Punti".' in said
    )
    loaded = load_suite(table, language="it", columns={"good": "Frase A", "bad": "Frase B"})
    assert texts(loaded)[0] == ["Il cane dorme.", "Il cane dormono."]


def test_a_column_that_holds_something_else_needs_a_mark(table):
    with pytest.raises(SuiteError, match=r"'Punti' holds numbers.*give bad=Punti!"):
        load_suite(table, language="it", columns={"good": "Frase A", "bad": "Punti"})
    loaded = load_suite(table, language="it", columns={"good": "Frase A", "bad": "Punti!"})
    assert texts(loaded)[0] == ["Il cane dorme.", "4"]
    assert loaded.reading.table.forced == ("Punti",)
    assert 'against what it holds: "Punti"' in loaded.reading.table.said()


@pytest.mark.parametrize(
    ("columns", "seen"),
    [
        ({"good": "Frase C", "bad": "Frase B"}, "There is no column 'Frase C'"),
        ({"god": "Frase A"}, "no such role"),
        ({"good": "Frase A", "bad": "Frase A"}, "given for good and for bad"),
    ],
)
def test_roles_and_columns_that_there_are_not_are_refused(table, columns, seen):
    with pytest.raises(CimentoError, match=seen):
        load_suite(table, language="it", columns=columns)


def test_suite_toml_may_say_which_columns_are_what(tmp_path):
    (tmp_path / "items.csv").write_text(TABLE, encoding="utf-8")
    toml = (
        '[meta]\nname = "frasi"\nlanguage = "it"\n\n[columns]\ngood = "Frase B"\nbad = "Frase A"\n'
    )
    (tmp_path / "suite.toml").write_text(toml, encoding="utf-8")
    assert texts(load_suite(tmp_path))[0] == ["Il cane dormono.", "Il cane dorme."]
    (tmp_path / "suite.toml").write_text(toml.replace("good =", "god ="), encoding="utf-8")
    with pytest.raises(SuiteError, match=r"columns\.god: There is no role"):
        load_suite(tmp_path)


def test_pairs_made_in_python_take_columns_by_roles_and_test_them():
    rows = {"A": ["Il cane dorme.", "Tu dormi."], "B": ["Il cane dormono.", "Tu dormo."]}
    frame = {**rows, "n": ["7", "9"]}
    suite = cimento.pairs(frame, columns={"good": "A", "bad": "B", "item": "n"})
    assert [item.id for item in suite.items] == ["7", "9"]
    with pytest.raises(UsageError, match="'n' holds numbers"):
        cimento.pairs(frame, columns={"good": "A", "bad": "n"})


def test_two_pairs_of_columns_that_may_be_meant_are_refused_with_both_options(tmp_path):
    path = tmp_path / "two.csv"
    rows = "\n".join(f"{n},Il cane dorme.,Il cane dormono.,Lui dorme.,Lui dormono." for n in (1, 2))
    path.write_text(f"item,good,bad,sentence_good,sentence_bad\n{rows}\n", encoding="utf-8")
    with pytest.raises(SuiteError) as refused:
        load_suite(path, language="it")
    [fault] = refused.value.faults
    assert "'good' and 'bad'" in fault.seen
    assert "'sentence_good' and 'sentence_bad'" in fault.seen
    chosen = {"good": "sentence_good", "bad": "sentence_bad"}
    assert texts(load_suite(path, language="it", columns=chosen))[0] == [
        "Lui dorme.",
        "Lui dormono.",
    ]


def test_a_table_with_one_side_alone_says_what_it_lacks(tmp_path):
    path = tmp_path / "half.csv"
    path.write_text("Giusta,Altro\nIl cane dorme.,x\nIl gatto dorme.,y\n", encoding="utf-8")
    with pytest.raises(InputError, match="nearest to pairs and lacks bad"):
        load_suite(path, language="it")


# Five rows of our own in each published form, and what becomes of the first.
KNOWN = {
    "blimp": "pairID,sentence_good,sentence_bad,linguistics_term\n"
    + "".join(f"{n},We sleep {n}.,We sleeps {n}.,agreement\n" for n in range(5)),
    "multiblimp": "sen,wrong_sen,grammatical_feature\n"
    + "".join(f"We sleep {n}.,We sleeps {n}.,number\n" for n in range(5)),
    "rublimp": "id,source_sentence,target_sentence,PID\n"
    + "".join(f"{n},Мы спим {n} раз.,Мы спит {n} раз.,agreement\n" for n in range(5)),
    "turblimp": "good_sentence,bad_sentence\n"
    + "".join(f"We sleep {n}.,We sleeps {n}.\n" for n in range(5)),
    "marvin-linzen": "grammatical,ungrammatical,test case\n"
    + "".join(f"We sleep {n}.,We sleeps {n}.,simple\n" for n in range(5)),
    "discourse-entities": "id,exp_sentence,unexp_sentence,prompt,exp_continuation,"
    "unexp_continuation,type\n"
    + "".join(f"a,We sleep {n}.,We sleeps {n}.,We,sleep {n}.,sleeps {n}.,x\n" for n in range(5)),
    "role-88": "item,context,expected,exp_cloze,target,tgt_cloze\n"
    + "".join(
        f"{n}-{letter},Who the {noun} had,seen,0.5,seen,0.{share}\n"
        for n in range(5)
        for letter, noun, share in (("b", "cat", 2), ("a", f"dog {n}", 7))
    ),
    "dalaj": "original sentence,corrected sentence,error label\n"
    + "".join(f"Vi sova {n} timmar.,Vi sover {n} timmar.,M-Verb\n" for n in range(5)),
    "colorless-green": "pattern,constr_id,sent_id,sent,class,prefix,form\n"
    + "".join(
        f"p,{n},0,We {form} {n} times <eos>,{label},We,{form}\n"
        for n in range(5)
        for form, label in (("sleep", "correct"), ("sleeps", "wrong"))
    ),
    "blimp-nl": "number (paradigm),item,paradigm,sentence,grammaticality\n"
    + "".join(
        f"1,{n},p,Wij {form} {n} uur.,{label}\n"
        for n in range(5)
        for form, label in (("slapen", 1), ("slaapt", 0))
    ),
    "cola": "".join(
        f"xx{n:02}\t{n % 2}\t{'' if n % 2 else '*'}\tWe sleep{'' if n % 2 else 's'} {n} times.\n"
        for n in range(5)
    ),
    "rucola": "id,sentence,acceptable,error_type,detailed_source\n"
    + "".join(f"{n},Мы спим {n} раз.,{n % 2},0,Книга2001\n" for n in range(5)),
    "jcola": "uid\tsource\tlabel\tdiacritic\tsentence\toriginal\n"
    + "".join(f"{n}\tA_2001\t{n % 2}\tg\t{n}人が寝た。\t{n}人が寝た。\n" for n in range(5)),
}


@pytest.mark.parametrize("name", known_forms())
def test_each_published_form_is_read_as_its_entry_says(tmp_path, name):
    form, text = known_forms()[name], KNOWN[name]
    path = tmp_path / ("rows.tsv" if "\t" in text else "rows.csv")
    path.write_text(text, encoding="utf-8")
    loaded = load_suite(path, language="" if form.language else "en")
    read = loaded.reading.table
    assert (read.shape, read.known, read.n_items) == (form.shape, form.title, 5)
    assert loaded.suite.meta.language == (form.language or "en")
    assert {*form.roles} <= {*ROLES}
    if read.shape == "pairs":
        assert read.roles["good"] == tuple(form.roles["good"])
    assert read.left_out == ()
