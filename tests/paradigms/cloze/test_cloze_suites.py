"""Cloze suites: the native format, its faults, and templates and expressions made into items."""

from __future__ import annotations

from pathlib import Path

import pytest

from cimento import InputError, SuiteError
from cimento.cli.main import invoke
from cimento.paradigms.cloze import CLOZE
from cimento.paradigms.cloze.codes import CLOZE_CHECKS
from cimento.paradigms.cloze.files import load_cloze, read_cloze
from cimento.paradigms.cloze.text import describe_cloze
from cimento.suites.cloze import (
    BaseSentence,
    ClozeItem,
    MultiwordItem,
    Option,
    SeedSet,
    Template,
    expand_multiword,
    expand_suite,
    expand_templates,
)

TOML = '[meta]\nname = "prova"\nlanguage = "it"\n'


def folder(tmp_path, items: str, *, seeds: str = "", kind: str = "cloze", options: str = ""):
    (tmp_path / "suite.toml").write_text(f'kind = "{kind}"\n{TOML}{options}', encoding="utf-8")
    (tmp_path / "items.tsv").write_text(items, encoding="utf-8")
    if seeds:
        (tmp_path / "seeds.tsv").write_text(seeds, encoding="utf-8")
    return tmp_path


def codes(path) -> list[str]:
    return [fault.code for fault in CLOZE.reader.read(path).faults]


class TestItems:
    def test_an_item_is_read(self, tmp_path):
        path = folder(
            tmp_path,
            "item\ttext\ttarget\tplausible\timplausible\tnone\tregister\n"
            "1\tPiove, ___ esco lo stesso.\tma | però\te/ed\tse | o/od\tyes\tplain\n",
        )
        (item,) = load_cloze(path).items
        assert item == ClozeItem(
            id="1",
            before="Piove, ",
            after=" esco lo stesso.",
            options=(
                Option("ma"),
                Option("però"),
                Option("e", "plausible", ("ed",)),
                Option("se", "implausible"),
                Option("o", "implausible", ("od",)),
            ),
            none_option=True,
            columns={"register": "plain"},
        )
        assert item.targets == ("ma", "però")
        assert item.spellings("implausible") == ("se", "o", "od")
        assert item.text == "Piove, ___ esco lo stesso."
        assert item.filled("ma") == "Piove, ma esco lo stesso."

    def test_a_longer_line_of_underscores_is_one_blank(self, tmp_path):
        path = folder(tmp_path, "item\ttext\n1\tPiove _____ esco.\n")
        assert load_cloze(path).items[0].before == "Piove "

    @pytest.mark.parametrize(
        ("text", "seen"),
        [("Piove, esco.", "There is no blank"), ("___ piove ___ esco.", "There are 2 blanks")],
    )
    def test_no_blank_or_two_are_refused(self, tmp_path, text, seen):
        path = folder(tmp_path, f"item\ttext\n1\tLa ___ va.\n2\t{text}\n")
        with pytest.raises(SuiteError, match=seen) as caught:
            load_cloze(path)
        assert "CIM-C001 items.tsv row 3" in str(caught.value)

    def test_excel_tables_are_read(self, tmp_path):
        text = "item;text;target\r\n1;Ha detto: «___!»;ciao\r\n"
        (tmp_path / "suite.toml").write_text(f'kind = "cloze"\n{TOML}', encoding="utf-8")
        (tmp_path / "items.csv").write_bytes(text.encode("cp1252"))
        reading = read_cloze(tmp_path)
        assert reading.suite.items[0].text == "Ha detto: «___!»"
        assert [fault.code for fault in reading.faults] == ["CIM-S006"]

    def test_a_table_alone_is_a_suite(self, tmp_path):
        (tmp_path / "prove.tsv").write_text('item\ttext\ttarget\n1\tDisse "___".\t"\n', "utf-8")
        suite = load_cloze(tmp_path / "prove.tsv")
        assert suite.name == "prove"
        assert suite.items[0].targets == ('"',)

    def test_a_table_with_other_columns_is_refused(self, tmp_path):
        (tmp_path / "prove.csv").write_text("id,prova\n1,La ___ va.\n", "utf-8")
        with pytest.raises(SuiteError, match="There is no column 'text'"):
            load_cloze(tmp_path / "prove.csv")

    def test_nothing_there(self, tmp_path):
        with pytest.raises(InputError, match="there is no such file"):
            load_cloze(tmp_path / "nowhere.tsv")


