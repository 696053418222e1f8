"""The paradigm of judgments by prompt: which of two is better, is it acceptable, how good is it?

What a model answers about sentences is another thing than how probable it finds them, and the two
often disagree (Hu and Levy 2023, doi:10.48550/arXiv.2305.13264). So these suites have names,
questions and runs of their own; `cimento compare` puts them beside runs by probability as two ways
of asking. A suite is one of sentences, pairs or rated ones, whose ``kind`` is ``prompted``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cimento.errors import UsageError
from cimento.paradigms import (
    Answers,
    Asker,
    Choose,
    Dialogue,
    Estimate,
    Grid,
    Judge,
    Judgment,
    MethodFacts,
    Paradigm,
    PlainPresenter,
    Reply,
    Requests,
    Restatement,
    Suite,
    SuiteReader,
    SuiteReading,
    TableSettings,
    against_ratings,
    counted,
    find_format,
    on_terminal,
    outcomes_table,
    requests_table,
    write_prompt,
)
from cimento.paradigms.prompted.estimates import prompted_estimates
from cimento.paradigms.prompted.judging import (
    answers_of,
    asked_questions,
    model_judgments,
    prompted_outcomes,
    question_of,
    unread,
)
from cimento.paradigms.prompted.prompts import (
    KIND,
    Form,
    PromptedOptions,
    judgment_wording,
    prompts_of,
    rivals_of,
    source_name,
)
from cimento.paradigms.prompted.sections import answers_grid, prompted_grids, prompted_sections
from cimento.paradigms.ratings import RATINGS
from cimento.paradigms.regions import predictions_of_pairs

if TYPE_CHECKING:
    import polars as pl

    from cimento.paradigms import AskedModel, Asking, Run, SuiteReport

NOT_PROBABILITIES = (
    "these are answers to prompts about sentences (metalinguistic judgments), not probabilities of"
    " the sentences: cimento compare puts the two side by side as two ways of asking"
)

_CANNOT_REPLY = (
    "; a model that only continues texts is asked for the probabilities of the answers: --set"
    " answer=loglik"
)
_SHOWN = 30
_ASKED: Mapping[Form, str] = {
    "choice": "was shown the two sentences of each pair and asked which of them was better",
    "yesno": "was shown each sentence and asked whether it was acceptable",
    "rating": "was shown each sentence and asked how acceptable it was, on a scale from 1 to"
    " {points}",
}
_JUDGED: Mapping[Form, str] = {
    "choice": "A pair counts as right if more than half of the answers name the better sentence.",
    "yesno": "A pair counts as right if its better sentence is said to be acceptable more often.",
    "rating": "A pair counts as right if its better sentence is rated higher on average.",
}
_BALANCED: Mapping[str, str] = {
    "latin": "every wording and every pair of answers once for each item, in a Latin square over"
    " items",
    "full": "every wording with every pair of answers",
    "rotated": "one wording with one pair of answers for each item, rotating over items",
}


class PromptedReader(SuiteReader[Suite]):
    """The reader of suites that are asked about in words: those of rated sentences."""

    files = staticmethod(RATINGS.reader.files)
    write = staticmethod(RATINGS.reader.write)
    check = staticmethod(RATINGS.reader.check)
    holds = staticmethod(RATINGS.reader.holds)
    groups = staticmethod(RATINGS.reader.groups)
    selected = staticmethod(RATINGS.reader.selected)
    sentences = staticmethod(RATINGS.reader.sentences)

    def read(self, path: Path) -> SuiteReading[Suite]:
        """A folder of the kind, read as one of rated sentences is, and every fault of it.

        Raises:
            InputError: it cannot be read, or a rating or the scale is not what it should be.
        """
        return RATINGS.reader.read(path)

    def owns(self, suite: object) -> bool:
        """Whether a suite made in Python declares this kind."""
        return isinstance(suite, Suite) and suite.extra.get("kind") == KIND


class PromptedAsker(Asker[Suite, PromptedOptions]):
    """The asker of forced choices, of yes or no, and of ratings."""

    def requests(
        self,
        suite: Suite,
        options: PromptedOptions,
        *,
        scoring: Asking,  # noqa: ARG002  # prompts are not texts to be scored
        model: AskedModel,
        answers: Answers,
    ) -> Requests | None:
        """One round: every pair or sentence in each cell of the design.

        Raises:
            UsageError: the suite says of no two sentences which is the better one, or points are
                given where nothing is rated.
            ModelError: the model's chat template cannot render a prompt.
        """
        if answers.n:
            return None
        forms = options.forms_of(suite)
        if "rating" not in forms:
            options.refuse_points(" and ".join(forms))
        prompting = options.prompting
        # Servers list the most probable tokens of what they write in a chat.
        prompt_format = find_format(model, replace(prompting, answer="generate"))
        is_listed = prompt_format.remote and options.answer == "loglik"
        numbers: dict[str, int] = {}
        requests: list[Choose | Reply] = []
        places: list[tuple[int, str, str, str]] = []
        for prompt in prompts_of(suite, options):
            parts = Dialogue(prompt.instruction, "\n\n", (), prompt.body)
            written = write_prompt(parts, prompt.answers, prompting, prompt_format)
            number = numbers.setdefault(prompt.asked, len(numbers))
            if number == len(requests):
                listed = Choose(prompt="", options=prompt.answers, messages=written.messages)
                requests.append(listed if is_listed else written.request(prompting))
            places.append((number, prompt.item, prompt.place, written.shown))
        return Requests(asked=requests, places=requests_table(suite.name, places))


class PromptedJudge(Judge["Run"]):
    """The judge of what a model says about sentences."""

    clustered = staticmethod(RATINGS.judge.clustered)

    def outcomes(self, run: Run) -> pl.DataFrame:
        """Pairs pass, fail or tie over the design; sentences are beside the mean of people.

        Raises:
            TableError: the run was asked by another version's design or wordings.
        """
        suite = cast("Suite", run.suite)
        outcomes = prompted_outcomes(suite, _options(run), asked_questions(answers_of(run)))
        return outcomes_table(suite.name, outcomes)

    def estimates(self, run: Run) -> Sequence[Estimate]:
        """Rates, sensitivity, biases, and what the answers have to do with people's."""
        return prompted_estimates(run)

    def restated(self, run: Run) -> Restatement:
        """The predictions that each question about pairs asks again, in words.

        A question about single sentences asks again whatever sums up the other run.
        """
        suite, options = cast("Suite", run.suite), _options(run)
        target, rivals = rivals_of(suite)
        alone = predictions_of_pairs(suite) if suite.predictions else {}
        questions = {
            question_of(form, rivals, rival, target): alone.get((target, rival), "")
            for form in options.forms_of(suite)
            for rival in rivals or ("",)
        }
        return Restatement(suite=source_name(suite), questions=questions)

    def judgments(self, run: Run) -> Sequence[Judgment]:
        """The answer to each sentence or pair; see `model_judgments`."""
        return model_judgments(run)


