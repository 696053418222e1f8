# Everything here sets itself up: a virtual environment in .venv with the pinned packages.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/.stamps
PIP := -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INSTALL := $(BIN)/python $(PIP)
LINT := .venv-lint/bin
SUPPORTED := import sys; sys.exit(sys.version_info < (3, 11) and "cimento needs Python 3.11 or later; set PYTHON=python3.11")

.DEFAULT_GOAL := help
# Tests start many processes; without bytecode each of them would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: help demo lock locked check lint docs test test-near test-slow test-servers test-downloads fuzz bench bench-trunk gallery audit format wheel smoke clean

help:  ## say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(STAMPS)/venv:
	$(PYTHON) -c '$(SUPPORTED)'
	$(PYTHON) -m venv $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/run: $(STAMPS)/venv pyproject.toml constraints.txt
	$(INSTALL) --editable '.[hf,report]'
	@touch $@

$(STAMPS)/dev: $(STAMPS)/run
	$(INSTALL) --requirement requirements-dev.txt
	@touch $@

$(STAMPS)/servers: $(STAMPS)/dev requirements-servers.txt
	CMAKE_ARGS=-DLLAVA_BUILD=OFF $(INSTALL) --requirement requirements-servers.txt
	@touch $@

$(LINT)/.stamp: requirements-lint.txt constraints.txt
	$(PYTHON) -c '$(SUPPORTED)'
	$(PYTHON) -m venv .venv-lint
	$(LINT)/python $(PIP) --requirement requirements-lint.txt
	@touch $@

demo: $(STAMPS)/run  ## a starter suite of each kind in each language on the two demo models, offline, with a report
	$(BIN)/cimento demo

check: $(STAMPS)/dev  ## ruff, mypy --strict, import layers, size ceilings, unused names, spelling, wording, the picture, the page about size
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_sizes.py
	$(BIN)/python scripts/dead_names.py
	$(BIN)/python scripts/spelling.py
	$(BIN)/python scripts/wording.py
	$(BIN)/python scripts/picture.py --check
	$(BIN)/python scripts/measure_shape.py --page --check

# What is not installed counts as untyped, so rules of mypy --strict about that are left to `check`.
lint: $(LINT)/.stamp  ## what `make check` runs, without torch and the like: an environment of its own, in a minute or two
	$(LINT)/ruff check .
	$(LINT)/ruff format --check .
	$(LINT)/mypy --num-workers 2 --cache-dir .mypy_cache/lint --ignore-missing-imports --allow-subclassing-any \
		--allow-untyped-decorators --no-warn-unused-ignores --no-warn-return-any
	PYTHONPATH=src $(LINT)/lint-imports
	$(LINT)/python scripts/check_sizes.py
	$(LINT)/python scripts/dead_names.py
	$(LINT)/python scripts/spelling.py
	$(LINT)/python scripts/wording.py
	$(LINT)/python scripts/picture.py --check
	$(LINT)/python scripts/measure_shape.py --page --check

docs: $(STAMPS)/dev  ## the documentation as a site in build/site, warnings as errors
	$(BIN)/python scripts/site/build.py

# Threads of small tables mostly wait for each other; the slow tests have them all the same.
test: export POLARS_MAX_THREADS ?= 1
test: export RAYON_NUM_THREADS ?= 1
test: $(STAMPS)/dev  ## the tests, without the slow ones
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'not slow and not servers and not downloads'

test-near: $(STAMPS)/dev  ## the tests closest to a module: make test-near FILE=src/cimento/io/tables.py
	$(BIN)/python -m pytest -q -m 'not slow and not servers and not downloads' $$($(BIN)/python scripts/tests_for.py $(FILE))

test-slow: $(STAMPS)/dev  ## the slow tests, and those of random examples with many more
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder -m 'slow and not servers and not downloads'
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --hypothesis-profile thorough \
		-m 'hypothesis and not slow and not servers and not downloads'

test-servers: $(STAMPS)/servers  ## the tests against real servers and KenLM; builds them first
	$(BIN)/python -m pytest -m 'servers or kenlm'

test-downloads: $(STAMPS)/dev  ## every published data set of the registry, fetched from its address; needs the network
	$(BIN)/python -m pytest -m downloads

fuzz: $(STAMPS)/dev  ## 10,000 mutated files for every reader, and new random examples; for a night (docs/reliability.md)
	$(BIN)/python -m tests.fuzzing
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --hypothesis-profile search -m hypothesis

# make bench DATA=FOLDER BENCH='--works blimp masked'; see benchmarks/README.md
bench: $(STAMPS)/dev  ## the table of speed: cimento, minicons, lm-eval and the bare model in turn
	$(BIN)/python benchmarks/bench.py $(if $(DATA),--data '$(DATA)') $(BENCH)

gallery: $(STAMPS)/dev  ## make the pictures of the pages in docs/ again, from runs of the demo models; needs Chromium, and BLiMP once
	$(BIN)/python scripts/gallery.py

bench-trunk: $(STAMPS)/dev  ## what cimento costs around the model: start-up, stored runs, reports
	$(BIN)/python benchmarks/trunk.py $(BENCH)

audit: $(STAMPS)/dev  ## known vulnerabilities of the pinned packages, where there is a network
	$(BIN)/python scripts/audit.py

format: $(STAMPS)/dev  ## put the code into its usual shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(STAMPS)/dev  ## write locked.txt and locked-dev.txt: the versions of constraints.txt with sha256 hashes
	$(BIN)/python scripts/lock.py

locked: $(STAMPS)/venv  ## set up .venv from the locked files; pip refuses any other file of a package
	$(INSTALL) --no-deps --require-hashes --requirement locked.txt --requirement locked-dev.txt
	$(INSTALL) --no-build-isolation --editable '.[hf]'
	@touch $(STAMPS)/run

wheel: $(STAMPS)/dev  ## build the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --wheel --no-isolation

smoke: wheel  ## try the wheel in a fresh environment without torch
	scripts/smoke.sh $(PYTHON) dist/*.whl constraints.txt

clean:  ## remove everything that was built or installed
	rm -rf $(VENV) .venv-lint build dist .mypy_cache .ruff_cache .pytest_cache