class TestTemplates:
    ITEMS = (
        "item\ttext\tnumber\n"
        "agg\tLe <SEED> sono ___.\tpl\n"
        "agg\tOggi le <SEED> del corso sembrano ___.\tpl\n"
        "conn\tPiove, ___ esco.\t\n"
    )
    SEEDS = (
        "set\tcategory\tform\ttarget\tgender\n"
        "agg\tf_pl\tstrade\tvuote\tf\nagg\tf_pl\tcase\t\t\nagg\tany_pl\tcase\tnuove\tx\n"
    )

    def test_every_sentence_takes_every_form(self, tmp_path):
        suite = load_cloze(folder(tmp_path, self.ITEMS, seeds=self.SEEDS, kind="templates"))
        made = expand_suite(suite)
        assert [item.id for item in made.items] == [
            "agg/1/strade",
            "agg/1/case",
            "agg/2/strade",
            "agg/2/case",
            "conn/1",
        ]
        assert sum(template.n_slots for template in suite.templates) == 7
        assert made.items[0].text == "Le strade sono ___."
        assert made.items[0].targets == ("vuote",)
        assert made.items[2].columns == {
            "number": "pl",
            "template": "agg",
            "sentence": "2",
            "seed": "strade",
            "category": "f_pl",
            "gender": "f",
        }

    def test_a_form_in_two_categories_is_one_item_and_is_reported(self, tmp_path):
        path = folder(tmp_path, self.ITEMS, seeds=self.SEEDS, kind="templates")
        made = expand_suite(load_cloze(path))
        (shared,) = made.shared
        assert (shared.template, shared.form, shared.categories) == (
            "agg",
            "case",
            ("f_pl", "any_pl"),
        )
        item = made.items[1]
        assert (item.columns["category"], item.columns["gender"]) == ("f_pl; any_pl", "f; x")
        assert item.targets == ("vuote", "nuove")
        assert codes(path) == ["CIM-C012"]

    def test_a_set_may_serve_several_templates(self, tmp_path):
        items = "item\ttext\tseeds\na\tLa <SEED> è ___.\tcase\nb\tQuella <SEED> sembra ___.\tcase\n"
        seeds = "set\tcategory\tform\ncase\tf_sg\tcasa\n"
        suite = load_cloze(folder(tmp_path, items, seeds=seeds, kind="templates"))
        assert [item.text for item in expand_suite(suite).items] == [
            "La casa è ___.",
            "Quella casa sembra ___.",
        ]

    def test_ids_do_not_change_when_seeds_are_added(self):
        def ids(*forms: str) -> set[str]:
            template = Template(
                "t", (BaseSentence("Le <SEED> sono ", "."),), (SeedSet("x", forms),)
            )
            return {item.id for item in expand_templates([template]).items}

        assert ids("case", "strade") < ids("porte", "strade", "case", "vie")

    def test_a_marker_without_seeds_is_refused(self, tmp_path):
        path = folder(tmp_path, "item\ttext\na\tLa <SEED> è ___.\n", kind="templates")
        with pytest.raises(SuiteError, match="CIM-C002 template 'a': There is a <SEED>"):
            load_cloze(path)

    def test_an_unknown_set_is_refused(self, tmp_path):
        items = "item\ttext\tseeds\na\tLa <SEED> è ___.\tcase\n"
        with pytest.raises(SuiteError, match="There is no seed set 'case'"):
            load_cloze(folder(tmp_path, items, kind="templates"))

    def test_seeds_without_a_marker_are_warned_about(self, tmp_path):
        seeds = "set\tcategory\tform\na\tf\tcasa\n"
        path = folder(tmp_path, "item\ttext\na\tOggi ___.\n", seeds=seeds, kind="templates")
        assert codes(path) == ["CIM-C003"]

    def test_a_form_twice_in_a_category_is_one_item_and_is_warned_about(self, tmp_path):
        seeds = "set\tcategory\tform\na\tf\tcasa\na\tf\tcasa\n"
        path = folder(tmp_path, "item\ttext\na\tLa <SEED> è ___.\n", seeds=seeds, kind="templates")
        assert codes(path) == ["CIM-C011"]
        assert len(expand_suite(load_cloze(path)).items) == 1

    def test_rows_of_a_template_have_the_same_options(self, tmp_path):
        items = "item\ttext\ttarget\na\tPiove, ___ esco.\tma\na\tNevica, ___ esco.\tperò\n"
        assert codes(folder(tmp_path, items, kind="templates")) == ["CIM-C008"]

    def test_without_options_of_their_own_seeds_leave_those_of_the_template(self):
        template = Template(
            "t",
            (BaseSentence("<SEED>, ", " esco."),),
            (SeedSet("x", ("Piove",)), SeedSet("y", ("Nevica",), options=(Option("eppure"),))),
            options=(Option("ma"),),
        )
        first, second = expand_templates([template]).items
        assert (first.targets, second.targets) == (("ma",), ("eppure",))


