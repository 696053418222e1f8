"""What "equal to the last printed digit" means, in every study."""

from __future__ import annotations

import pytest

from cimento.studies import as_long_as, equals_printed, same_decimals


@pytest.mark.parametrize(
    ("computed", "printed", "equal"),
    [
        # each p was once accepted within 1%
        (4.71931e-14, "4.71871e-14", False),
        (8.14755e-13, "8.14749e-13", False),
        (0.999999, "1", True),
        (0.999999, "1.000000", False),
        (0.9999995, "1.000000", True),
        (0.01004, "0.01", True),
        (0.0151, "0.01", False),
        # half a unit is inside, whichever way halves are rounded
        (2.25, "2.2", True),
        (2.25, "2.3", True),
        (2.2500001, "2.2", False),
        (-2.3501, "-2.3", False),
        (72, "72", True),
        (72.51, "72", False),
        # a sum in another order, of a number with all digits of the machine
        (4.644074247141046, "4.644074247141063", True),
        (4.6440742472, "4.644074247141063", False),
        (0.0, "-2.325413e-13", False),
    ],
)
def test_equal_is_half_a_unit_of_the_last_printed_digit(computed, printed, equal):
    assert equals_printed(computed, printed) is equal


def test_zeros_that_a_spreadsheet_dropped_count_as_printed():
    assert same_decimals(["0.94", "0.828947", "1", ""]) == ["0.940000", "0.828947", "1.000000", ""]
    assert same_decimals(["91", "72"]) == ["91", "72"]
    assert same_decimals([]) == []


@pytest.mark.parametrize(
    ("computed", "printed", "shown"),
    [(86.125, "86.1", "86.12"), (4.71931e-14, "4.7e-14", "4.72e-14"), (53.0, "53", "53.0")],
)
def test_a_computed_number_has_one_digit_more_than_the_printed(computed, printed, shown):
    assert as_long_as(computed, printed) == shown


def test_numbers_that_a_damaged_file_makes_too_long_stay_as_they_are():
    long = "9" * 40
    assert same_decimals(["0.1", "1e30", long, "0e-999999"]) == ["0.1", "1e30", long, "0e-999999"]
