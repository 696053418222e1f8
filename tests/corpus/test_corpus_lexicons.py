"""Lexicons of connectives as they are published."""

from __future__ import annotations

import json

import pytest

from cimento import InputError
from cimento.cli.main import invoke
from cimento.corpus.connectives.inventories import Connective, Inventory, read_spelling
from cimento.corpus.connectives.lexicons import merge_inventories, open_inventory

DIMLEX = """<?xml version="1.0"?><!DOCTYPE dimlex SYSTEM "dimlex.dtd">
<dimlex><entry id="c1" word="tanto ... quanto"><orths>
<orth type="discont"><part type="single">tanto</part><part type="single">quanto</part></orth>
</orths><syn><cat>coordinating</cat><sem><pdtb3_relation sense="EXPANSION:Conjunction"/></sem></syn>
</entry><entry id="c2" word="finché"><orths><orth><part>finché</part></orth><orth><part>fin che
</part></orth></orths><syn><cat>subordinating</cat></syn></entry></dimlex>"""
LEXCONN = """<liste><connecteur cat="csu" id="c1" relations="goal, condition">
<forme>pour que</forme><forme> pour qu' </forme></connecteur>
<connecteur cat="adv" id="c2" relations="result"><forme>alors</forme></connecteur>
<connecteur cat="adv" id="c3" relations="narration"><forme>alors</forme></connecteur></liste>"""


def test_lexicons_are_read_as_they_are_published(tmp_path):
    def opened(name, content):
        (tmp_path / name).write_text(content, encoding="utf-8")
        return open_inventory(str(tmp_path / name))

    dimlex = opened("a.xml", DIMLEX)
    assert dimlex.names == ("tanto ... quanto", "finché")
    assert dimlex["tanto ... quanto"].spellings == ((("tanto",), ("quanto",)),)
    assert dimlex["tanto ... quanto"].senses == ("EXPANSION:Conjunction",)
    assert dimlex["finché"].spellings[1] == (("fin", "che"),)
    lexconn = opened("b.xml", LEXCONN)
    assert lexconn["pour que"].spellings == ((("pour", "que"),), (("pour", "qu'"),))
    assert lexconn["pour que"].category == "SCONJ"
    assert lexconn["alors"].senses == ("result", "narration")
    nvdb = {
        "poiche\u0301": [{"cat": "FO", "features": "cong."}],
        "casa": [{"cat": "FO", "features": "s.f."}],
        "come": [{"cat": "FO", "features": "avv. , cong."}],
    }
    assert opened("c.json", json.dumps(nvdb)).names == ("poiché", "come")
    assert opened("d.txt", "finché / fin che # tempo\n\nma\n")["finché"].spellings[1] == (
        ("fin", "che"),
    )
    table = opened(
        "e.tsv", "entry_id\tconnective\tsyn\tsenses\n1\tma\tcoord\tA;B\n1\tMa\tcoord\tA\n"
    )
    assert table.names == ("ma",)
    assert table["ma"].senses == ("A", "B")


def test_lists_are_merged_and_what_several_have_stands_once(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("perché / perchè\nma\ndunque\n", encoding="utf-8")
    (tmp_path / "b.tsv").write_text(
        "connective\tcategory\tsenses\nperchè\tSCONJ\tCause\nMA\tCCONJ\tContrast\nquindi\t\t\n",
        encoding="utf-8",
    )
    names = [str(tmp_path / name) for name in ("a.txt", "b.tsv")]
    output = tmp_path / "both.toml"
    assert invoke(["corpus", "inventory", *names, "-o", str(output)]) == 0
    printed = capsys.readouterr()
    # By hand: three and three entries, of which perché and ma are in both lists.
    assert "a 3, b 3: 4 connectives, of which 2 are in several lists" in printed.err
    assert printed.out.splitlines()[1].split() == ["perché", "SCONJ", "perchè", "a,", "b"]
    both = open_inventory(str(output))
    assert both.names == ("perché", "ma", "dunque", "quindi")
    assert (both["ma"].category, both["perché"].senses) == ("CCONJ", ("Cause",))
    inventory = open_inventory("it-connectives")
    assert merge_inventories([inventory], name=inventory.name)[0] == inventory


def test_an_entry_with_the_spellings_of_two_makes_them_one():
    a, b, c = (Connective(name, (read_spelling(name),)) for name in "abc")
    all_three = Connective("a", tuple(map(read_spelling, "abc")))
    merged, lists = merge_inventories(
        [Inventory("x", "it", (a, b, c)), Inventory("y", "", (all_three,))], name="z"
    )
    assert merged.names == ("a",)
    assert lists == {"a": ("x", "y")}
    with pytest.raises(InputError, match="languages it, pt"):
        merge_inventories([Inventory("x", "it", (a,)), Inventory("y", "pt", (b,))], name="z")


@pytest.mark.parametrize(
    ("name", "content", "seen"),
    [
        ("a.xml", "<dimlex>", "is not XML"),
        ("a.xml", "<other/>", "no connective in <other>"),
        ("a.xml", '<!DOCTYPE x [<!ENTITY a "b">]><dimlex/>', "declares XML entities"),
        ("a.json", "[1]", "not an object of lemmas"),
        ("a.json", "{", "is not JSON"),
        ("a.tsv", "a\tb\nc\td\n", "there are the columns a, b"),
        ("a.toml", "x = 1", "no [[connectives]]"),
        ("a.toml", '[[connectives]]\nnam = "ma"', "the key 'nam' is unknown"),
        ("a.toml", "[[connectives]]\nname = 3", "name is 3"),
        ("a.toml", '[[connectives]]\nname = "ma"\n[[connectives]]\nname = "ma"', "there twice"),
        ("a.txt", "\n", "there is no connective"),
        ("a.pdf", "", "got "),
    ],
)
def test_a_lexicon_that_is_none_is_refused(tmp_path, name, content, seen):
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        open_inventory(str(tmp_path / name))
    assert seen in str(refused.value)


@pytest.mark.golden
def test_published_lexicons_of_the_reference(shared):
    folder = shared / "data" / "connectives"
    lico = open_inventory(str(folder / "lico_v1.0.tsv"))
    assert len(lico.connectives) == 173
    assert sum(len(connective.spellings) for connective in lico.connectives) == 204
    assert lico["né … né"].spellings == ((("né",), ("né",)),)
    nvdb = open_inventory(str(folder / "nvdb_conjunctions.tsv"))
    assert len(nvdb.connectives) == 57
    names = open_inventory("it-connectives").names
    assert [name for name in names if name not in lico.names] == ["dove"]
