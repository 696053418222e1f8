"""A model behind an OpenAI-compatible server: it scores texts and writes replies.

The tokenizer is the server's, so nothing is known of the tokens before it answers: this is a
`TextScorer`. Which weights the server holds cannot be seen either; the revision is a hash of its
address, of what it reports about the model, and of what it answers to fixed probes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from cimento.errors import ModelError, UsageError
from cimento.io.deadline import TooSlowError
from cimento.io.files import default_cache_folder
from cimento.io.parsing import parse_json, value_at
from cimento.io.transport import Patience, TransientError
from cimento.models.base import Meter, ModelCard, Score
from cimento.models.failing import SHOWN_CHARACTERS
from cimento.models.questions import Choose, GeneratedReply, OptionScores, Reply, StopReason
from cimento.models.server import ANSWER, Bodies, Fields
from cimento.models.server.answers import (
    JsonObject,
    TextScores,
    listed_answers,
    listed_tokens,
    token_usage,
)
from cimento.models.server.http import Answer, Asked, NotThereError, Server, ask_at_once
from cimento.models.server.identity import PROBES, Fingerprint, Identity, identify
from cimento.models.server.scoring import in_lists, score_list, score_probes, score_text
from cimento.models.server.watch import CHECKED_EVERY_S, Watch
from cimento.models.settings import Policy
from cimento.records.usage import Tokens
from cimento.suites import JsonValue

MALFORMED_ATTEMPTS = 3
"""Number of attempts with a server that answers without a valid reply."""


_CUT_OFF = (
    "replies were cut off before a word was written: a model that thinks first needs room for that,"
    " such as --body max_completion_tokens=2000"
)

_IDENTITY = ("id", "root", "parent", "owned_by", "max_model_len", "meta")
"""Fields of a model's entry that say what it is; the others change from request to request."""
_SHOWN_MODELS = 5
_UNNAMED = "the server does not say what this model is; it is known by what it answers to probes"
_UNLISTED = "the server does not list {model!r} among its models; is this the name you mean?"
_SERVED_ANOTHER = (
    "this server answered fixed probes otherwise at another time: it served another model under"
    " this name, whose answers are not used here"
)
_RECASED = (
    "the server's tokens have other capitals than the texts: its tokenizer changes them, so that"
    " sentences which differ in capitals only have equal scores"
)


@dataclass(kw_only=True)
class _ServerModel:
    """A model on a server.

    Attributes:
        server: that is asked.
        card: what is known about the model; its BOS token once it has answered.
        bodies: what requests to it are made of.
        concurrency: requests that are under way at once.
        notes: what the user should know of the server, as sentences.
        meter: text or prompt to what its requests came to.
        watch: tells whether the server has changed its model; None while the first probes are sent.
    """

    server: Server = field(kw_only=False)
    card: ModelCard
    bodies: Bodies
    concurrency: int
    notes: tuple[str, ...] = ()
    meter: Meter = field(default_factory=dict)
    watch: Watch | None = None

    def _believed(self, answers: Generator[Answer]) -> Generator[Answer]:
        """Answers that the model surely gave; see `Watch.believed`."""
        return answers if self.watch is None else self.watch.believed(answers)

    def _at_once(
        self, asked: Sequence[Asked], ask: Callable[[Asked], Answer]
    ) -> Generator[tuple[Asked, Answer]]:
        """Ask several requests, each yielded as soon as it is answered; see `ask_at_once`."""
        stop = self.server.stop
        return ask_at_once(asked, ask, concurrency=self.concurrency, stop=stop)


