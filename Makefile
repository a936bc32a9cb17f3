# Everything runs from a fresh checkout: each target first builds .venv from the hash-pinned constraints.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

PYTHON ?= $(or $(shell command -v python3.11),$(shell command -v python3),python3)
WORKERS ?= 2
DEMO ?= build/demo

BIN := .venv/bin
STAMP := .venv/.installed
TEST_LOG := build/pytest.log
BENCHMARKS := audit lattice bootstrap pairs memory startup help isolation ledger

.PHONY: help setup demo results bench check format static test constraints clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(STAMP) ## build the virtual environment in .venv

$(STAMP): constraints/dev.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "counterproof needs Python 3.11 or newer: make PYTHON=...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --require-hashes -r constraints/dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

demo: $(STAMP) ## audit a reward on a small synthetic pool and write the report (DEMO=folder)
	rm -rf $(DEMO)
	$(BIN)/counterproof demo rewards --out $(DEMO)

results: $(STAMP) ## write docs/results from the real data sets beside the checkout (some minutes, no network)
	$(BIN)/python -m studies.rewards_results
	$(BIN)/python -m studies.panel_results
	$(BIN)/python -m studies.equations_results

bench: $(STAMP) ## run every benchmark that needs nothing but this environment
	@for one in $(BENCHMARKS); do echo "== $$one"; $(BIN)/python benchmarks/$$one.py; done

check: static test ## run every check; the tests' summary comes last
	@grep -E ' passed.* in [0-9.]+s' $(TEST_LOG) | tail -n 1

static: $(STAMP) ## formatting, lint, types and import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The tests include the doctests, the blocks of README.md and the examples. Subprocesses are measured too.
test: $(STAMP) ## tests with branch coverage
	@rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/coverage run -m pytest -n $(WORKERS) 2>&1 | tee $(TEST_LOG)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

format: $(STAMP) ## rewrite the code in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

constraints: ## compile constraints/dev.txt again (needs uv on the PATH; UPGRADE=--upgrade for newer versions)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-emit-find-links --custom-compile-command 'make constraints' $(UPGRADE) \
	    --group dev --output-file constraints/dev.txt pyproject.toml

clean: ## remove what the other targets made
	rm -rf .venv build dist .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
