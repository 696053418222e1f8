"""Make tests/data/minicons_*.json: what minicons says of the tiny models of tests/helpers/zoo.py.

In two steps, because minicons 0.3.39 cannot score masked models with transformers 5::

    python scripts/oracles/minicons_scores.py build FOLDER     (the project's environment)
    python -m venv ENV && ENV/bin/pip install torch==2.13.0
    ENV/bin/pip install minicons==0.3.39 'transformers==4.57.*'
    ENV/bin/python scripts/oracles/minicons_scores.py score FOLDER tests/data
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

# Of words that minicons and cimento see alike: no elision, no run of marks.
SENTENCES = [
    "Le chiavi del cassetto sono sul tavolo.",
    "La vicina annaffia volentieri i gerani del balcone.",
    "Los árboles del jardín necesitan mucha agua.",
    "As crianças não sabiam onde estava o cão.",
    "Дети играют во дворе весь день.",
    "The letter that the teacher wrote was never sent.",
    "Perché ridi?",
    "no",
]
PREFIXED = [
    ["Le chiavi del cassetto", "sono sul tavolo."],
    ["The letter that the teacher wrote", "was never sent."],
    ["Дети играют", "во дворе весь день."],
]
MODELS = {
    "gpt2": "causal",
    "llama": "causal",
    "bert-cased": "masked",
    "bert": "masked",
    "xlm-roberta": "masked",
}


def build(folder: Path) -> None:
    """Save the models, with what is needed to load and to recognize them."""
    sys.path.insert(0, str(ROOT))
    from tests.helpers import zoo

    for name in MODELS:
        zoo.save(name, folder / name)
        kind = zoo.SPECIES[name].tokenizer
        known = {
            "special_tokens": zoo.TOKENIZERS[kind].names,
            "weights_sha256": zoo.digest(zoo.model(name)),
        }
        (folder / name / "zoo.json").write_text(json.dumps(known), encoding="utf-8")


def score(folder: Path, output: Path) -> None:
    """Ask minicons, and write one file for each model."""
    made_with = {
        "script": "scripts/oracles/minicons_scores.py",
        "python": platform.python_version(),
        **{name: version(name) for name in ("minicons", "transformers", "tokenizers", "torch")},
    }
    for name, kind in MODELS.items():
        known = json.loads((folder / name / "zoo.json").read_text(encoding="utf-8"))
        ask = _causal if kind == "causal" else _masked
        record = {
            "made_with": made_with,
            "model": name,
            "weights_sha256": known["weights_sha256"],
            "unit": "nats, natural logarithm",
            **ask(folder / name, known["special_tokens"]),
        }
        lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in record.items()]
        text = "{" + ",\n".join(lines) + "}\n"
        (output / f"minicons_{name}.json").write_text(text, encoding="utf-8")


def _tokenizer(folder: Path, names: dict[str, str]) -> Any:  # noqa: ANN401  # of another package
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **names)


def _causal(folder: Path, names: dict[str, str]) -> dict[str, Any]:
    from minicons import scorer

    tokenizer = _tokenizer(folder, names)
    model = scorer.IncrementalLMScorer(str(folder), "cpu", tokenizer=tokenizer)
    # Where the tokenizer puts its BOS itself, minicons must not be asked for another.
    bos = tokenizer("a")["input_ids"][0] != tokenizer.bos_token_id
    total = {"reduction": lambda x: x.sum(0).item(), "bos_token": bos}
    return {
        "bos_token": bos,
        # The first entry is the BOS token, which minicons gives 0.
        "token_score": [model.token_score(text, bos_token=bos)[0][1:] for text in SENTENCES],
        "sequence_score": model.sequence_score(SENTENCES, **total),
        "conditional_score": model.conditional_score(*map(list, zip(*PREFIXED)), **total),  # noqa: B905  # lists of pairs
        "sentences": SENTENCES,
        "prefixed": PREFIXED,
    }


def _masked(folder: Path, names: dict[str, str]) -> dict[str, Any]:
    from minicons import scorer

    model = scorer.MaskedLMScorer(str(folder), "cpu", tokenizer=_tokenizer(folder, names))
    metrics = ("original", "within_word_l2r")
    return {
        "token_score": {
            metric: [model.token_score(text, PLL_metric=metric)[0] for text in SENTENCES]
            for metric in metrics
        },
        "sequence_score": {
            metric: model.sequence_score(
                SENTENCES, reduction=lambda x: x.sum(0).item(), PLL_metric=metric
            )
            for metric in metrics
        },
        "sentences": SENTENCES,
    }


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(required=True)
    first = steps.add_parser("build")
    first.add_argument("folder", type=Path)
    first.set_defaults(run=lambda options: build(options.folder))
    second = steps.add_parser("score")
    second.add_argument("folder", type=Path)
    second.add_argument("output", type=Path)
    second.set_defaults(run=lambda options: score(options.folder, options.output))
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