@dataclass(kw_only=True)
class ServerReplier(_ServerModel):
    """A `Replier` with a model on a server.

    Attributes:
        is_cut: whether a reply was cut off before a word was written.
    """

    is_cut: bool = False

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on the server for the user, including its refusals."""
        cut = (_CUT_OFF,) if self.is_cut else ()
        return (*self.notes, *self.bodies.remarks, *cut)

    def reply(self, asks: Sequence[Reply]) -> Iterator[tuple[int, GeneratedReply]]:
        """Answer prompts, several at once; see `Replier`."""
        answers = self._at_once(range(len(asks)), lambda number: self._ask(asks[number]))
        yield from self._believed(answers)

    def _ask(self, ask: Reply) -> GeneratedReply:
        shown = ask.messages[-1][1] if ask.messages else ask.prompt
        about = f"prompt that ends in {shown[-SHOWN_CHARACTERS:]!r}"
        path = "/chat/completions" if ask.messages else "/completions"
        for _ in range(MALFORMED_ATTEMPTS):
            answer = self._post(path, lambda: self.bodies.reply(ask), about=about)
            self.meter[ask] = self.meter.get(ask, Tokens()).plus(token_usage(answer))
            reply = reply_in(answer, chat=bool(ask.messages), options=ask.options)
            if reply is not None:
                self.is_cut = self.is_cut or reply == GeneratedReply("", "length")
                return reply
        raise ModelError(
            where=f"{self.server.where}, {about}",
            seen=f"no reply in its answer, {MALFORMED_ATTEMPTS} times"
            f" (the last: {self.server.redacted(json.dumps(answer))[:200]})",
            todo="Does the server keep the OpenAI form? What was answered is kept: run again.",
        )

    def score_options(self, asks: Sequence[Choose]) -> Iterator[tuple[int, OptionScores]]:
        """Score answers in chats by the tokens that are listed; see `OptionScorer`."""
        answers = self._at_once(range(len(asks)), lambda number: self._choose(asks[number]))
        yield from self._believed(answers)

    def _choose(self, ask: Choose) -> OptionScores:
        about = f"prompt that ends in {ask.messages[-1][1][-SHOWN_CHARACTERS:]!r}"
        path = "/chat/completions"
        answer = self._post(path, lambda: self.bodies.choice(ask), about=about)
        self.meter[ask] = token_usage(answer)
        listed = listed_tokens(answer)
        if not listed:
            raise ModelError(
                where=f"{self.server.where}, {about}",
                seen="it lists no log-probabilities of what it writes",
                todo="Say --set answer=generate.",
            )
        known = listed_answers(ask.options, listed)
        return OptionScores(
            nats=tuple(() if value is None else (value,) for value in known),
            tokens=tuple((option.strip(),) for option in ask.options),
        )

    def _post(
        self, path: str, written: Callable[[], dict[str, JsonValue]], *, about: str
    ) -> JsonValue:
        """The answer to a request, in the form that the server takes."""
        while True:
            body = written()
            try:
                return self.server.post(path, body, about=about)
            except ModelError as error:
                # Ends: what was learned is not sent again.
                if not self.bodies.learns(error, body):
                    raise


def reply_in(answer: JsonValue, *, chat: bool, options: Sequence[str]) -> GeneratedReply | None:
    """The reply in an answer; None where there is none.

    Args:
        answer: of the server.
        chat: whether turns were sent, and not one text.
        options: that the reply was constrained to; empty where it was free.
    """
    choice: JsonValue = value_at(answer, "choices", 0)
    if not isinstance(choice, dict):
        return None
    text: JsonValue = choice.get("text")
    if chat:
        message = choice.get("message")
        if not isinstance(message, dict) or "content" not in message:
            return None
        # A model that refuses may write nothing at all.
        text = message["content"] or ""
    if not isinstance(text, str):
        return None
    reason: StopReason = "length" if choice.get("finish_reason") == "length" else "end"
    return GeneratedReply(_unpacked(text) if options else text, reason)


def _unpacked(text: str) -> str:
    """The answer in a constrained reply; the reply itself if the server did not constrain it."""
    try:
        content = parse_json(text)
    except ValueError:
        return text
    answer: JsonValue = value_at(content, ANSWER)
    return answer if isinstance(answer, str) else text


@dataclass(kw_only=True)
class ServerScorer(_ServerModel):
    """A `TextScorer` with a model on a server.

    Attributes:
        refusal: why it cannot score; None where it can.
    """

    refusal: ModelError | None = None

    def read(self, texts: Sequence[str]) -> Iterator[tuple[str, dict[int, float]]]:
        """Score texts, several at once; see `TextScorer`."""
        if self.refusal is not None:
            raise self.refusal
        for text, answer in self._believed(self._scored(texts)):
            self.card = dataclasses.replace(self.card, bos=answer.before)
            yield text, answer.scores

    def _scored(self, texts: Sequence[str]) -> Generator[tuple[str, TextScores]]:
        """Texts with their scores, in any order: in lists where the server takes them."""
        server, bodies, meter = self.server, self.bodies, self.meter
        singly = list(texts)
        if bodies.lists:
            singly = []

            def ask(some: tuple[str, ...]) -> list[TextScores] | None:
                return score_list(server, bodies, some, meter) if bodies.lists else None

            for some, scores in self._at_once([*in_lists(texts)], ask):
                if scores is None:
                    singly += some
                else:
                    yield from zip(some, scores, strict=True)
        yield from self._at_once(singly, lambda text: score_text(server, bodies, text, meter))

    def replier(self) -> ServerReplier:
        """The same model, asked to answer in its own words."""
        shared = {one.name: getattr(self, one.name) for one in dataclasses.fields(_ServerModel)}
        return ServerReplier(**shared)

    def remarks(self, requests: Sequence[Score]) -> tuple[str, ...]:  # noqa: ARG002  # the same for all
        """Whether the server says what it serves, and whether it served another model before."""
        return self.notes


def connect(
    address: str,
    *,
    policy: Policy,
    concurrency: int,
    timeout_s: float,
    fields: Fields | None = None,
    checked_every_s: float = CHECKED_EVERY_S,
    clock: Callable[[], float] = time.monotonic,
) -> ServerScorer:
    """Find a model behind a server, and ask it for the fixed probes.

    Args:
        address: ``URL#model``; the model may be left out where the server has only one.
        policy: how texts are scored.
        concurrency: requests that are under way at once.
        timeout_s: without a sign of the server before it is asked again.
        fields: of requests, beside those of cimento.
        checked_every_s: seconds after which the probes are asked for again, as at the end.
        clock: the time in seconds.

    Raises:
        UsageError: the URL is none, the model is missing or is not the only one of the server, a
            field cannot be given, or the policy cannot be kept.
        ModelError: the server does not answer, or neither scores nor writes.
        StorageError: what it answers to the probes cannot be kept.
    """
    url, _, name = address.partition("#")
    _check_policy(policy)
    server = Server(url, patience=Patience(timeout_s=timeout_s))
    entries = _models(server)
    model = name or _only(entries, server)
    entry = _entry(model, entries, server)
    bodies = Bodies(model, fields or {})
    met = _meet(server, bodies)
    card = _card(entry, server, bodies, met.identity.digest)
    watch = Watch(
        server=server,
        model=model,
        expected=met.fingerprint,
        entry=_lasting(entry),
        probe=lambda: _probed_again(server, bodies, met),
        listed=lambda: _models(server),
        every_s=checked_every_s,
        clock=clock,
    )
    return ServerScorer(
        server, card=card, bodies=bodies, concurrency=concurrency, refusal=met.refusal,
        notes=_notes(model, entries, entry, met), watch=watch,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _ProbedModel:
    """A model as it answered the probes at the start; see `ServerScorer` and `TextScores`."""

    fingerprint: Fingerprint
    identity: Identity
    refusal: ModelError | None
    recased: bool


def _meet(server: Server, bodies: Bodies) -> _ProbedModel:
    """Ask a model for the probes, and look up whether it is known."""
    answers, refusal = _probed(server, bodies)
    scores = tuple(answer.scores for answer in answers)
    fingerprint = _replies(server, bodies, refusal) if refusal else Fingerprint(scores=scores)
    identity = identify(
        fingerprint,
        url=server.url,
        model=" ".join([bodies.model, *bodies.shown]),
        folder=default_cache_folder(),
    )
    return _ProbedModel(fingerprint, identity, refusal, any(answer.recased for answer in answers))


def _notes(
    model: str, entries: Mapping[str, JsonObject], entry: JsonObject, met: _ProbedModel
) -> tuple[str, ...]:
    """What the user should know of a server and its model."""
    noted = {
        _UNNAMED: not _lasting(entry),
        _UNLISTED.format(model=model): bool(entries and not entry),
        _SERVED_ANOTHER: met.identity.others > 0,
        _RECASED: met.recased,
    }
    return tuple(note for note, applies in noted.items() if applies)


def _probed_again(server: Server, bodies: Bodies, met: _ProbedModel) -> Fingerprint:
    """A model's answers to the probes, asked in the way in which it answered them before."""
    if bodies.sampled:
        return met.fingerprint
    if met.refusal is not None:
        return _replies(server, bodies, met.refusal)
    scores = score_probes(server, bodies, asks_lists=bodies.lists)
    return Fingerprint(scores=tuple(answer.scores for answer in scores))


