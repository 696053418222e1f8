"""Hidden states of a model: the sites where they are read and others put, and vectors of sentences.

Nothing depends on the name of an architecture. Layers are found by `Layers`; the last matrix of an
attention and that of an MLP, which write into the residual stream, are found by running the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch

from cimento.errors import ModelError, UsageError
from cimento.models.hf.heads import Replacement, Rerouting
from cimento.models.hf.layout import tolerance_nats
from cimento.models.questions import Part

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.base import FloatArray
    from cimento.models.hf.inside import Inside

Args: TypeAlias = tuple[torch.Tensor, ...]
Kwargs: TypeAlias = Mapping[str, torch.Tensor]
Output: TypeAlias = torch.Tensor | tuple[torch.Tensor, ...]
"""The output of a layer: the hidden state, alone or followed by other values."""

_NOTHING = torch.empty(0)
_PROBE = 7

Recorded: TypeAlias = dict[tuple[Part, int], torch.Tensor]
"""The states of a batch by part and layer, of shape (rows, length, width).

Those of heads are the input of the attention's last matrix, in which they stand side by side.
"""

_MATRIX = 2
_AT_ONCE = 32


class Layers:
    """The layers of one model.

    Args:
        model: in evaluation mode, on its device.

    Attributes:
        modules: the modules that are gone through; one may be gone through several times.
        count: number of layers.

    Raises:
        ModelError: the layers cannot be found, or the output of the last one does not give the
            model's scores.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self.modules, self.count = _find(model)
        self._last: Output = _NOTHING
        self._reading = False
        self._prove()

    @contextmanager
    def recording(self, rows: torch.Tensor, wanted: set[int]) -> Iterator[dict[int, torch.Tensor]]:
        """A context in which forward passes record the hidden states of some layers.

        Args:
            rows: indices of the recorded rows among the flattened (batch * length) positions.
            wanted: numbers of the layers.
        """
        states: dict[int, torch.Tensor] = {}
        calls = 0

        def begin(*_given: object) -> None:
            nonlocal calls
            calls = 0

        def before(_module: torch.nn.Module, args: Args, kwargs: Kwargs) -> None:
            if calls == 0 and not self._reading:
                keep(args[0] if args else kwargs["hidden_states"])

        def after(_module: torch.nn.Module, _args: Args, output: Output) -> None:
            nonlocal calls
            if self._reading:
                return
            calls += 1
            self._last = output
            keep(output[0] if isinstance(output, tuple) else output)

        def keep(hidden: torch.Tensor) -> None:
            if calls in wanted:
                states[calls] = hidden.reshape(-1, hidden.shape[-1])[rows.to(hidden.device)]

        with ExitStack() as hooks:
            hooks.enter_context(self._model.base_model.register_forward_pre_hook(begin))
            for module in self.modules:
                hooks.enter_context(module.register_forward_pre_hook(before, with_kwargs=True))
                hooks.enter_context(module.register_forward_hook(after))
            yield states
        self._last = _NOTHING

    def logits(self, state: torch.Tensor) -> torch.Tensor:
        """The logits of hidden states of single positions, treated as those of the last layer.

        To be called while a recording is open.

        Args:
            state: shape (positions, hidden).
        """
        last, *rest = self._last if isinstance(self._last, tuple) else (self._last,)
        # Each position is a separate text, so that none is too long and none sees another.
        hidden = state.unsqueeze(1).to(last.device)
        answer = (hidden, *rest) if isinstance(self._last, tuple) else hidden
        with ExitStack() as replaced:
            for module in self.modules:
                replaced.enter_context(Replacement(module, answer))
            ids = probe_of(self._model)[:, :1].expand(len(state), 1)
            replaced.callback(setattr, self, "_reading", self._reading)
            self._reading = True
            logits: torch.Tensor = self._model(input_ids=ids).logits[:, 0]
        return logits

    def _prove(self) -> None:
        """Check that the output of the last layer gives the model's own scores."""
        ids = probe_of(self._model)
        rows = torch.arange(ids.shape[1], device=ids.device)
        with torch.inference_mode(), self.recording(rows, {self.count}) as states:
            plain = self._model(input_ids=ids).logits[0].double().log_softmax(1)
            logprobs = self.logits(states[self.count]).double().log_softmax(1)
        if not torch.allclose(plain, logprobs, atol=tolerance_nats(self._model), rtol=0):
            raise ModelError(
                where=f"model of class {type(self._model).__name__}",
                seen="the output of its last layer does not give its own scores",
                todo="Its layers cannot be read one by one; leave --layers out.",
            )


