"""`scripts/read_folder.py`: the readings of public files, compared with what is in the files."""

from __future__ import annotations

from read_folder import print_published

HEADER = "file\trepository\tpath\tcommit\tlanguage\tshape\titems\tremark\n"


def test_a_file_is_read_rightly_if_its_shape_and_items_are_those_in_the_list(tmp_path, capsys):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.tsv").write_text("good\tbad\nWe sleep.\tWe sleeps.\n", "utf-8")
    (folder / "b.tsv").write_text("word\tn\nsleep\t3\n", "utf-8")
    names = ("a.tsv", "org/one", "data/a.tsv", "0123456789abcdef", "en")
    listed = tmp_path / "list.tsv"
    rows = [
        (*names, "pairs", "1", ""),
        (*names, "pairs", "2", ""),
        (*names, "ratings", "1", ""),
        (*names, "", "", "half a file"),
        ("b.tsv", "org/two", "b.tsv", "fedcba9876543210", "en", "", "", "no sentences"),
    ]
    listed.write_text(HEADER + "".join("\t".join(row) + "\n" for row in rows), "utf-8")
    print_published(folder, listed)
    counts, _, _, _, *lines = capsys.readouterr().out.splitlines()
    assert counts == (
        "Of 5 files from 2 repositories, 1 are read rightly without an edit, 2 wrongly;"
        " 1 are read with a remark, and 1 are refused."
    )
    verdicts = [("**wrong**" in line, "refused" in line) for line in lines]
    assert verdicts == [(False, False), (True, False), (True, False), (False, False), (False, True)]
    assert "| `org/one` | `data/a.tsv` | `0123456789` | pairs | 1 |" in lines[0]
