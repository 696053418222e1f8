"""The numbers of tests/models/test_gradients.py that captum gives.

In an environment with captum and transformers, on a folder with a model of transformers::

    PYTHONPATH=. python -c 'from tests.helpers import zoo; zoo.save("gpt2", "FOLDER")'
    python scripts/oracles/gradients.py FOLDER 0,5,7,9 9 1000

prints the contribution of each id of the sequence, except the first, to the log-probability in nats
of token 9 after it: integrated gradients of the word embeddings from zero at 1000 points of Gauss
and Legendre, and gradient times input.
"""

from __future__ import annotations

import sys

import torch
from captum.attr import InputXGradient, IntegratedGradients
from transformers import AutoModelForCausalLM


def main(folder: str, sequence: str, target: str, steps: str) -> None:
    """Print the contributions."""
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = torch.tensor([[int(number) for number in sequence.split(",")]])
    embedded = model.get_input_embeddings()(ids).detach()
    token = int(target)

    def score(text: torch.Tensor) -> torch.Tensor:
        # The first token, which begins the text, stays as it is.
        first = embedded[:, :1].expand(len(text), -1, -1)
        logits = model(inputs_embeds=torch.cat([first, text], dim=1)).logits
        return logits[:, -1].double().log_softmax(-1)[:, token]

    inputs = embedded[:, 1:]
    attributions = IntegratedGradients(score).attribute(
        inputs, baselines=torch.zeros_like(inputs), n_steps=int(steps), internal_batch_size=50
    )
    print("score", score(inputs).item(), "baseline", score(torch.zeros_like(inputs)).item())
    print("integrated", attributions.sum(-1)[0].tolist())
    plain = InputXGradient(score).attribute(inputs.clone().requires_grad_())
    print("gradient", plain.sum(-1)[0].tolist())


if __name__ == "__main__":
    main(*sys.argv[1:])