def _find(model: PreTrainedModel) -> tuple[list[torch.nn.Module], int]:
    """The modules that are a model's layers, and how often each is called in a pass.

    The layers are the outermost list of modules that are all called. (ALBERT's list holds one
    module, which is called for every layer.)
    """
    lists = [m for m in model.base_model.modules() if isinstance(m, torch.nn.ModuleList) and len(m)]
    called: Counter[torch.nn.Module] = Counter()
    with ExitStack() as hooks, torch.inference_mode():
        for child in {child for modules in lists for child in modules}:
            hooks.enter_context(
                child.register_forward_hook(lambda module, *_given: called.update([module]))
            )
        model(input_ids=probe_of(model))
    for modules in lists:
        if all(called[child] for child in modules):
            return list(modules), sum(called[child] for child in modules)
    raise ModelError(
        where=f"model of class {type(model).__name__}",
        seen="it has no list of layers that are gone through one after the other",
        todo="Its layers cannot be read one by one; leave --layers out.",
    )


def probe_of(model: PreTrainedModel) -> torch.Tensor:
    """A short sequence of token ids that every model has; shape (1, length)."""
    config = model.config.get_text_config()
    ordinary = [number for number in range(config.vocab_size) if number != config.pad_token_id]
    return torch.tensor([ordinary[-_PROBE:]], device=model.device)


@dataclass(frozen=True, slots=True)
class Swap:
    """What is in the place of what in a pass over a batch.

    Attributes:
        part: the part of the layer.
        layer: the layer.
        start: base states of shape (rows, length, hidden) with which the pass goes on after layer
            `begin`; with those of the source in it, if the part is the residual stream.
        begin: the layer after which the pass goes on.
        cells: row, position, first and last channel, and the states that are there.
    """

    part: Part
    layer: int
    start: torch.Tensor
    begin: int
    cells: tuple[tuple[int, int, slice, torch.Tensor], ...]


