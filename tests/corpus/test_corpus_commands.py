"""cimento corpus: search, connectives, check."""

from __future__ import annotations

import json

import pytest

from cimento import InputError, UsageError
from cimento.cli.main import invoke
from cimento.corpus.connectives.frequencies import count_connectives, read_published
from cimento.corpus.connectives.lexicons import open_inventory
from cimento.corpus.connectives.matching import open_rule
from cimento.corpus.search import DuplicateSentences, search_treebanks
from cimento.corpus.treebanks import open_treebanks

TINY = """# sent_id = {id}
# text = {text}
1\tPiove\tpiovere\tVERB\tV\t_\t0\troot\t_\t_
2\t{c}\t{c}\tCCONJ\tCC\t_\t3\tcc\t_\t_
3\tesco\tuscire\tVERB\tV\t_\t1\tconj\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\tFS\t_\t1\tpunct\t_\t_

"""


@pytest.fixture
def two(tmp_path):
    first = TINY.format(id="1", c="ma", text="Piove ma esco.")
    (tmp_path / "it_sample-ud-test.conllu").write_text(first + first.replace("= 1", "= 2"))
    other = TINY.format(id="1", c="e", text="Piove e esco.")
    (tmp_path / "it_vit-ud-dev.conllu").write_text(first + other)
    return tmp_path


def test_hits_are_exported_with_their_license_and_text_only_where_it_allows_that(two, capsys):
    assert invoke(["corpus", "search", str(two / "it_sample-ud-test.conllu")]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    row = dict(zip(*lines[:2], strict=True))
    assert (row["sent_id"], row["token_id"], row["license"]) == ("1", "2", "CC BY 4.0")
    assert row["text"] == "Piove ma esco."
    assert len(row["sha256"]) == 64
    assert invoke(["corpus", "search", str(two)]) == 0
    printed = capsys.readouterr()
    assert "text" not in printed.out.splitlines()[0].split("\t")
    assert "it_vit: CC BY-NC-SA 3.0" in printed.err
    assert invoke(["corpus", "search", str(two), "--text", "--json"]) == 0
    hits = json.loads(capsys.readouterr().out)["hits"]
    assert [hit["text"] for hit in hits] == ["Piove ma esco."] * 3 + ["Piove e esco."]


def test_duplicates_are_found_between_treebanks(two):
    known = DuplicateSentences()
    files = open_treebanks([two])
    hits = list(
        search_treebanks(
            files, open_inventory("it-connectives"), open_rule("any"), duplicates=known
        )
    )
    assert len(hits) == 2
    assert known.pairs[1] == (("it_vit-ud-dev.conllu", "1"), ("it_sample-ud-test.conllu", "1"))


def test_the_frequency_table_joins_corpora_and_names_its_denominator(two, capsys):
    table = two / "published.tsv"
    table.write_text("connective\tcorpus\tcount\tpercent\tsize\nma\tX\t2\t12.50\t16\ne\tX\t1\t\t\n")
    arguments = ["corpus", "connectives", str(two), "--per", "tokens", "--json"]
    arguments += ["--join", "both=it_sample,it_vit", "--compare", f"both={table}:X"]
    assert invoke(arguments) == 0
    printed = json.loads(capsys.readouterr().out)
    (both,) = printed["corpora"]
    assert (both["words"], both["tokens"], both["duplicates"]) == (16, 16, 2)
    assert both["connectives"]["ma"] == {"n": 3, "sentences": 3, "percent": 18.75, "rank": 1}
    (compared,) = printed["compared"]
    assert [cell["difference"] for cell in compared["cells"]] == [1, 0]
    assert compared["cells"][0]["causes"] == ["2 sentences are there more than once"]
    assert invoke([*arguments[:3], "--duplicates", "drop", *arguments[3:]]) == 0
    (both,) = json.loads(capsys.readouterr().out)["corpora"]
    assert both["connectives"]["ma"]["n"] == 1


def test_ranks_of_corpora_and_published_columns_are_correlated(capsys):
    arguments = ["corpus", "connectives", "it_sample"]
    for column in ("ISDT", "PoSTWITA+TWITTIRÒ"):
        arguments += ["--compare", f"it_sample=paper:{column}"]
    assert invoke([*arguments, "--json"]) == 0
    agreements = json.loads(capsys.readouterr().out)["rank_agreement"]
    printed = agreements[-1]
    # scipy.stats.spearmanr and kendalltau of the two columns of Table 6 as printed, 18 rows each
    assert printed["spearman"]["r"] == pytest.approx(0.8537477961039711, abs=1e-12)
    assert printed["kendall"]["r"] == pytest.approx(0.6600983619844496, abs=1e-12)
    assert printed["spearman"]["low"] < 0.854 < printed["spearman"]["high"]
    assert len(agreements) == 3
    assert invoke(arguments) == 0
    assert "ISDT as published, PoSTWITA+TWITTIRÒ as published  18  0.854" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "seen"),
    [
        (["--join", "x"], "--join"),
        (["--join", "x=it_none"], "there is no corpus 'it_none'"),
        (["--compare", "it_vit=paper:IST"], "paper has no column 'IST'"),
        (["--compare", "it_none=paper:ISDT"], "there is no corpus 'it_none'"),
        (["--compare", "paper"], "--compare"),
        (["--rule", "none"], "got 'none'"),
    ],
)
def test_options_that_cannot_be_are_refused(two, capsys, more, seen):
    assert invoke(["corpus", "connectives", str(two), *more]) == 2
    assert seen in capsys.readouterr().err