class TestMultiwords:
    def test_each_word_is_masked_in_turn(self):
        text = "Ha tagliato la {testa} al {toro} e {via}."
        made = expand_multiword(MultiwordItem("1", "testa al toro", text, {"origin": "x"}))
        assert [(item.id, item.text, item.targets) for item in made] == [
            ("1/W1", "Ha tagliato la ___ al toro e via.", ("testa",)),
            ("1/W2", "Ha tagliato la testa al ___ e via.", ("toro",)),
            ("1/W3", "Ha tagliato la testa al toro e ___.", ("via",)),
        ]
        assert made[1].columns == {
            "origin": "x",
            "expression": "testa al toro",
            "word": "2",
            "cue": "testa via",
        }

    def test_they_are_read(self, tmp_path):
        path = folder(
            tmp_path,
            "item\texpression\ttext\n"
            "1\tacqua in bocca\t{Acqua} in {bocca}!\n"
            "2\t\tUn {Pesce} {rosso}.\n",
        )
        suite = load_cloze(path)
        assert [item.expression for item in suite.multiwords] == ["acqua in bocca", "pesce rosso"]

    def test_the_words_of_an_expression_are_one_cluster_unless_another_is_declared(self, tmp_path):
        rows = (
            "item\texpression\ttext\tsource\n"
            "1\tacqua in bocca\t{Acqua} in {bocca}!\ta\n"
            "2\tacqua in bocca\tTieni {acqua} in {bocca}.\tb\n"
            "3\t\tUn {Pesce} {rosso}.\tb\n"
            "4\t\tIl ___ nuota.\tb\n"
        )
        path = folder(tmp_path, rows)
        assert "CIM-C014" not in codes(path)
        assert "3 by expression; the largest, 'acqua in bocca', has 4" in " ".join(
            describe_cloze(load_cloze(path), 1).split()
        )
        declared = folder(tmp_path, rows, options='[options]\ncluster = "source"\n')
        assert load_cloze(declared).cluster == ("source",)

    @pytest.mark.parametrize(
        "text", ["Un {pesce rosso.", "Un pesce} {rosso}.", "Un {pesce} rosso.", "{} {a}"]
    )
    def test_braces_that_mark_no_expression_are_refused(self, tmp_path, text):
        assert codes(folder(tmp_path, f"item\ttext\n1\t{text}\n"))[0] == "CIM-C006"