class Sites:
    """The places of a model where states are read and replaced.

    Args:
        model: in evaluation mode, on its device.

    Raises:
        ModelError: its layers cannot be found.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._layers = Layers(model)
        self.count = self._layers.count
        self._writers = [_writers(model, layer) for layer in self._layers.modules]
        config = model.config.get_text_config()
        # Encoder-decoders have their own number for the decoder; the general name is the encoder's.
        names = ("decoder_attention_heads", "num_attention_heads")
        self.heads = next((n for name in names if (n := getattr(config, name, None))), 0)
        self._bare = False
        self._swap: Swap | None = None
        self._kept: Recorded | None = None
        self._calls = 0

    def require(self, part: Part) -> None:
        """Refuse a part that the layers of the model do not have.

        Raises:
            UsageError: they have no such part.
        """
        name = "attention" if part == "heads" else part
        missing = part != "residual" and not all(name in writers for writers in self._writers)
        if missing or (part == "heads" and not self.heads):
            raise UsageError(
                where=f"--part={part}",
                seen=f"the layers of {type(self._model).__name__} have no such part"
                " that ends in one matrix",
                todo="Exchange the residual stream: --part=residual.",
            )

    @contextmanager
    def opened(self) -> Iterator[None]:
        """A context in which passes of the model are read or changed here."""
        with ExitStack() as stack:
            for module, writers in zip(self._layers.modules, self._writers, strict=True):
                forward = partial(self._forward, module.forward)
                stack.enter_context(Rerouting(module, forward))
                for name, writer in writers.items():
                    stack.enter_context(
                        writer.register_forward_pre_hook(partial(self._before, name))
                    )
                    stack.enter_context(writer.register_forward_hook(partial(self._after, name)))
            yield

    @contextmanager
    def recording(self) -> Iterator[Recorded]:
        """A context in which a pass records all states, of shape (rows, length, width)."""
        kept: Recorded = {}
        self._kept = kept
        self._calls = 0
        yield kept
        self._kept = None

    @contextmanager
    def swapping(self, swap: Swap) -> Iterator[None]:
        """A context in which a pass is changed."""
        self._swap, self._calls = swap, 0
        yield
        self._swap = None

    def _forward(
        self, original: Callable[..., Output], *args: torch.Tensor, **kwargs: torch.Tensor
    ) -> Output:
        """The forward pass of a layer: read, left out, or with another input or output."""
        self._calls += 1
        calls, swap = self._calls, self._swap
        if calls == 1:
            args, kwargs = self._first(args, kwargs)
        if swap is not None and self._bare and calls <= swap.begin:
            return swap.start
        output = original(*args, **kwargs)
        hidden, *rest = output if isinstance(output, tuple) else (output,)
        # Layers that also hand on something else (T5's biases of positions) are not left out.
        self._bare = not isinstance(output, tuple)
        if self._kept is not None:
            self._kept["residual", calls] = hidden.clone()
        if swap is None or calls != swap.begin:
            return output
        return (swap.start, *rest) if isinstance(output, tuple) else swap.start

    def _first(
        self, args: Args, kwargs: dict[str, torch.Tensor]
    ) -> tuple[Args, dict[str, torch.Tensor]]:
        """The arguments of the first layer."""
        hidden = args[0] if args else kwargs["hidden_states"]
        if self._kept is not None:
            self._kept["residual", 0] = hidden.clone()
        if self._swap is None or self._swap.begin:
            return args, kwargs
        if args:
            return (self._swap.start, *args[1:]), kwargs
        return args, {**kwargs, "hidden_states": self._swap.start}

    def _before(self, name: Part, _module: torch.nn.Module, args: Args) -> Args | None:
        """The input of the last matrix of an attention, in which the heads stand side by side."""
        if name != "attention":
            return None
        if self._kept is not None:
            self._kept["heads", self._calls] = args[0].clone()
        if self._is_here("heads"):
            return (self._changed(args[0]), *args[1:])
        return None

    def _after(
        self, name: Part, _module: torch.nn.Module, _args: Args, output: torch.Tensor
    ) -> torch.Tensor | None:
        if self._kept is not None:
            # Some layers go on in place of what a matrix gave them.
            self._kept[name, self._calls] = output.clone()
        return self._changed(output) if self._is_here(name) else None

    def _is_here(self, part: Part) -> bool:
        swap = self._swap
        return swap is not None and swap.part == part and swap.layer == self._calls

    def _changed(self, states: torch.Tensor) -> torch.Tensor:
        if self._swap is None:
            return states
        # Some layers put the positions of all rows one after the other.
        changed = states.clone().view(*self._swap.start.shape[:2], -1)
        for row, position, channels, new in self._swap.cells:
            changed[row, position, channels] = new[channels].to(changed.device)
        return changed.view(states.shape)


def _writers(model: PreTrainedModel, layer: torch.nn.Module) -> dict[Part, torch.nn.Module]:
    """The last matrix of a layer's attention and that of its MLP, which write into the residual.

    They are found by running the model: matrices whose output has the hidden size, in the order in
    which they are called. Those of attentions have ``att`` in a part of their names; of several
    attentions of a layer, the first is that of the text to itself.
    """
    size, ids = model.config.get_text_config().hidden_size, probe_of(model)
    called: dict[str, torch.nn.Module] = {}

    def note(name: str, module: torch.nn.Module, _args: Args, output: Output) -> None:
        if isinstance(output, torch.Tensor) and output.numel() == ids.numel() * size:
            called.pop(name, None)
            called[name] = module

    with ExitStack() as hooks, torch.inference_mode():
        for name, module in layer.named_modules():
            weight = getattr(module, "weight", None)
            if isinstance(weight, torch.Tensor) and weight.dim() == _MATRIX:
                hooks.enter_context(module.register_forward_hook(partial(note, name)))
        model(input_ids=ids)
    attentions: dict[str, torch.nn.Module] = {}
    others = []
    for name, module in called.items():
        parts = name.split(".")
        at = next((k for k, part in enumerate(parts) if "att" in part.lower()), None)
        if at is None:
            others.append(module)
        else:
            attentions[".".join(parts[: at + 1])] = module
    modules: dict[Part, torch.nn.Module] = {}
    if attentions:
        modules["attention"] = next(iter(attentions.values()))
    if others:
        modules["mlp"] = others[-1]
    return modules


def sentence_vectors(inside: Inside, texts: Sequence[str], *, layer: int = -1) -> FloatArray:
    """The vector of each text: the mean of its tokens' hidden states, special tokens left out.

    Args:
        inside: the parts of a loaded model; of an encoder-decoder it is the decoder, which says
            nothing of a text alone.
        texts: the texts.
        layer: 0 for the embeddings, 1 for the first layer; -1 for the last.

    Returns:
        An array of texts by dimensions, float64.

    Raises:
        UsageError: the model has no such layer, or is an encoder-decoder.
    """
    if getattr(inside.model.config, "is_encoder_decoder", False):
        raise UsageError(
            where="sentence vectors",
            seen="the model is an encoder-decoder",
            todo="Give a causal or a masked model.",
        )
    rows = [
        _vectors(inside, texts[begin : begin + _AT_ONCE], layer)
        for begin in range(0, len(texts), _AT_ONCE)
    ]
    return np.concatenate(rows)


def _vectors(inside: Inside, texts: Sequence[str], layer: int) -> FloatArray:
    encoded = [
        inside.tokenizer(text, return_special_tokens_mask=True, return_attention_mask=False)
        for text in texts
    ]
    width = max(len(one["input_ids"]) for one in encoded)
    ids = torch.zeros(len(texts), width, dtype=torch.long)
    attended, counted = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.float64)
    for row, one in enumerate(encoded):
        size = len(one["input_ids"])
        ids[row, :size] = torch.tensor(one["input_ids"])
        attended[row, :size] = 1
        plain = 1.0 - torch.tensor(one["special_tokens_mask"], dtype=torch.float64)
        counted[row, :size] = plain if bool(plain.any()) else 1.0
    device = inside.model.device
    with torch.inference_mode():
        states = inside.model(
            input_ids=ids.to(device), attention_mask=attended.to(device), output_hidden_states=True
        ).hidden_states
    if not -len(states) <= layer < len(states):
        raise UsageError(
            where=f"layer {layer}",
            seen=f"the model has {len(states) - 1} layers",
            todo="Give 0 for the embeddings, a number up to that, or -1 for the last.",
        )
    chosen = states[layer].to("cpu", torch.float64)
    weights = counted / counted.sum(dim=1, keepdim=True)
    means: FloatArray = (chosen * weights[:, :, None]).sum(dim=1).numpy()
    return means
