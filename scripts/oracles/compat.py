"""Record what minicons and lm-evaluation-harness say of tiny models (tests/options/test_compat.py).

Each tool has an environment of its own, with the newest versions it works with::

    python3 -m venv MINICONS && MINICONS/bin/pip install minicons==0.3.39 'transformers==4.57.*'
    python3 -m venv LMEVAL && LMEVAL/bin/pip install 'lm-eval[hf]==0.4.13'

    PYTHONPATH=. python scripts/oracles/compat.py save MODELS
    MINICONS/bin/python scripts/oracles/compat.py minicons MODELS > tests/data/compat/minicons.json
    LMEVAL/bin/python scripts/oracles/compat.py lm-eval MODELS > tests/data/compat/lm-eval.json

The models are those of tests/helpers/zoo.py: random weights, the same on every machine.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

CAUSAL = ("gpt2", "opt", "llama", "qwen2")
MASKED = ("bert", "roberta")

# Written for this purpose. The last pair is a tie whatever the model.
PAIRS = (
    ("Il gatto della vicina dorme sul divano.", "Il gatto della vicina dormono sul divano."),
    ("Las llaves del coche están aquí.", "Las llaves del coche está aquí."),
    ("The keys to the cabinet are old.", "The keys to the cabinet is old."),
    ("Кошки соседа спят.", "Кошки соседа спит."),
    ("O menino comeu a maçã.", "O menino comeram a maçã."),
    ("Sì.", "Si."),
    ("La zia canta.", "La zia canta."),
)
SENTENCES = [sentence for pair in PAIRS for sentence in pair]


def save(folder: Path) -> None:
    """Write the models with their tokenizers' special tokens; needs cimento's environment."""
    from tests.helpers import zoo

    for name in (*CAUSAL, *MASKED):
        zoo.save(name, folder / name)
        facts = {
            "weights": zoo.digest(zoo.model(name)),
            "specials": zoo.TOKENIZERS[zoo.SPECIES[name].tokenizer].names,
        }
        (folder / name / "facts.json").write_text(json.dumps(facts), encoding="utf-8")


def minicons(folder: Path) -> dict[str, object]:
    """Sequence and token scores, with the defaults of minicons."""
    from minicons import scorer

    def causal(path: Path) -> dict[str, object]:
        model = scorer.IncrementalLMScorer(_model(path, "CausalLM"), "cpu", tokenizer=_tokens(path))
        return {
            "mean": model.sequence_score(SENTENCES),
            "sum": model.sequence_score(SENTENCES, reduction=lambda x: x.sum(0).item()),
            "tokens": model.token_score(SENTENCES[:4], rank=True),
        }

    def masked(path: Path) -> dict[str, object]:
        model = scorer.MaskedLMScorer(_model(path, "MaskedLM"), "cpu", tokenizer=_tokens(path))
        return {
            "mean": model.sequence_score(SENTENCES),
            "sum": model.sequence_score(SENTENCES, reduction=lambda x: x.sum(0).item()),
        }

    return _record(folder, {**_each(CAUSAL, causal), **_each(MASKED, masked)}, tool="minicons")


def lm_eval(folder: Path) -> dict[str, object]:
    """Log-likelihoods and accuracies of a task like blimp, with the defaults of the harness."""
    import lm_eval as harness
    from lm_eval.models.huggingface import HFLM

    data = folder / "pairs.jsonl"
    rows = [json.dumps({"sentence_good": good, "sentence_bad": bad}) for good, bad in PAIRS]
    data.write_text("\n".join(rows) + "\n", encoding="utf-8")
    task = {
        "task": "pairs",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"train": str(data)}},
        "output_type": "multiple_choice",
        "validation_split": "train",
        "doc_to_text": "",
        "doc_to_target": 0,
        "doc_to_choice": "{{[sentence_good, sentence_bad]}}",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}],
    }

    def evaluate(path: Path) -> dict[str, object]:
        model = HFLM(pretrained=_model(path, "CausalLM"), tokenizer=_tokens(path), batch_size=4)
        evaluation = harness.simple_evaluate(
            model=model, tasks=[task], log_samples=True, verbosity=None
        )
        samples = sorted(evaluation["samples"]["pairs"], key=lambda sample: sample["doc_id"])
        return {
            "loglikelihoods": [
                [float(answer[0]) for answer in sample["filtered_resps"]] for sample in samples
            ],
            "acc": evaluation["results"]["pairs"]["acc,none"],
            "acc_norm": evaluation["results"]["pairs"]["acc_norm,none"],
            "correct": [[sample["acc"], sample["acc_norm"]] for sample in samples],
        }

    return _record(folder, _each(CAUSAL, evaluate), tool="lm_eval")


def _each(
    names: tuple[str, ...], ask: Callable[[Path], dict[str, object]]
) -> dict[str, Callable[[Path], dict[str, object]]]:
    return dict.fromkeys(names, ask)


def _record(
    folder: Path, asked: Mapping[str, Callable[[Path], dict[str, object]]], *, tool: str
) -> dict[str, object]:
    return {
        "made_by": f"scripts/oracles/compat.py {tool.replace('_', '-')}, see its first lines",
        "versions": {name: version(name) for name in (tool, "transformers", "torch")},
        "pairs": PAIRS,
        "models": {
            name: {"weights": _facts(folder / name)["weights"], **ask(folder / name)}
            for name, ask in asked.items()
        },
    }


def _facts(path: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads((path / "facts.json").read_text(encoding="utf-8"))
    return facts


def _model(path: Path, head: str) -> Any:  # noqa: ANN401  # a class of transformers
    import transformers

    return getattr(transformers, f"AutoModelFor{head}").from_pretrained(path).eval()


def _tokens(path: Path) -> Any:  # noqa: ANN401
    from transformers import PreTrainedTokenizerFast

    file = str(path / "tokenizer.json")
    return PreTrainedTokenizerFast(tokenizer_file=file, **_facts(path)["specials"])


def main() -> int:
    """Run one of the three steps."""
    step, folder = sys.argv[1], Path(sys.argv[2]).absolute()
    if step == "save":
        save(folder)
    else:
        record = {"minicons": minicons, "lm-eval": lm_eval}[step](folder)
        print(_lines(record))
    return 0


def _lines(record: Mapping[str, object]) -> str:
    """JSON with one member a line, and one model a line."""
    models = record["models"]
    parts = [f"{json.dumps(name)}: {_text(value)}" for name, value in record.items()]
    if isinstance(models, Mapping):
        members = [f"{json.dumps(name)}: {_text(value)}" for name, value in models.items()]
        parts[-1] = '"models": {\n' + ",\n".join(members) + "\n}"
    return "{\n" + ",\n".join(parts) + "\n}"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