def _lasting(entry: JsonObject) -> JsonObject:
    """What the server reports about a model that does not change from request to request."""
    return {key: entry[key] for key in _IDENTITY if entry.get(key) is not None}


def _card(entry: JsonObject, server: Server, bodies: Bodies, digest: str) -> ModelCard:
    """What is known about a model: what its server reports, its fingerprint, what it is sent."""
    model, said = bodies.model, bodies.shown
    reported = _lasting(entry)
    content = json.dumps([server.url, model, reported, digest, *said], sort_keys=True)
    details = {"server": server.url, "fingerprint": digest}
    if reported:
        details["reported"] = json.dumps(reported, sort_keys=True)
    if said:
        details["body"] = said[0]
    window = entry.get("max_model_len")
    return ModelCard(
        name=PurePosixPath(model).name if model.startswith("/") else model,
        kind="causal",
        revision=hashlib.sha256(content.encode()).hexdigest(),
        tokenizer="",
        device="server",
        window=window if isinstance(window, int) else None,
        details=details,
    )


def _probed(server: Server, bodies: Bodies) -> tuple[list[TextScores], ModelError | None]:
    """A model's scores of the probes, or why it cannot score them.

    Raises:
        ModelError: the server does not answer.
    """
    try:
        return score_probes(server, bodies, asks_lists=True), None
    except ModelError as error:
        cause = error.__cause__
        is_silent = isinstance(cause, TransientError) and cause.status is None
        if is_silent or isinstance(cause, TooSlowError):
            raise
        return [], error


