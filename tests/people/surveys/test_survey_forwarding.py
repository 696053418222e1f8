"""What a request says of having been passed on, where no web server is in front."""

from __future__ import annotations

from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from tests.helpers.survey_help import database, design, serving

pytest.importorskip("starlette.testclient")

__all__ = ["database", "design"]


def test_what_says_it_was_passed_on_has_no_more_attempts(design, database):
    """Whoever reaches the port cannot pretend to be many behind a web server that is not there."""
    with serving(design, database) as address:
        codes = []
        for number in range(15):
            form = urlencode({"secret": str(number)}).encode()
            headers = {"X-Forwarded-For": f"203.0.113.{number}"}
            request = Request(f"{address}/admin/login", form, headers)  # noqa: S310  # this machine
            with pytest.raises(HTTPError) as refused:
                urlopen(request)  # noqa: S310  # as above
            codes.append(refused.value.code)
            refused.value.close()
    assert codes[0] == 403
    assert codes[-1] == 429
