"""The numbers of tests/models/test_interchange.py that nnsight gives.

In an environment with nnsight and transformers, on a folder with a model of transformers::

    PYTHONPATH=. python -c 'from tests.helpers import zoo; zoo.save("gpt2", "FOLDER")'
    python scripts/oracles/interchanges.py FOLDER 0,5,7,9 0,5,8,8,9 2,3 9

prints, for each layer, the log-probability in nats of token 9 after the first sequence of ids, with
the state after that layer at position 2 taken from position 3 of the second; then the same with
what the layer's attention adds, and with each of its heads.
"""

from __future__ import annotations

import sys

import torch
from nnsight import NNsight
from transformers import AutoModelForCausalLM


def main(folder: str, base: str, source: str, at: str, target: str) -> None:
    """Print the log-probabilities under every interchange."""
    plain = AutoModelForCausalLM.from_pretrained(folder).eval()
    model = NNsight(plain)
    ids, other = (torch.tensor([[int(n) for n in text.split(",")]]) for text in (base, source))
    place, from_place = map(int, at.split(","))
    token = int(target)
    blocks = range(plain.config.n_layer)
    heads = plain.config.n_head
    size = plain.config.n_embd // heads

    def score(logits: torch.Tensor) -> float:
        return float(logits[0, -1].double().log_softmax(-1)[token])

    with torch.no_grad(), model.trace(input_ids=ids):
        unchanged = model.output.logits.save()
    print("plain", score(unchanged))
    for layer in blocks:
        with torch.no_grad(), model.trace(input_ids=other):
            heads_in = model.transformer.h[layer].attn.c_proj.input.save()
            added = model.transformer.h[layer].attn.c_proj.output.save()
            state = model.transformer.h[layer].output.save()
        state = state[0] if isinstance(state, tuple) else state
        with torch.no_grad(), model.trace(input_ids=ids):
            model.transformer.h[layer].output[:, place] = state[:, from_place]
            changed = model.output.logits.save()
        print("residual", layer + 1, score(changed))
        with torch.no_grad(), model.trace(input_ids=ids):
            model.transformer.h[layer].attn.c_proj.output[:, place] = added[:, from_place]
            changed = model.output.logits.save()
        print("attention", layer + 1, score(changed))
        for head in range(heads):
            columns = slice(head * size, (head + 1) * size)
            with torch.no_grad(), model.trace(input_ids=ids):
                model.transformer.h[layer].attn.c_proj.input[:, place, columns] = heads_in[
                    :, from_place, columns
                ]
                changed = model.output.logits.save()
            print("heads", layer + 1, head, score(changed))


if __name__ == "__main__":
    main(*sys.argv[1:])