def _replies(server: Server, bodies: Bodies, refusal: ModelError) -> Fingerprint:
    """What a model that cannot score replies to the probes.

    Args:
        server: the server.
        bodies: what requests are made of.
        refusal: why it cannot score.

    Raises:
        ModelError: it does not write either.
    """
    card = ModelCard(name=bodies.model, kind="causal", revision="", tokenizer="")
    replier = ServerReplier(server, card=card, bodies=bodies, concurrency=1)
    asks = [Reply(messages=(("user", probe),)) for probe in PROBES]
    try:
        replies = dict(replier.reply(asks))
    except NotThereError:
        raise refusal from None
    except ModelError as error:
        raise ModelError(
            where=server.where,
            seen=f"it cannot score: {refusal.seen}; and it does not chat: {error.seen}",
            todo=refusal.todo,
        ) from error
    if bodies.sampled:
        # Sampled text differs each time and does not identify the model.
        return Fingerprint(replies=("",) * len(PROBES))
    return Fingerprint(replies=tuple(replies[number].text for number in sorted(replies)))


def _check_policy(policy: Policy) -> None:
    """Refuse settings that only a model loaded here supports."""
    if policy.bos == "bos-or-eos" and policy.leading_blank:
        raise UsageError(
            where="--compat=lm-eval (--bos=bos-or-eos --leading-blank) with a server",
            seen="its own tokenizer says what is before a text",
            todo="Say the same with what servers take: --measure=lp --ties=pass, and --context with"
            " the token that begins the model's texts, such as '<|endoftext|>' or '<s>'.",
        )
    refused = {
        "--bos": policy.bos not in ("auto", "tokenizer"),
        "--leading-blank": policy.leading_blank,
        "--lowercase": policy.lowercase,
        "--window": policy.window != "refuse",
    }
    for option in (name for name, chosen in refused.items() if chosen):
        raise UsageError(
            where=option,
            seen="a server takes texts as they are, and its own tokenizer says what is before them",
            todo="Leave the option out; where --compat chose it, give --measure, --ties and"
            " --unscored-first instead of --compat.",
        )


def _models(server: Server) -> dict[str, JsonObject]:
    """What the server reports about its models, by name; empty where it keeps no such list."""
    try:
        answer = server.get("/models")
    except NotThereError:
        return {}
    data: JsonValue = value_at(answer, "data")
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    return {str(entry["id"]): entry for entry in entries if "id" in entry}


def _entry(model: str, entries: dict[str, JsonObject], server: Server) -> JsonObject:
    """What the server reports about a model; empty where it does not list it.

    Raises:
        UsageError: it lists another model only.
    """
    entry = entries.get(model) or entries.get(f"{model}:latest")
    if entry is None and len(entries) == 1:
        # A server of one model may answer to any name, and results would carry a wrong one.
        [only] = entries
        raise UsageError(
            where=f"{server.where}, model {model!r}",
            seen=f"the server has one model, {only!r}",
            todo=f"Write openai:URL#{only}, or leave the name out.",
        )
    return entry or {}


def _only(models: Iterable[str], server: Server) -> str:
    names = list(models)
    if len(names) != 1:
        listed = ", ".join(names[:_SHOWN_MODELS]) or "none"
        raise UsageError(
            where=server.where,
            seen=f"the address names no model, and the server lists {listed}",
            todo="Write it as openai:URL#model.",
        )
    return names[0]
