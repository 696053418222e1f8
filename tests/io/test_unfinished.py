"""Files that get their name when they are complete, and what killed processes leave of them."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading

import pytest

from cimento.errors import StorageError
from cimento.io.files import atomically, folder_atomically, write_text
from cimento.io.unfinished import remove_unfinished, unfinished

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_a_killed_process_left_is_used_again(tmp_path):
    (tmp_path / ".a.txt.unfinished").write_text("half of a much longer text")
    write_text("whole", tmp_path / "a.txt")
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "whole"


def test_a_folder_that_was_left_is_emptied_and_used_again(tmp_path):
    left = tmp_path / ".suite.unfinished"
    (left / "below").mkdir(parents=True)
    (left / "below" / "old").write_text("x")
    folder_atomically(tmp_path / "suite", lambda folder: (folder / "new").write_text("y"))
    assert names(tmp_path) == ["suite"]
    assert names(tmp_path / "suite") == ["new"]


def test_what_fails_leaves_nothing_and_the_old_file_stays(tmp_path):
    write_text("old", tmp_path / "a.txt")

    def fail(path):
        path.write_text("half")
        raise OSError("full")

    with pytest.raises(StorageError):
        atomically(tmp_path / "a.txt", fail)
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_two_writers_of_one_file_do_not_mix(tmp_path):
    """The second has a name of its own while the first still writes."""
    path = tmp_path / "a.txt"
    with unfinished(path) as first, unfinished(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
        second.replace(path)
        first.replace(path)
    assert path.read_text() == "first"
    assert names(tmp_path) == ["a.txt"]


def _write_often(path, letter):
    for _ in range(100):
        write_text(letter * 10_000, path)


def test_many_processes_and_threads_write_whole_files(tmp_path):
    path = tmp_path / "a.txt"
    context = multiprocessing.get_context("spawn")
    others = [context.Process(target=_write_often, args=(path, letter)) for letter in "ab"]
    others += [threading.Thread(target=_write_often, args=(path, letter)) for letter in "cd"]
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert [other.exitcode for other in others[:2]] == [0, 0]
    text = path.read_text()
    assert len(text) == 10_000
    assert len(set(text)) == 1
    assert names(tmp_path) == ["a.txt"]


def test_a_link_in_the_place_of_the_unfinished_file_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / ".a.txt.unfinished").symlink_to(victim)
    write_text("whole", tmp_path / "a.txt")
    assert victim.read_text() == "mine"
    assert (tmp_path / "a.txt").read_text() == "whole"


def test_a_file_with_another_name_too_is_not_written_into(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    os.link(victim, tmp_path / ".a.txt.unfinished")
    write_text("whole", tmp_path / "a.txt")
    assert victim.read_text() == "mine"


def test_only_what_nobody_writes_is_removed_and_only_files_of_ours(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / ".a.txt.unfinished").write_text("left")
    (tmp_path / ".b.txt.unfinished.0123abcd").write_text("left")
    (tmp_path / ".config.settings").write_text("mine")
    (tmp_path / "notes.unfinished").write_text("mine")
    with unfinished(tmp_path / "c.txt") as busy:
        remove_unfinished(tmp_path)
        assert busy.exists()
        assert names(tmp_path) == [".c.txt.unfinished", ".config.settings", "below",
                                   "notes.unfinished"]  # fmt: skip
    assert names(tmp_path / "below") == []
