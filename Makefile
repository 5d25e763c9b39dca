# Every target does its own set-up: Python 3.11 or newer, make and git are enough.
# uv is used where it is installed; `make test UV=` does without it, and `make test PYTHON=python3.12` picks a Python.

PYTHON ?= python3
UV ?= $(shell command -v uv)
PEERCORPUS := .venv/bin/peercorpus
RUN := .venv/bin/python

# One environment, two stamps: .venv/demo holds what the demo needs, .venv/dev that and the tools of development.
DEV := .venv/dev
DEMO := $(or $(wildcard $(DEV)),.venv/demo)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup check test extras demo bench docs clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(DEV)  ## Make .venv with the package and all tools of development

check: $(DEV)  ## Style, types, layers, spelling, budgets and generated documents, in under 20 seconds
	.venv/bin/ruff check --quiet
	.venv/bin/ruff format --check --quiet
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/typos
	$(RUN) scripts/check_budgets.py
	$(RUN) scripts/write_docs.py --check

test: $(DEV)  ## Run all tests
	$(RUN) -m pytest

extras: $(DEV) .venv/extras  ## Run the tests that need OCR, Ray, an object store, a tokenizer or PyTorch; installs them, gigabytes
	$(RUN) -m pytest tests/executors tests/finetune tests/metrics tests/benchmark/test_bench_neural.py tests/test_store.py tests/test_moving.py tests/texts/test_ocr.py tests/texts/test_router.py tests/publish/test_publish_dialogues.py tests/report/test_report_tokens.py

demo: $(DEMO)  ## Simulate a venue, harvest it, build the corpus and publish it, all in the folder demo/
	$(PEERCORPUS) demo --out demo

bench: $(DEV)  ## Measure speed and memory, of the stages and of the harvest
	$(RUN) benchmarks/run.py

docs: $(DEV)  ## Rewrite docs/map.md, data.md, dataset.md, cli.md, forms.md and recipe.md from the code
	$(RUN) scripts/write_docs.py

clean:  ## Remove the environment, the caches and the demo
	rm -rf .venv demo dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests scripts benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "peercorpus needs Python 3.11 or newer, which '$(PYTHON)' is not; name one with 'make PYTHON=python3.12 …'."; exit 1; }
ifneq ($(UV),)
	$(UV) venv --quiet --python "$(PYTHON)" .venv
else
	$(PYTHON) -m venv .venv
endif

# PyTorch first, and by pip: it follows what pip is told of where wheels are, and so takes the build for this machine.
.venv/torch: | .venv/bin/python
	@echo "Installing PyTorch into .venv; this is done once."
ifneq ($(UV),)
	$(PYTHON) -m pip --python .venv/bin/python install -q --disable-pip-version-check torch==2.13.0
else
	$(RUN) -m pip install -q --disable-pip-version-check torch==2.13.0
endif
	@touch $@

.venv/extras: | .venv/torch

.venv/demo .venv/dev .venv/extras: .venv/%: pyproject.toml | .venv/bin/python
	@echo "Installing peercorpus[$*] into .venv; this is done once."
ifneq ($(UV),)
	$(UV) pip install --quiet --python .venv/bin/python -e '.[$*]'
else
	$(RUN) -m pip install -q --disable-pip-version-check -e '.[$*]'
endif
	@touch $@
