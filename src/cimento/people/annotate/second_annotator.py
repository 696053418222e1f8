"""A second annotator beside the first: a person who reads only the sentences, or a model.

Stories are annotated a second time, blind to all but their sentences. A model is one more annotator
by its answers by prompt. Whether it can be in for a person is a question about agreement: does
alpha fall when its column is added, and does it agree with each person as people agree among
themselves?
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cimento.errors import InputError, UsageError, did_you_mean
from cimento.io.files import read_utf8, write_text
from cimento.io.parsing import parse_json
from cimento.judgments import SCALE, Judgment
from cimento.judgments.summaries import (
    EACH_ALONE,
    ItemClusters,
    QuestionKey,
    comparable_answer,
    is_rated,
    once,
    pair_agreement,
    place_design,
)
from cimento.kinds.run import open_run
from cimento.people.annotate.dialogue import DialogueField, FieldReading, RefusedError, Values
from cimento.statistics.agreement import Agreement, krippendorff_alpha
from cimento.statistics.design import Design
from cimento.suites.stories import (
    CONFLICT,
    STATE,
    STATES,
    STORY,
    TIERS,
    Story,
    Tier,
    pair_label,
)

MIN_SENTENCES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryJudgment:
    """A second annotator's judgment of a story.

    Attributes:
        row: of the story.
        annotator: who said it.
        plausible: whether it can happen.
        pair: the two sentences that conflict; empty for a plausible story.
        state: the state that explains it; empty for a plausible story.
        seconds: that it took.
    """

    row: int
    annotator: str
    plausible: bool
    pair: str = ""
    state: str = ""
    seconds: float = 0.0

    def label(self, tier: Tier) -> str | None:
        """The answer at a tier; None where the tier does not apply."""
        if tier == STORY:
            return json.dumps(self.plausible)
        return (self.pair if tier == CONFLICT else self.state) or None


@dataclass(frozen=True, slots=True, kw_only=True)
class TierAgreement:
    """The agreement of author and second annotator at one tier.

    Attributes:
        tier: which question.
        compared: stories that both answered.
        equal: those on which they agree.
        kappa: Cohen's, with its interval over triples.
        alpha: Krippendorff's, for nominal labels, with its interval over triples.
    """

    tier: Tier
    compared: int
    equal: int
    kappa: Agreement
    alpha: Agreement


def blind_fields(story: Story) -> tuple[DialogueField, ...]:
    """The fields that a second annotator fills in for a story."""
    n = len(story.sentences)
    return (
        DialogueField(name="plausible", question="plausible (y, n)", read=_read_yes),
        DialogueField(
            name="pair",
            question="conflicting sentences",
            read=lambda text, values: _read_pair(text, values, n),
            default=_nothing,
        ),
        DialogueField(name="state", question="physical state", read=_read_state, default=_nothing),
    )


def _nothing(values: Values) -> str | None:
    """The meaning of an empty line where a plausible story has no answer."""
    return "-" if values["plausible"] else None


def story_text(story: Story) -> str:
    """A story as the second annotator sees it: no id, no type, nothing but its sentences."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(story.sentences))


def blind_order(stories: Sequence[Story], *, seed: int) -> list[Story]:
    """The stories in mixed order, so that no variant is next to its plausible story."""
    mixed = list(stories)
    random.Random(seed).shuffle(mixed)  # noqa: S311  # keeps no secret
    return mixed


def judgment(values: Values, *, story: Story, annotator: str, seconds: float) -> StoryJudgment:
    """The record of a finished dialogue."""
    return StoryJudgment(
        row=story.row,
        annotator=annotator,
        plausible=values["plausible"],
        pair=values["pair"],
        state=values["state"],
        seconds=round(seconds, 1),
    )


def write_story_judgments(judgments: Sequence[StoryJudgment], path: Path) -> Path:
    """Write judgments, one a line.

    Raises:
        StorageError: the file cannot be written.
    """
    lines = (json.dumps(asdict(judged), ensure_ascii=False) for judged in judgments)
    return write_text("".join(f"{line}\n" for line in lines), path)


def read_story_judgments(path: Path, *, stories: Sequence[Story]) -> list[StoryJudgment]:
    """Read judgments.

    Raises:
        InputError: a line is none, or is about a story that is not there.
    """
    judgments = []
    for number, text in enumerate(read_utf8(path).split("\n"), start=1):
        if not text.strip():
            continue
        try:
            judged = _typed(StoryJudgment(**parse_json(text)))
        except (ValueError, TypeError) as error:
            raise InputError(
                where=f"{path}, line {number}", seen=f"is not a judgment ({error})"
            ) from error
        if not 0 <= judged.row < len(stories):
            raise InputError(
                where=f"{path}, line {number}",
                seen=f"there is no story in row {judged.row}",
                todo="Were these judgments made for another file?",
            )
        judgments.append(judged)
    return judgments


