# agentweb: every command of the project. `make` alone prints them.

VENV := .venv
BIN := $(VENV)/bin
SUPPORTED = import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
NEW_ENOUGH = import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
CANDIDATES := python3 python3.13 python3.12 python3.11 python
found = $(firstword $(foreach python,$(CANDIDATES),$(if $(shell $(python) -c '$(1)' 2>/dev/null && echo yes),$(python))))
PYTHON ?= $(or $(call found,$(SUPPORTED)),$(call found,$(NEW_ENOUGH)))
INSTALL = $(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt --editable

.DEFAULT_GOAL := help
.PHONY: help up test lint types bench chaos fuzz format clean

help:  ## Show these commands
	@echo "agentweb: teams chat with agents and stay in control"; echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo; echo "Settings come from the environment or from .env; see .env.example."

up: $(VENV)/installed  ## Start everything and print the address and how to sign in (PORT, DATA_DIR)
	@exec $(BIN)/python manage.py up --with-parent

test: $(VENV)/tests-installed  ## Install what the tests need and pass all of them, browser tests included
	@exec $(BIN)/python -m tests.run $(if $(ARGS),-- $(ARGS))

lint: $(VENV)/tests-installed  ## Check style, import order and templates
	@exec $(BIN)/python -m tests.run --only lint

types: $(VENV)/tests-installed  ## Check types
	@exec $(BIN)/python -m tests.run --only types

bench: $(VENV)/tests-installed  ## Measure what the product costs; ID=B3 for one (docs/benchmarks.md)
	@exec $(BIN)/python -m benchmarks $(or $(ID),all) $(ARGS)

chaos: $(VENV)/tests-installed  ## Kill servers at random while people work, then count what was lost; MINUTES=2 for less
	@exec $(BIN)/python -m benchmarks.chaos --minutes $(or $(MINUTES),10)

fuzz: $(VENV)/tests-installed  ## Damage answers of models in 10,000 ways and look what is made of them; COUNT=1000 for fewer
	@exec $(BIN)/python -m tests.llm.mutations $(or $(COUNT),10000)

format: $(VENV)/tests-installed  ## Bring the code into shape
	@$(BIN)/python -m ruff check --fix --quiet .
	@$(BIN)/python -m ruff format .

clean:  ## Remove what was installed and generated; the data stay
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "agentweb needs Python 3.11 or newer with venv (on Debian: apt install python3-venv); none of these is: $(CANDIDATES)" >&2; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)

$(VENV)/installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing agentweb into $(VENV); this is done once"
	@$(INSTALL) '.[postgres]'
	@touch $@

$(VENV)/tests-installed: $(VENV)/installed
	@echo "Installing what the tests need into $(VENV); this is done once"
	@$(INSTALL) '.[dev]'
	@touch $@
