# Each target makes what it needs from nothing: a virtual environment in .venv, with the versions
# in constraints.txt. `make demo` installs the light judge only.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test test-long check bench

demo: .venv/.judge
	$(BIN)/graphgauge demo

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
	for script in $(filter-out benchmarks/sides.py,$(wildcard benchmarks/*.py)); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

.venv/.judge: pyproject.toml constraints.txt
	test -x $(BIN)/pip || $(PYTHON) -m venv .venv
	$(PIP) -e .
	touch $@

.venv/.dev: .venv/.judge
	$(PIP) -e ".[dev]"
	touch $@
