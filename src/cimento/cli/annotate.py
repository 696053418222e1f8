"""``cimento annotate``: dialogues, surveys and pages; one file for each in ``cli/annotating``."""

from __future__ import annotations

import typer

from cimento.cli.annotating import (
    adjudicating,
    applying,
    candidates,
    filtering,
    importing,
    pairs,
    review,
    serve,
    stories,
    survey,
)

app = typer.Typer(
    help="Let people judge and write: terminal, surveys, browser.", no_args_is_help=True
)
app.command("candidates", short_help="Judge what models put into blanks.")(candidates.candidates)
app.command("pairs", short_help="Decide what each drawn sentence becomes.")(pairs.pairs)
app.command("stories", short_help="Write stories down, field by field.")(stories.stories)
app.command("second", short_help="Judge stories blind.")(stories.second)
app.command("agreement", short_help="How far a second annotator agrees.")(stories.agreement)
app.add_typer(review.app, name="review", short_help="To a native speaker and back.")
app.command("import", short_help="Answers of people into the judgments table.")(
    importing.import_answers
)
app.command("pseudonym", short_help="Of somebody who asks for deletion.")(importing.pseudonym_of)
app.command("filter", short_help="Leave participants out, in the open.")(filtering.filter_answers)
app.add_typer(survey.app, name="survey", short_help="Make surveys out of suites.")
app.add_typer(serve.app, name="serve", short_help="Ask people in a browser.")
app.command("apply", short_help="Answers of people into a copy of the suite.")(
    applying.apply_answers
)
app.command("adjudicate", short_help="Decide where two annotators differ.")(adjudicating.adjudicate)
