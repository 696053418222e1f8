"""Files for folders, folders for files, empty folders, bytes: one message each, and code 2."""

from __future__ import annotations

import pytest

from cimento.cli.main import invoke

PAIRS = """item,good,bad
1,I gatti dormono.,I gatti dorme.
2,La pizza era buona.,La pizza erano buona.
"""
ANSWERS = """participant,sentence,answer
p1,I gatti dormono.,5
p1,I gatti dorme.,1
p2,La pizza era buona.,4
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a suite, answers to it, a run, and things of every wrong kind."""
    folder = tmp_path_factory.mktemp("kinds")
    (folder / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    (folder / "answers.csv").write_text(ANSWERS, encoding="utf-8")
    (folder / "text.txt").write_text("Ciao a tutti.\n", encoding="utf-8")
    for name in ("bytes", "bytes.csv", "bytes.json", "bytes.parquet"):
        (folder / name).write_bytes(b"\x8f" + bytes(range(256)))
    for name in ("empty", "full", "folder.csv", "folder.html"):
        (folder / name).mkdir()
    (folder / "full" / "text.txt").write_text("Ciao.\n", encoding="utf-8")
    pairs, answers, given = (str(folder / f"{name}.csv") for name in ("pairs", "answers", "given"))
    read = ["annotate", "import", answers, "--suite", pairs, "--names", "keep", "-o", given]
    assert invoke(read) == 0
    made = ["run", pairs, "-m", "demo-causal", "--language", "it", "-o", str(folder / "runs")]
    assert invoke([*made, "--no-cache"]) == 0
    return folder


FILES = ("text.txt", "bytes", "bytes.csv", "bytes.json", "bytes.parquet", "pairs.csv")
FOLDERS = ("empty", "full", "folder.csv")
# What a command is given in the place of WRONG must be one of a kind that it cannot use.
WRONG = "WRONG"
IMPORT = ("annotate", "import", "answers.csv", "--suite", "pairs.csv", "--names", "keep")
REFUSED = [
    (("annotate", "candidates", WRONG), (*FILES, *FOLDERS)),
    (("annotate", "stories", WRONG), ("text.txt", "bytes")),
    (("annotate", "second", WRONG, "out.tsv"), (*FOLDERS, "text.txt", "bytes")),
    (("annotate", "agreement", WRONG), (*FILES, *FOLDERS)),
    (("annotate", "agreement", "given.csv", "--judge", WRONG), (*FILES, *FOLDERS)),
    (("annotate", "agreement", "given.csv", "--suite", WRONG), ("bytes", "bytes.csv", *FOLDERS)),
    (("annotate", "import", WRONG, "--names", "keep", "-o", "out.csv"), (*FILES, *FOLDERS)),
    ((*IMPORT, "-o", "out.csv", "--mapping", WRONG), ("bytes", "text.txt", *FOLDERS)),
    ((*IMPORT, "-o", "out.csv", "--design", WRONG), (*FILES, *FOLDERS)),
    ((*IMPORT, "-o", "out.csv", "--prolific", WRONG), (*FILES, *FOLDERS)),
    ((*IMPORT, "-o", WRONG), FOLDERS),
    (("annotate", "filter", WRONG, "--answered", "1", "-o", "out.csv"), (*FILES, *FOLDERS)),
    (("annotate", "filter", "given.csv", "--answered", "1", "-o", WRONG), FOLDERS),
    (("annotate", "apply", "pairs.csv", WRONG, "--scale", "1,5", "-o", "out"), (*FILES, *FOLDERS)),
    (("annotate", "apply", WRONG, "given.csv", "--scale", "1,5", "-o", "out"), ("bytes", *FOLDERS)),
    (("annotate", "apply", "pairs.csv", "given.csv", "--scale", "1,5", "-o", WRONG), FILES),
    (("annotate", "adjudicate", WRONG, "given.csv", "-o", "out.csv"), (*FILES, *FOLDERS)),
    (("annotate", "survey", "build", WRONG, "-o", "out"), ("bytes", "bytes.csv", *FOLDERS)),
    (("annotate", "survey", "build", "pairs.csv", "--language", "it", "-o", WRONG), FILES),
    (("annotate", "survey", "export", WRONG, "-o", "out"), (*FILES, *FOLDERS)),
    (("annotate", "serve", "export", WRONG, "-o", "out.csv"), (*FILES, *FOLDERS)),
    (("annotate", "times", WRONG, "--design", "full", "-o", "out.csv"), (*FILES, *FOLDERS)),
    (("compare", WRONG), (*FILES, *FOLDERS)),
    (("compare", "runs", "runs", "-o", WRONG), FILES),
    (("report", WRONG), (*FILES, *FOLDERS)),
    (("report", "runs", "-o", WRONG), ("folder.html", "folder.csv", "empty")),
    (("report", "runs", "--site", WRONG), FILES),
    (("report", "runs", "--figure", "rows", "-o", "out.svg", "--people", WRONG), FILES),
    (("export", WRONG, "--to", "r", "-o", "out"), (*FILES, *FOLDERS)),
    (("export", "runs", "--to", "r", "-o", WRONG), FILES),
    (("judge", WRONG), (*FILES, *FOLDERS)),
    (("judge", "runs", "-o", WRONG), FILES),
    (("analyze", "items", WRONG), (*FILES, *FOLDERS)),
    (("analyze", "items", "runs", "--judgments", WRONG), (*FILES, *FOLDERS)),
    (("analyze", "items", "runs", "-o", WRONG), FILES),
    (("analyze", "profile", WRONG), (*FILES, *FOLDERS)),
    (("analyze", "attribution", WRONG), (*FILES, *FOLDERS)),
    (("analyze", "reading-times", WRONG, "-m", "demo-causal"), ("bytes", "bytes.csv", *FOLDERS)),
    (("analyze", "reading-gains", WRONG), ("bytes", "bytes.csv", *FOLDERS)),
    (("analyze", "power", WRONG), ("bytes", "bytes.csv", *FOLDERS)),
    (("analyze", "exposure", WRONG, "--corpus", "text.txt"), (*FILES, *FOLDERS)),
    (("analyze", "exposure", "runs", "--corpus", WRONG), ("bytes", "bytes.csv", *FOLDERS)),
    (("analyze", "variation", WRONG), (*FILES, *FOLDERS)),
]


@pytest.mark.parametrize(("command", "wrong"), REFUSED, ids=" ".join)
def test_a_path_of_another_kind_is_refused_with_one_clear_message(
    command, wrong, place, monkeypatch, capsys
):
    monkeypatch.chdir(place)
    before = sorted(place.rglob("*"))
    for name in wrong:
        code = invoke([name if part == WRONG else part for part in command])
        err = capsys.readouterr().err
        assert code == 2, (name, err)
        assert err.count("cimento: ") == 1, (name, err)
        assert not any(word in err for word in ("Errno", "codec", "Traceback", "fault of")), err
    assert sorted(place.rglob("*")) == before


def test_a_file_in_the_place_of_a_run_is_said_to_be_one(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    assert invoke(["annotate", "candidates", "pairs.csv"]) == 2
    assert capsys.readouterr().err == (
        "cimento: pairs.csv: this is a file, and a run is a folder. Give the folder of a finished"
        " run, which `cimento run` named.\n"
    )


def test_judgments_before_the_suite_are_told_from_other_files(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    swapped = ["annotate", "apply", "given.csv", "text.txt", "--scale", "1,5", "-o", "out"]
    assert invoke(swapped) == 2
    assert "The suite comes first" in capsys.readouterr().err
    swapped[2:4] = ["pairs.csv", "empty"]
    assert invoke(swapped) == 2
    assert "empty is a folder without judgments.parquet" in capsys.readouterr().err