class TestFaults:
    @pytest.mark.parametrize(
        ("items", "code"),
        [
            ("item\ttext\n1\tLa ___ va.\n1\tIl ___ va.\n", "CIM-C004"),
            ("item\ttext\n \tLa ___ va.\n", "CIM-C005"),
            ("item\ttext\ttarget\timplausible\n1\tLa ___ va.\tre | mi\tmi\n", "CIM-C007"),
            ("item\ttext\texpected\n1\tLa ___ va.\tnoun\n", "CIM-C013"),
            ("item\ttext\texpected\n1\tLa ___ va.\tNOUN Gender={gender}\n", "CIM-C013"),
            ("item\ttext\n1\tLa  ___ va.\n", "CIM-C015"),
            ("item\ttext\n1\tLa ___ va.\n2\tLa ___ va.\n", "CIM-C016"),
            ("item\ttext\timplausible\n1\tLa ___ va.\tse, ma\n", "CIM-C017"),
            ("item\ttext\ttarget\n1\tLa ___ va.\tx\n2\tLe ___.\t\n3\tUn ___.\ty\n", "CIM-C018"),
            ("item\ttext\ttarget\timplausible\n1\tSì. ___ va.\tEra\tse\n", "CIM-C019"),
            (
                "frase\tdistrattori\trisposta\nÈ ___.\tqui | là\tqui\nVa ___.\tvia | su\tsu\n",
                "CIM-C020",
            ),
            ("frase\trisposta\tdistrattore\nÈ qui.\tqui\tlà\n", "CIM-C021"),
        ],
    )
    def test_they_are_found(self, tmp_path, items, code):
        assert codes(folder(tmp_path, items)) == [code]

    def test_a_right_word_that_its_list_alone_lacks(self, tmp_path):
        rows = "".join(f"Vedo {n} ___.\tcani | cane\tcani\n" for n in range(2, 7))
        table = f"frase\tlista\trisposta\n{rows}Ho un ___.\tgatto | gatti\tgato\n"
        assert codes(folder(tmp_path, table)) == ["CIM-C022"]

    def test_a_cluster_column_must_be_there(self, tmp_path):
        options = '[options]\ncluster = "origin"\n'
        path = folder(tmp_path, "item\ttext\n1\tLa ___ va.\n", options=options)
        assert codes(path) == ["CIM-C014"]

    def test_a_suite_without_language_is_warned_about(self, tmp_path):
        (tmp_path / "items.tsv").write_text("item\ttext\n1\tLa ___ va.\n", encoding="utf-8")
        (tmp_path / "suite.toml").write_text(
            'kind = "cloze"\n[meta]\nname = "x"\n', encoding="utf-8"
        )
        assert codes(tmp_path) == ["CIM-C010"]

    def test_no_items(self, tmp_path):
        assert codes(folder(tmp_path, "item\ttext\n"))[-1] == "CIM-C009"

    def test_every_fault_is_reported_at_once(self, tmp_path):
        path = folder(tmp_path, "item\ttext\n1\tLa va.\n2\tIl ___ e ___.\n")
        assert codes(path)[:2] == ["CIM-C001", "CIM-C001"]


class TestShown:
    def test_a_suite_is_described(self, tmp_path, capsys):
        items = TestTemplates.ITEMS
        path = folder(tmp_path, items, seeds=TestTemplates.SEEDS, kind="templates")
        assert invoke(["suites", "show", str(path), "--items", "1"]) == 0
        out = capsys.readouterr().out
        assert "prova" in out
        assert "templates  2" in out
        assert "items      5" in out
        assert "1 form in several categories, one item each" in out
        assert out.endswith("  item agg/1/strade\n    Le strade sono ___.\n    vuote\n")

    def test_faults_are_shown(self, tmp_path, capsys):
        path = folder(tmp_path, "item\ttext\n1\tLa va.\n2\tIl ___ va.\n")
        assert invoke(["suites", "check", str(path)]) == 2
        assert "CIM-C001 items.tsv row 2: There is no blank in 'La va.'" in capsys.readouterr().out

    def test_where_regions_are_needed_the_kind_is_named(self, tmp_path, capsys):
        path = folder(tmp_path, "item\ttext\n1\tLa ___ va.\n")
        command = ["suites", "convert", str(path), "--to", "syntaxgym", "-o", str(tmp_path / "out")]
        assert invoke(command) == 2
        assert (
            "is a suite of the kind 'cloze', and one of sentences in regions"
            in capsys.readouterr().err
        )

    def test_clusters_are_named(self, tmp_path):
        options = '[options]\ncluster = "origin"\n'
        rows = "1\tLa ___ va.\tx\n2\tIl ___ va.\tx\n3\tUn ___ va.\ty\n"
        path = folder(tmp_path, f"item\ttext\torigin\n{rows}", options=options)
        assert "2 by origin; the largest, 'x', has 2" in CLOZE.presenter.describe(
            load_cloze(path), 0
        )


@pytest.mark.parametrize("kind", CLOZE.kinds)
def test_a_suite_to_start_from_has_no_faults(tmp_path, kind):
    path = tmp_path / "La mia suite"
    assert invoke(["suites", "new", kind, str(path)]) == 0
    reading = read_cloze(path)
    assert reading.faults == ()
    assert (reading.suite.name, reading.suite.kind) == ("La mia suite", kind)
    assert len(expand_suite(reading.suite).items) >= 4


def test_every_code_has_a_test():
    """The blunt way: its name is in this file, outside of this test."""
    here = Path(__file__).read_text(encoding="utf-8")
    assert [
        code for code in CLOZE_CHECKS if f'"{code}' not in here and f"{code} " not in here
    ] == []
