"""`scripts/read_folder.py`: the readings of public files, compared with what is in the files."""

from __future__ import annotations

from read_folder import print_published

HEADER = "file\trepository\tpath\tcommit\tlanguage\tcommand\tshape\titems\tremark\n"


def test_a_file_is_read_rightly_if_its_shape_and_items_are_those_in_the_list(tmp_path, capsys):
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.tsv").write_text("good\tbad\nWe sleep.\tWe sleeps.\n", "utf-8")
    (folder / "b.tsv").write_text("word\tn\nsleep\t3\n", "utf-8")
    answers = [f"{who}\t{text}\t{n}\n" for who in "xy" for n, text in enumerate(("Go.", "Gos."))]
    (folder / "c.tsv").write_text("participant\tsentence\tanswer\n" + "".join(answers), "utf-8")
    (folder / "d.tsv").write_text("text\tposition\tword\trt\n1\t1\tGo\t9\n1\t2\ton.\t8\n")
    names = ("a.tsv", "org/one", "data/a.tsv", "0123456789abcdef", "en")
    listed = tmp_path / "list.tsv"
    rows = [
        (*names, "", "pairs", "1", ""),
        (*names, "", "pairs", "2", ""),
        (*names, "", "ratings", "1", ""),
        (*names, "", "", "", "half a file"),
        ("b.tsv", "org/two", "b.tsv", "fedcba9876543210", "en", "", "", "", "no sentences"),
        ("c.tsv", *names[1:], "annotate import", "answers", "4", ""),
        ("d.tsv", *names[1:], "analyze reading-times", "words with measures", "2", ""),
    ]
    listed.write_text(HEADER + "".join("\t".join(row) + "\n" for row in rows), "utf-8")
    print_published(folder, listed)
    counts, _, _, _, *lines = capsys.readouterr().out.splitlines()
    assert counts == (
        "Of 7 files from 2 repositories, 3 are read rightly without an edit (1 by `suites check`,"
        " 1 by `annotate import`, 1 by `analyze reading-times`), 2 wrongly; 1 are read with a"
        " remark, and 1 are refused."
    )
    verdicts = [("**wrong**" in line, "refused" in line) for line in lines]
    wrong, refused, neither = (True, False), (False, True), (False, False)
    assert verdicts == [neither, wrong, wrong, neither, refused, neither, neither]
    assert "| `org/one` | `data/a.tsv` | `0123456789` | `suites check` | pairs | 1 |" in lines[0]
