"""Stories and a model to a run: prompts, answers, what came of them, all of it stored."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cimento.engine.scores import SCORING_VERSION
from cimento.errors import StorageError, UsageError
from cimento.files import write_text
from cimento.models.base import ModelCard
from cimento.runs.manifest import describe
from cimento.runs.store import Manifest, RunFolder
from cimento.sources import AnyScorer, Asking, ScorerSource, Source, name_of, open_source
from cimento.stories.asking import Record
from cimento.stories.corrections import correct_file
from cimento.stories.journal import Journal
from cimento.stories.prompts import Prompt, default_prompt, find_prompt
from cimento.stories.question_answers import QuestionAnswer, read_answers, write_answers
from cimento.stories.readers import StoryFile
from cimento.stories.recording import answer_line
from cimento.stories.records import Story, TierAnswer
from cimento.stories.responses import read_responses
from cimento.stories.settings import StorySettings
from cimento.stories.tables import store_tables
from cimento.stories.talking import Talk, Told
from cimento.stories.writers import write_copy, write_jsonl
from cimento.suites.model import JsonValue

ANSWERS = "answers.jsonl"
JOURNAL = "asked.jsonl"
QUESTIONS = "questions.jsonl"
STORIES = "stories.jsonl"
STAMP = "asked-for.json"
REPLAY = "replay:"


@dataclass(frozen=True, kw_only=True)
class StoryRun:
    """One file of stories answered by one model.

    Attributes:
        suite: name of the stories.
        model: label of the model.
        stories: what was asked about, corrected where that was asked for.
        answers: what the model said at the three tiers.
        questions: what it said to other questions, where they were asked instead.
        warnings: what was noticed on the way.
        manifest: what the run was made of and with.
        folder: where it is stored; None where it is not.
    """

    suite: str
    model: str
    stories: tuple[Story, ...]
    answers: tuple[TierAnswer, ...]
    questions: tuple[QuestionAnswer, ...] = ()
    warnings: tuple[str, ...] = ()
    manifest: Manifest = field(default_factory=dict)
    folder: Path | None = None


@dataclass(frozen=True, kw_only=True)
class StoryEvaluation:
    """How stories are asked of models: the same for every file and model of one call.

    Attributes:
        asking: how texts are scored, and on what.
        settings: how stories are asked.
        output: folder of runs to write to; None keeps runs in memory.
        force: ask again what is already there.
    """

    asking: Asking
    settings: StorySettings
    output: Path | None = None
    force: bool = False

    def run(self, file: StoryFile, model: str | AnyScorer, *, told: Told | None = None) -> StoryRun:
        """Ask a model about stories; a run that is stored already is opened.

        Raises:
            CimentoError: the stories cannot be asked, or the model cannot answer.
        """
        file = self._corrected(file)
        if isinstance(model, str) and model.startswith(REPLAY):
            path = Path(model.removeprefix(REPLAY)).expanduser()
            return _replayed(file, path, limit=self.asking.limit)
        source = open_source(model, self.asking)
        folder = self._folder(file, source)
        inputs = self._inputs(file, source)
        if folder is not None and self._is_done(folder, inputs):
            return _reopened(file, source.label, folder)
        if folder is not None:
            folder.prepare()
            _start_anew(folder, inputs, force=self.force)
        return self._asked(file, source, folder, inputs, told)

    def is_stored(self, file: StoryFile, model: str) -> bool:
        """Whether the run is stored already; one of recorded answers need not be.

        Raises:
            CimentoError: the stories cannot be asked, or there is no such model.
        """
        if model.startswith(REPLAY):
            return True
        file, source = self._corrected(file), open_source(model, self.asking)
        folder = self._folder(file, source)
        return folder is not None and self._is_done(folder, self._inputs(file, source))

    def _is_done(self, folder: RunFolder, inputs: dict[str, JsonValue]) -> bool:
        return not self.force and folder.is_done(inputs)

    def _corrected(self, file: StoryFile) -> StoryFile:
        corrections = self.settings.corrections
        return correct_file(file, corrections) if corrections else file

    def _asked(
        self,
        file: StoryFile,
        source: Source,
        folder: RunFolder | None,
        inputs: dict[str, JsonValue],
        told: Told | None,
    ) -> StoryRun:
        if not isinstance(source, ScorerSource):
            raise UsageError(
                where="--model",
                seen="recorded surprisals say nothing of stories",
                todo="Give a model, or replay:FILE with recorded answers.",
            )
        scorer = source.load()
        journal = Journal(folder.path / JOURNAL if folder is not None else None)
        talk = Talk(scorer, self.asking, self.settings, journal, told)
        prompt = prompt_for(self.settings, file)
        stories = file.stories[: self.asking.limit]
        answers: tuple[TierAnswer, ...] = ()
        questions: tuple[QuestionAnswer, ...] = ()
        records: list[Record] = []
        if self.settings.task == "tiers":
            answers, records, warnings = talk.all_tiers(stories, file.stories, prompt)
        else:
            questions, warnings = talk.questions(stories, file.stories, prompt.language)
        run = StoryRun(
            suite=file.name,
            model=source.label,
            stories=stories,
            answers=answers,
            questions=questions,
            warnings=warnings,
            manifest=describe(
                label=source.label,
                kind="stories",
                model=scorer.card,
                suite={"name": file.name, "sha256": file.sha256, "meta": dict(file.meta)},
                corrections=list(file.corrections),
                asking=self.asking,
                stories=self.settings,
                named=name_of(source),
                prompt={"id": prompt.id, "version": prompt.version, "system": talk.voice.system},
                inputs=inputs,
                warnings=list(warnings),
            ),
        )
        return run if folder is None else _stored(run, records, folder, file)

    def _folder(self, file: StoryFile, source: Source) -> RunFolder | None:
        if self.output is None:
            return None
        both = f"{self.asking.digest()} {self.settings.digest()} {self.asking.limit}"
        policy = hashlib.sha256(both.encode()).hexdigest()[:8]
        return RunFolder.named(
            self.output, suite=file.name, sha256=file.sha256, model=source.label, policy=policy
        )

    def _inputs(self, file: StoryFile, source: Source) -> dict[str, JsonValue]:
        """What decides whether a stored run answers the same question."""
        prompt = prompt_for(self.settings, file)
        plain: JsonValue = json.loads(json.dumps(dataclasses.asdict(self.settings)))
        return {
            **source.inputs,
            "suite": file.sha256,
            "corrections": list(file.corrections),
            "limit": self.asking.limit,
            "settings": plain,
            "prompt": [prompt.id, prompt.version],
            "scoring_version": SCORING_VERSION,
        }


def prompt_for(settings: StorySettings, file: StoryFile) -> Prompt:
    """The wording that is asked for, or the first one in the language of the stories.

    Raises:
        UsageError: there is no such wording.
    """
    language = file.meta.get("language")
    if settings.prompt:
        return find_prompt(settings.prompt)
    # The published files are Italian.
    return default_prompt(language if isinstance(language, str) else "it")


def _start_anew(folder: RunFolder, inputs: Mapping[str, JsonValue], *, force: bool) -> None:
    """Forget answers that were given to other inputs, or that are not wanted any more."""
    stamp, journal = folder.path / STAMP, folder.path / JOURNAL
    text = json.dumps(inputs, sort_keys=True, ensure_ascii=False)
    try:
        same = stamp.exists() and stamp.read_text(encoding="utf-8") == text
        if force or not same:
            journal.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(
            where=str(folder.path), seen=f"cannot be used ({error.strerror or error})"
        ) from error
    write_text(text, stamp)
    folder.reopen()


def _stored(
    run: StoryRun, records: Sequence[Record], folder: RunFolder, file: StoryFile
) -> StoryRun:
    write_copy(file.stories, folder.suite_folder, meta={"name": file.name, **file.meta})
    write_jsonl(run.stories, folder.path / STORIES)
    if run.questions:
        write_answers(run.questions, folder.path / QUESTIONS)
    else:
        lines = "".join(answer_line(answer) + "\n" for answer in run.answers)
        write_text(lines, folder.path / ANSWERS)
    store_tables(run.suite, run.stories, run.answers, records, folder.path)
    folder.finish(run.manifest)
    return dataclasses.replace(run, folder=folder.path)


def _reopened(file: StoryFile, label: str, folder: RunFolder) -> StoryRun:
    manifest = folder.manifest()
    told = manifest.get("warnings")
    path, other = folder.path / ANSWERS, folder.path / QUESTIONS
    asked = read_answers(other) if other.exists() else ()
    answers = () if asked else read_responses(path, stories=file.stories).answers
    rows = {each.row for each in answers} | {each.row for each in asked}
    return StoryRun(
        suite=file.name,
        model=label,
        stories=tuple(story for story in file.stories if story.row in rows),
        answers=answers,
        questions=asked,
        warnings=tuple(map(str, told)) if isinstance(told, list) else (),
        manifest=manifest,
        folder=folder.path,
    )


def _replayed(file: StoryFile, path: Path, *, limit: int | None) -> StoryRun:
    """Recorded answers in the place of a model."""
    stories = file.stories[:limit]
    rows = {story.row for story in stories}
    recorded = read_responses(path, stories=file.stories)
    card = ModelCard(name=recorded.model, kind="replay", revision=recorded.sha256, tokenizer="")
    return StoryRun(
        suite=file.name,
        model=card.label,
        stories=stories,
        answers=tuple(answer for answer in recorded.answers if answer.row in rows),
        manifest=describe(label=card.label, kind="stories", model=card),
    )
