"""Two ways to the same causal scores: padded batches for every model, prefix trees where they hold.

The fast way is not trusted: on a model's first texts both are taken and compared. Where they
differ (position biases that follow the layout, recurrent models, anything new), or where the model
does not take the mask, every text goes the plain way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from cimento.models.base import Encoded
from cimento.models.heads import Asks, RowHead
from cimento.models.packing import batches
from cimento.models.tree import PrefixTree, plant

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from cimento.models.base import FloatArray

TREE_NODES = {"cpu": 256}
TREE_NODES_ELSEWHERE = 512
"""Size of a prefix tree: 256 was fastest on two CPU cores, see docs/performance.md."""

PROOF_TEXTS = 12
TOLERANCE_NATS = {torch.float64: 1e-6, torch.float32: 1e-4}
HALF_TOLERANCE_NATS = 0.25
"""Half-precision scores differ by tenths between any two batch layouts; a wrong mask by more."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What the comparison of the two ways showed.

    Attributes:
        holds: whether prefix trees are used.
        max_difference_nats: largest difference of a token's scores; None where the model does
            not take a tree at all.
        reason: why trees are not used; empty where they are.
    """

    holds: bool
    max_difference_nats: float | None
    reason: str = ""


class CausalScoring:
    """Scores encoded texts with a causal model, the fast way where it is proven.

    Args:
        model: in evaluation mode, on its device.
        token_budget: padded positions in one batch.
        packing: whether prefix trees may be used.
    """

    def __init__(self, model: PreTrainedModel, *, token_budget: int, packing: bool = True) -> None:
        self._model = model
        self._token_budget = token_budget
        self._head = RowHead(model)
        nodes = TREE_NODES.get(model.device.type, TREE_NODES_ELSEWHERE)
        self._tree_nodes = min(nodes, token_budget)
        self.proof = None if packing else Proof(holds=False, max_difference_nats=None, reason="off")

    def score(self, encoded: Sequence[Encoded]) -> list[FloatArray]:
        """Log-probabilities of the wanted tokens, in nats; one array for each text."""
        if self.proof is None:
            self.proof = self._prove(encoded)
        packed = [i for i, each in enumerate(encoded) if self.proof.holds and self._fits(each)]
        chosen = set(packed)
        plain = [i for i in range(len(encoded)) if i not in chosen]
        results: list[FloatArray] = [np.full(len(each.wanted), np.nan) for each in encoded]
        self._pack([encoded[i] for i in packed], [results[i] for i in packed])
        self._pad([encoded[i] for i in plain], [results[i] for i in plain])
        return results

    def _prove(self, encoded: Sequence[Encoded]) -> Proof:
        """Take both ways on some texts, the shortest and the longest among them."""
        usable = sorted((each for each in encoded if self._fits(each)), key=lambda e: len(e.ids))
        step = max(1, len(usable) // PROOF_TEXTS)
        sample = usable[::step][: PROOF_TEXTS - 1] + usable[-1:]
        plain: list[FloatArray] = [np.full(len(each.wanted), np.nan) for each in sample]
        fast = [array.copy() for array in plain]
        self._pad(sample, plain)
        try:
            self._pack(sample, fast)
        # A model that knows no such mask or no positions says so in its own way.
        except Exception as error:  # noqa: BLE001
            reason = f"the model does not take it ({type(error).__name__})"
            return Proof(holds=False, max_difference_nats=None, reason=reason)
        differences = [
            np.nanmax(np.abs(one - two), initial=0.0) for one, two in zip(plain, fast, strict=True)
        ]
        worst = float(max(differences, default=0.0))
        allowed = TOLERANCE_NATS.get(self._model.dtype, HALF_TOLERANCE_NATS)
        holds = worst <= allowed
        reason = "" if holds else f"scores differ by up to {worst:.2g} nats"
        return Proof(holds=holds, max_difference_nats=worst, reason=reason)

    def _fits(self, each: Encoded) -> bool:
        """Whether a text may stand in a tree: its mask has no window that slides."""
        window = getattr(self._model.config.get_text_config(), "sliding_window", None)
        limit = min(self._tree_nodes, window or self._tree_nodes)
        return len(_fed(each)) <= limit

    def _pad(self, encoded: Sequence[Encoded], results: Sequence[FloatArray]) -> None:
        """The plain way: batches of texts padded on the right."""
        device = self._model.device
        fed = [_fed(each) for each in encoded]
        for batch in batches([len(ids) for ids in fed], token_budget=self._token_budget):
            width = len(fed[batch[0]])
            ids = torch.zeros((len(batch), width), dtype=torch.long)
            mask = torch.zeros_like(ids)
            asks: Asks = {}
            for line, number in enumerate(batch):
                ids[line, : len(fed[number])] = torch.tensor(fed[number])
                mask[line, : len(fed[number])] = 1
                for slot, index in enumerate(encoded[number].wanted):
                    if index > 0:
                        ask = (line * width + index - 1, encoded[number].ids[index])
                        asks.setdefault(ask, []).append((number, slot))
            inputs = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
            self._head.fill(inputs, asks, results)

    def _pack(self, encoded: Sequence[Encoded], results: Sequence[FloatArray]) -> None:
        """The fast way: prefix trees, several to a batch where the budget allows."""
        trees = list(plant([_fed(each) for each in encoded], max_nodes=self._tree_nodes))
        together = max(1, self._token_budget // self._tree_nodes)
        for start in range(0, len(trees), together):
            batch = trees[start : start + together]
            asks: Asks = {}
            width = max(len(tree) for tree in batch)
            for line, tree in enumerate(batch):
                for number, path in tree.members:
                    each = encoded[number]
                    for slot, index in enumerate(each.wanted):
                        if index > 0:
                            ask = (line * width + path[index - 1], each.ids[index])
                            asks.setdefault(ask, []).append((number, slot))
            self._head.fill(self._tree_inputs(batch, width), asks, results)

    def _tree_inputs(self, trees: Sequence[PrefixTree], width: int) -> dict[str, torch.Tensor]:
        ids = torch.zeros((len(trees), width), dtype=torch.long)
        positions = torch.zeros_like(ids)
        # A padding node sees itself, for a softmax over nothing is not a number.
        visible = torch.eye(width, dtype=torch.bool).repeat(len(trees), 1, 1, 1)
        for line, tree in enumerate(trees):
            size = len(tree)
            ids[line, :size] = torch.tensor(tree.tokens)
            positions[line, :size] = torch.tensor(tree.depths)
            visible[line, 0, :size, :size] = torch.from_numpy(tree.visible())
        dtype, device = self._model.dtype, self._model.device
        bias = torch.zeros(visible.shape, dtype=dtype, device=device)
        bias.masked_fill_(~visible.to(device), torch.finfo(dtype).min)
        return {
            "input_ids": ids.to(device),
            "position_ids": positions.to(device),
            "attention_mask": bias,
        }


def _fed(each: Encoded) -> tuple[int, ...]:
    """The tokens that must be fed: those from the last wanted one on change nothing before it."""
    return each.ids[: max(each.wanted, default=0)]
