# Each target makes what it needs from nothing: a virtual environment in .venv, with the versions
# in constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# By environment rather than by option, so that build backends keep to the constraints too.
export PIP_CONSTRAINT := constraints.txt
export PIP_BUILD_CONSTRAINT := constraints.txt

.PHONY: demo test test-long check bench

demo: .venv/.train
	@$(BIN)/graphgauge demo

test: .venv/.dev
	$(BIN)/python -m pytest -n auto

test-long: .venv/.dev
	$(BIN)/python -m pytest -n auto -m long tests

check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.dev
	@for script in $(filter-out benchmarks/sides.py,$(wildcard benchmarks/*.py)); do \
	  echo "== $$script"; $(BIN)/python $$script || exit 1; done

.venv/.train: pyproject.toml constraints.txt
	@echo "Installing graphgauge and torch into .venv, once; this takes a minute or two ..."
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	@$(PIP) -e ".[train]"
	@touch $@

.venv/.dev: .venv/.train
	@echo "Installing what tests and checks need; this takes a few minutes ..."
	@$(PIP) -e ".[dev]"
	@touch $@