def story_agreement(
    stories: Sequence[Story], judgments: Sequence[StoryJudgment]
) -> list[TierAgreement]:
    """The agreement of the authors of stories with a second annotator, at each tier.

    At the later tiers only stories count that both hold to be implausible.
    """
    by_tier = []
    for tier in TIERS:
        answers = [
            (judged.row, (gold, label))
            for judged in judgments
            if (gold := _gold(stories[judged.row], tier)) and (label := judged.label(tier))
        ]
        design = Design(
            tuple(row for row, _ in answers), tuple(stories[row].story_id for row, _ in answers)
        )
        labels = [both for _, both in answers]
        pair = pair_agreement(labels, design, question=tier, first="author", second="second")
        by_tier.append(
            TierAgreement(
                tier=tier, compared=pair.n, equal=pair.equal, kappa=pair.kappa, alpha=pair.alpha
            )
        )
    return by_tier


def to_adjudicate(
    stories: Sequence[Story], judgments: Sequence[StoryJudgment]
) -> list[Mapping[str, object]]:
    """The disputed stories with both answers, for a third person to decide."""
    disputed: list[Mapping[str, object]] = []
    for judged in judgments:
        story = stories[judged.row]
        differing = {
            tier: {"author": _gold(story, tier), judged.annotator: judged.label(tier)}
            for tier in TIERS
            if _gold(story, tier) != judged.label(tier)
        }
        if differing:
            disputed.append(
                {
                    "row": judged.row,
                    "example_id": story.example_id,
                    "sentences": list(story.sentences),
                    "differing": differing,
                    "decision": None,
                }
            )
    return disputed


def _gold(story: Story, tier: Tier) -> str | None:
    """The author's label; the state that some files give a plausible story means nothing."""
    if tier == STATE and story.plausible:
        return None
    return story.gold(tier)


def _read_yes(typed: str, _values: Values) -> FieldReading:
    answers = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}
    if typed.lower() not in answers:
        raise RefusedError("Write y or n.")
    return FieldReading(answers[typed.lower()])


def _read_pair(typed: str, values: Values, n_sentences: int) -> FieldReading:
    if values.get("plausible"):
        return FieldReading("")
    numbers = sorted({int(part) for part in re.findall(r"\d+", typed)})
    if len(numbers) != MIN_SENTENCES or numbers[-1] >= n_sentences:
        raise RefusedError(f"Write two different numbers from 0 to {n_sentences - 1}.")
    return FieldReading(pair_label(*numbers))


def _read_state(typed: str, values: Values) -> FieldReading:
    if values.get("plausible"):
        return FieldReading("")
    if typed not in STATES:
        raise RefusedError(f"There is no state {typed!r}. {did_you_mean(typed, STATES)}")
    return FieldReading(typed)


def _typed(judgment: StoryJudgment) -> StoryJudgment:
    """The judgment, its values checked for their types.

    Raises:
        TypeError: one is not.
    """
    kinds: dict[str, tuple[type, ...]] = {
        "row": (int,), "annotator": (str,), "plausible": (bool,), "pair": (str,),
        "state": (str,), "seconds": (int, float),
    }  # fmt: skip
    for name, wanted in kinds.items():
        value = getattr(judgment, name)
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            raise TypeError(f"{name} is {value!r}")
    return judgment


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePair:
    """The agreement of a model with one person.

    Attributes:
        person: name of the person.
        n: places that both answered.
        alpha: Krippendorff's; of ratings with interval differences.
        equal: places with the same answer; None for ratings, where the model's is a mean.
        kappa: Cohen's; None for ratings, likewise.
    """

    person: str
    n: int
    alpha: Agreement
    equal: int | None
    kappa: Agreement | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAgreement:
    """One question, answered by people and by a model.

    Attributes:
        question: which.
        model: label of the model.
        people: people who answered it.
        places: sentences or pairs that the model and at least one person answered.
        without: Krippendorff's alpha of the people, over these places.
        with_judge: alpha of the people and the model, over the same places.
        pairs: the model with each named person, over the places that both answered.
        converted: the scale of the people to which the model's ratings were brought; empty where
            they were on it already.
    """

    question: str
    model: str
    people: int
    places: int
    without: Agreement
    with_judge: Agreement
    pairs: tuple[JudgePair, ...]
    converted: str = ""


