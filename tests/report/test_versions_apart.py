"""Digits that tell versions of one suite apart."""

from cimento.documents import version_digits


def test_one_file_that_was_read_in_two_ways_is_shown_by_digests_of_one_kind():
    shown = version_digits([("c111aaaa", "f000bbbb"), ("c222aaaa", "f000bbbb")])
    assert shown == {"c111aaaa": "c111", "c222aaaa": "c222"}


def test_a_file_that_was_only_saved_again_keeps_its_first_digits():
    shown = version_digits([("c111aaaa", "f000bbbb"), ("c111aaaa", "f999bbbb"), ("c2", "")])
    assert shown == {"c111aaaa": "f000", "c2": "c2"}