class PromptedPresenter(PlainPresenter[Suite]):
    """The presenter of judgments by prompt."""

    tables = ("answers",)

    describe = staticmethod(RATINGS.presenter.describe)
    record = staticmethod(RATINGS.presenter.record)

    def methods(self, run: Run) -> MethodFacts:
        """The methods by which answers were asked for and read, which are not probabilities."""
        suite, options = cast("Suite", run.suite), _options(run)
        forms = options.forms_of(suite)
        wording = judgment_wording(options.language or suite.meta.language)
        brief = [
            f"The model {_ASKED[form].format(points=options.points)}."
            + (f" {_JUDGED[form]}" if suite.predictions else "")
            for form in forms
        ]
        shares = (
            "The probabilities of the possible answers after the prompt were compared."
            if options.answer == "loglik"
            else "Replies that were not just an answer were left out, with the reply to the same"
            f" prompt in the other order ({len(unread(run)) or 'there were none'})."
        )
        design = (
            f"Prompts were counterbalanced: {_BALANCED[options.balance]} (seed {options.seed}),"
            " always with either order, and answers were averaged over the prompts of an item."
        )
        detected = (
            "Sensitivity (d') and bias (c) are those of signal detection [@macmillan2005], with"
            " log-linear rates [@hautus1995]."
        )
        signal = (detected,) if set(forms) - {"rating"} else ()
        prompts = f"The prompts were {wording['id']}, version {wording['version']}."
        last = "Such metalinguistic judgments are not probabilities of the sentences [@hu2023]."
        said = (*brief, design, prompts, shares, *signal, last)
        n = run.outcomes()["item"].n_unique()
        is_pairs = bool(suite.predictions)
        return MethodFacts(
            counted=counted(n, "pair" if is_pairs else "sentence"),
            sentences=said,
            brief=said,
            one_by_one=True,
        )

    def warnings(self, run: Run) -> Sequence[str]:
        """Notes on what the numbers are, and the number of replies that could not be read."""
        # Answers say the same of a sentence as people do: that it is better.
        people = (one for one in run.estimates() if one.statistic == "spearman")
        opposite = filter(None, (against_ratings(people, positive=True),))
        return (NOT_PROBABILITIES, *_unclear(run), *opposite)

    def sections(self, runs: Sequence[Run]) -> Sequence[SuiteReport]:
        """The sections of a report, one for each suite."""
        return prompted_sections(runs)

    def text(self, runs: Sequence[Run], *, brief: bool = False) -> str:  # noqa: ARG002
        """Rates, sensitivity and bias, and what the answers have to do with people's."""
        notes = [f"{run.model}: {note}" for run in runs for note in run.warnings]
        grids = prompted_grids(runs, notes=notes)
        grids.pop("design", None)
        return "\n".join(on_terminal(grid) for grid in grids.values())

    def table(self, name: str, runs: Sequence[Run], settings: TableSettings) -> Grid:  # noqa: ARG002
        """The answer to every prompt; there are no other tables.

        Raises:
            UsageError: none of the runs asked by prompt.
        """
        if not runs:
            raise UsageError(
                where=f"--table {name}",
                seen="none of the runs is of a suite that asks by prompt",
                todo='Make one with cimento suites build prompted; see the page "Asking in words".',
            )
        return answers_grid(runs)


PROMPTED = Paradigm(
    name=KIND,
    options=PromptedOptions,
    reader=PromptedReader(),
    asker=PromptedAsker(),
    judge=PromptedJudge(),
    presenter=PromptedPresenter(),
)
"""The paradigm of judgments that a model is asked for in words."""


def _unclear(run: Run) -> Iterator[str]:
    """The number of replies that could not be read, with one of them."""
    lost = unread(run)
    if not lost:
        return
    reply, [first, *between, last] = lost[0].reply, lost[0].prompt.answers
    shown = reply if len(reply) <= _SHOWN else f"{reply[:_SHOWN]}..."
    labels = f"{first} {'to' if between else 'or'} {last}"
    unclear = counted(len(lost), "reply names", "replies name")
    note = f"{unclear} no answer and count neither way, such as {shown!r} to a prompt that asks"
    note += f" for {labels}"
    if run.outcomes()["value"].count() == 0 and _options(run).answer == "generate":
        note += _CANNOT_REPLY
    yield note


def _options(run: Run) -> PromptedOptions:
    return cast("PromptedOptions", run.options)