def judge_agreements(
    people: Sequence[Judgment], folder: Path, *, clusters: ItemClusters = EACH_ALONE
) -> list[JudgeAgreement]:
    """The agreement of people with the model of a prompted run, for each question of both.

    Args:
        people: judgments of people.
        folder: folder of the run.
        clusters: what items belong to.

    Raises:
        UsageError: the run asked by no prompt, or about nothing that people answered.
        InputError: the run cannot be read.
    """
    run = open_run(folder)
    judge: Sequence[Judgment] | None = run.paradigm.judge.judgments(run)
    if judge is None:
        raise UsageError(
            where=f"--judge={folder}",
            seen=f"the run is of the kind {run.paradigm.name!r}, and gives no judgments in words",
            todo="Make a prompted suite of it (cimento suites build prompted), and run that.",
        )
    asked = {judgment.key for judgment in people if judgment.counts}
    questions = dict.fromkeys(j.question for j in judge if j.key in asked)
    if not questions:
        theirs = ", ".join(sorted({f"{j.question} of {j.suite}" for j in people if j.counts}))
        ours = ", ".join(sorted({f"{j.question} of {j.suite}" for j in judge})) or "nothing"
        raise UsageError(
            where=f"--judge={folder}",
            seen=f"people answered {theirs}, and the model {ours}",
            todo="Run the prompted suite with --set task=all, or give its judgments.",
        )
    return [_agreement(question, people, judge, run.model, clusters) for question in questions]


def _agreement(
    question: str,
    people: Sequence[Judgment],
    judge: Sequence[Judgment],
    model: str,
    clusters: ItemClusters,
) -> JudgeAgreement:
    asked = [j for j in once(people) if j.question == question and j.counts]
    scale = _scale_of(asked)
    model_scale = _scale_of([j for j in judge if j.question == question])
    answers = {
        j.key: _moved(comparable_answer(j), model_scale, scale)
        for j in judge
        if j.question == question
    }
    by_place: dict[QuestionKey, list[Hashable]] = {}
    by_person: dict[str, dict[QuestionKey, Hashable]] = {}
    for judgment in asked:
        answer = comparable_answer(judgment)
        if answer is not None and judgment.key in answers:
            by_place.setdefault(judgment.key, []).append(answer)
            if judgment.annotator is not None:
                by_person.setdefault(judgment.annotator, {})[judgment.key] = answer
    places, level = list(by_place), "interval" if is_rated(question) else "nominal"
    without, with_judge = (
        krippendorff_alpha(
            [[*by_place[place], *more(place)] for place in places],
            scale=level,
            design=place_design(places, clusters),
        )
        for more in (lambda _: (), lambda place: (answers[place],))
    )
    return JudgeAgreement(
        question=question,
        model=model,
        people=len(by_person) or max(map(len, by_place.values())),
        places=len(places),
        without=without,
        with_judge=with_judge,
        pairs=tuple(
            _pair(question, name, theirs, answers, model, clusters)
            for name, theirs in by_person.items()
        ),
        converted="" if scale in (None, model_scale) else f"{scale[0]:g} to {scale[1]:g}",
    )


def _pair(
    question: str,
    person: str,
    theirs: Mapping[QuestionKey, Hashable],
    answers: Mapping[QuestionKey, Hashable],
    model: str,
    clusters: ItemClusters,
) -> JudgePair:
    pairs = [(answer, answers[place]) for place, answer in theirs.items()]
    design = place_design(list(theirs), clusters)
    pair = pair_agreement(pairs, design, question=question, first=person, second=model)
    rated = is_rated(question)
    return JudgePair(
        person=person,
        n=pair.n,
        alpha=pair.alpha,
        equal=None if rated else pair.equal,
        kappa=None if rated else pair.kappa,
    )


def _scale_of(judgments: Sequence[Judgment]) -> tuple[float, float] | None:
    """The ends of the scale of ratings; None where none is recorded.

    Raises:
        UsageError: people rated on several scales.
    """
    scales = {judgment.scale for judgment in judgments if judgment.scale}
    if len(scales) > 1:
        raise UsageError(
            where="judgments, column scale",
            seen=f"the ratings were given on {' and '.join(sorted(map(repr, scales)))}",
            todo="Give the judgments on each scale in a file of its own.",
        )
    ends = SCALE.fullmatch(scales.pop()) if scales else None
    return None if ends is None else (float(ends[1]), float(ends[2]))


def _moved(
    answer: Hashable | None,
    from_: tuple[float, float] | None,
    to: tuple[float, float] | None,
) -> Hashable | None:
    """A rating on another scale, by its ends."""
    if not isinstance(answer, float) or from_ is None or to is None or from_ == to:
        return answer
    return to[0] + (answer - from_[0]) / (from_[1] - from_[0]) * (to[1] - to[0])
