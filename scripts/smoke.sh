#!/usr/bin/env bash
# The built wheel in a fresh environment without torch: what the base install promises.
# Usage: scripts/smoke.sh PYTHON WHEEL CONSTRAINTS
set -euo pipefail
python=$1 wheel=$2 constraints=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  --constraint "$constraints" "$wheel"
cd "$folder"
cimento() { "$folder/venv/bin/cimento" "$@"; }

if venv/bin/python -c 'import torch' 2>/dev/null; then
  echo "the base install brought torch" >&2
  exit 1
fi
cimento --help >/dev/null
cimento suites list | grep -q '^it-subject-verb '
cimento suites check it-subject-verb
cimento suites new agreement mine
# Surprisals of the template's sentences, as somebody else may have recorded them: one word, one row.
venv/bin/python - >mine.tsv <<'PY'
from pathlib import Path
from cimento import load_suite
from cimento.suites.stimuli import stimulus_text

print("sentence_id", "token_id", "token", "surprisal", sep="\t")
stimuli = list(load_suite(Path("mine")).suite.stimuli())
for sentence, (_, condition) in enumerate(stimuli, start=1):
    for number, word in enumerate(stimulus_text(condition).split(), start=1):
        print(sentence, number, word, float(len(word)), sep="\t")
PY
cimento run mine -m replay:mine.tsv --json >summary.json
cimento judge runs --metric mean >/dev/null
for form in html md csv json txt; do cimento report runs -o "report.$form"; done
status=0
cimento run mine -m demo-causal 2>message || status=$?
[ "$status" = 2 ] && grep -q "pip install 'cimento\[hf\]'" message
[ -f "$("$folder"/venv/bin/python -c 'import cimento.models as m; print(m.__path__[0])')/../data/models/demo-causal/model.safetensors" ]
echo "smoke test passed: $(basename "$wheel")"