def test_malformed_files_are_checked_skipped_and_refused(two, capsys):
    path = two / "bad.conllu"
    path.write_text("# sent_id = x\n1\ta\n\n" + TINY.format(id="y", c="ma", text="Piove ma esco."))
    assert invoke(["corpus", "check", str(path)]) == 2
    assert "bad.conllu, line 2 (sentence x): the line has 2 columns" in capsys.readouterr().out
    assert invoke(["corpus", "check", str(path), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["files"]
    assert invoke(["corpus", "search", str(path)]) == 2
    assert "line 2, sentence x" in capsys.readouterr().err
    assert invoke(["corpus", "search", str(path), "--malformed", "skip", "--text"]) == 0
    printed = capsys.readouterr()
    assert "1 malformed sentences were skipped" in printed.err
    assert len(printed.out.splitlines()) == 2


def test_a_published_table_that_is_none_is_refused(tmp_path):
    path = tmp_path / "t.tsv"
    for content, seen in (
        ("connective\tcount\n", "column corpus is missing"),
        ("connective\tcorpus\tcount\nma\tX\tmany\n", "count is 'many'"),
        ("connective\tcorpus\tcount\tpercent\nma\tX\t3\t1,5\n", "percent is '1,5'"),
    ):
        path.write_text(content)
        with pytest.raises(InputError, match=seen):
            read_published(path)


def test_joint_corpora_are_named_once(two):
    files = open_treebanks([two])
    with pytest.raises(UsageError, match="there is no corpus"):
        count_connectives(
            files, open_inventory("it-connectives"), [open_rule("any")], joint={"x": ["y"]}
        )


def test_connectives_of_another_language_are_named(tmp_path, capsys):
    word = "1\tRain\train\tNOUN\t_\t_\t0\troot\t_\t_"
    english = tmp_path / "en_tiny.conllu"
    english.write_text(f"# sent_id = 1\n# text = Rain\n{word}\n\n", encoding="utf-8")
    said = "en_tiny is English by its name, and the connectives of it-connectives are Italian"
    for command in ("connectives", "search"):
        assert invoke(["corpus", command, str(english)]) == 0
        assert said in " ".join(capsys.readouterr().err.split())
    own = tmp_path / "own.txt"
    own.write_text("but\n", encoding="utf-8")
    assert invoke(["corpus", "connectives", str(english), "--inventory", str(own)]) == 0
    assert invoke(["corpus", "connectives", "it_sample"]) == 0
    assert "by its name" not in capsys.readouterr().err


def test_a_folder_with_ids_only_says_how_to_have_its_sentences(tmp_path, capsys):
    word = "1\tPiove\tpiovere\tVERB\t_\tMood=Ind|Number=Sing|VerbForm=Fin\t0\troot\t_\t_"
    own = tmp_path / "it_own.conllu"
    own.write_text(f"# sent_id = 1\n# text = Piove\n{word}\n\n", encoding="utf-8")
    query = ["pattern { V [upos=VERB] }", "--change", "V.form=piovono", "--language", "it"]
    folder = str(tmp_path / "made")
    assert invoke(["suites", "build", "query", *query, "--treebank", str(own), "-o", folder]) == 0
    capsys.readouterr()
    assert invoke(["suites", "check", folder]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "holds no text. Repeat the command that wrote it with --text" in said
