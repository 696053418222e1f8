"""The results of a survey: its answers as a table, their scale, filters, agreement and models."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from nicegui import ui

from cimento.app.about_people import SUFFIX as ABOUT
from cimento.app.about_people import read_told
from cimento.app.answer_files import AnswerFiles
from cimento.app.answer_remarks import show_remark
from cimento.app.answer_tables import (
    NO_LABELS,
    Beyond,
    alpha_title,
    beyond_in,
    condition_shown,
    named_by_labels,
    scale_of_alpha,
    shown_apart,
)
from cimento.app.beside import Asked, BesideModels
from cimento.app.choice_shares import (
    options_about,
    show_accepted,
    show_overall,
    show_shares,
)
from cimento.app.correcting import kept
from cimento.app.exclusions import ExclusionForm, Filtered, show_logged
from cimento.app.fillers import offer_without
from cimento.app.findings import button
from cimento.app.frame import CommandLine, Text, Visit, file_choice, guarded, heading
from cimento.app.incoming import asked_in, read_upload, remarks_on
from cimento.app.label_shares import label_shares, show_label_shares
from cimento.app.labels import (
    in_words,
    label_tables,
    labels_about,
    labels_asked,
    show_label_tables,
)
from cimento.app.parts import ends, table
from cimento.app.rated import WordsForm, in_numbers, ratings_of, words_of
from cimento.app.scales import INVERTED, ScaleChoice, ScaleForm, scale_of
from cimento.app.sentence_means import people_without_z, sentence_means
from cimento.app.times import ReadingTimes
from cimento.app.words import Words, reason_of, two_decimals
from cimento.app.workspace import JUDGMENTS, SECRET
from cimento.errors import InputError
from cimento.judgments import (
    NOT_OF_SUITE,
    Judgment,
    how_read,
    judgments_of,
    read_judgments,
    table_of,
    write_judgments,
)
from cimento.judgments.effects import SentenceShare, acceptance_shares, sentence_shares
from cimento.judgments.filters import ExclusionRules, logged_rules, write_filtered
from cimento.judgments.summaries import QuestionSummary, summarize
from cimento.people.surveys import DATABASE, read_design
from cimento.people.surveys.administration import write_results

if TYPE_CHECKING:
    from nicegui.events import UploadEventArguments

_IN_WORDS, _KEPT, _TEST = "-words", "-kept", "-test"
"""The ends of names of tables: ratings still words, what rules have left, and without fillers."""


class Results:
    """The results of one survey, or of a form of one's own.

    Args:
        visit: what the page is built for.
        name: of the survey or the form, which begins the names of its tables.
        survey: the survey's folder; None for a form, whose answers are read already.
    """

    def __init__(self, visit: Visit, name: str, survey: Path | None) -> None:
        self._visit, self._say, self._name, self._survey = visit, visit.say, name, survey
        self._design = None if survey is None else read_design(survey)
        self._judgments: list[Judgment] = []
        self._labels = (
            NO_LABELS if self._design is None else in_words(labels_asked(self._design), self._say)
        )
        self._place = self._table(name)
        self._kept = self._place
        self._scale: ScaleForm | None = None

    def _table(self, name: str) -> Path:
        """The place of a judgments table in the workspace.

        Raises:
            UsageError: it is behind a link.
        """
        return self._visit.workspace.inside(f"{JUDGMENTS}/{name}.parquet")

    def build(self) -> None:
        """Build the part of the page in the place where it is called."""
        say, visit = self._say, self._visit
        command: list[str] = []
        if self._survey is not None:
            Text(say("people.results-what"))
            fetch = guarded(visit, partial(self._fetch, self._survey))
            button(say("people.fetch"), fetch, icon="table_view")
            command = [
                "annotate", "serve", "export", visit.workspace.name_of(self._survey),
                "-o", visit.workspace.name_of(self._place),
            ]  # fmt: skip
        self._command = CommandLine(visit)
        self._command.show(command, whole=bool(command))
        if self._survey is not None:
            Text(say("people.import-what"))
            file_choice(visit, partial(self._import, self._survey))
        self._earlier = ui.element("div").classes("tools")
        self._build_earlier()
        self._summary = ui.element("div").props("aria-live=polite").mark("summary")
        self._more = ui.element("div")
        self._more.set_visibility(False)
        with self._more:
            self._exclusions = ExclusionForm(visit, self._filter, self._everybody)
            self._exclusions.build()
            self._times = self._build_times()
            if self._times is None:
                BesideModels(
                    visit, self._design,
                    asked=lambda: Asked(
                        self._judgments, self._kept, self._called(self._kept.stem), self._labels
                    ),
                    settle=self._settle,
                ).build()  # fmt: skip

    def _build_times(self) -> ReadingTimes | None:
        """The part about the times of words, of a survey that has any."""
        if self._survey is None or self._design is None or not self._design.is_timed:
            return None
        times = ReadingTimes(self._visit, self._survey, self._design)
        times.build()
        return times

    def _build_earlier(self) -> None:
        """The tables that were made of answers from elsewhere, or by rules, to be opened again."""
        parts = self._visit.workspace.judgments_of(self._name)
        tables = [path for path in parts if path.suffix == ".parquet"]
        others = [path for path in tables if path.stem != self._name]
        self._earlier.clear()
        with self._earlier:
            if others:
                Text(self._say("people.earlier"))
            for path in others:
                shown = button(
                    self._called(path.stem), guarded(self._visit, partial(self.take, path))
                )
                shown.mark(f"table {path.stem}")

    def _called(self, stem: str) -> str:
        """What a table is called, with its ending in words of the page."""
        for ending in (_IN_WORDS, _KEPT, _TEST):
            if stem.endswith(ending):
                return self._say(f"people.table{ending}", name=stem.removesuffix(ending))
        return stem

    async def _fetch(self, survey: Path) -> None:
        """Write the answers so far as the judgments table, and describe them."""
        place = self._table(self._name)
        self._visit.workspace.plain(survey)
        database = survey / DATABASE  # made when the survey is first opened
        written = (
            await asyncio.to_thread(write_results, database, place) if database.is_file() else 0
        )
        if not written:
            raise InputError(where=self._name, seen=self._say("people.no-answers"))
        await self.take(place)

    async def _import(self, survey: Path, event: UploadEventArguments) -> None:
        """Read answers to the survey from another program, and describe them."""
        name, data = PurePath(event.file.name).name, await event.file.read()
        place = self._table(f"{self._name}-{PurePath(name).stem}")
        secret = self._visit.workspace.inside(f"{JUDGMENTS}/{self._name}{SECRET}")
        asked = asked_in(self._design or read_design(survey))
        came = await asyncio.to_thread(read_upload, name, data, asked=asked, secret=secret)
        if came is None:
            raise InputError(where=name, seen=self._say("people.import-unclear"))
        await asyncio.to_thread(_write, came.judgments, place, remarks_on(came))
        await self.take(place)

    async def take(self, place: Path) -> None:
        """Go on with a judgments table.

        Args:
            place: of the table.
        """
        self._place = place
        self._use(place, await asyncio.to_thread(_read, place))
        rules = await asyncio.to_thread(logged_rules, place)
        before = self._other() if rules and self._is_kept() else None
        whole = await asyncio.to_thread(_read, before) if before else self._judgments
        self._exclusions.take(self._judgments, rules, whole)
        self._build_earlier()
        await self._describe()

    async def forget(self) -> None:
        """Look again at what is shown, from which somebody's answers may have been deleted."""
        self._build_earlier()
        if self._place.is_file() and self._judgments:
            await self.take(self._place)
        else:
            self._judgments = []
            self._summary.clear()
            self._more.set_visibility(False)

    def _use(self, place: Path, judgments: list[Judgment]) -> None:
        """Go on with some judgments, which are in a table."""
        self._kept, self._judgments = place, judgments
        if self._times is not None:
            self._times.take(judgments, self._visit.workspace.name_of(place))

    async def _describe(self) -> None:
        """The answers: how many and how read, their scale, the questions, and the sentences."""
        words, numbers = words_of(self._judgments), ratings_of(self._judgments)
        only_words = bool(words) and not numbers
        self._more.set_visibility(not only_words)
        remarks = await asyncio.to_thread(how_read, self._kept)
        beyond = await asyncio.to_thread(self._beyond)
        if self._design is None:
            found = await labels_about(self._visit, self._judgments)
            self._labels = in_words(found, self._say)
        summaries = () if only_words else await asyncio.to_thread(summarize, self._of_items())
        by_label = await asyncio.to_thread(label_tables, self._judgments, self._labels, self._say)
        by_group = await asyncio.to_thread(label_shares, self._judgments, self._labels)
        shares = await self._shares()
        self._scale = None
        self._summary.clear()
        with self._summary:
            self._build_counts()
            show_logged(self._kept, self._say)
            self._build_other()
            for remark in remarks.splitlines():
                show_remark(remark, self._say)
            if words:
                WordsForm(self._visit, words, self._number, is_all=only_words).build()
            if only_words:
                return
            if numbers and self._survey is None and self._build_scale(remarks).waits:
                self._more.set_visibility(False)  # no mean before it is known which ratings count
                return
            offer_without(self._visit, self._judgments, self._labels, self._leave)
            AnswerFiles(
                name=self._called(self._kept.stem), judgments=self._judgments,
                labels=self._labels, design=self._design, beyond=beyond, by_label=by_label,
                shares=shares, by_group=by_group,
            ).build(self._visit)  # fmt: skip
            self._build_questions(summaries)
            show_overall(named_by_labels(self._judgments, self._labels)[0], self._say)
            show_label_tables(by_label, self._say)
            show_label_shares(by_group, self._say)
            self._build_means()
            show_shares(shares, self._labels, self._say)
            named, labels = named_by_labels(self._judgments, self._labels)
            show_accepted(acceptance_shares(named), labels, self._say)

    def _build_scale(self, remarks: str) -> ScaleForm:
        """The scale of the ratings in numbers, to be confirmed."""
        file = kept(self._table(self._name))
        is_open = file is not None and scale_of(self._judgments) is None
        self._scale = ScaleForm(
            self._visit, self._judgments, self._keep_scale,
            file.rows_of if file else lambda _: (),
            named=file.scale_named(ratings_of(self._judgments)) if file and is_open else None,
            is_inverted=INVERTED.partition(":")[0] in remarks,
        )  # fmt: skip
        self._scale.build()
        return self._scale

    def _other(self) -> Path | None:
        """The table of everybody where rules have left the one that is shown, or the other way."""
        stem = self._kept.stem
        is_kept = self._is_kept()
        other = self._table(stem.removesuffix(_KEPT) if is_kept else f"{stem}{_KEPT}")
        return other if other in self._visit.workspace.judgments_of(self._name) else None

    def _is_kept(self) -> bool:
        """Whether rules have left the table that is shown; a form may itself be called so."""
        return self._kept.stem != self._name and self._kept.stem.endswith(_KEPT)

    def _build_other(self) -> None:
        """A way from the answers of everybody to those that rules have left, and back."""
        say, other = self._say, self._other()
        if other is None:
            return
        if self._is_kept():
            back = guarded(self._visit, partial(self.take, other))
            button(say("people.everybody"), back, icon="undo")
            return
        counts = [
            len({one.annotator for one in these}) for these in (self._judgments, _read(other))
        ]
        with ui.element("div").classes("mend").mark("kept-too"):
            Text(say("people.kept-too", count=counts[0], left=counts[1]))
            button(self._called(other.stem), guarded(self._visit, partial(self.take, other)))

    async def _everybody(self) -> bool:
        """Show the answers of everybody again, if rules have left those that are shown."""
        other = self._other() if self._is_kept() else None
        if other is not None:
            await self.take(other)
        return other is not None

    def _build_counts(self) -> None:
        """How many answers there are, and to what."""
        say, n_checks = self._say, sum(one.is_check for one in self._judgments)
        people = {one.annotator for one in self._judgments}
        n_test = say.number(len(self._judgments) - n_checks)
        parts = [say("people.fetched", count=say.number(len(self._judgments)), people=len(people))]
        if n_checks:
            parts.append(say("people.of-these", test=n_test, checks=say.number(n_checks)))
        Text(" ".join(parts)).mark("counts")
        if self._design is not None and any(
            one.kind in NOT_OF_SUITE for one in self._design.questions
        ):
            Text(say("people.not-of-test")).classes("small")

    def _build_questions(self, summaries: Sequence[QuestionSummary]) -> None:
        """The questions with their means and agreement."""
        names = ["question", "participants", "places", "judgments"]
        has_means = any(summary.mean is not None for summary in summaries)
        if has_means:
            names += ["mean-of-means", "sd"]
        several = len({*map(scale_of_alpha, summaries)}) > 1
        rows = [
            _summary_row(summary, self._say, with_scale=several, with_means=has_means)
            for summary in summaries
        ]
        if rows:  # times answer no question
            titles = [self._say(f"people.of-{name}") for name in names]
            table([*titles, alpha_title(summaries, self._say)], rows)
        if any(summary.alpha.low is not None for summary in summaries):
            Text(self._say("people.alpha-over")).classes("small")
        for summary in summaries:
            self._build_alpha_base(summary, several=len(summaries) > 1)

    def _build_alpha_base(self, summary: QuestionSummary, *, several: bool) -> None:
        """What an alpha rests on, where not on all stimuli, and why it has no interval."""
        say, alpha = self._say, summary.alpha
        said_of = []
        if alpha.value is not None and alpha.items < summary.places:
            said_of.append(say("people.alpha-base", part=alpha.items, whole=summary.places))
        if alpha.value is not None and alpha.low is None:
            said_of.append(say("people.alpha-alone", reason=reason_of(alpha.reason, say)))
        if said_of:
            name = f"{say.named('question', summary.question)}: " if several else ""
            Text(name + " ".join(said_of)).classes("small")

    def _build_means(self) -> None:
        """The mean of each sentence, with its z-score."""
        say = self._say
        judgments, labels = named_by_labels(self._judgments, self._labels)
        means = sentence_means(judgments, self._design)
        if not means:
            return
        heading(say("people.means"), level=3)
        places = [(one.suite, one.item, one.condition) for one in means]
        of = shown_apart(_OF_MEANS, labels.names, say)
        columns = {
            of["item"]: [one.item for one in means],
            of["condition"]: [condition_shown(one.condition, say) for one in means],
            of["sentence"]: [one.sentence for one in means],
            **labels.columns(places),
            of["judgments"]: [say.number(one.n) for one in means],
            of["mean"]: [two_decimals(one.mean, say) for one in means],
            of["sd-one"]: [two_decimals(one.sd, say) for one in means],
            of["z-n"]: [say.number(one.n_z) for one in means],
            of["z"]: [two_decimals(one.z, say) for one in means],
        }
        if len({one.condition for one in means}) == 1:
            del columns[of["condition"]]
        if all(one.n_z == one.n for one in means):
            del columns[of["z-n"]]
        table([*columns], [[*row] for row in zip(*columns.values(), strict=True)])
        Text(say("people.z-what")).classes("small")
        if alike := people_without_z(self._judgments):
            count = say.number(len(alike))
            Text(say("people.z-none", count=count, people=", ".join(alike))).mark("no-z")

    def _of_items(self) -> Sequence[Judgment]:
        """The answers, of a form's ratings by the author's own items, which count together."""
        if self._design is not None or not ratings_of(self._judgments):
            return self._judgments
        return named_by_labels(self._judgments, self._labels)[0]

    async def _shares(self) -> list[SentenceShare]:
        """How often each sentence was chosen, with those that nobody chose where it is known."""
        options = await options_about(self._visit, self._judgments, self._design)
        places = {place: number for number, place in enumerate(options)}
        shares = sentence_shares(self._judgments, options)
        return sorted(shares, key=lambda one: places.get((one.suite, one.item), len(places)))

    def _beyond(self) -> Beyond:
        """What was asked beyond the suite, of the people whose answers are shown."""
        if self._survey is None or self._design is None:
            return read_told(
                self._visit.workspace.inside(f"{JUDGMENTS}/{self._name}{ABOUT}"), self._judgments
            )
        return beyond_in(self._survey / DATABASE, self._design, self._judgments)

    async def _number(self, numbers: Mapping[str, float]) -> None:
        """Put numbers in place of the words of ratings; the table with the words stays too."""
        remarks = await asyncio.to_thread(how_read, self._kept)
        stem = self._kept.stem
        if stem != self._name:  # which may end so itself
            stem = stem.removesuffix(_IN_WORDS)
        words = self._table(f"{stem}{_IN_WORDS}")
        if self._kept != words:
            await asyncio.to_thread(_write, self._judgments, words, remarks.splitlines())
        # Nobody may have chosen an end of the scale, which is then asked for.
        numbered = in_numbers(self._judgments, numbers)
        listed = ", ".join(f'"{word}" = {number:g}' for word, number in numbers.items())
        said = [*remarks.splitlines(), f"Words of ratings are numbers: {listed}."]
        target = self._table(stem)
        await asyncio.to_thread(_write, numbered, target, said)
        await self.take(target)

    async def _keep_scale(self, choice: ScaleChoice) -> None:
        """Keep what somebody says of the scale with the answers.

        Rules then leave people out of answers that are turned round, or fewer, too.
        """
        changes = choice.inverts or choice.leaves
        for place in {self._kept, *([self._place] if changes else [])}:
            await asyncio.to_thread(choice.keep, place)
        self._judgments = await asyncio.to_thread(_read, self._kept)
        await self._describe()

    async def _leave(self, rest: list[Judgment], said: str) -> None:
        """Go on without fillers, in a table of its own."""
        remarks = await asyncio.to_thread(how_read, self._kept)
        target = self._table(f"{self._kept.stem}{_TEST}")
        await asyncio.to_thread(_write, rest, target, [*remarks.splitlines(), said])
        await self.take(target)

    async def _settle(self) -> None:
        """Keep the scale that was typed; an error where it is needed and unknown."""
        if self._scale is not None and scale_of(self._judgments) is None:
            await self._scale.keep()

    async def _filter(self, rules: ExclusionRules, options: Sequence[str]) -> Filtered:
        """Leave people out by rules, with a log beside the table that is left."""
        output = self._table(f"{self._place.stem}{_KEPT}")
        whole = await asyncio.to_thread(_read, self._place)
        filtered, _ = await asyncio.to_thread(
            write_filtered, whole, rules, output, source=self._place, by=""
        )
        self._use(output, list(filtered.judgments))
        inner = self._visit.workspace.name_of
        self._command.show(
            ["annotate", "filter", inner(self._place), "-o", inner(output), *options]
        )
        self._build_earlier()
        await self._describe()
        return filtered, whole


_OF_MEANS = ("item", "condition", "sentence", "judgments", "mean", "sd-one", "z-n", "z")


def _read(path: Path) -> list[Judgment]:
    return judgments_of(read_judgments(path))


def _write(judgments: Sequence[Judgment], place: Path, remarks: Sequence[str]) -> None:
    write_judgments(table_of(judgments), place, read="\n".join(remarks))


def _summary_row(
    summary: QuestionSummary, say: Words, *, with_scale: bool, with_means: bool
) -> list[str]:
    alpha = summary.alpha
    shown = two_decimals(alpha.value, say) or reason_of(alpha.reason, say)
    if alpha.value is not None:
        scale = f"({say(f'people.alpha-scale-{scale_of_alpha(summary)}')})" if with_scale else ""
        shown = " ".join(filter(None, (shown, ends(alpha.low, alpha.high, say), scale)))
    means = [two_decimals(summary.mean, say), two_decimals(summary.sd, say)]
    return [
        say.named("question", summary.question), str(summary.people), str(summary.places),
        str(summary.judgments), *(means if with_means else ()), shown,
    ]  # fmt: skip
