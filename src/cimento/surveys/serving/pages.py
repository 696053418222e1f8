"""What people see: pages made on the server, which need no script."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cimento.surveys.design import Design
from cimento.surveys.exports.pages import environment
from cimento.surveys.serving.security import sign
from cimento.surveys.serving.storage import Participant
from cimento.surveys.wording import Words, words

if TYPE_CHECKING:
    from starlette.responses import HTMLResponse

LONGEST_REMARK = 2000


@dataclass(frozen=True, slots=True)
class Shown:
    """What a question's page shows besides the question.

    Attributes:
        values: what was answered before, by field.
        remark: what was added to it.
        missing: whether something has to be answered before going on.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    remark: str = ""
    missing: bool = False


class Pages:
    """The pages of one design.

    Args:
        design: what is asked.
        key: forms are signed with it.
    """

    def __init__(self, design: Design, key: bytes) -> None:
        self._design = design
        self._key = key
        self._words: Words = words(design.language)

    def consent(self, token: str) -> HTMLResponse:
        """The page on which people agree or do not."""
        form = sign(self._key, "consent", token)
        return self._page("consent.html", token=token, form=form)

    def guidelines(self, token: str, *, position: int) -> HTMLResponse:
        """What to do, and where to begin or to go on."""
        return self._page("guidelines.html", token=token, position=position)

    def question(
        self, token: str, person: Participant, position: int, shown: Shown
    ) -> HTMLResponse:
        """One question."""
        questions = self._design.by_survey[person.survey]
        question = questions[position - 1]
        fields = self._design.fields_of(question)
        moment = f"{time.time():.3f}"
        return self._page(
            "question.html",
            status=422 if shown.missing else 200,
            token=token,
            question=question,
            fields=fields,
            opens=next((each.when for each in fields if each.when), ""),
            position=position,
            total=len(questions),
            shown=shown,
            moment=moment,
            form=sign(self._key, "answer", token, question.id, moment),
            longest_remark=LONGEST_REMARK,
        )

    def done(self, token: str, person: Participant) -> HTMLResponse:
        """The last page, with the participant's code."""
        total = len(self._design.by_survey[person.survey])
        return self._page("done.html", token=token, person=person, total=total)

    def notice(self, name: str, *, status: int) -> HTMLResponse:
        """A page that says one thing, such as that a link is unknown."""
        return self._page("notice.html", status=status, name=name)

    def _page(self, template: str, *, status: int = 200, **values: object) -> HTMLResponse:
        from starlette.responses import HTMLResponse

        html = environment().get_template(template).render(
            design=self._design, words=self._words, **values
        )  # fmt: skip
        return HTMLResponse(html, status_code=status)
